"""Smaller arrays that represent large ones of solid-state drives: preconditioning one drive takes about half a second,
and 24 drives behind parity take a minute.

The smaller array has the same layout, and each of its drives the same load. The load on each drive is exact for random
I/Os within one chunk; RAID 50 and 60 consist of groups of RAID 5 and 6, which share nothing. Five and seven drives are
the fewest with which a small write reads old data and parity, as on larger arrays, instead of the other drives of its
stripe.

Left out: sequential writes have a larger share of parity on fewer drives; a read of many chunks waits for the slowest
of fewer drives; the outstanding I/Os of a closed loop are rounded up to a whole number. `scripts/advise_exhaustive.py`
compares with whole arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from hotband.data.inputs.loads import Load

if TYPE_CHECKING:
    from hotband.base.text.values import Toml
    from hotband.questions.advise.candidates import Candidate

SMALL = {
    "raid0": ("raid0", 4),
    "raid10": ("raid10", 4),
    "raid5": ("raid5", 5),
    "raid50": ("raid5", 5),
    "raid6": ("raid6", 7),
    "raid60": ("raid6", 7),
}
"""Layout and number of drives that represent a larger array."""


Loop: TypeAlias = "dict[str, dict[str, Toml]]"
"""A loop of a load: its kind (closed, open, bursts) and the values of that kind."""


@dataclass(frozen=True)
class Stand:
    """The machine that runs in place of a candidate: its layout, number of drives, and the ratio of the candidate's
    drives to that."""

    layout: str
    count: int
    times: float

    def machine(self, drive: str) -> str:
        """Return the short form of the machine."""
        return f"{self.layout}:{self.count}x{drive}"


def stand_of(candidate: Candidate, load: Load) -> Stand:
    """Return the array to run for a candidate under a load: a smaller one for solid-state drives, if the load can be
    divided."""
    layout, count = SMALL.get(candidate.layout, (candidate.layout, candidate.count))
    if not candidate.drive.is_flash or candidate.count <= count or not can_share(load):
        return Stand(candidate.layout, candidate.count, 1.0)
    return Stand(layout, count, candidate.count / count)


def can_share(load: Load) -> bool:
    """Return whether a load can be divided: loops of streams whose ranges, if any, are shares of the drives."""
    if any(key in load.table for key in ("app", "trace", "scripts", "sequence")):
        return False
    ranges = (end for stream in _streams(load) for end in stream.get("range", ()))
    if any("arrivals" in loop for loop in loads_of(load)):
        return False
    return all("%" in str(end) for end in ranges) and not any("threads" in phase for phase in load.measured())


def shared(load: Load, times: float) -> Load:
    """Return the load for a machine with `times` fewer drives, at the same load per drive."""
    if times == 1.0:
        return load
    changed = Load(load.text(), load.name)
    places: list[dict[str, Any]] = [changed.table, *_streams(changed)]
    for holder in places:
        if "load" in holder:
            kinds = holder["load"].items()
            holder["load"] = {
                kind: _part(kind, loop, times) if isinstance(loop, dict) else loop for kind, loop in kinds
            }
    return changed


def _part(kind: str, loop: dict[str, Toml], times: float) -> dict[str, Toml]:
    """Return a loop with its part of the outstanding I/Os or of the rate."""
    part = dict(loop)
    if kind == "open":
        part["rate_iops"] = float(str(loop["rate_iops"])) / times
    elif kind == "bursts":
        part["ios"] = math.ceil(int(str(loop["ios"])) / times)
    else:
        part |= {"threads": less_outstanding(_outstanding(loop), times), "depth": 1}
    return part


def _outstanding(loop: dict[str, Toml]) -> int:
    return int(str(loop.get("threads", 1))) * int(str(loop.get("depth", 1)))


def less_outstanding(outstanding: int, times: float) -> int:
    """Return how many outstanding I/Os on fewer drives meet as many others at a drive as on all of them."""
    # The result is rounded first so that 1 + 15 * (4 / 12) is six, not seven.
    return math.ceil(round(1 + (outstanding - 1) / times, 9))


def rate_factor(load: Load, times: float) -> float:
    """Return the ratio of the whole array's rate to that of the smaller one. For a closed loop, whose latencies are the
    same, it is the ratio of the outstanding I/Os."""
    loads = loads_of(load)
    closed = [_outstanding(loop["closed"]) for loop in loads if "closed" in loop]
    if len(closed) == len(loads) and closed:
        return sum(closed) / sum(less_outstanding(depth, times) for depth in closed)
    return times


def loads_of(load: Load) -> list[Loop]:
    """Return every loop of a workload: the shared one and those of streams."""
    places: list[dict[str, Any]] = [load.table, *_streams(load)]
    return [holder["load"] for holder in places if "load" in holder]


def is_open(load: Load) -> bool:
    """Return whether all loops have a rate that does not wait for completions."""
    loads = loads_of(load)
    return bool(loads) and all("open" in loop for loop in loads)


def write_share(load: Load) -> float:
    """Return the approximate share of writes, by which the loads on a drive are ordered."""
    shares = [100.0 - float(str(stream.get("read_pct", 0)).strip(" %") or 0) for stream in _streams(load)]
    return sum(shares) / len(shares) if shares else 50.0


def _streams(load: Load) -> list[dict[str, Any]]:
    streams = load.table.get("streams")
    return [stream for stream in streams if isinstance(stream, dict)] if isinstance(streams, list) else []
