"""A study from Python: `StudyHandle.run()` gives a `StudyResult` with its figures as a frame and its records."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.base.text.html import frame_html
from hotband.base.text.numbers import percent
from hotband.base.text.schema import with_schema
from hotband.base.views import view_of
from hotband.data.inputs.specify import texts
from hotband.data.record.record import Record, record_of
from hotband.data.store.into import into_store
from hotband.execution.experiment import Executor, using, watch
from hotband.execution.runs.interrupted import as_interrupt
from hotband.inference.interval import LEVEL, check_level
from hotband.inference.interval.explained import Why
from hotband.questions.study import file
from hotband.questions.study.emulate import run
from hotband.questions.study.emulate.result import EmulationResult
from hotband.questions.study.intervals.of_study import run_intervals, why_figure
from hotband.questions.study.intervals.spreads import Spreads
from hotband.questions.study.study import Asked, predict
from hotband.questions.study.swings import run_swings
from hotband.questions.study.swung import Swings

if TYPE_CHECKING:
    import polars as pl

    from hotband.base.views import Report, View
    from hotband.data.documents.study import ClaimDoc, FindingDoc, StudyDoc, StudyOutline
    from hotband.execution.experiment.watch import Wanted
    from hotband.inference.interval.of_run import Watch
    from hotband.questions.study.definition import Study

TEXTS_BEFORE, NUMBERS = ("id", "config", "label", "metric", "unit"), ("published", "predicted", "error_pct")


@dataclass(frozen=True)
class StudyResult:
    """What a study predicted: `figures` beside the published ones, `claims`, `findings`, `records` by run id."""

    records: Mapping[str, Record]
    _result: StudyDoc

    @property
    def name(self) -> str:
        """Of the study."""
        return str(self._result["study"])

    @property
    def answer(self) -> str | None:
        """The answer to the study's question in a few sentences, with its figures: what is published, and what is
        predicted beside it. None where only some loads were run, and of a study that has none of its own."""
        found = self._result["answer"]
        return None if found is None else f"{found['text']} {found['further']}".strip()

    @property
    def figures(self) -> pl.DataFrame:
        """A row a figure: id, config, label, metric, unit, published and predicted (null where there is none, in
        `unit`), error_pct (of the prediction, in percent of what is published), note, figure_class ("random rate"),
        and of figures that were predicted before they were seen that prediction and its error, blind and
        blind_error_pct; null for others. The 90 % interval of the prediction, in `unit`, is from interval_low to
        interval_high (docs/guides/intervals.md)."""
        import polars as pl

        rows = self._result["figures"]
        texts = {name: [row.get(name) for row in rows] for name in (*TEXTS_BEFORE, "note", "figure_class")}
        numbers = {name: [row.get(name) for row in rows] for name in NUMBERS}
        made = [row["blind"] for row in rows]
        numbers["blind"] = [None if one is None else one["predicted"] for one in made]
        numbers["blind_error_pct"] = [None if one is None else one["error_pct"] for one in made]
        intervals = [row["interval"] for row in rows]
        numbers["interval_low"] = [None if one is None else one["low"] for one in intervals]
        numbers["interval_high"] = [None if one is None else one["high"] for one in intervals]
        later = ("note", "figure_class", "blind", "blind_error_pct", "interval_low", "interval_high")
        order = (*TEXTS_BEFORE, *NUMBERS, *later)
        return pl.DataFrame(
            [
                pl.Series(name, numbers[name], dtype=pl.Float64)
                if name in numbers
                else pl.Series(name, texts[name], dtype=pl.String)
                for name in order
            ]
        )

    @property
    def median_error_pct(self) -> float | None:
        """Median of the errors, either way, in percent; None where nothing is published."""
        value = self._result["summary"]["median_abs_error_pct"]
        return None if value is None else float(value)

    @property
    def largest_error_pct(self) -> float | None:
        """Largest error, either way, in percent; None where nothing is published."""
        value = self._result["summary"]["max_abs_error_pct"]
        return None if value is None else float(value)

    @property
    def claims(self) -> list[ClaimDoc]:
        """Published claims, each with whether it holds. Empty where only some loads were run."""
        return copy.deepcopy(self._result["claims"])

    @property
    def findings(self) -> list[FindingDoc]:
        """What was found, in words. Empty where only some loads were run."""
        return copy.deepcopy(self._result["findings"])

    def to_dict(self) -> StudyDoc:
        """All of it as `hotband study run --json` prints it; a copy."""
        return with_schema(copy.deepcopy(self._result), "hotband-study")

    def report(self) -> Report:
        """Its report: `.save("page.html")`, and every chart by name in `.charts`, as that of `hotband.views.report`."""
        loaded = {name: record.loaded() for name, record in self.records.items()}
        report: Report = view_of("hotband-study", "report")(self._result, loaded)
        return report

    def plot(self) -> View:
        """Errors at a glance (altair): each published figure a point, zero is exact. UserError where there is none."""
        drawn: View = view_of("hotband-study", "chart")(self.name, self._result["figures"])
        return drawn

    def __repr__(self) -> str:
        error = (
            "" if self.median_error_pct is None else f", median error {percent(self.median_error_pct, signed=False)}"
        )
        return f"<Study {self.name}: {len(self._result['figures'])} figures of {len(self.records)} runs{error}>"

    def _repr_html_(self) -> str:
        shown = self.figures.select("config", "label", "metric", "published", "predicted", "unit", "error_pct")
        answer = f"<p>{escape(self.answer)}</p>" if self.answer else ""
        return f"<div><strong>{escape(str(self._result['title']))}</strong>{answer}{frame_html(shown)}</div>"


@dataclass(frozen=True)
class StudyHandle:
    """A study that can be run: a published evaluation, its machines, loads and figures."""

    study: Study

    @property
    def name(self) -> str:
        """Its name."""
        return self.study.name

    @property
    def title(self) -> str:
        """What it is about."""
        return self.study.title

    @property
    def loads(self) -> tuple[str, ...]:
        """Names of its loads, for `only`."""
        return tuple(load.id for load in self.study.loads)

    @public
    def run(
        self,
        *,
        only: str | Sequence[str] = (),
        seed: int | None = None,
        fresh_seeds: bool = False,
        out: str | Path | None = None,
        fresh: bool = False,
        trust: bool = False,
        into: str | Path | None = None,
        executor: str | Executor | None = None,
        progress: Wanted = None,
    ) -> StudyResult:
        """Runs it on all cores: all loads, or `only` some (then without claims and findings). With `out`, records,
        `result.json` and `report.html` are left there, and runs that are there already are not repeated (`fresh`: they
        are). `trust` executes the `findings.py` of a study that is not of the catalog. `executor` as in `sweep`,
        `into` and `progress` as in `run`. Raises UserError, and KeyboardInterrupt where it is stopped."""
        root = self.study.seed if seed is None else seed
        with as_interrupt():
            loads = texts(only, "only")
            chosen = f"only={list(loads)!r}, " * bool(loads)
            further = ", fresh_seeds=True" * fresh_seeds + ", trust=True" * trust
            command = f"hotband.study({self.name!r}).run({chosen}seed={root}{further})"
            asked = Asked(None if out is None else Path(out), root, loads, fresh_seeds, fresh, trust, command)
            with using(executor), into_store(into), watch.watch(self.name, progress) as tick:
                result, finished = predict(self.study, asked, tick)
        return StudyResult({one.spec.id: record_of(one) for one in finished}, result)

    @public
    def emulate(
        self,
        *,
        scale: str | float | None = None,
        only: str | Sequence[str] = (),
        out: str | Path | None = None,
        fresh: bool = False,
        progress: Callable[[str], None] | None = None,
    ) -> EmulationResult:
        """Runs real programs on two emulated machines a part, which differ in one thing, at a `scale` that fits this
        host: a share of the study's data and drives ("1/1000", 0.001), each part's own where none is said. `only` names
        parts. With `out`, what is finished is kept there and not run again (`fresh`: it is); `progress` is called with
        lines of progress, from other threads too. A part whose program is not there is skipped, and says what to
        install. Raises UserError for a mistake and for a study without emulated parts, OSError where a program fails,
        KeyboardInterrupt where it is stopped."""
        share = f"{scale:.12f}" if isinstance(scale, int | float) else None if scale is None else str(scale)
        with as_interrupt():
            asked = run.Asked(texts(only, "only"), share, None if out is None else Path(out), fresh)
            return EmulationResult(run.emulate(self.study, asked, progress or (lambda _: None)))

    @public
    def swings(
        self,
        *,
        only: str | Sequence[str] = (),
        seed: int | None = None,
        out: str | Path | None = None,
        save: bool = False,
        jobs: int | None = None,
        executor: str | Executor | None = None,
        progress: Wanted = None,
    ) -> Swings:
        """Runs each assumption at both ends of its range, one at a time: which of them move a prediction. `only` names
        some, by name or key. With `out` what is done is kept there, with `save` in the study's own folder, and not run
        again. `jobs`, `executor` and `progress` as in `sweep`. Raises UserError, KeyboardInterrupt where it is
        stopped."""
        where = None if out is None else Path(out)
        with _runs(executor, jobs, progress) as watch:
            names = texts(only, "only")
            return Swings(run_swings(self.study, where, save, seed, names, jobs, lambda _: None, watch))

    @public
    def intervals(
        self,
        *,
        only: str | Sequence[str] = (),
        out: str | Path | None = None,
        save: bool = False,
        jobs: int | None = None,
        executor: str | Executor | None = None,
        progress: Wanted = None,
    ) -> Spreads:
        """Draws the uncertain values of its machines: how far its figures may be off (docs/guides/intervals.md). `only`
        takes the runs of some loads. With `out` runs are kept there, with `save` what they say in the study's own
        folder, where `run` and `why` find it. `jobs`, `executor` and `progress` as in `sweep`. Raises UserError,
        KeyboardInterrupt where it is stopped."""
        where = None if out is None else Path(out)
        with _runs(executor, jobs, progress) as watch:
            loads = texts(only, "only")
            made = run_intervals(
                self.study, out=where, save=save, only=loads, jobs=jobs, say=lambda _: None, watch=watch
            )
            return Spreads(made)

    @public
    def why(self, figure: str, *, interval: float = LEVEL) -> Why:
        """Where the uncertainty of a figure comes from, by its id, of the draws that are kept in the study's folder,
        and what to measure; `interval` is the percentage of such predictions that it is to hold. Runs nothing. Raises
        UserError."""
        check_level(interval, "interval")
        return Why(why_figure(self.study, figure, interval))

    def to_dict(self) -> StudyOutline:
        """Its configurations, loads and published figures, as `hotband studies NAME --json` prints them."""
        return with_schema(file.describe(self.study), "hotband-study-outline")

    def __repr__(self) -> str:
        return f"<Study {self.name}: {self.title}>"


@contextmanager
def _runs(executor: str | Executor | None, jobs: int | None, progress: Wanted) -> Iterator[Watch]:
    """Where runs run, and who sees their progress; one that is stopped is a KeyboardInterrupt."""
    with as_interrupt(), using(executor, jobs):
        yield lambda title: watch.watch(title, progress)
