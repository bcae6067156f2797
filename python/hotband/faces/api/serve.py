"""A workload in virtual time and on a served machine, for Python: `hb.emulate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from hotband.base.arguments import public
from hotband.base.heavy import pl
from hotband.base.text.quantities import quantity_text, timed_text
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.specify import Spec, changes, named, settings_of, texts
from hotband.data.record.record import Record, record_of
from hotband.execution.targets import emulated
from hotband.execution.targets.emulated import Emulated
from hotband.inference.beside import beside


@dataclass(frozen=True)
class BothWays:
    """A workload in virtual time (`model`) and through fio on the served machine (`emulated`), as records; `served`
    is the record that the served machine wrote."""

    model: Record
    emulated: Record
    served: Record
    found: Emulated

    @property
    def invalid(self) -> tuple[str, ...]:
        """Return why the two cannot be compared, such as a busy host; empty if they can."""
        return self.found.invalid

    @property
    def frame(self) -> pl.DataFrame:
        """One row per common figure: direction, figure (IOPS; mean, p50, p99 in ns), model, emulated (by fio), served
        (by the server), error_pct."""
        rows = beside(self.found.model.record, self.found.fio.record)
        columns = ("direction", "figure", "model", "emulated", "served", "error_pct")
        return pl.DataFrame([{name: getattr(row, name) for name in columns} for row in rows])


@public
def emulate(
    workload: Spec,
    *,
    on: Spec,
    duration: str | float | None = None,
    seed: int = 1,
    set: Mapping[str, object] | None = None,
    events: str | Sequence[str] = (),
    out: str | PathLike[str] | None = None,
    anyway: bool = False,
    **settings: object,
) -> BothWays:
    """Run a workload on a model and, through fio, on the same machine as a served drive (docs/guides/serve.md).

    Arguments are those of `run`, including `events`; the workload runs in real time. Raises UserError for a
    mistake, for workloads that fio cannot express (apps, scripts), if fio is not installed, and for a machine that is
    faster than the host can serve, unless `anyway`.
    """
    what, where = named(workload, "workload"), named(on, "on")
    spec = RunSpec(
        "run",
        where.name,
        what.name,
        settings_of(changes(set, settings)),
        seed,
        quantity_text(duration, "s"),
        _path(out),
        machine_text=where.text,
        workload_text=what.text,
        events=tuple(map(timed_text, texts(events, "events"))),
    )
    emulation = emulated.emulate(spec, anyway=anyway)
    return BothWays(record_of(emulation.model), record_of(emulation.fio), record_of(emulation.served), emulation)


def _path(given: str | PathLike[str] | None) -> Path | None:
    return None if given is None else Path(given)
