"""`hb.calibrate`: a product's uncertain values, fitted to a drive (docs/guides/calibrate.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.base.text.quantities import size_bytes, span_ns
from hotband.data.inputs.specify import Spec, changes, named, settings_of
from hotband.execution.experiment import using, watch
from hotband.execution.runs.interrupted import as_interrupt
from hotband.questions.calibrate import run
from hotband.questions.calibrate.loads import BLACK_BOX
from hotband.questions.calibrate.model import Product
from hotband.questions.calibrate.run import black_box_plan, plan_only
from hotband.questions.calibrate.target import Hardware
from hotband.views.calibrate import USES

if TYPE_CHECKING:
    import polars as pl

    from hotband.execution.experiment import Executor
    from hotband.execution.experiment.watch import Wanted
    from hotband.questions.calibrate.calibrated import Calibrated


@public
def calibrate(
    target: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    like: str | PathLike[str],
    output: str | PathLike[str] | None = None,
    duration: str = "10 min",
    out: str | PathLike[str] | None = None,
    workload: Spec | None = None,
    set: Mapping[str, object] | None = None,
    fresh: bool = False,
    reads_only: bool = False,
    erase: str | None = None,
    size: str | None = None,
    seed: int = 1,
    jobs: int | None = None,
    executor: str | Executor | None = None,
    progress: Wanted = None,
) -> Calibrated:
    """Fits the uncertain values of a product to a drive that is measured now, or to results of fio, vdbench, DiskSpd or
    Iometer.

    `target` is "real:PATH", "emulated:MACHINE", a machine (its model is measured), one or several results, or a trace
    with latencies, of which half is fitted and half is the check; `like` a product of the catalog or a file of your
    own. `duration` is what measuring may take; `out` a folder in which runs are kept and found again (not with
    `fresh`); `output` the product's file that is written. `set` are values of the product that are known; with
    `reads_only` nothing is written to the target; `erase` is the serial number of a block device that may be written,
    `size` that of a file that is made in a folder. `workload` is what was run, where a result does not say. `executor`
    as in `sweep`, for the model's runs.

    The result has `values` (key, value, low, high: the middle 90 %, state: told, narrowed or unknown), `told`,
    `unknown`, `checks` (loads that the fit did not use, with `error_pct`), `best_next`, `misfit`, `text` (the file), of
    a trace `comparison` (its second half, as a record has it), a `frame` with a row a value, and `to_dict()`. Raises
    UserError for a mistake, KeyboardInterrupt where it is stopped.
    """
    targets = [fspath(target)] if isinstance(target, str | PathLike) else [fspath(one) for one in target]
    if not targets:
        raise UserError("target", "", "[]", "expected at least one")
    with as_interrupt():
        wanted = run.Wanted(
            targets,
            _product(like, set),
            None if output is None else Path(output),
            None if out is None else Path(out),
            seconds_of(duration),
            None if workload is None else named(workload, "workload"),
            reads_only,
            seed,
            jobs,
            # A program that names a file has said that it may be written.
            Hardware(erase, size_bytes=bytes_of(size)),
            fresh,
        )
        with using(executor, jobs):
            return run.run(wanted, lambda _: None, lambda _: None, lambda title: watch.watch(title, progress))


@public
def calibration_plan(
    target: str | PathLike[str],
    *,
    like: str | PathLike[str],
    duration: str = "10 min",
    set: Mapping[str, object] | None = None,
    reads_only: bool = False,
    size: str | None = None,
    seed: int = 1,
    jobs: int | None = None,
    progress: Wanted = None,
) -> pl.DataFrame:
    """What `calibrate` would measure of `target`, which is not measured: a row a load with `load`, `times`, `seconds`
    (of all times together) and `use` ("the fit", or "the check", which the fit does not see). Arguments are those of
    `calibrate`. Raises UserError, KeyboardInterrupt where it is stopped."""
    import polars as pl

    with as_interrupt():
        product, hardware = _product(like, set), Hardware(size_bytes=bytes_of(size))
        wanted = run.Wanted(
            [fspath(target)],
            product,
            seconds=seconds_of(duration),
            reads=reads_only,
            seed=seed,
            jobs=jobs,
            hardware=hardware,
        )
        if product.name == BLACK_BOX:
            loads, counts = black_box_plan(wanted, lambda _: None)
        else:
            planned = plan_only(wanted, lambda _: None, lambda title: watch.watch(title, progress))
            loads, counts = planned.loads, planned.counts
    rows = [(one.name, count, count * one.time, USES[one.held_out]) for one, count in zip(loads, counts, strict=True)]
    schema = {"load": pl.String, "times": pl.Int64, "seconds": pl.Float64, "use": pl.String}
    return pl.DataFrame([row for row in rows if row[1]], schema=schema, orient="row")


def _product(like: str | PathLike[str], set: Mapping[str, object] | None) -> Product:
    """The product that is fitted, with the values of it that are known."""
    product = named(like, "like")
    return Product(product.name, product.text, settings_of(changes(set, {})))


def seconds_of(text: str) -> float:
    """A time in seconds. Raises UserError for what is none."""
    ns = span_ns(text) if isinstance(text, str) else None
    if ns is None:
        raise UserError("question.duration", "", str(text), 'expected a time with its unit, such as "10 min"')
    return ns / 1e9


def bytes_of(text: str | None) -> int:
    """A size in bytes, 0 where none is said. Raises UserError for what is none."""
    found = 0 if text is None else size_bytes(text)
    if found is None or (text is not None and found <= 0):
        raise UserError("question.size", "", str(text), 'expected a size with its unit, such as "8 GiB"')
    return int(found)
