"""`hb.expect`: is a result of another tool good or bad? (docs/guides/expect.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.data.inputs.specify import Spec, changes, named, settings_of
from hotband.execution.experiment import using, watch
from hotband.execution.runs.interrupted import as_interrupt
from hotband.inference.interval import LEVEL
from hotband.questions.expect.expect import Asked
from hotband.questions.expect.expect import expect as expected_of
from hotband.questions.expect.predict import Settings

if TYPE_CHECKING:
    from hotband.execution.experiment import Executor
    from hotband.execution.experiment.watch import Wanted
    from hotband.questions.expect.expected import Expected


@public
def expect(
    result: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    on: Spec | None = None,
    workload: Spec | None = None,
    interval: float = LEVEL,
    draws: int = 16,
    duration: str | None = None,
    seed: int = 1,
    set: Mapping[str, object] | None = None,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    progress: Wanted = None,
    **settings: object,
) -> Expected:
    """Rebuilds the load of a result of fio, vdbench, DiskSpd or Iometer (a file, a folder, or several), runs it on a
    machine and says where the measured figures lie in the interval of the predicted ones.

    Without `on` the drives of the catalog are ranked by how near they come. `workload` is what was run, where the
    result does not say. `interval` is a percentage; `draws` are made of the uncertain values; `duration` is the
    measured time of a prediction, else 100,000 I/Os. `executor` as in `sweep`.

    The result has `verdict` (in words), `rows`, `figures(row)` (measured, predicted, low, high, verdict; IOPS, bytes a
    second, ns), `assumed`, `explanations`, `ranking`, a `frame` with a row a figure, and `to_dict()`. Raises UserError
    for a mistake, KeyboardInterrupt where it is stopped.
    """
    paths = [result] if isinstance(result, str | PathLike) else result
    with as_interrupt():
        asked = Asked(
            [Path(path) for path in paths],
            None if on is None else named(on, "machine"),
            None if workload is None else named(workload, "workload"),
            Settings(
                settings_of(changes(set, settings)),
                seed,
                duration,
                level=interval,
                draws=draws,
                jobs=jobs,
            ),
        )
        with using(executor, jobs):
            return expected_of(asked, lambda title: watch.watch(title, progress), lambda _: None)
