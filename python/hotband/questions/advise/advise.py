"""Recommends what to buy: `hotband advise` and `hb.advise` (docs/guides/advise.md)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from functools import partial

from hotband.base.question import Way
from hotband.base.text import numbers
from hotband.base.text.numbers import counted
from hotband.data.record.durability import durability_lines
from hotband.data.record.record import record_of
from hotband.data.record.remarks import remarks_of
from hotband.data.record.unmodelled import unmodelled_notes_of
from hotband.execution.experiment import Say
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.inference.interval.of_run import Watch
from hotband.questions.advise import words
from hotband.questions.advise.advice import Advice, Point
from hotband.questions.advise.asked import AdviseQuestion, Needs, needs_of
from hotband.questions.advise.between import fewest
from hotband.questions.advise.candidates import Listed, assumes_error_rate, candidates_of, lacks_error_rate, space_of
from hotband.questions.advise.finalists import (
    FAILED_IOS,
    Finalist,
    contradictions_of,
    drawn,
    holds_within,
    model_bounds,
    point_of,
    with_failures,
)
from hotband.questions.advise.front import Tried, front_of, order, read_figures, shown_figure
from hotband.questions.advise.measure import Bench, Measured, loads_from
from hotband.questions.advise.objective import furthest
from hotband.questions.advise.offered import offered
from hotband.questions.advise.prices import Prices, class_prices, expect_known, read_prices, unknown_in
from hotband.questions.advise.search import Searched, search
from hotband.questions.advise.sensible import REASON, sensible
from hotband.questions.find.figures import Figure, commit_notes

COUNTED_AT_ONCE = 4
"""Drives whose candidates are counted without showing progress: some tenths of a second each."""
SHOWN = 12
"""Most points of the Pareto front in a printed table; --json, --format csv and the page have all of them."""


def answer(question: AdviseQuestion, way: Way) -> Advice:
    """Return the advice. Raises UserError, OSError and RunsInterrupted."""
    return advise(question, way.watch, way.say)


def advise(question: AdviseQuestion, watch: Watch, say: Say) -> Advice:
    """Return the advice. Raises UserError, before anything runs if possible; OSError; RunsInterrupted."""
    needs = needs_of(question)
    space = space_of(question.candidates, needs.tolerated)
    if question.prices is None and not space.named:
        space.drives = offered(space.drives)
    names = [drive.name for drive in space.drives]
    prices = class_prices(names) if question.prices is None else read_prices(question.prices)
    expect_known(prices, names)
    # Few drives are counted at once, and a mistake in the question is one line then.
    with watch("candidates") if len(space.drives) > COUNTED_AT_ONCE else nullcontext() as tick:
        listed = candidates_of(space, needs, prices, tick)
    bench = Bench(
        loads_from(question.workloads, listed.candidates[0].machine), read_figures(needs), needs.duty, question.seed,
        watch=watch, say=say, out=question.out, fresh=question.fresh, jobs=question.jobs,
    )  # fmt: skip
    say(f"{len(listed.candidates):,} of {listed.of:,} candidates hold the data and survive the failures")
    try:
        searched = search(listed.candidates, needs, bench)
        if not space.counts:
            is_sure = partial(_is_sure, needs=needs, level=question.interval)
            fewest(searched, listed, needs, prices, bench, is_sure)
        return _Advising(question, needs, prices, listed, bench, searched, unknown_in(prices, names)).advice()
    except (RunsInterrupted, KeyboardInterrupt):
        best = (
            f"the best so far, {bench.best[1]}, meets the objective" if bench.best else "none meets the objective yet"
        )
        say(f"stopped after {counted(bench.runs, 'run')} for {counted(len(listed.candidates), 'candidate')}: {best}")
        raise


def _is_sure(tried: Tried, needs: Needs, level: float) -> bool:
    """Return whether a candidate surely meets the requirements."""
    return point_of(tried, needs, level).surely


VOLATILE_NOTE = (
    "volatile write caches are not recommended: a power failure loses acknowledged, unflushed writes; hotband find "
    "leaves them on unless wce=off is set"
)
OUTSIDE = "outside the objective by figures of the same product"
"""Reason to leave out a candidate that meets the objective by its prediction alone."""


class _Advising:
    """Turns the result of the search into an advice."""

    def __init__(
        self,
        question: AdviseQuestion,
        needs: Needs,
        prices: Prices,
        listed: Listed,
        bench: Bench,
        searched: Searched,
        unknown: Sequence[str],
    ) -> None:
        self.asked, self.needs, self.prices = question, needs, prices
        self.listed, self.bench, self.found = listed, bench, searched
        self.unknown_prices = unknown
        self.of = shown_figure(needs)
        self.by_name = {tried.name: tried for tried in searched.good}
        self.notes: list[str] = []
        self.too_many = 0

    def advice(self) -> Advice:
        """Return the advice: the Pareto front, the finalists and the sentences."""
        if self.needs.degraded:
            self._drop_degraded()
        self._drop_contradicted()
        front = sorted(self.found.front, key=lambda tried: order(tried, self.of))
        found = [point_of(tried, self.needs, self.asked.interval) for tried in front]
        points = sensible(found, lambda point: self.by_name[point.name].candidate.drive.is_flash)
        points.sort(key=lambda point: not point.is_checked)
        self.too_many = len(found) - len(points)
        if not points:
            return self._nothing()
        ranked = self._ranked(points)
        shown = thinned(points, ranked[0], SHOWN)
        points = self._failed(points, shown, ranked[0])
        by_name = {point.name: point for point in points}
        final = self._drawn(by_name[ranked[0].name])
        runner = by_name[ranked[1].name] if len(ranked) > 1 else None
        advice = self._made(points, final, runner, [point.name for point in shown])
        advice.replaced(final.point)
        return advice

    def _drop_degraded(self) -> None:
        """Leave out candidates that miss the conditions with a drive failed."""
        good = self.found.good
        pairs = [
            (tried.candidate, name) for tried in good for name in self.bench.loads if tried.candidate.layout != "raid0"
        ]
        runs = self.bench.measure(pairs, FAILED_IOS, "with a drive failed, all", failed=True) if pairs else {}
        remaining = []
        # Missing a condition only with a drive failed is nearer than missing one while all drives work.
        before, self.found.nearest = self.found.nearest, None
        for one in good:
            failed = Tried(
                one.candidate, {name: runs[one.name, name] for name in self.bench.loads if (one.name, name) in runs}
            )
            miss = furthest(failed, self.needs, self.needs.degraded)
            if not failed.measured:
                self.found.left_out["without redundancy with a drive failed"] += 1
            elif miss is None:
                remaining.append(one)
            else:
                self.found.leave_out(one, miss.with_a_drive_failed())
        self.found.nearest = self.found.nearest or before
        self.found.good = remaining
        self.found.front = front_of(remaining, self.of)

    def _drop_contradicted(self) -> None:
        """Leave out candidates that meet the objective by their prediction alone, as measured figures of the product
        show; others may be shown in their place."""
        searched = self.found
        while contradicted := {
            tried.name for tried in searched.front if not holds_within(tried, self.needs, self._bounds, better=True)
        }:
            searched.left_out[OUTSIDE] += len(contradicted)
            searched.good = [tried for tried in searched.good if tried.name not in contradicted]
            searched.front = front_of(searched.good, self.of)

    def _bounds(self, measured: Measured, figure: Figure) -> tuple[float, float]:
        return model_bounds(measured, figure, self.asked.interval)

    def _ranked(self, points: Sequence[Point]) -> list[Point]:
        """Sort points for the recommendation: those that surely meet the requirements first, those never validated
        last, each group in the order of the front. Volatile caches are only for users who ask for them by name."""
        pool = [point for point in points if point.cache != "on"]
        if pool and any(candidate.is_volatile for candidate in self.listed.candidates):
            self.notes.append(VOLATILE_NOTE)
        return sorted(pool or points, key=lambda point: (not point.surely, not point.is_checked))

    def _failed(self, points: list[Point], shown: Sequence[Point], first: Point) -> list[Point]:
        """Add the results of runs with a drive failed: of all disks that are shown, and of the recommended solid-state
        drive."""
        names = {point.name for point in shown if not self.by_name[point.name].candidate.drive.is_flash}
        names.add(first.name)
        names = {key for key in names if self.by_name[key].candidate.layout != "raid0"}
        pairs = [
            (self.by_name[point.name].candidate, name)
            for point in points
            if point.name in names
            for name in point.latencies
        ]
        if not pairs:
            return points
        runs = self.bench.measure(pairs, FAILED_IOS, "with a drive failed", failed=True)
        if not runs:
            self.notes.append(
                "No run with a failed drive: the model refuses it, or it needs more memory than this computer has."
            )
        return with_failures(points, self.by_name, self.needs, runs)

    def _drawn(self, point: Point) -> Finalist:
        return drawn(point, self.by_name[point.name], self.needs, self.asked, self.bench)

    def _made(self, points: list[Point], chosen: Finalist, runner: Point | None, shown: Sequence[str]) -> Advice:
        priced = bool(self.prices.of)
        level, several = self.asked.interval, len(self.asked.workloads) > 1
        answer = words.answer_of(chosen.point, self.needs, self.of, level, self.prices.currency, several)
        advice = self._advice(answer, words.rests_on(chosen, runner, self.needs, self.of, priced), points, shown)
        advice.recommended, advice.runner_up, advice.values = chosen.point, runner, chosen.values
        advice.counts_tried = self._counts(chosen.point)
        return advice

    def _nothing(self) -> Advice:
        near = self.found.nearest
        sentences = words.nothing_of(near and (near[0].name, near[1].says), dict(self._left_out()))
        advice = self._advice(sentences, [], [], [])
        advice.nearest = near and point_of(near[0], self.needs, self.asked.interval)
        advice.counts_tried = self._counts(advice.nearest) if advice.nearest else []
        return advice

    def _counts(self, point: Point) -> list[int]:
        """Return the drive counts that were tried in the layout, with the point's write cache."""
        family = (point.drive, point.layout, point.cache)
        tried = (each for each in self.listed.candidates if (each.drive.name, each.layout, each.cache) == family)
        return sorted({candidate.count for candidate in tried})

    def _left_out(self) -> Counter[str]:
        return Counter(self.listed.left_out) + self.found.gone + Counter({REASON: self.too_many})

    def _advice(self, answer: list[str], rests: list[str], points: list[Point], shown: Sequence[str]) -> Advice:
        limit = next((limit.bound for limit in self.needs.limits if limit.figure == self.of), None)
        return Advice(
            answer, rests, None, None, str(self.of),
            words.conditions_text(self.needs.slo), [workload.name for workload in self.asked.workloads],
            self.asked.interval,
            self.prices.currency, self.needs.bytes_at_end, self.needs.tolerated, self.needs.years,
            self.listed.of, self._left_out(), self.bench.runs, self.bench.ios, points, None,
            [point for point in points if point.name in shown], limit, [],
            [
                *self._of_load(shown), *self._uncounted(shown), *self._unmodelled(shown),
                *self._contradicted(point for point in points if point.name in shown), *self._notes(),
            ],
            self.prices.by_class,
        )  # fmt: skip

    def _of_load(self, shown: Sequence[str]) -> list[str]:
        """Return notes on the shown points under a load that flushes: whose acknowledged writes are safe only after a
        flush, and if a condition is judged by the latency of commits."""
        runs = {name: [run.finished for run in self.by_name[name].measured.values()] for name in shown}
        unprotected = durability_lines(
            (name, note) for name, known in runs.items() for run in known for note in remarks_of(run.record)
        )
        records = [record_of(run) for known in runs.values() for run in known]
        return [*unprotected, *commit_notes(read_figures(self.needs), records)]

    def _uncounted(self, shown: Sequence[str]) -> list[str]:
        """Return notes on drives among the shown points whose rate of sector errors is assumed or missing."""
        candidates = [self.by_name[name].candidate for name in shown]
        assumed = dict.fromkeys(candidate.drive.name for candidate in candidates if assumes_error_rate(candidate))
        notes = [f"rate of unreadable sectors assumed by drive class: {' and '.join(assumed)}"] if assumed else []
        unknown = dict.fromkeys(one.drive.name for one in candidates if lacks_error_rate(one))
        if not unknown:
            return notes
        return [
            *notes,
            f"the chance of loss of {' and '.join(unknown)} excludes sectors that cannot be read during a rebuild, "
            "because the catalog has no error rate: it is not comparable with those of other drives",
        ]

    def _unmodelled(self, shown: Sequence[str]) -> list[str]:
        """Return notes on unmodelled mechanisms that affect the latencies of the shown points, one per point."""
        notes = []
        for name in shown:
            records = [measured.finished.record for measured in self.by_name[name].measured.values()]
            notes += [f"{name}: {note}" for note in unmodelled_notes_of(records)[:1]]
        return notes

    def _contradicted(self, points: Iterable[Point]) -> list[str]:
        """Return notes on points whose latency lies outside its interval, by measured figures of the product."""
        return [
            f"{point.name}: {note}"
            for point in points
            for note in contradictions_of(point, self.by_name[point.name], self.needs, self.asked.interval)
        ]

    def _notes(self) -> list[str]:
        """Return the notes of the advice."""
        notes = list(self.notes)
        if not self.prices.of:
            notes.append("no prices: ranked by drives, then watts")
        if self.asked.prices is None and "drives" not in self.asked.candidates:
            notes.append(
                "not tried: drives for homes (candidates drives=nas, drives=consumer), and those that another drive "
                "exceeds in everything for no more money"
            )
        unknown = ", ".join(self.unknown_prices)
        unused = [f"prices of no known drive, and not used: {unknown}"] if unknown else []
        if self.listed.unpriced:
            unused.append(f"without a price and left out: {', '.join(self.listed.unpriced)}")
        notes += ["; ".join(unused)] if unused else []
        says = {load.says() for load in self.bench.loads.values()}
        if says != {"an open loop"}:
            notes.append(
                "a closed loop issues I/Os as fast as they complete: its latency is judged unchanged, and its writes "
                "wear drives for the share of time that duty states"
            )
        if self.needs.bytes_at_end > self.needs.bytes_today:
            grown, years = self.needs.bytes_at_end / 1e12, words.counted_years(self.needs.years)
            notes.append(f"{numbers.number(grown)} TB are needed after {years} of growth; loads stay as they are")
        if any(tried.candidate.drive.is_flash for tried in self.found.good):
            notes.append(
                "solid-state drives: arrays of at most 4 to 7 at a fraction of their size, every drive with its load, "
                "represent larger ones"
            )
        return notes


def thinned(points: Sequence[Point], first: Point, most: int) -> list[Point]:
    """Return at most `most` points, in the order of the front: the recommended one, the best in each metric, then those
    farthest from the points chosen so far, in logarithms of all metrics."""
    if len(points) <= most:
        return list(points)
    places = {point.name: _place(point) for point in points}
    chosen = [first.name]
    for number in range(len(places[first.name])):
        best = min(points, key=lambda point: places[point.name][number])
        if best.name not in chosen:
            chosen.append(best.name)
    while len(chosen) < most:
        rest = [point.name for point in points if point.name not in chosen]
        chosen.append(max(rest, key=lambda name: min(math.dist(places[name], places[other]) for other in chosen)))
    return [point for point in points if point.name in chosen[:most]]


def _place(point: Point) -> tuple[float, ...]:
    """Return a point's position for distances: logarithms of its metrics; that of the chance of loss, which spans ten
    decades, is divided by ten."""
    figures = [point.cost, point.watts, point.latency, point.rebuild]
    logs = [math.log(figure.value) if figure is not None and figure.value > 0 else 0.0 for figure in figures]
    loss = point.loss.value if point.loss is not None else 0.0
    return (*logs, math.log(point.drives), math.log(loss) / 10 if loss > 0 else 0.0)
