"""`hb.calibration_plan`: the measurements that a calibration would make (docs/guides/calibrate.md)."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath

from hotband.base.arguments import public
from hotband.base.heavy import pl
from hotband.base.text.quantities import quantity_text
from hotband.data.inputs.specify import changes, named, settings_of
from hotband.execution.experiment.watch import Wanted
from hotband.faces.asked.ask import ask
from hotband.questions.calibrate.asked import CalibrateQuestion


@public
def calibration_plan(
    target: str | PathLike[str],
    *,
    like: str | PathLike[str],
    duration: str | float = "10 min",
    set: Mapping[str, object] | None = None,
    reads_only: bool = False,
    size: str | float | None = None,
    seed: int = 1,
    jobs: int | None = None,
    progress: Wanted = None,
) -> pl.DataFrame:
    """Plan the measurements of `calibrate` without making them: one row per load with `load`, `times`, `seconds`
    (of all times together) and `use` ("fit", or "validation", which the fit does not see). Arguments are those of
    `calibrate`. Raises UserError, KeyboardInterrupt if it is stopped."""
    question = CalibrateQuestion(
        target=(fspath(target),),
        like=named(like, "like"),
        duration=quantity_text(duration, "s") or "",
        settings=settings_of(changes(set, {})),
        reads_only=reads_only,
        size=quantity_text(size, "B"),
        seed=seed,
        jobs=jobs,
        plan=True,
    )
    frame: pl.DataFrame = ask(question, progress).frame
    return frame
