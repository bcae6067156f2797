"""`hb.calibrate`: a product's uncertain values, fitted to a drive (docs/guides/calibrate.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.errors import UserError
from hotband.runs.arguments import public
from hotband.runs.specify import Spec, changes, named, settings_of

if TYPE_CHECKING:
    from hotband.calibrate.calibrated import Calibrated
    from hotband.experiment import Executor
    from hotband.runs.watch import Wanted


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
    from hotband.calibrate.model import Product
    from hotband.calibrate.run import Wanted, run
    from hotband.calibrate.target import Hardware
    from hotband.experiment import using
    from hotband.runs.interrupted import as_interrupt
    from hotband.runs.watch import watch

    targets = [fspath(target)] if isinstance(target, str | PathLike) else [fspath(one) for one in target]
    if not targets:
        raise UserError("target", "", "[]", "expected at least one")
    with as_interrupt():
        product = named(like, "like")
        wanted = Wanted(
            targets,
            Product(product.name, product.text, settings_of(changes(set, {}))),
            None if output is None else Path(output),
            None if out is None else Path(out),
            seconds_of(duration),
            None if workload is None else named(workload, "workload"),
            reads_only,
            seed,
            jobs,
            # A program that names a file has said that it may be written.
            Hardware(erase, True, bytes_of(size)),
            fresh,
        )
        with using(executor, jobs):
            return run(wanted, lambda _: None, lambda _: None, lambda title: watch(title, progress))


def seconds_of(text: str) -> float:
    """A time in seconds. Raises UserError for what is none."""
    from hotband.text.quantities import span_ns

    ns = span_ns(text) if isinstance(text, str) else None
    if ns is None:
        raise UserError("--for", "", str(text), 'expected a time with its unit, such as "10 min"')
    return ns / 1e9


def bytes_of(text: str | None) -> int:
    """A size in bytes, 0 where none is said. Raises UserError for what is none."""
    from hotband.text.quantities import size_bytes

    found = 0 if text is None else size_bytes(text)
    if found is None or (text is not None and found <= 0):
        raise UserError("--size", "", str(text), 'expected a size with its unit, such as "8 GiB"')
    return int(found)
