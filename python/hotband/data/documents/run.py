"""A requested run."""

from dataclasses import dataclass, field
from pathlib import Path

MOST_SPARES = 2**32 - 1


@dataclass(frozen=True)
class Repair:
    """Failing drives (DRIVE@TIME each), their spares, the highest rate at which a rebuild writes, and its delay after a
    failure, as text."""

    fail: tuple[str, ...] = ()
    spares: int = 0
    rate: str | None = None
    after: str | None = None


@dataclass(frozen=True)
class RunSpec:
    """One run as the user requests it.

    `machine` is a catalog drive, a short form or a TOML file; `workload` a catalog name, a TOML file, a job file of
    another tool or a trace. If their texts are given, these are only names for errors. `set` holds `--set` pairs; `out`
    is the folder for the record (None writes nothing); runs with the largest `weight` start first. A run `after`
    another (its id) begins with the state of the machine that the other left. `events` happen to it at given times ("at
    60 s: fail d3"). `precision` ("1 %") ends measured phases when their figures are precise, "off" runs them in full.
    With `in_use`, solid-state drives whose state neither workload nor `set` names are preconditioned first, by default
    at a model size at which that takes seconds.
    """

    id: str
    machine: str
    workload: str
    set: tuple[tuple[str, str], ...] = ()
    seed: int = 1
    duration: str | None = None
    out: Path | None = None
    io_log: Path | None = None
    power_loss: str | None = None
    machine_text: str | None = field(default=None, kw_only=True)
    workload_text: str | None = field(default=None, kw_only=True)
    weight: float = field(default=1.0, kw_only=True)
    after: str = field(default="", kw_only=True)
    repair: Repair = field(default=Repair(), kw_only=True)
    events: tuple[str, ...] = field(default=(), kw_only=True)
    in_use: bool = field(default=False, kw_only=True)
    precision: str | None = field(default=None, kw_only=True)
