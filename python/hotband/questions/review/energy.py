"""Energy: watts and joules an I/O under each server pattern with 8 outstanding, for machines whose drives state
power."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hotband.data.catalog import entries
from hotband.questions.review import patterns
from hotband.questions.review.asked import Ask, closed, step, workload
from hotband.questions.review.target import Target

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.review import EnergyByPatternDoc

DEPTH = 8
IOS = 4000
NEEDS = patterns.NEEDS


def silent(target: Target) -> list[str]:
    """The drives of the machine that do not state what they draw: a drive that states its power at rest states what it
    draws at work, too, disks and solid-state drives by values of their own."""
    return [name for name in dict.fromkeys(target.drives) if not states_power(name)]


def states_power(drive: str) -> bool:
    """Whether a drive of the catalog states what it draws."""
    return any(value["key"] == "power_idle" for value in entries.drive(drive)["values"])


def why_not(target: Target) -> str | None:
    """Why there are no figures of a machine; none where there are."""
    unknown = silent(target)
    if not unknown:
        return None
    return f"what {' and '.join(unknown)} draw{'s' if len(unknown) == 1 else ''} is not stated (power_idle)"


def asks(target: Target) -> list[Ask]:
    """A run for each pattern."""
    counted = [step("measure", target.ios(IOS))]
    return [
        Ask(name, workload(f"{name} power", patterns.streams_of(target, name), counted, load=closed(DEPTH)))
        for name in patterns.PATTERNS
    ]


def figures(target: Target, records: Mapping[str, RecordDoc]) -> EnergyByPatternDoc:
    """Watts at rest and under each pattern, and joules for each of its I/Os, with the ends that the ranges of the
    drives' power values leave open."""
    drawn = {name: record["energy"] for name, record in records.items()}
    seconds = {name: record["duration_ns"] / 1e9 for name, record in records.items()}
    return {
        "queue_depth": DEPTH,
        "idle_w": next(iter(drawn.values()))["idle_w"],
        "patterns_w": {name: power["mean_w"] for name, power in drawn.items()},
        "patterns_low_w": {name: power["energy_low_j"] / seconds[name] for name, power in drawn.items()},
        "patterns_high_w": {name: power["energy_high_j"] / seconds[name] for name, power in drawn.items()},
        "joules_per_io": {name: power["joules_per_io"] for name, power in drawn.items()},
        "joules_per_io_low": {name: power["joules_per_io_low"] for name, power in drawn.items()},
        "joules_per_io_high": {name: power["joules_per_io_high"] for name, power in drawn.items()},
    }
