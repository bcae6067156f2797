"""The figures of a study on its page: charts of published next to predicted values, errors, and a table of all
figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from hotband.base.heavy import pl
from hotband.base.text.numbers import finite, number, percent, quantity
from hotband.base.text.words import capitalized
from hotband.views.draw import published
from hotband.views.interval import said
from hotband.views.report.page import Block, Cell, Chart, Charts, Group, Section, Table

if TYPE_CHECKING:
    from hotband.data.documents.study import FigureDoc, ListedFigureDoc, StudyDoc
    from hotband.data.documents.study_answer import MachineDoc

# A metric with fewer figures than this shares a chart with others of its unit: single points are hard to read.
FEWEST_ROWS = 3
OTHER = "Other figures"
# Error that fills the small bar next to it (%).
FULL_BAR = 50.0


class FigureRow(TypedDict):
    """A figure with the texts in a chart; `machine` determines its colour, `quantity` its axis."""

    id: str
    label: str
    config: str
    machine: str
    workload: str
    metric: str
    unit: str
    quantity: str
    published: float | None
    predicted: float | None
    error_pct: float | None
    published_text: str
    predicted_text: str
    error_text: str


def names_of(machines: Sequence[MachineDoc]) -> dict[str, str]:
    """Return the short names of machines by their published names."""
    return {machine["label"]: machine["name"] for machine in machines}


def figures_section(result: StudyDoc) -> Section | None:
    """Return charts of published next to predicted figures, and a table of every figure."""
    figures = result["figures"]
    if not figures:
        return None
    rows = figure_rows(figures, names_of(result.get("machines") or []))
    caption = "The line between two points is the error. A circle alone has no published figure."
    made = [
        Chart(title, published.published_chart(frame_of(group), title), caption if n == 0 else "")
        for n, (title, group) in enumerate(_chart_groups(rows).items())
    ]
    blocks: list[Block] = [Charts(made, width=1000)] if made else []
    compared = sum(row["error_pct"] is not None for row in rows)
    gist = f"all {len(rows)} figures, {compared} of them published, in charts and a table"
    return Section("figures", "Published against predicted", [*blocks, _figure_table(figures)], folded=True, gist=gist)


def figure_rows(figures: Sequence[FigureDoc], names: Mapping[str, str] | None = None) -> list[FigureRow]:
    """Return figures in the order of their configurations, with the texts in a chart."""
    order = list(dict.fromkeys(figure.get("config") or "" for figure in figures))
    rows: list[FigureRow] = []
    for n, figure in enumerate(figures):
        published, predicted = finite(figure.get("published")), finite(figure.get("predicted"))
        unit, config = figure.get("unit") or "", figure.get("config") or ""
        rows.append(
            {
                "id": f"{n}:{figure['id']}",
                "label": figure["label"],
                "config": (names or {}).get(config, config),
                "machine": (names or {}).get(config, config),
                "workload": figure.get("workload") or "",
                "metric": figure.get("metric") or "value",
                "unit": unit,
                "quantity": quantity_name(figure.get("metric") or "value", unit),
                "published": published,
                "predicted": predicted,
                "error_pct": finite(figure.get("error_pct")),
                "published_text": quantity(published, unit) if published is not None else "not published",
                "predicted_text": quantity(predicted, unit) if predicted is not None else "not predicted",
                "error_text": _error_text(figure),
            }
        )
    places = {(names or {}).get(config, config): n for n, config in reversed(list(enumerate(order)))}
    return sorted(rows, key=lambda row: places[row["config"]])


def error_frame(figures: Sequence[FigureDoc], names: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Return the data of `published.error_chart`: figures both published and predicted, by class if they have one."""
    classes = {f"{n}:{figure['id']}": str(figure.get("figure_class") or "") for n, figure in enumerate(figures)}
    rows = [row for row in figure_rows(figures, names) if row["error_pct"] is not None]
    return frame_of([{**row, "quantity": classes[row["id"]].capitalize() or row["quantity"]} for row in rows])


def quantity_name(metric: str, unit: str) -> str:
    """Return a quantity with its unit: `Mean latency (ms)`; a metric that names its unit, like IOPS, stays alone."""
    name = metric if metric[1:2].isdigit() else capitalized(metric)
    return name if not unit or unit.lower() in metric.lower().split() else f"{name} ({unit})"


def _error_text(figure: FigureDoc) -> str:
    if finite(figure.get("published")) is None:
        return "predicted only"
    if finite(figure.get("predicted")) is None:
        return "not predicted"
    return percent(figure.get("error_pct"))


def _chart_groups(rows: Sequence[FigureRow]) -> dict[str, list[FigureRow]]:
    """Return rows by the quantity of their chart; quantities with few figures of one unit share a chart. A quantity
    without published figures is only in the table."""
    by_quantity: dict[str, list[FigureRow]] = {}
    for row in rows:
        if row["published"] is not None or row["predicted"] is not None:
            by_quantity.setdefault(row["quantity"], []).append(row)
    small: dict[str, list[str]] = {}
    for name, group_rows in by_quantity.items():
        if len(group_rows) < FEWEST_ROWS:
            small.setdefault(group_rows[0]["unit"], []).append(name)
    groups: dict[str, list[FigureRow]] = {}
    for name, group_rows in by_quantity.items():
        unit = group_rows[0]["unit"]
        shared = name in small.get(unit, []) and len(small[unit]) > 1
        title = quantity_name(OTHER, unit) if shared else name
        groups.setdefault(title, []).extend(
            {**row, "label": _with_metric(row) if shared else row["label"]} for row in group_rows
        )
    drawn = {title: group for title, group in groups.items() if any(row["published"] is not None for row in group)}
    return dict(sorted(drawn.items(), key=lambda group: group[0].startswith(OTHER)))


def _with_metric(row: FigureRow) -> str:
    metric, label = str(row["metric"]), str(row["label"])
    return label if metric.lower() in label.lower() else f"{label}: {metric}"


def frame_of(rows: Sequence[FigureRow]) -> pl.DataFrame:
    """Return the frame for `published.published_chart` and `published.error_chart`."""
    texts = (
        "id",
        "label",
        "config",
        "machine",
        "workload",
        "quantity",
        "published_text",
        "predicted_text",
        "error_text",
    )
    numbers = ("published", "predicted", "error_pct")
    schema = pl.Schema(dict.fromkeys(texts, pl.String()) | dict.fromkeys(numbers, pl.Float64()))
    return pl.DataFrame(rows, schema=schema)


def _blind_cell(figure: ListedFigureDoc) -> Cell:
    """Return the prediction made before the figure was seen, with its error."""
    blind = figure.get("blind")
    if blind is None:
        return Cell("")
    return Cell(quantity(blind["predicted"], figure.get("unit") or ""), True, under=percent(blind["error_pct"]))


def _figure_table(figures: Sequence[ListedFigureDoc]) -> Table:
    some_blind = any(figure.get("blind") for figure in figures)
    order = list(dict.fromkeys(figure.get("config") or "" for figure in figures))
    groups: dict[tuple[int, str], list[list[Cell]]] = {}
    for figure in figures:
        position = order.index(figure.get("config") or ""), str(figure.get("workload") or "")
        groups.setdefault(position, []).append(_figure_cells(figure, some_blind))
    blind = ["Blind"] if some_blind else []
    columns = ["Figure", "Published", "Predicted", "Error", *blind, "Caveat and note", "Source"]
    caption = f"Every figure, by configuration. The bar next to an error is full at {number(FULL_BAR)} %."
    caption += " Below a prediction is its interval." if any(figure.get("interval") for figure in figures) else ""
    caption += " Blind: predicted before the figure was seen." if some_blind else ""
    made, shown = [], -1
    for (config, workload), rows in sorted(groups.items(), key=lambda group: group[0][0]):
        made.append(Group(rows, order[config] if config != shown else "", workload))
        shown = config
    return Table(columns, made, caption=caption)


def _figure_cells(figure: ListedFigureDoc, some_blind: bool) -> list[Cell]:
    unit = figure.get("unit") or ""
    error = finite(figure.get("error_pct"))
    published, predicted = finite(figure.get("published")), finite(figure.get("predicted"))
    remarks = [str(text) for text in (figure.get("caveat"), figure.get("note")) if text]
    return [
        Cell(figure["label"], under=_metric_unless_named(figure)),
        Cell(
            quantity(published, unit) if published is not None else "not published",
            True,
            muted=published is None,
        ),
        Cell(
            quantity(predicted, unit) if predicted is not None else "not predicted",
            True,
            muted=predicted is None,
            under=_interval_text(figure),
        ),
        Cell(percent(error), True, bar=None if error is None else error / FULL_BAR),
        *([_blind_cell(figure)] if some_blind else []),
        Cell(" ".join(remarks), muted=True),
        Cell(figure.get("source") or "", muted=True),
    ]


def _interval_text(figure: ListedFigureDoc) -> str:
    """Return the interval of a prediction in words; nothing if it has none."""
    interval = figure.get("interval")
    return "" if interval is None else said(interval)


def _metric_unless_named(figure: FigureDoc) -> str:
    metric = str(figure.get("metric") or "")
    return "" if metric.lower() in str(figure["label"]).lower() else metric
