"""Several machines reviewed one after the other, each kept as soon as it is done, and compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.experiment import Lock, Say, Tick
from hotband.report.review_page import write_review
from hotband.review.suite import Plan, ReviewInterrupted, json_text, plan, run_plan
from hotband.review.summary import compare
from hotband.review.target import targets_of
from hotband.runs.folders import folder_name
from hotband.runs.run import check_writable
from hotband.text.write import write_file

if TYPE_CHECKING:
    from hotband.review.documents import ComparisonDoc, ReviewDoc


@dataclass
class Reviewed:
    """Reviews in the order asked, how they compare (none of one), the files they were written to, whether the user
    stopped before all were done, and whether that left the last of them in part."""

    reviews: list[ReviewDoc] = field(default_factory=list)
    comparison: ComparisonDoc | None = None
    files: list[Path] = field(default_factory=list)
    interrupted: bool = False
    in_part: bool = False


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
    progress: Callable[[str], AbstractContextManager[Tick]],
) -> Reviewed:
    """Reviews machines, the first being what the others are compared with. All are checked before the first begins;
    what the user stops leaves the parts that were finished. Runs that are in `out` already are not repeated, unless
    `fresh`; `events` happen in every run. Raises UserError, OSError."""
    plans = [plan(target, only) for target in targets_of(machines, set, volume, seed, quick, events)]
    done = Reviewed()
    with nullcontext() if out is None else Lock(out):
        if not _run_all(plans, done, jobs, out, fresh, say, progress):
            return done
        if len(plans) > 1:
            done.comparison = compare(done.reviews)
        if out is not None:
            write_comparison(done, out, say)
    return done


def _run_all(
    plans: Sequence[Plan],
    done: Reviewed,
    jobs: int | None,
    out: Path | None,
    fresh: bool,
    say: Say,
    progress: Callable[[str], AbstractContextManager[Tick]],
) -> bool:
    """Reviews one machine after the other, each kept when it is done; whether all were."""
    for number, one in enumerate(plans, start=1):
        place = f" ({number} of {len(plans)})" if len(plans) > 1 else ""
        folder = None if out is None else out / folder_name(one.target.name)
        try:
            with progress(f"review of {one.target.name}{place}") as update:
                done.reviews.append(run_plan(one, update, jobs, out=folder, fresh=fresh, say=say))
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
    folder = out / folder_name(review["machine"]["name"])
    check_writable(folder)
    done.files.append(folder / "review.json")
    write_file(done.files[-1], json_text(review))


def write_comparison(done: Reviewed, out: Path, say: Say) -> None:
    """Writes how the machines compare, and the report with its charts, which take a while."""
    if done.comparison is not None:
        done.files.append(out / "comparison.json")
        write_file(done.files[-1], json_text(done.comparison))
    say("drawing the charts ...")
    done.files += write_review(done.reviews, done.comparison, out)
