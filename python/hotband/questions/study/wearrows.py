"""Rows of a study's result about wear: write amplification against entropy, bars by load. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.text.quantities import share
from hotband.data.catalog.entries import drive
from hotband.inference.amplification import compressed, uniform
from hotband.questions.study.operations import amplification
from hotband.questions.study.runs import Cell, Results, products

if TYPE_CHECKING:
    from hotband.data.documents.study import BarDoc, EntropyCurveDoc, EntropyPointDoc

THEORY_POINTS = 100
DATA_KEY, SPARE_KEY, SWITCH_KEY = "data", "over_provisioning", "compression"
"""Setting of a load for the entropy of its writes; keys of a drive's catalog file for its spare capacity and the switch
of its compression."""


def entropy_rows(results: Results) -> EntropyCurveDoc:
    """Return the write amplification of the loads in the entropy chart, each with its theoretical value, and the theory
    of every drive over all entropies."""
    points: list[EntropyPointDoc] = []
    theory: list[EntropyPointDoc] = []
    spares: dict[str, tuple[float, bool]] = {}
    for key, cell in results.cells.items():
        if cell.load.chart != "entropy":
            continue
        entropy = share(dict((*cell.load.set, *cell.config.set)).get(DATA_KEY, "1"))
        for name in products(results)[key]:
            spare, compresses = _spare(cell, name)
            if spare:
                spares[cell.config.name] = spare, compresses
        own_spare, switched = spares.get(cell.config.name, (None, False))
        expected = _theory(own_spare, switched, entropy)
        for record in cell.records.values():
            points.append({**_row(cell.config.name, entropy, amplification(record)), "theory": expected})
    for variant, (spare, switched) in spares.items():
        shares = [(n + 1) / THEORY_POINTS for n in range(THEORY_POINTS)]
        theory += [_row(variant, entropy, _theory(spare, switched, entropy)) for entropy in shares]
    return {"points": points, "theory": theory}


def _row(variant: str, entropy: float | None, value: float | None) -> EntropyPointDoc:
    return {"variant": variant, "entropy": entropy, "write_amplification": value}


def _theory(spare: float | None, compresses: bool, entropy: float | None) -> float | None:
    """Return the theoretical amplification; a drive without compression amplifies all data alike."""
    if not spare or entropy is None or not 0 < entropy <= 1:
        return None
    return compressed(spare, entropy) if compresses else uniform(spare)


def _spare(cell: Cell, name: str) -> tuple[float | None, bool]:
    """Return a drive's over-provisioning and whether it compresses, from the study's settings or its catalog file."""
    settings = dict((*cell.load.set, *cell.config.set))
    values = {value["key"]: value["value"] for value in drive(name)["values"]} | settings
    return share(values.get(SPARE_KEY, "")), values.get(SWITCH_KEY) == "on"


def bar_rows(results: Results, published: dict[tuple[str, str, str], float]) -> list[BarDoc]:
    """Return the values of the measures shown as bars, by load; `published` by the ids of config, load and measure."""
    rows: list[BarDoc] = []
    for (config, load), cell in results.cells.items():
        if cell.load.what_if:
            continue
        for name in cell.load.measures:
            measure = results.study.measure(name)
            value = cell.value(measure).number if measure.bar else None
            if value is not None:
                rows.append(
                    {
                        "load": cell.load.group or cell.load.label,
                        "metric": measure.metric,
                        "unit": measure.unit,
                        "variant": cell.config.name,
                        "value": value,
                        "published": published.get((config, load, name)),
                    }
                )
    return rows
