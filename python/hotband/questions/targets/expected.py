"""Measurements on hardware next to the predictions of its catalog model, with a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import cast

from hotband.base.errors import UserError
from hotband.base.question import Way
from hotband.base.text.numbers import number
from hotband.data.catalog.named import NEAREST
from hotband.data.documents.record import ExpectedHereDoc, RecordDoc
from hotband.data.inputs.reports import products_by_model
from hotband.data.inputs.specify import Named
from hotband.data.inputs.texts import text_of
from hotband.execution.devices.device import device_of
from hotband.execution.experiment import Progress
from hotband.execution.targets.real_target import RealTarget
from hotband.questions.expect.expect import judged
from hotband.questions.expect.nearest import NO_DRIVE, rank
from hotband.questions.expect.predict import Settings
from hotband.questions.expect.results import row_of

IOS = 20_000
"""Measured I/Os of the prediction for a run on hardware: with them a disk takes about a second."""
OF_HARDWARE = Settings(ios=IOS, draws=0)
"""Settings of a prediction for a run on hardware: a single run of the model. The interval of a solid-state drive would
take a hundred more runs, each of which overwrites the drive first: ten times the processor time of the
measurement."""
NOT_NAMED = (
    "no prediction: the catalog has no drive with this device's model number; name a drive, or request the nearest"
)
Product = tuple[str, str]


def product_of(place: RealTarget) -> Product | None:
    """Return the catalog's drive whose model number the device at a place has, and how it is known; None if there is
    none, or several. Raises UserError for a device that cannot be identified."""
    if place.path is None:
        return None
    model = device_of(str(place.path)).model
    found = products_by_model(model or "")
    return (found[0], f"by its model number, {model}") if len(found) == 1 else None


def expected_of(
    records: Sequence[RecordDoc],
    workload: Named,
    place: RealTarget,
    product: str | None,
    shown: Callable[[Progress], None] | None,
) -> tuple[ExpectedHereDoc | None, str]:
    """Compare a measurement with the prediction for `product`, or for the drive with the device's model number. Return
    the comparison, or the reason why there is none. `product` may be `NEAREST`."""

    way = Way(lambda _: nullcontext(shown), lambda _: None)

    def beside(name: str, chosen: str) -> ExpectedHereDoc:
        machine = Named(name, text_of(name, "machine"))
        found = judged(rows, machine, OF_HARDWARE, way)
        return cast("ExpectedHereDoc", {**found.to_dict(), "chosen": chosen, "is_near": True})

    try:
        chosen = product_of(place) if product is None else (product, "as you named it")
    except UserError as error:
        # A device that the host cannot identify must not cost the user the measurement.
        return None, f"no prediction: {error.worded(str)}"
    if chosen is None:
        return None, NOT_NAMED
    rows = [row_of(record, "fio.json", workload) for record in records]
    if all(row.load is None for row in rows):
        return None, f"no prediction: {rows[0].why_not}"
    try:
        if product != NEAREST:
            return beside(*chosen), ""
        nearest = rank(rows, Settings(), way.watch).drives[0]
        off = number(math.exp(nearest.distance))
        found = beside(nearest.machine, f"the nearest of the catalog, {off} times off; name yours")
        return (found if nearest.distance <= NO_DRIVE else without_verdict(found, off)), ""
    except UserError as error:
        # A load that the drive does not take: what was measured is not lost for it.
        return None, f"no prediction: {error.worded(str)}"


def without_verdict(of: ExpectedHereDoc, off: str) -> ExpectedHereDoc:
    """The same for a drive that is not similar: its figures are shown next to the measurements without a verdict."""
    rows = [
        {**row, "verdict": None, "figures": [{**figure, "verdict": None} for figure in row["figures"]]}
        for row in of["rows"]
    ]
    verdict = f"no drive of the catalog is similar; the nearest is {of['machine']}, {off} times off: name yours"
    made = {**of, "rows": rows, "verdict": verdict, "explanations": [], "is_near": False}
    return cast("ExpectedHereDoc", made)
