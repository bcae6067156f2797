"""Shortened runs: draws are compared with a nominal run of the same length and seed, so that their noise is the same
and cancels in the ratio.

Left out: what only a long run shows. A draw has at least a sixteenth of the measured time; warm-up and
preconditioning are as long as ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import hotband._core as _core
from hotband.base.text.tomltable import loads
from hotband.execution.experiment.ranges import edited, workload_text
from hotband.execution.runs.run import refusal
from hotband.inference.interval.uncertain import Uncertain, with_values

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.run import RunSpec

ENOUGH_IOS = 10_000
"""Measured I/Os of a draw: ten of them are beyond the 99.9th percentile."""
STEPS_TRIED = 3
"""Draws of a value that are tried alone, to find out whether the model takes steps of it only."""
DEAR_IOS, DEAR_SHARE = 100_000, 1 / 4
"""I/Os of a warm-up that are worth shortening, and the remaining share."""
SCALES = ("256", "64")
"""Fractions of a solid-state drive that are tried, the smallest first: to fill one at its whole size takes seconds."""
LEAST_SHARE = 1 / 16
"""Share of the measured time: garbage collection and write-back come in waves that a shorter run would miss."""


def shortened(spec: RunSpec, record: RecordDoc, *, ios: int = ENOUGH_IOS, share: float = LEAST_SHARE) -> RunSpec:
    """Return the run with less measured time, if it has more I/Os than are needed and its time can be set. `record`
    is that of the whole run."""
    count, steps = record["summary"]["count"] or 0, record.get("steps", [])
    left = max(share, ios / count) if count else 1.0
    if left >= 1.0 or any(one.get("runs") for one in record.get("scripts", [])):
        return spec
    each = record["duration_ns"] / (len(steps) or 1)
    shorter = replace(spec, duration=f"{max(round(each * left / 1e6), 1)} ms")
    # What happens to the machine has to come before the end, as nothing is known of runs that follow.
    return shorter if refusal([shorter], is_followed=False) is None else spec


def cheaper(spec: RunSpec, ios: int, measured: int) -> RunSpec:
    """Return a run whose I/Os before the measured time, `ios` less those `measured` of the whole run, are a quarter
    if they are many, and whose solid-state drives are simulated at a fraction of their size if the user set no size."""
    if ios - measured > DEAR_IOS:
        spec = with_shorter_warm_up(spec, DEAR_SHARE)
    if any(key == "scale" for key, _ in spec.set):
        return spec
    scaled = (replace(spec, set=(*spec.set, ("scale", scale))) for scale in SCALES)
    # Refused where no drive has a scale, too.
    return next((one for one in scaled if refusal([one]) is None), spec)


def with_shorter_warm_up(spec: RunSpec, share: float) -> RunSpec:
    """Return the run with its phases that are not measured shortened, if they are of a set time."""
    text = workload_text(spec)
    phases = cast("list[dict[str, Any]]", loads(text, spec.workload).get("phases", []))
    changes = {
        f"phases.{number}.duration": f"{_quantity(phase['duration']) * share * 1e3:.3f} ms"
        for number, phase in enumerate(phases)
        if not phase.get("measure") and "duration" in phase
    }
    if not changes:
        return spec
    shorter = replace(spec, workload_text=edited(text, spec.workload, changes))
    return shorter if refusal([shorter]) is None else spec


def _quantity(text: str) -> float:
    return _core.quantity("time", text)


def takes_steps(of: Uncertain, spec: RunSpec, shares: Sequence[float]) -> bool:
    """Return whether the model takes a value in steps only: it refuses most samples of it, even alone."""
    if of.distribution.kind == "choice":
        return False
    tried = shares[:STEPS_TRIED]
    enough = len(tried) - len(tried) // 2
    accepted = (share for share in tried if refusal([with_values(spec, [(of, of.at(share))])]) is None)
    # What follows makes no difference once enough of them are accepted.
    return len(list(islice(accepted, enough))) < enough
