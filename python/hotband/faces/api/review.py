"""`hb.review`: machines measured as reviewers measure drives, from Python (docs/guides/review.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.data.inputs.specify import changes, expect_interval, settings_of, texts
from hotband.data.store.into import into_store
from hotband.execution.experiment import expect_models, using, watch
from hotband.inference.interval import DRAWS_OF_MANY
from hotband.inference.interval.of_run import Asked
from hotband.questions.review.many import review_all

if TYPE_CHECKING:
    from hotband.execution.experiment import Executor
    from hotband.execution.experiment.watch import Wanted
    from hotband.questions.review.many import Reviewed


@public
def review(
    on: str | Sequence[str],
    *,
    set: Mapping[str, object] | None = None,
    volume: str | None = None,
    seed: int = 1,
    quick: bool = False,
    only: str | Sequence[str] = (),
    events: str | Sequence[str] = (),
    interval: float | None = None,
    draws: int | None = None,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    into: str | PathLike[str] | None = None,
    progress: Wanted = None,
    **settings: object,
) -> Reviewed:
    """Reviews a machine, or several, of which the first is what the others are compared with: transfer curve, access
    time, block sizes, streams, server patterns, files; `only` some of these parts (docs/guides/review.md), `quick` with
    a quarter of the I/Os. Machines are catalog names, short forms or paths. `settings` are values of their drives, data
    or state, `seed` the root of all randomness, `events` happen in every run, `jobs` limits the
    threads, `executor` is as in `sweep`.

    With `interval` (a percentage) figures have intervals, of `draws` draws. With `out` everything is written into that
    folder, and what is there is not run again, unless `fresh`. `into` and `progress` as in `run`.

    The result has `reviews` and `comparison`, documents as `hotband review --json` prints them. What is stopped leaves
    the parts that were finished: `interrupted` says so. Raises UserError before anything runs, OSError.
    """
    machines = [on] if isinstance(on, str) else list(on)
    if not machines:
        raise UserError("on", "", "", "expected the name of a machine, or a list of some")
    expect_models(executor, machines)
    with using(executor, jobs), into_store(into):
        return review_all(
            machines,
            set=settings_of(changes(set, settings)),
            volume=volume,
            seed=seed,
            quick=quick,
            only=texts(only, "only"),
            events=texts(events, "events"),
            jobs=jobs,
            out=None if out is None else Path(out),
            fresh=fresh,
            progress=lambda title: watch.watch(title, progress),
            intervals=_intervals(interval, draws),
        )


def _intervals(level: float | None, draws: int | None) -> Asked | None:
    expect_interval(level, draws)
    if level is None:
        return None
    return Asked(level, DRAWS_OF_MANY if draws is None else draws)
