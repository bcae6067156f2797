"""The page of a study: what was published beside what we predict, and everything the predictions rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

from hotband.draw import charts, published
from hotband.report import frames, sections, study_variants
from hotband.report.page import (
    Block,
    Cards,
    Cell,
    Chart,
    Charts,
    Claims,
    Fold,
    Group,
    Heading,
    Page,
    Prose,
    Section,
    Table,
    plain,
)
from hotband.report.text import ABSENT, cell, finite, number, percent, quantity, span
from hotband.text.accuracytables import COLUMNS, class_cells

if TYPE_CHECKING:
    import polars as pl

    from hotband.report.load import LoadedRecord
    from hotband.study.documents import (
        ClassErrorsDoc,
        DepthPointDoc,
        FigureDoc,
        FindingTableDoc,
        ListedFigureDoc,
        RunDoc,
        StudyDoc,
    )

# A metric with fewer figures than this shares a chart with others of its unit: one point alone says little.
FEWEST_ROWS = 3
OTHER = "Other figures"
# An error that fills the small bar beside it (%).
FULL_BAR = 50.0
# Rows of a table of runs that stay open on the page.
OPEN_ROWS = 12
# What its runs table shows of `sections.RESULT_COLUMNS`: as much as a page is wide.
RUN_RESULTS = (1, 2, 3, 5, 9, 10)


class FigureRow(TypedDict):
    """A figure with the texts that a chart shows; `quantity` is what its axis is of."""

    id: str
    label: str
    config: str
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


def study_page(result: StudyDoc, loaded: Mapping[str, LoadedRecord]) -> Page:
    """The page for a study's `result`; `loaded` are its runs' records by run id (a run may lack one)."""
    named = _named_runs(result, loaded)
    found = [
        _accuracy(result),
        _figures(result),
        study_variants.inputs(result),
        study_variants.bars(result),
        study_variants.amplification(result, loaded),
        study_variants.response(result),
        _load(result),
        study_variants.warm_up(result, loaded),
        study_variants.once(result, loaded),
        study_variants.io_time(result),
        study_variants.why(result),
        *sections.run_sections(named),
        _findings(result),
        _claims(result),
        _misses(result),
        study_variants.swings(result),
        _assumptions(result),
        _reproduction(result, named),
    ]
    return Page(
        result["title"],
        [section for section in found if section is not None],
        subtitle=result.get("question") or "",
        kicker=f"Hotband study · {result['study']}",
    )


def _named_runs(result: StudyDoc, loaded: Mapping[str, LoadedRecord]) -> dict[str, LoadedRecord]:
    """Records under the labels the study gives its runs, in the study's order."""
    runs = [run for run in result.get("runs") or [] if run["id"] in loaded]
    return frames.unique_labels([replace(loaded[run["id"]], label=run.get("label") or run["id"]) for run in runs])


# --- accuracy -----------------------------------------------------------------------------------------------


def _accuracy(result: StudyDoc) -> Section:
    summary, claims = result["summary"], result.get("claims") or []
    decided = [claim for claim in claims if claim.get("holds") is not None]
    cards = [
        (percent(summary.get("median_abs_error_pct"), signed=False), "median error, either way"),
        (percent(summary.get("max_abs_error_pct"), signed=False), "largest error, either way"),
        (f"{summary['compared']} of {summary['figures']}", "figures that could be compared"),
    ]
    if claims:
        held = sum(bool(claim["holds"]) for claim in decided)
        cards.append((f"{held} of {len(decided)}", "claims that hold, of those decided"))
    if result.get("runs"):
        cards.append((str(len(result["runs"])), "runs"))
    blocks: list[Block] = [Cards(cards)]
    rows = error_frame(result["figures"])
    if rows.height > 1:
        caption = "Each point is a published figure; zero is exact."
        blocks.append(Charts([Chart("Errors at a glance", published.error_chart(rows), caption)], width=1000))
    classes = summary.get("classes") or []
    if any(one["blind"]["measurements"] for one in classes):
        blocks.append(_class_table(classes))
    return Section("accuracy", "Accuracy", blocks)


def _class_table(classes: Sequence[ClassErrorsDoc]) -> Table:
    """Errors by class of figure, where some were predicted before they were seen."""
    columns = ["Figures", *(f"{over}: {name}" for over, name in COLUMNS[1:])]
    rows = [[Cell(text, n > 0) for n, text in enumerate(class_cells(of))] for of in classes]
    caption = (
        "Errors, either way, in percent, each measurement once: of figures that were seen while the models were built, "
        "and of those that were predicted blind, before they were seen, as predicted then and now."
    )
    return Table(columns, [Group(rows)], caption=caption)


# --- figures ------------------------------------------------------------------------------------------------


def _figures(result: StudyDoc) -> Section | None:
    figures = result["figures"]
    if not figures:
        return None
    drawn = [row for row in _figure_rows(figures) if row["published"] is not None or row["predicted"] is not None]
    caption = "The line between two points is the error. A circle alone has no published figure beside it."
    made = [
        Chart(title, published.published_chart(_frame(rows), title), caption if n == 0 else "")
        for n, (title, rows) in enumerate(_chart_groups(drawn).items())
    ]
    blocks: list[Block] = [Charts(made, width=1000)] if made else []
    return Section("figures", "Published against predicted", [*blocks, _figure_table(figures)])


def _figure_rows(figures: Sequence[FigureDoc]) -> list[FigureRow]:
    """Figures in the order of their configurations, with the texts a chart shows."""
    order = list(dict.fromkeys(figure.get("config") or "" for figure in figures))
    rows: list[FigureRow] = []
    for n, figure in enumerate(figures):
        published, predicted = finite(figure.get("published")), finite(figure.get("predicted"))
        unit, config = figure.get("unit") or "", figure.get("config") or ""
        rows.append(
            {
                "id": f"{n}:{figure['id']}",
                "label": figure["label"],
                "config": config,
                "workload": figure.get("workload") or "",
                "metric": figure.get("metric") or "value",
                "unit": unit,
                "quantity": _quantity(figure.get("metric") or "value", unit),
                "published": published,
                "predicted": predicted,
                "error_pct": finite(figure.get("error_pct")),
                "published_text": quantity(published, unit) if published is not None else "not published",
                "predicted_text": quantity(predicted, unit) if predicted is not None else "not predicted",
                "error_text": _error_text(figure),
            }
        )
    return sorted(rows, key=lambda row: order.index(row["config"]))


def error_frame(figures: Sequence[FigureDoc]) -> pl.DataFrame:
    """What `published.error_chart` draws: the figures that are published and predicted."""
    return _frame([row for row in _figure_rows(figures) if row["error_pct"] is not None])


def published_frame(figures: Sequence[FigureDoc], quantity: str) -> pl.DataFrame:
    """What `published.published_chart` draws: the figures of one quantity, such as "IOPS", that are published."""
    rows = _figure_rows(figures)
    return _frame([row for row in rows if row["quantity"] == quantity and row["published"] is not None])


def _quantity(metric: str, unit: str) -> str:
    """`Mean latency (ms)`; a metric that names its unit, like IOPS, stays alone."""
    name = metric if metric[1:2].isdigit() else metric[:1].upper() + metric[1:]
    return name if not unit or unit.lower() in metric.lower().split() else f"{name} ({unit})"


def _error_text(figure: FigureDoc) -> str:
    if finite(figure.get("published")) is None:
        return "predicted only"
    if finite(figure.get("predicted")) is None:
        return "not predicted"
    return percent(figure.get("error_pct"))


def _chart_groups(rows: Sequence[FigureRow]) -> dict[str, list[FigureRow]]:
    """Rows by the quantity of their chart; small quantities of one unit share a chart."""
    by_quantity: dict[str, list[FigureRow]] = {}
    for row in rows:
        by_quantity.setdefault(row["quantity"], []).append(row)
    small: dict[str, list[str]] = {}
    for name, found in by_quantity.items():
        if len(found) < FEWEST_ROWS:
            small.setdefault(found[0]["unit"], []).append(name)
    groups: dict[str, list[FigureRow]] = {}
    for name, found in by_quantity.items():
        unit = found[0]["unit"]
        shared = name in small.get(unit, []) and len(small[unit]) > 1
        title = _quantity(OTHER, unit) if shared else name
        groups.setdefault(title, []).extend(
            {**row, "label": _with_metric(row) if shared else row["label"]} for row in found
        )
    return dict(sorted(groups.items(), key=lambda group: group[0].startswith(OTHER)))


def _with_metric(row: FigureRow) -> str:
    metric, label = str(row["metric"]), str(row["label"])
    return label if metric.lower() in label.lower() else f"{label}: {metric}"


def _frame(rows: Sequence[FigureRow]) -> pl.DataFrame:
    """What `published.published_chart` and `published.error_chart` read."""
    import polars as pl

    texts = (
        "id",
        "label",
        "config",
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
    """What was predicted before the figure was seen, with the error of that."""
    blind = figure.get("blind")
    if blind is None:
        return Cell("")
    return Cell(quantity(blind["predicted"], figure.get("unit") or ""), True, under=percent(blind["error_pct"]))


def _figure_table(figures: Sequence[ListedFigureDoc]) -> Table:
    some_blind = any(figure.get("blind") for figure in figures)
    order = list(dict.fromkeys(figure.get("config") or "" for figure in figures))
    groups: dict[tuple[int, str], list[list[Cell]]] = {}
    for figure in figures:
        unit = figure.get("unit") or ""
        error = finite(figure.get("error_pct"))
        published, predicted = finite(figure.get("published")), finite(figure.get("predicted"))
        remarks = [str(text) for text in (figure.get("caveat"), figure.get("note")) if text]
        row = [
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
        place = order.index(figure.get("config") or ""), str(figure.get("workload") or "")
        groups.setdefault(place, []).append(row)
    blind = ["Blind"] if some_blind else []
    columns = ["Figure", "Published", "Predicted", "Error", *blind, "Caveat and note", "Source"]
    caption = f"Every figure, by configuration. The bar beside an error is full at {number(FULL_BAR)} %."
    caption += " Below a prediction is its interval." if any(figure.get("interval") for figure in figures) else ""
    caption += " Blind is what was predicted before the figure was seen." if some_blind else ""
    made, shown = [], -1
    for (config, workload), rows in sorted(groups.items(), key=lambda group: group[0][0]):
        made.append(Group(rows, order[config] if config != shown else "", workload))
        shown = config
    return Table(columns, made, caption=caption)


def _interval_text(figure: ListedFigureDoc) -> str:
    """The interval of a prediction in words; nothing where it has none."""
    from hotband.interval.show import said

    interval = figure.get("interval")
    return "" if interval is None else said(interval)


def _metric_unless_named(figure: FigureDoc) -> str:
    metric = str(figure.get("metric") or "")
    return "" if metric.lower() in str(figure["label"]).lower() else metric


# --- curves -------------------------------------------------------------------------------------------------


def _load(result: StudyDoc) -> Section | None:
    import polars as pl

    curves = result.get("curves") or []
    groups: dict[str, list[DepthPointDoc]] = {}
    for point in curves:
        groups.setdefault(point.get("group") or "", []).append(point)
    blocks: list[Block] = []
    for name, points in groups.items():
        rows = [
            {
                "machine": str(point["machine"]),
                "qd": finite(point["qd"]),
                "iops": finite(point.get("iops")),
                "latency_mean_ms": _ms(point.get("latency_mean_ns")),
                "latency_p99_ms": _ms(point.get("latency_p99_ns")),
            }
            for point in points
        ]
        kinds = {"machine": pl.String} | dict.fromkeys(list(rows[0])[1:], pl.Float64)
        frame = pl.DataFrame(rows, schema=kinds).filter(pl.col("qd") > 0)
        titles = {
            "iops": "IOPS",
            "latency_mean_ms": "Mean latency (ms)",
            "latency_p99_ms": "p99 latency (ms)",
        }
        made = [
            Chart(title, charts.load_chart(frame, value, title))
            for value, title in titles.items()
            if frame[value].is_not_null().any()
        ]
        blocks += [Heading(name), Charts(made, width=300)] if name else [Charts(made, width=300)]
    return Section("load", "Against queue depth", blocks) if blocks else None


def _ms(value: object) -> float | None:
    found = finite(value)
    return found / 1e6 if found is not None and found > 0 else None


# --- words --------------------------------------------------------------------------------------------------


def _findings(result: StudyDoc) -> Section | None:
    blocks: list[Block] = [Prose([result["untrusted"]])] if "untrusted" in result else []
    for finding in result.get("findings") or []:
        blocks += [Heading(finding["title"]), Prose([finding["text"]])]
        table = finding.get("table")
        if table:
            blocks.append(_finding_table(table))
    return Section("findings", "Findings", blocks) if blocks else None


def _finding_table(table: FindingTableDoc) -> Table:
    """A finding's table; a column of numbers and gaps is set to the right."""
    names, rows = [str(name) for name in table["columns"]], table["rows"]
    numeric = [all(row[n] is None or finite(row[n]) is not None for row in rows) for n in range(len(names))]
    cells = [[Cell(cell(value), right) for value, right in zip(row, numeric, strict=True)] for row in rows]
    return Table(names, [Group(cells)])


def _claims(result: StudyDoc) -> Section | None:
    states = {True: "yes", False: "no", None: "open"}
    items = [
        {
            "state": states[claim.get("holds")],
            "text": claim["text"],
            "measured": claim.get("measured") or "",
            "source": claim.get("source") or "",
        }
        for claim in result.get("claims") or []
    ]
    return Section("claims", "Published claims", [Claims(items)]) if items else None


def _misses(result: StudyDoc) -> Section | None:
    misses = result.get("misses") or []
    labels = {figure["id"]: figure["label"] for figure in result["figures"]}
    rows = [[Cell(labels.get(miss["id"], miss["id"])), Cell(miss["text"])] for miss in misses]
    return Section("misses", "Misses, explained", [Table(["Figure", "Why"], [Group(rows)])]) if rows else None


def _assumptions(result: StudyDoc) -> Section | None:
    groups: dict[str, list[list[Cell]]] = {}
    for item in result.get("assumptions") or []:
        low_high = item.get("range")
        row = [
            Cell(item["key"]),
            Cell(cell(item.get("value")), mark="estimate" if item.get("estimate") else ""),
            Cell(f"{cell(low_high[0])} to {cell(low_high[1])}" if low_high else ABSENT),
            Cell(str(item.get("confidence") or ABSENT)),
            Cell(item.get("source") or "", muted=True),
            Cell(item.get("note") or "", muted=True),
        ]
        groups.setdefault(item.get("part") or "", []).append(row)
    if not groups:
        return None
    rows = [row for found in groups.values() for row in found]
    estimates = sum(bool(row[1].mark) for row in rows)
    text = f"{len(rows)} values; {estimates} of them are estimates that no source states, marked as such."
    columns = ["Key", "Value", "Range", "Confidence", "Source", "Note"]
    return Section(
        "assumptions",
        "Assumptions",
        [Prose([text]), Table(columns, [Group(found, part) for part, found in groups.items()])],
    )


def _reproduction(result: StudyDoc, records: Mapping[str, LoadedRecord]) -> Section:
    seeds = dict.fromkeys(str(loaded.record.get("seed")) for loaded in records.values() if loaded.record.get("seed"))
    facts = [
        ("Study", result["study"]),
        ("Versions", sections.versions(records, result.get("versions"))),
        ("Seed", str(result.get("seed") or ", ".join(seeds) or "not recorded")),
    ]
    blocks: list[Block] = [Table(["", ""], [Group([plain(fact) for fact in facts])])]
    if result.get("command"):
        blocks.append(Fold("Command", str(result["command"]), open=True))
    rows = [_run_row(run, records) for run in result.get("runs") or []]
    if rows:
        columns = ["Run", *(sections.RESULT_COLUMNS[n] for n in RUN_RESULTS), "Measured for", "Record"]
        folded = len(rows) > OPEN_ROWS
        blocks.append(Table(columns, [Group(rows)], caption=f"The {len(rows)} runs", folded=folded))
    return Section("reproduction", "Reproduction", blocks + sections.notes_blocks(records))


def _run_row(run: RunDoc, records: Mapping[str, LoadedRecord]) -> list[Cell]:
    label = run.get("label") or run["id"]
    loaded = records.get(label)
    row = sections.result_row(label, loaded.record["summary"] if loaded else None)
    measured = span(loaded.record["duration_ns"]) if loaded else ABSENT
    results = [row[n] for n in RUN_RESULTS]
    return [row[0], *results, Cell(measured, numeric=True), Cell(str(run.get("record") or ""), muted=True)]
