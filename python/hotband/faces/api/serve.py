"""Served machines for Python: `hb.serve` is a `with` block, `hb.emulate` the same workload both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import in_python, public
from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.specify import Spec, changes, named, settings_of, texts
from hotband.data.record.record import Record, record_of
from hotband.execution.serve.served import Served, ServeSpec
from hotband.execution.targets import emulated
from hotband.inference.beside import beside

if TYPE_CHECKING:
    import polars as pl

    from hotband.execution.targets.emulated import Emulated


@public
def serve(
    on: Spec,
    *,
    set: Mapping[str, object] | None = None,
    seed: int = 1,
    events: str | Sequence[str] = (),
    nbd: bool = True,
    socket: str | PathLike[str] | None = None,
    tcp: str | None = None,
    tls: str | PathLike[str] | None = None,
    insecure_loopback: bool = False,
    fuse: str | PathLike[str] | None = None,
    loop: bool = False,
    store: str | PathLike[str] | None = None,
    base: str | PathLike[str] | None = None,
    out: str | PathLike[str] | None = None,
    io_log: str | PathLike[str] | None = None,
    spin: str = "200 us",
    priority: bool = True,
    awake: bool = True,
    anyway: bool = False,
    **settings: object,
) -> Served:
    """A modelled machine on the wall clock, as long as a `with` block lasts.

    Within it `.volumes["d0"]` has `uri` (NBD on a unix socket), `file` (with `fuse`, a folder, or `loop`) and `device`
    (with `loop`: a block device; both need root), `.serving()` what clients got so far and how late, `.wait(seconds)`
    waits. `tcp` ("127.0.0.1:0") serves NBD on TCP, too, with the certificates in the folder `tls` or, for this host
    only, `insecure_loopback`; its port is `.port`. Behind it `.record` is its Record. `store` is a file that keeps what
    is written, `base` an image to begin with, `out` a folder for the record, `io_log` a Parquet file for every I/O;
    `events` as for `run`, power-off included: then `store` holds what the drives hold. `spin` is how long the clock
    looks at the time before an answer is due.

    Raises UserError for a mistake, for what the host refuses, and for a machine that is faster than the host can serve
    unless it is served `anyway`.
    """
    where = named(on, "on")
    spec = ServeSpec(
        where.name,
        settings_of(changes(set, settings)),
        seed,
        texts(events, "events"),
        _path(socket),
        _path(fuse),
        loop,
        nbd,
        _path(store),
        _path(base),
        _path(out),
        _path(io_log),
        spin,
        priority,
        machine_text=where.text,
        awake=awake,
        anyway=anyway,
        tcp=tcp,
        tls=_path(tls),
        insecure_loopback=insecure_loopback,
    )
    return _Served(spec)


class _Served(Served):
    """One whose mistakes are named by the arguments of `serve`."""

    def __enter__(self) -> Served:
        try:
            return super().__enter__()
        except UserError as error:
            raise in_python(error) from None


@dataclass(frozen=True)
class BothWays:
    """A workload in virtual time (`model`) and through fio on the served machine (`emulated`), as records; `served` is
    what the machine saw while it was served."""

    model: Record
    emulated: Record
    served: Record
    found: Emulated

    @property
    def frame(self) -> pl.DataFrame:
        """Figures both have, a row each: direction, figure (IOPS; mean, p50, p99 in ns), model, emulated, error_pct."""
        import polars as pl

        rows = beside(self.found.model.record, self.found.fio.record)
        columns = ("direction", "figure", "model", "emulated", "error_pct")
        return pl.DataFrame([{name: getattr(one, name) for name in columns} for one in rows])


@public
def emulate(
    workload: Spec,
    *,
    on: Spec,
    duration: str | None = None,
    seed: int = 1,
    set: Mapping[str, object] | None = None,
    events: str | Sequence[str] = (),
    out: str | PathLike[str] | None = None,
    anyway: bool = False,
    **settings: object,
) -> BothWays:
    """Runs a workload on a model and, through fio, on the same machine as a served drive (docs/guides/serve.md).

    Arguments are those of `run`, `events` among them; it takes as long as the workload says. Raises UserError for a
    mistake, for what fio cannot say (apps, scripts), where fio is not installed, and for a machine that is faster than
    the host can serve, unless `anyway`.
    """
    what, where = named(workload, "workload"), named(on, "on")
    spec = RunSpec(
        "run",
        where.name,
        what.name,
        settings_of(changes(set, settings)),
        seed,
        duration,
        _path(out),
        machine_text=where.text,
        workload_text=what.text,
        events=texts(events, "events"),
    )
    found = emulated.emulate(spec, anyway=anyway)
    return BothWays(record_of(found.model), record_of(found.fio), record_of(found.served), found)


def _path(given: str | PathLike[str] | None) -> Path | None:
    return None if given is None else Path(given)
