"""What was measured on hardware beside what the catalog's model of it predicts, with a verdict."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

import tomli

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.question import Way
from hotband.base.text.numbers import number
from hotband.data import catalog
from hotband.data.inputs.specify import Named
from hotband.data.inputs.texts import text_of
from hotband.execution.devices.device import device_of
from hotband.execution.targets.place import Place
from hotband.questions.expect.asked import ExpectQuestion
from hotband.questions.expect.expect import expect
from hotband.questions.expect.nearest import NO_DRIVE

if TYPE_CHECKING:
    from hotband.data.documents.record import ExpectedHereDoc
    from hotband.execution.experiment import Progress

# A model number shorter than this would be found in names that are not its own.
_SHORTEST = 6
Product = tuple[str, str]


def product_of(place: Place) -> Product | None:
    """The catalog's drive whose model number the device at a place has, and how it is known; None where there is none,
    or several."""
    if place.path is None:
        return None
    try:
        model = device_of(str(place.path)).model
    except UserError:
        return None
    found = products_by_model(model or "")
    return (found[0], f"by its model number, {model}") if len(found) == 1 else None


def products_by_model(model: str) -> list[str]:
    """The catalog's drives whose model number is part of what a device calls itself ("ATA INTEL SSDSC2KB960G7")."""
    said = _plain(model)
    return [name for name, number in _numbers().items() if number in said]


@cache
def _numbers() -> dict[str, str]:
    """Model numbers of the catalog's drives. A variant is the same drive set up otherwise: the drive itself stands for
    it."""
    found = {}
    for name in _core.catalog_names(catalog.CATALOG_DIR, "drives"):
        table = tomli.loads((catalog.CATALOG_DIR / "drives" / f"{name}.toml").read_text(encoding="utf-8"))
        number = _plain(str(table.get("model", "")))
        if len(number) >= _SHORTEST and "variant_of" not in table:
            found[name] = number
    return found


def _plain(text: str) -> str:
    return re.sub(r"[^A-Z0-9]", "", text.upper())


def expected_of(
    result: Path, place: Place, product: str | None, shown: Callable[[Progress], None] | None
) -> ExpectedHereDoc | None:
    """A result of fio beside the prediction for `product`, else for the drive that the place is, else for the nearest
    by its figures, which is no verdict where none is near. None where its load cannot be rebuilt. Raises UserError for
    a product that is none."""

    way = Way(lambda _: nullcontext(shown), lambda _: None)

    def beside(name: str, chosen: str) -> ExpectedHereDoc:
        found = expect(ExpectQuestion(result=(result,), on=Named(name, text_of(name, "machine"))), way)
        return cast("ExpectedHereDoc", {**found.to_dict(), "chosen": chosen, "is_near": True})

    if product is not None:
        return beside(product, "as you named it")
    known = product_of(place)
    try:
        if known is not None:
            return beside(*known)
        ranked = expect(ExpectQuestion(result=(result,)), way)
        if ranked.ranking is None or not ranked.ranking.drives:
            return None
        nearest = ranked.ranking.drives[0]
        off = number(math.exp(nearest.distance))
        found = beside(nearest.machine, f"the nearest of the catalog, {off} times off; name yours")
        return found if nearest.distance <= NO_DRIVE else without_verdict(found, off)
    except UserError:
        # A load that no drive of the catalog takes: nothing is predicted then.
        return None


def without_verdict(of: ExpectedHereDoc, off: str) -> ExpectedHereDoc:
    """The same beside a drive that is not near: its figures may stand beside what was measured, and judge nothing."""
    rows = [
        {**row, "verdict": None, "figures": [{**one, "verdict": None} for one in row["figures"]]} for row in of["rows"]
    ]
    verdict = f"no drive of the catalog is near; nearest is {of['machine']}, {off} times off: name yours"
    made = {**of, "rows": rows, "verdict": verdict, "explanations": [], "is_near": False}
    return cast("ExpectedHereDoc", made)


def sentence_of(expected: ExpectedHereDoc) -> str:
    """The verdict in a sentence without its end, for terminal and page."""
    if not expected.get("is_near", True):
        return f"Not judged: {expected['verdict']}"
    return f"Expected of {expected['machine']} ({expected['chosen']}): {expected['verdict']}"
