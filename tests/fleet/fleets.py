"""Small fleets for the tests, in text."""

from __future__ import annotations

from collections.abc import Mapping

from hotband.execution.experiment.watch import watch
from hotband.questions.fleet.asked import FleetQuestion
from hotband.questions.fleet.result import Fleet
from hotband.questions.fleet.run import run_fleet, spec_of

DISK = "mg06sca-10tb"


def group(name: str = "g", **keys: object) -> dict[str, object]:
    """A group of ten RAID 6 with the values that the tests of bad input change; None leaves a key out."""
    whole: dict[str, object] = {
        "name": name,
        "machines": 10,
        "machine": f"raid6:12x{DISK}",
        "afr": "2 %",
        "rebuild_time": "40 h",
    }
    return {key: value for key, value in {**whole, **keys}.items() if value is not None}


def fleet(*groups: Mapping[str, object], repetitions: int = 100, jobs: int = 1, **keys: object) -> Fleet:
    """A fleet of these groups over ten years, where nothing else is said."""
    table = {"group": [dict(one) for one in groups], **keys}
    asked = FleetQuestion(fleet=table, repetitions=repetitions, jobs=jobs)  # type: ignore[arg-type]
    return run_fleet(spec_of(asked), asked, lambda title: watch(title, False))
