"""Figures of two configurations: how much faster, how much more, how many percent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hotband.measures import Value
from hotband.studyfile import Comparison, Published, Study

KINDS: dict[str, Callable[[float, float], float]] = {
    "ratio": lambda of, over: of / over,
    "inverse_ratio": lambda of, over: over / of,
    "gain_pct": lambda of, over: (of / over - 1) * 100,
    "difference": lambda of, over: of - over,
}
UNITS = {"ratio": "x", "inverse_ratio": "x", "gain_pct": "%"}


def compare(kind: str, of: Value, over: Value) -> Value:
    """One configuration's value against another's; None where either has none."""
    note = " ".join(dict.fromkeys(one.note for one in (of, over) if one.note))
    below = of.number if kind == "inverse_ratio" else over.number
    if of.number is None or over.number is None or (below == 0 and kind != "difference"):
        return Value(None, note)
    return Value(KINDS[kind](of.number, over.number), note)


def figure_of(study: Study, one: Comparison, value: Value) -> dict[str, Any]:
    """The figure of a comparison, beside its published row where it has one."""
    rows: Mapping[str, Published] = {row.id: row for row in study.published}
    row, measure, load = rows.get(one.id), study.measure(one.measure), study.load(one.load)
    labels = {config.id: config.label for config in study.configs}
    published = None
    if row is not None:
        published = row.value if one.reading is None else one.reading
    return {
        "id": one.id,
        "config": row.config if row else f"{labels[one.of]} against {labels[one.over]}",
        "label": one.label or load.label,
        "workload": row.workload if row else load.published,
        "metric": one.metric or (row.metric if row else f"{measure.metric}, {one.kind.replace('_', ' ')}"),
        "published": published,
        "unit": one.unit or (row.unit if row else UNITS.get(one.kind, measure.unit)),
        "predicted": value.number,
        "source": row.id if row else "not published, or withheld",
        "caveat": row.caveat if row else "",
        "note": value.note,
        "group": load.group or load.label,
    }
