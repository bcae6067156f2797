"""Energy: watts and joules an I/O under each server pattern with 8 outstanding, for machines whose drives state
power."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hotband import catalogue
from hotband.review import patterns
from hotband.review.asked import Ask, closed, step, workload
from hotband.review.target import Target

DEPTH = 8
IOS = 4000
NEEDS = patterns.NEEDS


def states_power(target: Target) -> bool:
    """Whether every drive of the machine states what it draws."""
    keys = ("power_idle", "power_active")
    known = [{value["key"] for value in catalogue.drive(name)["values"]} for name in dict.fromkeys(target.drives)]
    return all(key in one for one in known for key in keys)


def asks(target: Target) -> list[Ask]:
    """A run for each pattern; none where no power is stated."""
    if not states_power(target):
        return []
    counted = [step("measure", target.ios(IOS))]
    return [
        Ask(name, workload(f"{name} power", patterns.streams_of(target, name), counted, load=closed(DEPTH)))
        for name in patterns.PATTERNS
    ]


def figures(target: Target, records: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    """Watts at rest and under each pattern, and joules for each of its I/Os; none where a drive states no power."""
    drawn = {name: [part["power"] for part in one["parts"] if "power" in part] for name, one in records.items()}
    if not drawn or any(len(of) < len(target.drives) for of in drawn.values()):
        return None
    joules = {name: sum(one["energy_j"] for one in of) for name, of in drawn.items()}
    return {
        "queue_depth": DEPTH,
        "idle_w": sum(one["idle_w"] for one in next(iter(drawn.values()))),
        "patterns_w": {name: sum(one["mean_w"] for one in of) for name, of in drawn.items()},
        "joules_per_io": {name: joules[name] / records[name]["summary"]["count"] for name in drawn},
    }
