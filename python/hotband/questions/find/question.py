"""Parse the text of a question: the wanted metric, the conditions, and the varied value (docs/guides/find.md).

IOPS at p99 < 10 ms                     the highest rate of an open loop that meets the condition
IOPS at p99 < 10 ms by queue depth      the highest rate of a closed loop that meets it
p99 at 60000 IOPS                       a latency at a rate; nothing is varied
TPS at p99 < 10 ms                      the same of the transactions of a script
drives for 50000 IOPS at p99 < 2 ms     the smallest number
queue depth for 90 % of the most        the smallest number
bs for 500 MB/s                         any number that `set` accepts, by its key
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from hotband.base.errors import UserError
from hotband.base.text.nearest import hint
from hotband.base.text.quantities import SPAN_EXPECTED, SPAN_UNITS, span_ns, ungrouped
from hotband.data.inputs.words import ours
from hotband.questions.find.figures import COMMIT, ENDINGS, FIGURES, OF_TRANSACTIONS, RATES, TRANSACTION, Figure

if TYPE_CHECKING:
    from hotband.data.record.record import Record

QUESTION = "question.question"
FORMS = (
    '"IOPS at p99 < 10 ms", "p99 at 60000 IOPS", "drives for 50000 IOPS at p99 < 2 ms", '
    '"queue depth for 90 % of the most" or "KEY for 500 MB/s"'
)
RATE, DEPTH, DRIVES = "rate", "qd", "drives"
NOTHING = "nothing"
"""Value of `varied` for a question that states a rate."""
VARIED = {
    "rate": RATE,
    "queue depth": DEPTH,
    "queuedepth": DEPTH,
    "qd": DEPTH,
    "iodepth": DEPTH,
    "drives": DRIVES,
    "disks": DRIVES,
    "ssds": DRIVES,
}
"""The varied value, by the words for it; any other word is a key of `set`."""
BELOW, ABOVE = ("<=", "≤", "<", "below", "under", "at most"), (">=", "≥", ">", "above", "over", "at least")
BANDWIDTHS = {"kb/s": 1e3, "mb/s": 1e6, "gb/s": 1e9, "kib/s": 2.0**10, "mib/s": 2.0**20, "gib/s": 2.0**30}
THOUSANDS = {"": 1.0, "k": 1e3, "m": 1e6}
_NUMBER = r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
_TPS = rf"tps|(?:transactions|tx)(?:{'|'.join(ENDINGS)})?"
_VALUE = re.compile(r"(?:the\s+)?(?:number\s+of\s+)?(.+?)\s+(?:needed\s+|required\s+)?for\s+(.+)", re.I)
_REACHED = re.compile(
    rf"{_NUMBER}\s*([km])?\s*(?:(read|write)s?[.\s]\s*)?(iops|io/s|[kmg]i?b/s|{_TPS})(?:\s+(?:of\s+)?(read|write)s?)?"
)
_SHARE = re.compile(rf"{_NUMBER}\s*(?:%|percent)\s+of\s+(?:the\s+)?(?:most|maximum)(?:\s+(.+))?")


@dataclass(frozen=True)
class Condition:
    """A latency (seconds) that must stay below `bound`, or a rate (I/Os or bytes per second) that must reach it; `text`
    is as the user wrote it."""

    figure: Figure
    bound: float
    text: str

    @property
    def is_goal(self) -> bool:
        """Return whether the metric must reach the bound."""
        return self.figure.is_rate

    def holds(self, value: float) -> bool:
        """Return whether a value of the metric meets the condition."""
        return value >= self.bound if self.is_goal else value < self.bound

    def score(self, measured: Record, most: float) -> float:
        """Return a score above zero if the condition is met, about in proportion to its margin; for latencies that of
        their inverse, which falls nearly linearly as a machine fills up. Raises UserError if the run has no such
        metric."""
        value = self.figure.needed(measured)
        if self.is_goal:
            return value / self.bound - 1.0
        return self.bound / value - 1.0 if value > 0 else 1.0


@dataclass(frozen=True)
class ShareOfMost:
    """A metric that must reach a share of its maximum over all trials."""

    figure: Figure
    share: float
    text: str
    is_goal = True

    def score(self, measured: Record, most: float) -> float:
        """Return a score above zero if the share is reached."""
        return self.figure.needed(measured) / (self.share * most) - 1.0 if most > 0 else -1.0


@dataclass(frozen=True)
class Question:
    """A parsed question. `varied` is "rate", "qd", "drives", a key of `set` or `NOTHING`; `wanted` is the metric of the
    answer, None if the answer is the varied value."""

    text: str
    varied: str
    wanted: Figure | None
    conditions: tuple[Condition | ShareOfMost, ...]

    @property
    def goals(self) -> list[Condition | ShareOfMost]:
        """Return the rates to reach."""
        return [condition for condition in self.conditions if condition.is_goal]

    @property
    def limits(self) -> list[Condition | ShareOfMost]:
        """Return the latencies with a bound."""
        return [condition for condition in self.conditions if not condition.is_goal]

    @property
    def figures(self) -> list[Figure]:
        """Return every metric to read from a trial, each once."""
        named = [condition.figure for condition in self.conditions]
        return list(dict.fromkeys([*([self.wanted] if self.wanted else []), *named]))

    @property
    def sets_rate(self) -> bool:
        """Return whether trials offer a rate, in place of the load's own."""
        return self.varied == RATE or self.offered is not None

    @property
    def offered(self) -> Condition | None:
        """Return the rate that every trial offers as an open loop: always for drives, for other keys only if the
        question also has limits."""
        goals = [goal for goal in self.goals if isinstance(goal, Condition)]
        as_open = self.varied in (DRIVES, NOTHING) or (self.varied not in (RATE, DEPTH) and self.limits)
        return goals[0] if goals and as_open else None


def read_question(text: str) -> Question:
    """Return the question in a text. Raises UserError with what is accepted."""
    plain = " ".join(text.split()).rstrip("?. ")
    return _of_transactions(_parsed(text, plain))


def _of_transactions(question: Question) -> Question:
    """Return a question whose latencies are those of transactions if its rate is theirs: for them people wait."""
    if not any(figure.name == "tps" for figure in question.figures):
        return question

    wanted = None if question.wanted is None else _of_transaction(question.wanted)
    return replace(question, wanted=wanted, conditions=_all_of_transactions(question.conditions))


def _all_of_transactions(conditions: Iterable[Condition | ShareOfMost]) -> tuple[Condition | ShareOfMost, ...]:
    return tuple(replace(condition, figure=_of_transaction(condition.figure)) for condition in conditions)


def _of_transaction(metric: Figure) -> Figure:
    """Return a latency without a side as that of a transaction; other metrics unchanged. Raises UserError for a
    percentile that no record has."""
    if metric.side or metric.is_rate:
        return metric
    _expect_recorded(metric.name, str(metric))
    return Figure(TRANSACTION, metric.name)


def _expect_recorded(name: str, text: str) -> None:
    if name not in OF_TRANSACTIONS:
        refuse(text, f"expected one of {', '.join(OF_TRANSACTIONS)} of transactions")


def _parsed(text: str, plain: str) -> Question:
    """Parse a question: `text` as the user wrote it, `plain` with single spaces."""
    match = _VALUE.fullmatch(plain)
    if match:
        return _of_value(text, match[1], match[2])
    match = re.fullmatch(
        r"(?:the\s+)?(?:most\s+|highest\s+)?(.+?)\s+(?:at|with|while)\s+(.+?)(?:\s+by\s+(.+))?", plain, re.I
    )
    if match is None:
        refuse(plain, f"expected a question such as {FORMS}")
    if match[3] is None and VARIED.get(match[1].lower()) == DEPTH:
        return _of_value(text, match[1], match[2])
    return _of_figure(text, *match.groups())


def refuse(value: str, accepted: str) -> NoReturn:
    """Raise the error of a question."""
    raise UserError(QUESTION, "", value, accepted)


def _of_value(text: str, named: str, rest: str) -> Question:
    """Parse `VARIED for GOAL at LIMIT`."""
    varied = _varied(named)
    if varied == RATE:
        refuse(named, 'ask for a rate as a figure, such as "IOPS at p99 < 10 ms"')
    found = conditions(rest)
    goals = [goal for goal in found if goal.is_goal]
    if varied == DRIVES and not any(isinstance(goal, Condition) for goal in goals):
        refuse(text, 'a number of drives is for a rate, such as "drives for 50000 IOPS at p99 < 2 ms"')
    if varied == DRIVES and len(goals) > 1:
        refuse(text, "expected one rate: the load offered to the drives")
    return Question(text, varied, None, found)


def _of_figure(text: str, named: str, rest: str, by: str | None) -> Question:
    """Parse `FIGURE at LIMIT by VARIED`."""
    wanted = figure(named)
    limits = conditions(rest)
    if not wanted.is_rate:
        return _of_latency(text, wanted, limits, by)
    varied = RATE if by is None else _varied(by)
    if varied == DRIVES:
        refuse(by or "", 'more drives give more: expected "drives for 50000 IOPS at p99 < 2 ms"')
    goal = next((limit for limit in limits if limit.is_goal), None)
    if goal is not None:
        refuse(goal.text, f'expected limits of latencies here, such as "{wanted} at p99 < 10 ms"')
    return Question(text, varied, wanted, limits)


def _of_latency(text: str, wanted: Figure, limits: tuple[Condition | ShareOfMost, ...], by: str | None) -> Question:
    """Parse `p99 at 60000 IOPS`."""
    if by is not None:
        refuse(by, f'a rate decides how much is issued: expected "{wanted} at 60000 IOPS"')
    if len(limits) != 1 or not isinstance(limits[0], Condition) or not limits[0].is_goal:
        refuse(text, f'expected one rate, such as "{wanted} at 60000 IOPS"')
    return Question(text, NOTHING, wanted, limits)


def _varied(named: str) -> str:
    words = named.lower().removeprefix("the ").strip()
    kind = VARIED.get(words)
    if kind is not None:
        return kind
    near = hint(words, list(VARIED), 0.75)
    if near or not re.fullmatch(r"[A-Za-z_][\w.]*", named):
        refuse(named, f"{near}expected queue depth, drives, or a key that set takes (hotband keys lists them)")
    return ours(named)


def conditions(text: str) -> tuple[Condition | ShareOfMost, ...]:
    """Parse conditions with `and`, `at` or a comma between them, each metric once. Raises UserError."""
    parts = [part for part in re.split(r"\s+(?:and|at|with)\s+(?!least|most)|,\s+|\s+&&?\s+", text) if part]
    parsed = tuple(_condition(part.strip()) for part in parts)
    for number, condition in enumerate(parsed):
        if any(condition.figure == other.figure for other in parsed[:number]):
            refuse(condition.text, f"{condition.figure} has two conditions; expected one")
    return _all_of_transactions(parsed) if any(item.figure.name == "tps" for item in parsed) else parsed


def _condition(text: str) -> Condition | ShareOfMost:
    share = _SHARE.fullmatch(text.lower())
    if share:
        return _share_of_most(text, share)
    for signs, is_above in ((BELOW, False), (ABOVE, True)):
        for sign in signs:
            named, parts, bound = text.partition(sign if not sign.isalpha() and " " not in sign else f" {sign} ")
            if parts:
                return _compared(text, figure(named), is_above, bound.strip())
    return _reached(text)


def _share_of_most(text: str, match: re.Match[str]) -> ShareOfMost:
    share = _number(match[1])
    if not 0 < share < 100:
        refuse(text, "expected a share of more than 0 % and less than 100 %, such as 90 % of the most")
    metric = figure(match[2]) if match[2] else Figure("", "iops")
    if not metric.is_rate:
        refuse(text, "expected a share of the most IOPS or MB/s")
    return ShareOfMost(metric, share / 100, text)


def _compared(text: str, metric: Figure, is_above: bool, bound: str) -> Condition:
    if metric.is_rate != is_above:
        way = (
            "a rate is to be reached: expected >"
            if metric.is_rate
            else "a latency is to stay below a bound: expected <"
        )
        refuse(text, f'{way}, such as "{"IOPS > 5000" if metric.is_rate else "p99 < 10 ms"}"')
    return Condition(metric, _rate(text, metric, bound) if metric.is_rate else _time(text, bound), text)


def _reached(text: str) -> Condition:
    """Parse a rate to reach: `50000 IOPS`, `50k IOPS`, `2 GB/s`, `500 write.MB/s`, `500 MB/s of writes`."""
    _expect_bytes(text)
    match = _REACHED.fullmatch(text.lower())
    if match is None:
        if re.fullmatch(rf"{_NUMBER}\s*({'|'.join(SPAN_UNITS)})", text.lower()):
            refuse(text, 'expected a latency, such as "p99 < 10 ms"')
        if re.fullmatch(_NUMBER, text):
            refuse(text, 'expected a number with its unit: "50000 IOPS", "500 MB/s" or "90 % of the most"')
        refuse(text, 'expected a condition such as "p99 < 10 ms", "50000 IOPS", "500 MB/s" or "90 % of the most"')
    number, prefix, side, unit, groups = match.groups()
    name = "bandwidth" if unit in BANDWIDTHS else "tps" if re.fullmatch(_TPS, unit) else "iops"
    if name == "tps" and (side or groups):
        refuse(text, 'a transaction reads and writes: expected a rate such as "3000 TPS"')
    if (prefix and name == "bandwidth") or (side and groups and side != groups):
        refuse(text, 'expected a rate such as "50k IOPS", "2 GB/s" or "500 write.MB/s"')
    bound = _number(number) * BANDWIDTHS[unit] if name == "bandwidth" else _ios(text, number, prefix or "", unit)
    if not bound:
        refuse(text, "expected a rate above zero")
    return Condition(Figure(side or groups or "", name), bound, text)


def _expect_bytes(text: str) -> None:
    """Refuse bits: 500 Mb/s are 62.5 MB/s."""
    if re.search(r"[KMG]b/s", text):
        refuse(text, 'expected bytes a second, such as "500 MB/s": a small b is a bit')


def _ios(text: str, number: str, prefix: str, unit: str = "IOPS") -> float:
    """Parse I/Os or transactions per second. Refuse `50.000 IOPS`: it means 50,000 in some countries, and nobody
    needs three decimals."""
    if not prefix and re.fullmatch(r"\d{1,3}\.\d{3}", number):
        whole = number.replace(".", "")
        unit = unit.upper() if unit in ("iops", "tps") else unit
        refuse(text, f"a point starts decimals: expected {whole} {unit} or {float(number):g} {unit}")
    return _number(number) * THOUSANDS[prefix]


def _rate(text: str, metric: Figure, bound: str) -> float:
    _expect_bytes(bound)
    match = re.fullmatch(rf"{_NUMBER}\s*([a-z/]*)", bound.lower())
    unit = match[2].removesuffix(metric.name) if match else ""
    if match is not None and metric.name in ("iops", "tps") and unit in THOUSANDS and _number(match[1]):
        return _ios(text, match[1], unit, metric.name)
    if match is not None and metric.name == "bandwidth" and _number(match[1]):
        # "MB/s > 500" has its unit in the name of the figure.
        named = re.match(r"(?:\w+\.)?([kmgt]?i?b/s)", text.lower())
        unit = match[2] or (named[1] if named else "")
        if unit in BANDWIDTHS:
            return _number(match[1]) * BANDWIDTHS[unit]
    refuse(text, 'expected a rate above zero, such as "IOPS > 5000" or "MB/s > 500"')


def _time(text: str, bound: str) -> float:
    ns = span_ns(ungrouped(bound.lower()) or "")
    if ns is None:
        refuse(text, f"expected {SPAN_EXPECTED}, behind the figure")
    return ns / 1e9


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def figure(named: str) -> Figure:
    """Return a metric by its name: `IOPS`, `read.p99`, `write p99.9`. Raises UserError."""
    if FIGURES.get(named.lower().strip()) == "tps":
        return Figure("", "tps")
    words = re.sub(r"\b(read|write|commit|transaction|flush(?=e))(?:e?s)\b", r"\1", named.lower()).strip()
    sides = f"read|write|flush|commit|{TRANSACTION}"
    match = re.fullmatch(rf"(?:({sides})[.\s]+)?(.+?)(?:\s+latency)?(?:\s+of\s+(?:the\s+)?({sides}))?", words)
    assert match is not None, "every text has a rest"
    side, name = match[1] or match[3] or "", match[2].strip()
    name = FIGURES.get(name, name)
    percentile = re.fullmatch(r"p(\d{1,2}(?:\.\d{1,4})?)", name)
    if name not in FIGURES.values() and (percentile is None or not 0 < float(percentile[1]) < 100):
        near = hint(name, [*FIGURES, "p50", "p90", "p95", "p99", "p99.9"], 0.6)
        accepted = (
            "expected IOPS, MB/s, mean, p50, p99, p99.9 ..., also read.p99, write.p99, commit.p99, transaction.p99"
        )
        refuse(named.strip(), f"{near}{accepted}")
    if side in ("flush", COMMIT, TRANSACTION) and name in RATES:
        refuse(named.strip(), f"expected a latency of a {side}, such as {side}.p99")
    if side == TRANSACTION:
        _expect_recorded(name, named.strip())
    return Figure(side, name)
