"""Rows that a study's result keeps of drives that wear: write amplification against entropy, bars by load. Pure."""

from __future__ import annotations

from typing import Any

from hotband.amplification import compressed
from hotband.opmeasures import amplification
from hotband.quantities import share
from hotband.studyruns import Cell, Results, products

THEORY_POINTS = 100
DATA_KEY, SPARE_KEY = "data", "over_provisioning"
"""What a load sets to give its writes an entropy, and what a drive's catalog file calls its spare capacity."""


def entropy_rows(results: Results) -> dict[str, list[dict[str, Any]]]:
    """Write amplification of the loads that ask for a place in that chart, each with what theory says; and the theory
    of every drive over all entropies."""
    points, theory = [], []
    spares: dict[str, float] = {}
    for key, cell in results.cells.items():
        if cell.load.chart != "entropy":
            continue
        entropy = share(dict((*cell.load.set, *cell.config.set)).get(DATA_KEY, "1"))
        for name in products(results)[key]:
            spare = _spare(cell, name)
            if spare:
                spares[cell.config.name] = spare
        expected = _theory(spares.get(cell.config.name), entropy)
        for record in cell.records.values():
            points.append(_row(cell.config.name, entropy, amplification(record)) | {"theory": expected})
    for variant, spare in spares.items():
        shares = [(n + 1) / THEORY_POINTS for n in range(THEORY_POINTS)]
        theory += [_row(variant, entropy, compressed(spare, entropy)) for entropy in shares]
    return {"points": points, "theory": theory}


def _row(variant: str, entropy: float | None, value: float | None) -> dict[str, Any]:
    return {"variant": variant, "entropy": entropy, "write_amplification": value}


def _theory(spare: float | None, entropy: float | None) -> float | None:
    if not spare or entropy is None or not 0 < entropy <= 1:
        return None
    return compressed(spare, entropy)


def _spare(cell: Cell, name: str) -> float | None:
    """Over-provisioning of a drive: what the study sets, else what its catalog file says."""
    from hotband.catalogue import drive

    settings = dict((*cell.load.set, *cell.config.set))
    values = {value["key"]: value["value"] for value in drive(name)["values"]}
    return share(settings.get(SPARE_KEY, values.get(SPARE_KEY, "")))


def bar_rows(results: Results, published: dict[tuple[str, str, str], float]) -> list[dict[str, Any]]:
    """Values of the measures that are drawn as bars, by load; `published` by the ids of config, load and measure."""
    rows = []
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
