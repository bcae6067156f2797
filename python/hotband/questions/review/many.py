"""Several machines reviewed one after the other, each kept as soon as it is done, and compared; then, where they are
asked for, their intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hotband.base.errors import UserError, refused
from hotband.base.folders import folder_name
from hotband.base.text.html import views_html
from hotband.base.text.schema import with_schema
from hotband.base.text.write import write_file
from hotband.base.views import view_of
from hotband.data.record.files import REPORT_FILE
from hotband.data.record.writable import check_writable
from hotband.execution.experiment import Executor, Lock, Say, Tick, expect_out, expect_own_page
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.inference.interval import residuals
from hotband.questions.review import draws, intervals
from hotband.questions.review.draws import Drawn, Draws, draws_of
from hotband.questions.review.suite import Plan, ReviewInterrupted, json_text, plan, run_plan
from hotband.questions.review.summary import compare
from hotband.questions.review.target import targets_of

if TYPE_CHECKING:
    from hotband.data.documents.review import ComparisonDoc, ReviewDoc
    from hotband.inference.interval.of_run import Asked
    from hotband.questions.sweeps.hardware import Hardware

REVIEW_FILE = "review.json"
"""A machine's review, in its folder."""
Watch = Callable[[str], AbstractContextManager[Tick | None]]
"""A progress bar with a title; None where nobody looks."""


@dataclass
class Reviewed:
    """Reviews in the order asked, how they compare (none of one), the files they were written to, whether the user
    stopped before all were done, whether that left the last of them in part, and whether several were asked for."""

    reviews: list[ReviewDoc] = field(default_factory=list)
    comparison: ComparisonDoc | None = None
    files: list[Path] = field(default_factory=list)
    interrupted: bool = False
    in_part: bool = False
    of_several: bool = False

    def to_dict(self) -> Mapping[str, object] | None:
        """What `hotband review --json` prints; None where no review was finished."""
        if self.reviews and self.of_several:
            return with_schema({"reviews": self.reviews, "comparison": self.comparison}, "hotband-reviews")
        return with_schema(cast("Mapping[str, object]", self.reviews[0]), "hotband-review") if self.reviews else None

    def _repr_html_(self) -> str:
        return views_html(view_of("hotband-review", "lines")(self.reviews, self.comparison))


def review_all(
    machines: Sequence[str],
    *,
    set: Sequence[tuple[str, str]] = (),
    volume: str | None = None,
    seed: int = 1,
    quick: bool = False,
    only: Sequence[str] = (),
    events: Sequence[str] = (),
    jobs: int | None = None,
    out: Path | None = None,
    fresh: bool = False,
    say: Say = lambda text: None,
    progress: Watch,
    intervals: Asked | None = None,
    hardware: Hardware | None = None,
    size_bytes: int = 0,
) -> Reviewed:
    """Reviews machines, the first being what the others are compared with. All are checked before the first begins;
    what the user stops leaves the parts that were finished. Runs that are in `out` already are not repeated, unless
    `fresh`; `events` happen in every run. With `intervals` all runs are repeated for draws of what is uncertain; an
    interrupt then leaves the reviews without intervals. Machines may be hardware (`real:PATH`), which `hardware` runs;
    `size_bytes` is that of a file that is made in a folder. Raises UserError, OSError."""
    expect_out(fresh, out)
    targets = targets_of(machines, set, volume, seed, quick, events, size_bytes)
    plans = [plan(target, only) for target in targets]
    executors = [_executor(machine_plan, hardware, intervals is not None) for machine_plan in plans]
    drawing = None if intervals is None else _Drawing.of(plans, intervals, jobs, out, fresh, say, progress)
    done = Reviewed(of_several=len(plans) > 1)
    with nullcontext() if out is None else Lock(out):
        if out is not None and not fresh:
            expect_own_reviews(out, [folder_name(machine_plan.target.name) for machine_plan in plans])
        if drawing is not None:
            say(drawing.draws.told())
        if not _run_all(plans, executors, done, jobs, out, fresh, say, progress):
            return done
        if len(plans) > 1:
            done.comparison = compare(done.reviews)
        if drawing is not None and not drawing.run(done):
            done.interrupted = True
        if out is not None:
            write_comparison(done, out, say)
    return done


def expect_own_reviews(out: Path, folders: Sequence[str]) -> None:
    """Refuses a folder whose page has a machine that is not among those asked for, by their folders, or which is of
    another command. Raises UserError."""
    expect_own_page(out, [f"{name}/{REVIEW_FILE}" for name in folders])
    others = [path.parent.name for path in sorted(out.glob(f"*/{REVIEW_FILE}")) if path.parent.name not in folders]
    if others and (out / REPORT_FILE).exists():
        raise refused(out, f"holds {REPORT_FILE} with the review of {others[0]}")


@dataclass
class _Drawing:
    """The draws of a review, and how they are run."""

    request: Asked
    draws: Draws
    jobs: int | None
    out: Path | None
    fresh: bool
    say: Say
    progress: Watch

    @classmethod
    def of(
        cls, plans: Sequence[Plan], request: Asked, jobs: int | None, out: Path | None, fresh: bool, say: Say,
        progress: Watch,
    ) -> _Drawing:  # fmt: skip
        """Checks all draws, before anything is run. Raises UserError."""
        residuals.model_term()
        return cls(request, draws_of(plans, request), jobs, out, fresh, say, progress)

    def run(self, done: Reviewed) -> bool:
        """Puts intervals into reviews that are done, and into their comparison; whether the user let it."""
        try:
            drawn = self._run_all()
        except (RunsInterrupted, KeyboardInterrupt):
            self.say("interrupted: kept without intervals")
            return False
        intervals.add(done.reviews, drawn, self.draws, self.request)
        if done.comparison is not None and not any(review.get("unmodelled") for review in done.reviews):
            intervals.add_to_comparison(done.comparison, drawn, self.draws, self.request)
        if self.out is not None:
            for review in done.reviews:
                write_file(review_path(review, self.out), json_text(review))
        return True

    def _run_all(self) -> list[Drawn]:
        results = []
        for machine in self.draws.machines:
            name = machine.plan.target.name
            folder = None if self.out is None else self.out / folder_name(name)
            with self.progress(f"intervals of {name}") as tick:
                results.append(draws.run_draws(self.draws, machine, self.jobs, folder, self.fresh, self.say, tick))
        return results


def _executor(machine_plan: Plan, hardware: Hardware | None, with_intervals: bool) -> Executor | None:
    """Who runs a plan; None for the cores of this computer. Raises UserError."""
    if not machine_plan.target.is_hardware:
        return None
    if with_intervals:
        raise UserError("question.interval", "", "", f"is of predictions, and {machine_plan.target.name} is measured")
    if hardware is None:
        raise UserError("question.on", "", machine_plan.target.name, "is hardware: hotband review runs it")
    return hardware(machine_plan.specs())


def _run_all(
    plans: Sequence[Plan],
    executors: Sequence[Executor | None],
    done: Reviewed,
    jobs: int | None,
    out: Path | None,
    fresh: bool,
    say: Say,
    progress: Watch,
) -> bool:
    """Reviews one machine after the other, each kept when it is done; whether all were."""
    for number, (machine_plan, executor) in enumerate(zip(plans, executors, strict=True), start=1):
        position = f" ({number} of {len(plans)})" if len(plans) > 1 else ""
        folder = None if out is None else out / folder_name(machine_plan.target.name)
        try:
            with progress(f"review of {machine_plan.target.name}{position}") as update:
                done.reviews.append(
                    run_plan(machine_plan, update, jobs, out=folder, fresh=fresh, say=say, executor=executor)
                )
        except KeyboardInterrupt:
            done.interrupted = True
            return False
        except ReviewInterrupted as stop:
            done.interrupted = True
            done.in_part = bool(stop.review["summary"])
            if done.in_part:
                done.reviews.append(stop.review)
                keep(done, out)
            return False
        keep(done, out)
    return True


def keep(done: Reviewed, out: Path | None) -> None:
    """Writes the last review to its machine's folder."""
    if out is None:
        return
    review = done.reviews[-1]
    done.files.append(review_path(review, out))
    check_writable(done.files[-1].parent)
    write_file(done.files[-1], json_text(review))


def review_path(review: ReviewDoc, out: Path) -> Path:
    """Where a review is kept."""
    return out / folder_name(review["machine"]["name"]) / REVIEW_FILE


def write_comparison(done: Reviewed, out: Path, say: Say) -> None:
    """Writes how the machines compare, and the report with its charts, which take a while."""
    if done.comparison is not None:
        done.files.append(out / "comparison.json")
        write_file(done.files[-1], json_text(done.comparison))
    say("drawing the charts ...")
    done.files += view_of("hotband-review", "folder")(done.reviews, done.comparison, out)
