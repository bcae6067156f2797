"""The answer of a sweep in a few sentences made from its numbers: the best machine in each range, crossings of curves,
and saturation. Left out: reasons."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import NamedTuple

from hotband.base.text.numbers import number, percent, span
from hotband.base.text.words import enumerated
from hotband.questions.sweeps.sweep import Sweep
from hotband.views.sweeps.curves import LOADS, Along, Curve, Curves, Dot
from hotband.views.sweeps.separated import Verdict, compare
from hotband.views.sweeps.slo import slo_sentence

IOPS, P99, COMMIT, RATE = "iops", "latency_p99_ns", "commit_latency_p99_ns", "rate_iops"
SATURATED = 0.9
"""Share of the maximum from which a rate is called saturated: the remaining gain costs more in latency."""
STILL_RISES = 1.05
"""Ratio of the last two values of a rate from which it still rises."""
MOST_NAMED = 4
"""Most lines that a sentence lists one by one."""


@dataclass(frozen=True)
class Better:
    """A figure, the name of its best value, and its format."""

    figure: str
    words: str
    name: str
    is_less: bool
    text: Callable[[float], str]


RATES = Better(IOPS, "most IOPS", "IOPS", False, lambda value: f"{number(value, 3)} IOPS")
LATENCIES = Better(P99, "lowest p99 latency", "p99 latency", True, span)
COMMITS = Better(COMMIT, "lowest p99 of a commit (write and flush)", "p99 of a commit (write and flush)", True, span)


TRANSACTIONS = Better("transactions_per_s", "most TPS", "TPS", False, lambda value: f"{number(value, 3)} TPS")
OF_TRANSACTIONS = Better(
    "transaction_latency_p99_ns", "lowest p99 of a transaction", "p99 of a transaction", True, span
)


def _figures(curves: Curves) -> tuple[Better, ...]:
    """Return the figures by which lines are ranked. A database waits for its commits, not for its writes, and people
    wait for transactions."""
    if curves.every(lambda dot: dot.figures.get(TRANSACTIONS.figure)):
        return (OF_TRANSACTIONS, TRANSACTIONS)
    return (COMMITS, RATES) if curves.every(lambda dot: dot.figures.get(COMMIT)) else (RATES, LATENCIES)


def answers_of(sweep: Sweep) -> list[str]:
    """Return the sentences; none if no run finished."""
    curves = Curves(sweep)
    if not curves.panels:
        return []
    figures = _figures(curves)
    rates = next(better for better in figures if not better.is_less)
    if len(curves.panels) > 1:
        found = [_over_panels(curves, better) for better in figures]
    elif curves.along is None:
        found = [_ranked(next(iter(curves.panels.values())), better) for better in figures]
    else:
        panel, along = next(iter(curves.panels.values())), curves.along
        found = [_along(panel, along, better) for better in figures]
        if along.key == RATE and len(panel) <= MOST_NAMED:
            found[figures.index(rates)] = _kept_up(panel, along, curves.missed, rates)
        else:
            found.append(_saturation(panel, along, rates))
    return [sentence for sentence in [slo_sentence(sweep), *found, _predictions(curves)] if sentence]


def compared(one: Dot, other: Dot, figure: str) -> Verdict:
    """Return whether two values can be distinguished. Intervals of predictions do not count, because the model error
    affects both machines alike."""
    return compare(one.seeds[figure], other.seeds[figure])


class Best(NamedTuple):
    """The best line, with those that are like it, and the seeds of a point if they do not separate some from it."""

    lines: tuple[str, ...]
    unresolved_by: int | None = None

    @property
    def text(self) -> str:
        """Return the names: `a and b` are alike, of `a or b` one may be better."""
        names = enumerated(self.lines, MOST_NAMED)
        return names if self.unresolved_by is None else " or ".join(names.rsplit(" and ", 1))


def overlap(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Return whether two intervals overlap."""
    return one[0] <= other[1] and other[0] <= one[1]


def best_of(dots: Mapping[str, Dot], better: Better) -> Best:
    """Return the best line, with those that cannot be distinguished from it; no line if nothing was measured."""
    known = {line: dot for line, dot in dots.items() if better.figure in dot.figures}
    if not known:
        return Best(())
    sign = 1 if better.is_less else -1
    best = min(known, key=lambda line: sign * known[line].figures[better.figure])
    verdicts = {line: compared(dot, known[best], better.figure) for line, dot in known.items()}
    lines = tuple(line for line, verdict in verdicts.items() if verdict is not Verdict.SEPARATE)
    is_open = Verdict.UNRESOLVED in verdicts.values()
    return Best(lines, min(len(known[line].seeds[better.figure].values) for line in lines) if is_open else None)


def _repeat(seeds: int) -> str:
    return f"{'1 seed does' if seeds == 1 else f'{seeds} seeds do'} not separate"


def _columns(panel: Mapping[str, Curve]) -> dict[str, dict[str, Dot]]:
    """Return the points of the lines by position along the axis."""
    places = {dot.x: dot.text for curve in panel.values() for dot in curve}
    return {
        places[x]: {line: dot for line, curve in panel.items() for dot in curve if dot.x == x} for x in sorted(places)
    }


def _along(panel: Mapping[str, Curve], along: Along, better: Better) -> str:
    """Return the ranges in which each line is best; for one line, its range."""
    if len(panel) == 1:
        return _course(next(iter(panel.values())), along, better)
    columns = _columns(panel)
    winners = [(text, best) for text, dots in columns.items() if (best := best_of(dots, better)).lines]
    runs = [(best, [text for text, _ in of]) for best, of in groupby(winners, lambda one: one[1])]
    if not runs:
        return ""
    if len(runs) == 1:
        best, texts = runs[0]
        over = f"{along.title}, {texts[0]} to {texts[-1]}"
        if best.unresolved_by is not None:
            return f"{_open(best, better)} at any {over}: repeat more."
        factor = "" if len(best.lines) > 1 else _factors(columns, best.lines[0], better)
        return f"{_has(best, better)} at every {over}{factor}."
    # If the best line changes more often, a list of ranges is useless.
    if len(runs) > MOST_NAMED:
        return _counted(winners, better, along.title)
    (first, texts), *others = runs
    has = "has" if len(first.lines) == 1 or first.unresolved_by is not None else "share"
    named = [f"{first.text} {has} the {better.words} {_where(texts, along, True)}"]
    named += [f"{best.text} {_where(places, along, False)}" for best, places in others]
    return f"{'; '.join(named)}.{_unresolved([best for best, _ in runs])}"


def _where(texts: Sequence[str], along: Along, is_first: bool) -> str:
    if len(texts) == 1:
        return f"at {along.title} {texts[0]}"
    return f"up to {along.title} {texts[-1]}" if is_first else f"from {texts[0]} to {texts[-1]}"


def _factors(columns: Mapping[str, Mapping[str, Dot]], line: str, better: Better) -> str:
    """Return the smallest and the largest lead of the best over the next."""
    found = []
    for dots in columns.values():
        values = {name: dot.figures[better.figure] for name, dot in dots.items() if better.figure in dot.figures}
        others = [value for name, value in values.items() if name != line and value > 0]
        if line in values and values[line] > 0 and others:
            next_one = min(others) if better.is_less else max(others)
            found.append(next_one / values[line] if better.is_less else values[line] / next_one)
    if not found:
        return ""
    low, high = number(min(found), 3), number(max(found), 3)
    times = low if low == high else f"{low} to {high}"
    return f"; that of the next is {times} times as long" if better.is_less else f", {times} times as many as the next"


def _has(best: Best, better: Better) -> str:
    if len(best.lines) == 1:
        return f"{best.text} has the {better.words}"
    return f"{best.text} are alike in {better.name}"


def _open(best: Best, better: Better) -> str:
    """Return that the seeds do not decide which of these lines is best."""
    assert best.unresolved_by is not None, "the seeds do not decide"
    return f"{_repeat(best.unresolved_by)} {enumerated(best.lines, MOST_NAMED)} in {better.name}"


def _unresolved(every: Sequence[Best]) -> str:
    """Return a sentence that explains `a or b`, if some lines are named so."""
    seeds = [best.unresolved_by for best in every if best.unresolved_by is not None]
    return f' {_repeat(min(seeds))} lines joined by "or": repeat more.' if seeds else ""


def _course(curve: Curve, along: Along, better: Better) -> str:
    """Describe the course of a figure along the axis."""
    known = [dot for dot in curve if better.figure in dot.figures]
    if len(known) < 2:
        return ""
    first, last = known[0], known[-1]
    begin, end = (better.text(dot.figures[better.figure]) for dot in (first, last))
    name = f"The {better.name}" if better is COMMITS else "p99 latency" if better.is_less else "The rate"
    is_level = compared(first, last, better.figure) is not Verdict.SEPARATE
    verb = "goes" if is_level else "rises" if _rises(first, last, better) else "falls"
    return f"{name} {verb} from {begin} at {along.title} {first.text} to {end} at {last.text}."


def _rises(first: Dot, last: Dot, better: Better) -> bool:
    return last.figures[better.figure] > first.figures[better.figure]


def _saturation(panel: Mapping[str, Curve], along: Along, rates: Better) -> str:
    """Return the value from which each line is close to its maximum, for parameters of the load."""
    if along.key not in LOADS or len(along.texts) < 3:
        return ""
    end = max((dot for curve in panel.values() for dot in curve), key=lambda dot: dot.x).text
    reached, rising = [], []
    for line, curve in panel.items():
        known = [dot for dot in curve if dot.figures.get(rates.figure)]
        if len(known) < 3:
            continue
        values = [dot.figures[rates.figure] for dot in known]
        at = next(dot for dot, value in zip(known, values, strict=True) if value >= SATURATED * max(values))
        if values[-1] > STILL_RISES * values[-2]:
            rising.append(line)
        else:
            reached.append(f"{at.text}{_of_line(line, panel)} ({rates.text(max(values))} at most)")
    if len(reached) > MOST_NAMED:
        reached = []
    share = f"{percent(SATURATED * 100, signed=False)} of {'the' if len(panel) == 1 else 'its'} highest rate"
    said = [f"{share} is reached at {along.title} {enumerated(reached, MOST_NAMED)}"] if reached else []
    if rising:
        names = "the rate" if len(panel) == 1 else enumerated(rising, MOST_NAMED)
        said.append(f"{names} still {'rises' if len(rising) == 1 else 'rise'} at {end}")
    if not said:
        return ""
    text = "; ".join(said)
    if len(panel) > 1 and len(rising) == len(panel):
        return f"All rates still rise at {along.title} {end}."
    # The name of a machine keeps its lower-case letter.
    return f"{text}." if not reached and len(panel) > 1 else f"{text[:1].upper()}{text[1:]}."


def _kept_up(panel: Mapping[str, Curve], along: Along, missed: Container[tuple[str, str]], rates: Better) -> str:
    """Return the highest requested rate that each line serves in full, and how much of the next one it serves."""
    ends: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for line, curve in panel.items():
        known = [dot for dot in curve if rates.figure in dot.figures]
        first = next((n for n, dot in enumerate(known) if (line, dot.text) in missed), len(known))
        kept = known[first - 1].text if first else ""
        beyond, served = "", ""
        if first < len(known):
            beyond, served = known[first].text, number(known[first].figures[rates.figure], 3)
        ends.setdefault((kept, beyond), []).append((line, served))
    if list(ends) == [(along.texts[-1], "")]:
        return f"Every {along.title} is served, {along.texts[0]} to {along.texts[-1]}."
    found = []
    for (kept, beyond), lines in ends.items():
        names = "the machine" if len(panel) == 1 else enumerated([line for line, _ in lines], MOST_NAMED)
        keeps = "keeps up" if len(lines) == 1 else "keep up"
        keeps += f" to {kept} {rates.name}" if kept else " with no requested rate"
        served = (
            f"; of {beyond} requested, {enumerated([of for _, of in lines], MOST_NAMED)} are served" if beyond else ""
        )
        found.append(f"{names} {keeps}{served}")
    text = ". ".join(found)
    return f"{text[:1].upper()}{text[1:]}." if len(panel) == 1 else f"{text}."


def _of_line(line: str, panel: Mapping[str, Curve]) -> str:
    return f" by {line}" if len(panel) > 1 else ""


def _over_panels(curves: Curves, better: Better) -> str:
    """Return the best of all points, and how often each line is best, for several panels."""
    every = [
        (line, panel, dot)
        for panel, lines in curves.panels.items()
        for line, curve in lines.items()
        for dot in curve
        if better.figure in dot.figures
    ]
    if not every:
        return ""
    sign = 1 if better.is_less else -1
    line, panel, dot = min(every, key=lambda one: sign * one[2].figures[better.figure])
    along = f"{curves.along_title} {dot.text}" if curves.along is not None else ""
    at = ", ".join(word for word in (along, panel) if word)
    value = better.text(dot.figures[better.figure])
    whole = f"The {better.words} of all: {value}, {line} at {at}."
    if len(curves.lines) == 1:
        return whole
    columns = [pair for of in curves.panels.values() for pair in _columns(of).items()]
    winners = [(text, best) for text, dots in columns if (best := best_of(dots, better)).lines]
    return f"{whole} {_counted(winners, better, curves.along_title)}"


def _counted(winners: Sequence[tuple[str, Best]], better: Better, along: str) -> str:
    """Return how often each line is best, and where, for lines that rarely are. `winners` has for each point its text
    along the axis and the best lines."""
    where: dict[str, list[str]] = {}
    for text, best in winners:
        for line in best.lines:
            where.setdefault(line, []).append(text)
    order = sorted(where, key=lambda line: -len(where[line]))
    first, *others = order[:MOST_NAMED]
    if len(where[first]) == len(winners) and not others:
        return f"{first} has the {better.words} at all {len(winners):,} points."
    said = [f"{line} at {len(where[line]):,}{_places(where[line], along)}" for line in others]
    seeds = [best.unresolved_by for _, best in winners if best.unresolved_by is not None]
    shared = sum(len(best.lines) > 1 for _, best in winners) - len(seeds)
    alikes = f"; {shared:,} are shared" if shared else ""
    alikes += f"; {_repeat(min(seeds))} the best at {len(seeds):,}: repeat more" if seeds else ""
    more = f", {', '.join(said)}" if said else ""
    return f"{first} has the {better.words} at {len(where[first]):,} of {len(winners):,} points{more}{alikes}."


def _places(texts: Sequence[str], along: str) -> str:
    """Return where a line is best, if that is at one or two positions along the axis."""
    places = list(dict.fromkeys(texts))
    return f" ({along} {' and '.join(places)})" if along and len(places) <= 2 else ""


def _predictions(curves: Curves) -> str:
    """Return the points at which intervals of predictions overlap, which limits the certainty of the best."""
    if curves.sweep.level is None:
        return ""
    counts = [(name, *_overlaps(curves, figure)) for name, figure in (("IOPS", IOPS), ("p99", P99))]
    said = [f"{name} overlap at {crossing:,} of {points:,} points" for name, crossing, points in counts if points]
    return f"The {curves.sweep.level:g} % intervals of predicted {', those of '.join(said)}." if said else ""


def _overlaps(curves: Curves, figure: str) -> tuple[int, int]:
    """Return at how many points intervals of a figure overlap, and how many points have several."""
    crossing, points = 0, 0
    for panel in curves.panels.values():
        for dots in _columns(panel).values():
            ends = [dot.ends[figure] for dot in dots.values() if figure in dot.ends]
            points += len(ends) > 1
            crossing += any(overlap(*pair) for pair in combinations(ends, 2))
    return crossing, points


def _ranked(panel: Mapping[str, Curve], better: Better) -> str:
    """Return the best and the worst, for a sweep without a numeric axis."""
    dots = {line: curve[0] for line, curve in panel.items() if better.figure in curve[0].figures}
    if len(dots) < 2:
        alone = _one(dots)
        # The text of a latency has its unit, that of a rate its name.
        name = f" {better.name}" if better.is_less else ""
        return f"{better.text(alone.figures[better.figure])}{name}." if alone else ""
    sign = 1 if better.is_less else -1
    order = sorted(dots, key=lambda line: sign * dots[line].figures[better.figure])
    first, last = order[0], order[-1]
    best = best_of({line: dots[line] for line in order}, better)
    if len(best.lines) == len(order):
        return f"{_has(best, better)}." if best.unresolved_by is None else f"{_open(best, better)}: repeat more."
    values = [better.text(dots[line].figures[better.figure]) for line in (first, last)]
    end = "highest" if better.is_less else "fewest"
    has = "has" if len(best.lines) == 1 or best.unresolved_by is not None else "have"
    whole = f"{best.text} {has} the {better.words}, {values[0]}; {last} has the {end}, {values[1]}."
    return f"{whole}{_unresolved([best])}"


def _one(dots: Mapping[str, Dot]) -> Dot | None:
    return next(iter(dots.values()), None)
