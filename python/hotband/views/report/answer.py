"""The first sentence of a page of records: which is faster and by how much, with the interval if there is one.

Sentences are made from the numbers; their form depends on the input: one record, two, several, or the points of curves.
`hotband.inference.audit.compare` decides which side is faster; if it cannot compare them, the answer only lists the
figures. For open loops, whose rate is given, the mean latency decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from hotband.base.errors import UserError
from hotband.base.text.numbers import between, finite, number, percent, rate, share, span
from hotband.base.text.words import capitalized
from hotband.data.record.intervals import figure_interval
from hotband.inference.audit import shapes
from hotband.inference.audit.audited import Audited, Side
from hotband.inference.audit.compare import Comparison, compare
from hotband.views.interval import said
from hotband.views.report.curve import Curve, curve_of
from hotband.views.report.naming import Naming

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.record.load import LoadedRecord
    from hotband.inference.audit.difference import Difference

    Sides: TypeAlias = Mapping[str, Sequence[RecordDoc]]

# Ratio from which a multiple reads better than a percentage.
MULTIPLE = 2.0
# As in `hotband.inference.audit.difference`, which reads records and is loaded when used.
FASTER, SLOWER, NONE = "faster", "slower", "no difference shown"
# Share of a curve's highest IOPS that counts as nearly all.
MOST = 0.9


@dataclass(frozen=True)
class Answer:
    """`sentences` for the top of a page; `against` has the comparison of every further side with the first, None if
    they cannot be compared; `unlike` names the differences of their loads."""

    sentences: Sequence[str]
    against: Mapping[str, Comparison | None]
    unlike: Sequence[str] = ()
    curve: Curve | None = None


def answer(naming: Naming) -> Answer:
    """Return the answer for records by their differences; repeats are one side."""
    labels = list(naming.records)
    if not labels:
        return Answer([], {})
    sides = naming.sides()
    if len(labels) == 1:
        return Answer(_alone(naming.records[labels[0]].record), {})
    curve = curve_of(naming)
    if curve is not None:
        return Answer(_of_curve(curve), {}, curve=curve)
    if len(sides) == 1:
        return Answer(_of_repeats(naming), {})
    records = {name: [naming.records[label].record for label in labels] for name, labels in sides.items()}
    first, *others = sides
    against = {name: compared(naming, sides[first], sides[name]) for name in others}
    unlike = list(
        dict.fromkeys(words for comparison in against.values() if comparison is not None for words in comparison.unlike)
    )
    if unlike:
        sentence = f"Their loads differ ({'; '.join(unlike)}), so none is called faster."
        return Answer([sentence], against, unlike)
    if len(sides) == 2:
        return Answer(_of_two(records, first, others[0], against[others[0]]), against)
    return Answer(_of_many(naming, sides, records), against)


def compared(naming: Naming, a: Sequence[str], b: Sequence[str]) -> Comparison | None:
    """Compare side B with side A, labels of repeats each; None if they cannot be compared."""
    sides = []
    for labels in (a, b):
        runs = []
        for label in labels:
            record = naming.records[label]
            try:
                shapes.check(label, record.record)
            except UserError:
                return None
            runs.append(Audited(label, record.record, record.series))
        sides.append(Side(labels[0], runs))
    try:
        return compare(sides[0], sides[1], anyway=True)
    except UserError:
        return None


def mean(records: Sequence[RecordDoc], key: str) -> float | None:
    """Return a figure of a side: the mean of its repeats."""
    known = [value for record in records if (value := figure(record, key)) is not None]
    return sum(known) / len(known) if known else None


def figure(record: RecordDoc, key: str) -> float | None:
    """Return a figure of all I/Os."""
    return finite(record["summary"].get(key))


def is_open(record: RecordDoc) -> bool:
    """Return whether the record's rate was given: such a rate is no property of the machine."""
    return Audited("", record).asked.rate_iops is not None


# --- one --------------------------------------------------------------------------------------------------------


def _alone(record: RecordDoc) -> list[str]:
    iops = figure(record, "iops")
    if iops is None or not record["summary"].get("count"):
        trims = record["summary"].get("trim")
        if trims is None or not trims["count"]:
            return ["No I/O ended in the measured time."]
        mean, p99 = (span(trims[key]) for key in ("latency_mean_ns", "latency_p99_ns"))
        return [
            f"{number(trims['iops'])} trims/s. A trim takes {mean} on average; 99 of 100 take no longer than {p99}."
        ]
    depth = figure(record, "queue_depth_mean")
    outstanding = f" with {number(depth, 3)} outstanding" if depth else ""
    bandwidth = rate(record["summary"].get("bandwidth_bytes_per_s"))
    mean, p99 = (span(figure(record, key)) for key in ("latency_mean_ns", "latency_p99_ns"))
    sentence = f"{number(iops)} IOPS{_interval(record)}, {bandwidth}{outstanding}"
    return [f"{sentence}. An I/O takes {mean} on average; 99 of 100 take no longer than {p99}."]


def _interval(record: RecordDoc) -> str:
    """Return the interval of the rate in brackets, ` (90 % interval 363 to 686)`; empty if the record has none."""
    interval = figure_interval(record, "iops")
    return "" if interval is None else f" ({said(interval)})"


def _of_repeats(naming: Naming) -> list[str]:
    """Return how far apart repeats of one run are."""
    rates = [value for record in naming.records.values() if (value := figure(record.record, "iops"))]
    if not rates:
        return ["No I/O ended in the measured time."]
    middle = sum(rates) / len(rates)
    apart = 100 * (max(rates) - min(rates)) / middle
    ends = f"{number(min(rates))} to {number(max(rates))}"
    return [
        f"{number(middle)} IOPS, the mean of {len(rates)} repeats from {ends} ({percent(apart, signed=False)} apart)."
    ]


# --- two --------------------------------------------------------------------------------------------------------


def _of_two(sides: Sides, a: str, b: str, comparison: Comparison | None) -> list[str]:
    if all(is_open(record) for labels in sides.values() for record in labels):
        return [_latencies(a, b, sides, "latency_mean_ns", "mean")]
    rate, other = (mean(sides[name], "iops") for name in (a, b))
    if not rate or not other:
        return ["No rate is known for both, so they are not compared."]
    difference = comparison.difference("IOPS") if comparison else None
    first = _sentence(a, b, (rate, other), difference)
    repeats = f" Means of {' and '.join(str(len(labels)) for labels in sides.values())} repeats."
    many = repeats if any(len(labels) > 1 for labels in sides.values()) else ""
    return [f"{first} {_latencies(a, b, sides, 'latency_p99_ns', 'p99')}{many}"]


def _sentence(a: str, b: str, rates: tuple[float, float], difference: Difference | None) -> str:
    """Return the rates of two sides, and which is faster."""
    iops = f"{number(rates[1])} against {number(rates[0])} IOPS"
    if difference is None or difference.verdict not in (FASTER, SLOWER, NONE):
        why = difference.how if difference is not None else "they cannot be compared"
        order = f"{a} and {b} do the same IOPS" if rates[0] == rates[1] else f"{b} does {by(rates[1] / rates[0])} {a}"
        return f"{order}: {iops}. This is not certain: {why}."
    if difference.low_pct is None or difference.high_pct is None:
        return _of_one_run_each(a, b, rates, difference)
    low, high = difference.low_pct, difference.high_pct
    if difference.verdict == NONE:
        span = between(low, high, percent)
        return f"No difference in IOPS is shown between {a} and {b}: {iops} (95 % interval {span})."
    fast, slow, ratio = (b, a, rates[1] / rates[0]) if difference.verdict == FASTER else (a, b, rates[0] / rates[1])
    ends = sorted((1 + end / 100) if difference.verdict == FASTER else 1 / (1 + end / 100) for end in (low, high))
    iops = f"{number(max(rates))} against {number(min(rates))} IOPS"
    return f"{fast} is {faster(ratio)} {slow}: {iops} (95 % interval {_between(ends, ratio)})."


def _of_one_run_each(a: str, b: str, rates: tuple[float, float], difference: Difference) -> str:
    """Return the rates of two sides without data on how much runs differ: no interval, but a verdict."""
    iops = f"{number(rates[1])} against {number(rates[0])} IOPS"
    method = f"{capitalized(difference.how)}."
    if difference.verdict == NONE:
        return f"No difference in IOPS is shown between {a} and {b}: {iops}. {method}"
    fast, slow = (b, a) if rates[1] > rates[0] else (a, b)
    iops = f"{number(max(rates))} against {number(min(rates))} IOPS"
    return f"{fast} is {faster(max(rates) / min(rates))} {slow}: {iops}. {method}"


def faster(ratio: float) -> str:
    """Format a ratio of rates: `23.8 % faster than`, from 2 on `2.4 times as fast as`."""
    return f"{number(ratio)} times as fast as" if ratio >= MULTIPLE else f"{share(ratio - 1)} faster than"


def by(ratio: float) -> str:
    """Format a ratio of rates: `23.8 % more IOPS than`, or `2.4 times as many`."""
    if ratio >= MULTIPLE:
        return f"{number(ratio)} times the IOPS of"
    return f"{share(abs(ratio - 1))} {'more' if ratio >= 1 else 'fewer'} IOPS than"


def _between(ends: Sequence[float], ratio: float) -> str:
    """Format the ends of a ratio, in the form of the ratio."""
    if ratio >= MULTIPLE:
        return f"{between(ends[0], ends[1])} times"
    return between(ends[0] - 1, ends[1] - 1, share)


def _latencies(a: str, b: str, sides: Sides, key: str, name: str) -> str:
    """Return which side waits longer, by one of the latencies."""
    first, other = (mean(sides[side], key) for side in (a, b))
    if not first or not other:
        return ""
    long, short, ratio = (a, b, first / other) if first > other else (b, a, other / first)
    times = _as_many(ratio)
    most, least = span(max(first, other)), span(min(first, other))
    if ratio == 1.0:
        return f"Their {name} latency is the same, {most}."
    return f"The {name} latency of {long} is {most}, {times} that of {short} ({least})."


# --- several ----------------------------------------------------------------------------------------------------


def _of_many(naming: Naming, labels: Mapping[str, Sequence[str]], sides: Sides) -> list[str]:
    given = all(is_open(record) for labels in sides.values() for record in labels)
    key = "latency_mean_ns" if given else "iops"
    known = {name: value for name, labels in sides.items() if (value := mean(labels, key))}
    if len(known) < 2:
        return ["Too few rates are known to compare them."]
    ordered = sorted(known.items(), key=lambda item: item[1] if given else -item[1])
    (best, most), (second, next_) = ordered[0], ordered[1]
    if given:
        others = ", ".join(f"{label} {span(value)}" for label, value in ordered[1:4])
        return [f"At the requested rate {best} completes first: {span(most)} on average; {others}."]
    level = _level(naming, labels[best], labels[second])
    rest = ordered[1:4] if len(ordered) <= 4 else [ordered[1], ordered[-1]]
    times = " and ".join(f"{_as_many(most / value)} {label} ({number(value)})" for label, value in rest)
    head = f"{best} is fastest with {number(most)} IOPS: {times}."
    if level:
        head = (
            f"{best} ({number(most)} IOPS) and {second} ({number(next_)}) lead, with no difference shown between them."
        )
        head += f" Last is {ordered[-1][0]} with {number(ordered[-1][1])}." if len(ordered) > 2 else ""
    return [f"{head} {_tails(sides)}"]


def _as_many(ratio: float) -> str:
    return f"{number(ratio)} times" if ratio >= MULTIPLE else f"{share(ratio - 1)} over"


def _level(naming: Naming, a: Sequence[str], b: Sequence[str]) -> bool:
    """Return whether two sides show no difference."""
    comparison = compared(naming, a, b)
    difference = None if comparison is None else comparison.difference("IOPS")
    return difference is not None and difference.verdict == NONE


def _tails(sides: Sides) -> str:
    """Return the shortest and the longest p99."""
    known = {name: value for name, labels in sides.items() if (value := mean(labels, "latency_p99_ns"))}
    if len(known) < 2:
        return ""
    low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    return f"At p99 {low} waits {span(known[low])}, {high} {span(known[high])}."


# --- curves -----------------------------------------------------------------------------------------------------


def _of_curve(curve: Curve) -> list[str]:
    """Return the maximum of every line, and the leader in each range."""
    most: dict[str, tuple[float, float, LoadedRecord]] = {}
    for line, points in curve.lines.items():
        known = [(value, at, item) for at, item in points.items() if (value := figure(item.record, "iops"))]
        if known:
            most[line] = max(known, key=lambda point: point[0])
    if not most:
        return ["No rate is known."]
    if len(most) > 1:
        return [f"{_leads(curve)} {_tops(curve, most)}".strip()]
    ((line, (iops, at, best)),) = most.items()
    points = curve.lines[line]
    enough = next(
        (position, loaded) for position, loaded in points.items() if (figure(loaded.record, "iops") or 0) >= MOST * iops
    )
    subject = f"{line} does" if line else "It does"
    sentence = f"{subject} most at {curve.key} {curve.text(at)}: {number(iops)} IOPS, p99 {_p99(best)}."
    if enough[0] == at:
        return [sentence]
    rest = f"{number(figure(enough[1].record, 'iops'))} IOPS, p99 {_p99(enough[1])}"
    return [f"{sentence} From {curve.key} {curve.text(enough[0])} on it does at least 90 % of that ({rest})."]


def _p99(loaded: LoadedRecord) -> str:
    return span(figure(loaded.record, "latency_p99_ns"))


def _tops(curve: Curve, most: Mapping[str, tuple[float, float, LoadedRecord]]) -> str:
    named = [f"{line} {number(iops)} at {curve.text(at)}" for line, (iops, at, _) in most.items()]
    listed = ", ".join(named[:4]) + (f" and {len(named) - 4} more" if len(named) > 4 else "")
    return f"The most of each: {listed}."


def _leads(curve: Curve) -> str:
    """Return the fastest line of each range of points, with its lead over the next."""
    leads: list[tuple[float, str, float]] = []
    for at in curve.places:
        known = [(value, line) for line, points in curve.lines.items()
                 if at in points and (value := figure(points[at].record, "iops"))]  # fmt: skip
        if len(known) > 1:
            (first, line), (second, _) = sorted(known, reverse=True)[:2]
            leads.append((at, line, first / second))
    if not leads:
        return ""
    lines = dict.fromkeys(line for _, line, _ in leads)
    (low, _, lead), (high, _, last) = leads[0], leads[-1]
    if len(lines) == 1:
        (leader,) = lines
        others = [line for line in curve.lines if line != leader]
        next_ = others[0] if len(others) == 1 else "the next"
        ends = f"{_as_many(lead)} {next_} at {curve.text(low)}, {_as_many(last)} it at {curve.text(high)}"
        return f"{leader} has the highest IOPS at every {curve.key}: {ends}."
    pieces = []
    for line in lines:
        positions = [curve.text(at) for at, leader, _ in leads if leader == line]
        pieces.append(f"{line} at {', '.join(positions)}")
    return f"Most IOPS by {curve.key}: {'; '.join(pieces)}."
