"""The state of a device before a run: purged, filled, preconditioned, on real hardware."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hotband.devices.safety import Permission

if TYPE_CHECKING:
    from hotband.record.document import SteadyRule

State = Literal["purged", "filled", "preconditioned"]
STATES: tuple[State, ...] = ("purged", "filled", "preconditioned")


@dataclass(frozen=True)
class Data:
    """What is written: `compressed_pct` of it goes away when it is compressed, `duplicate_pct` of its blocks are
    copies of others (fio's buffer_compress_percentage, dedupe_percentage), by `seed`."""

    compressed_pct: int = 0
    duplicate_pct: int = 0
    seed: int = 1


@dataclass(frozen=True)
class Step:
    """How far a preparation is: what is done, the share of it (0 to 1), and seconds left; None where not known."""

    what: str
    share: float
    left_s: float | None


@dataclass(frozen=True)
class StateKept:
    """The state a device was left in, and how: `by` is what was done, such as "blkdiscard"; `steady` are rounds of the
    preconditioning as the rule of steady state judges them; `compressed_pct` is what was read back of the data."""

    state: State
    by: tuple[str, ...]
    seconds: float
    written_bytes: int
    steady: SteadyRule | None = None
    compressed_pct: float | None = None
    notes: tuple[str, ...] = ()


def ways_to_purge(permission: Permission) -> list[str]:
    """How the device can be purged here, the best first; nothing where no way is supported."""
    raise NotImplementedError


def prepare(
    permission: Permission,
    state: State,
    *,
    size_bytes: int,
    data: Data | None = None,
    progress: Callable[[Step], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> StateKept:
    """Brings what is permitted into `state`; `size_bytes` of it are used, from its begin. The caller holds it (`held`).
    `progress` is told about twice a second. Raises UserError without permission to write, and where no way is
    supported; KeyboardInterrupt where `stop` says so."""
    raise NotImplementedError
