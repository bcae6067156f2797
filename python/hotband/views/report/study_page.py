"""The page of a study: its question, the answer with one chart, its accuracy and, folded, its basis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hotband.base.heavy import pl
from hotband.base.text.numbers import ABSENT, cell, finite, number
from hotband.base.text.table import MBS
from hotband.data.record import frames
from hotband.questions.study.study import by_reason
from hotband.views.draw import charts, lines
from hotband.views.report import sections, study_variants
from hotband.views.report.colors import machine_colors, painted
from hotband.views.report.page import (
    Block,
    Cell,
    Chart,
    Charts,
    Claims,
    Fold,
    Group,
    Heading,
    KeyItem,
    Page,
    Prose,
    Section,
    Table,
    plain,
    unchecked,
)
from hotband.views.report.pictures import drawing
from hotband.views.report.study_answer import accuracy_section, answer_section, machines_section
from hotband.views.report.study_figures import figures_section

if TYPE_CHECKING:
    from hotband.data.documents.study import DepthPointDoc, FindingTableDoc, RunDoc, StudyDoc
    from hotband.data.record.load import LoadedRecord

# Most figures that a page shows instead of an answer, for a study without one.
OPEN_FIGURES = 24
# Most rows of an unfolded table of runs.
OPEN_ROWS = 12
# Columns of the table of runs: as many as fit on a page.
RUN_COLUMNS = ("IOPS", "MB/s", "Mean latency (ms)", "p99 (ms)", "I/Os", "Errors")
# Most runs with a bar for each part; with more, the page shows the stages of an I/O by load.
MOST_BARS = 60
# Duration of runs from which the whole page uses minutes.
MINUTES_FROM_NS = 600e9


@unchecked()
def study_page(result: StudyDoc, loaded: Mapping[str, LoadedRecord]) -> Page:
    """Return the page for a study's `result`; `loaded` are its runs' records by run id (a run may lack one)."""
    named = _named_runs(result, loaded)
    colors = machine_colors(_machine_names(result))
    rest = [
        _misses(result),
        _claims(result),
        figures_section(result),
        study_variants.response(result),
        _load(result),
        study_variants.bars(result),
        study_variants.amplification(result, loaded),
        study_variants.warm_up(result, loaded),
        study_variants.once(result, loaded),
        study_variants.io_time(result),
        study_variants.why(result),
        _findings(result),
        study_variants.swings(result),
        study_variants.inputs(result),
        _assumptions(result),
        *_runs(named),
        _reproduction(result, named),
    ]
    first = [answer_section(result), accuracy_section(result), machines_section(result, colors)]
    open_ = "figures" if result.get("answer") is None and len(result["figures"]) <= OPEN_FIGURES else ""
    ordered = [*first, *(replace(section, folded=section.id != open_) for section in rest if section is not None)]
    return Page(
        result.get("question") or result["title"],
        [painted(section, colors) for section in ordered if section is not None],
        subtitle=result["title"] if result.get("question") else "",
        kicker=f"Hotband study · {result['study']}",
    )


def _machine_names(result: StudyDoc) -> list[str]:
    """Return the names of the study's machines, those with figures first; if it lists none, the machines of its curves
    and figures."""
    machines = result.get("machines") or []
    if machines:
        return [machine["name"] for machine in sorted(machines, key=lambda machine: machine["what_if"])]
    figures = [str(figure.get("config") or "") for figure in result["figures"]]
    return [*(str(point["machine"]) for point in result.get("curves") or []), *figures]


def _named_runs(result: StudyDoc, loaded: Mapping[str, LoadedRecord]) -> dict[str, LoadedRecord]:
    """Return records under the labels of the study's runs, in the study's order."""
    runs = [run for run in result.get("runs") or [] if run["id"] in loaded]
    return frames.unique_labels([replace(loaded[run["id"]], label=run.get("label") or run["id"]) for run in runs])


def _runs(named: Mapping[str, LoadedRecord]) -> list[Section]:
    """Return the views of single runs: latency, time series, parts."""
    run_parts = sections.run_sections(named, clock=charts.MINUTES if _in_minutes(named) else charts.SECONDS)
    gist = f"of any of the {len(named)} runs, and of another next to it" if len(named) > sections.OVERLAID else ""
    shown = [section for section in run_parts if section.id != "time" or len(named) <= MOST_BARS]
    return [replace(section, gist=gist if section.id != "time" else "") for section in shown]


def _in_minutes(named: Mapping[str, LoadedRecord]) -> bool:
    """Return whether times are in minutes, so that the longest run is readable."""
    return any((finite(loaded.record.get("duration_ns")) or 0.0) >= MINUTES_FROM_NS for loaded in named.values())


# --- curves -------------------------------------------------------------------------------------------------


def _load(result: StudyDoc) -> Section | None:
    curves = result.get("curves") or []
    left_out = study_variants.crowded(result, [str(point["machine"]) for point in curves])
    curves = [point for point in curves if point["machine"] not in left_out]
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
        made, key = _load_charts(frame)
        if made:
            blocks += [Heading(name)] if name else []
            blocks.append(Charts(made, width=300, key=key))
    machines = len({str(point["machine"]) for point in curves})
    gist = f"IOPS and latency of {machines} machine{'s' * (machines != 1)}"
    return Section("load", "Against queue depth", blocks, gist=gist) if blocks else None


def _load_charts(frame: pl.DataFrame) -> tuple[list[Chart], list[KeyItem]]:
    """Return one chart per quantity, under one key of the machines; none if no machine has two points."""
    if frame.is_empty() or frame["machine"].value_counts()["count"].max() == 1:
        return [], []
    titles = {"iops": "IOPS", "latency_mean_ms": "Mean latency (ms)", "latency_p99_ms": "p99 latency (ms)"}
    made = [
        Chart(
            title,
            drawing(charts.load_chart(frame, value, title)).bare(),
            lines.said(lines.coincident(frame.filter(pl.col(value).is_not_null()), "machine", "qd", [value])),
        )
        for value, title in titles.items()
        if frame[value].is_not_null().any()
    ]
    names = frame["machine"].unique(maintain_order=True).to_list()
    return made, [KeyItem(name, color, "●") for name, color in machine_colors(names).items()]


def _ms(value: object) -> float | None:
    number = finite(value)
    return number / 1e6 if number is not None and number > 0 else None


# --- words --------------------------------------------------------------------------------------------------


def _findings(result: StudyDoc) -> Section | None:
    blocks: list[Block] = []
    for finding in result.get("findings") or []:
        blocks += [Heading(finding["title"]), Prose([finding["text"]])]
        table = finding.get("table")
        if table:
            blocks.append(_finding_table(table))
    titles = [finding["title"] for finding in result.get("findings") or []]
    gist = f"{len(titles)}, first: {titles[0]}" if titles else ""
    return Section("findings", "Findings", blocks, gist=gist) if blocks else None


def _finding_table(table: FindingTableDoc) -> Table:
    """Return a finding's table; a column of numbers and gaps is right-aligned."""
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
    decided = [item for item in items if item["state"] != "open"]
    gist = f"{sum(item['state'] == 'yes' for item in decided)} of {len(decided)} hold in the model"
    return Section("claims", "Published claims", [Claims(items)], gist=gist) if items else None


def _misses(result: StudyDoc) -> Section | None:
    """Return cells with large errors, under the explanations that they share."""
    misses = result.get("misses") or []
    if not misses:
        return None
    groups = by_reason(misses)
    blocks: list[Block] = []
    for why, cells in groups.items():
        blocks += [Prose([why]), Table(["Missed"], [Group([[Cell(cell["what"])] for cell in cells])])]
    cells_, reasons = len(misses), len(groups)
    gist = f"{cells_} cell{'s' * (cells_ != 1)} off by more than 10 %, {reasons} explanation{'s' * (reasons != 1)}"
    return Section("misses", "Misses, explained", blocks, gist=gist)


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
    rows = [row for group in groups.values() for row in group]
    estimates = sum(bool(row[1].mark) for row in rows)
    text = f"{len(rows)} values with sources; {estimates} are estimates, marked as such"
    columns = ["Key", "Value", "Range", "Confidence", "Source", "Note"]
    return Section(
        "assumptions",
        "Assumptions",
        [Table(columns, [Group(group, part) for part, group in groups.items()])],
        gist=text,
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
    minutes = _in_minutes(records)
    rows = [_run_row(run, records, minutes) for run in result.get("runs") or []]
    if rows:
        columns = ["Run", *RUN_COLUMNS, f"Measured for ({'minutes' if minutes else 's'})", "Record"]
        folded = len(rows) > OPEN_ROWS
        blocks.append(Table(columns, [Group(rows)], caption=f"The {len(rows)} runs", folded=folded))
    gist = "command, seed, versions and records"
    return Section("reproduction", "Reproduction", blocks + sections.notes_blocks(records), gist=gist)


def _run_row(run: RunDoc, records: Mapping[str, LoadedRecord], minutes: bool) -> list[Cell]:
    """Return a run: latencies in ms and durations in one unit, as everywhere on the page."""
    label = run.get("label") or run["id"]
    loaded = records.get(label)
    summary: Mapping[str, object] = loaded.record["summary"] if loaded else {}
    texts = [number(summary.get("iops")), MBS.bare(summary.get("bandwidth_bytes_per_s"))]
    texts += [number(_ms(summary.get(f"latency_{name}_ns"))) for name in ("mean", "p99")]
    texts += [sections.whole(summary.get(name)) for name in ("count", "errors")]
    measured = loaded.record["duration_ns"] / (60e9 if minutes else 1e9) if loaded else None
    results = [Cell(text, numeric=True) for text in (*texts, number(measured))]
    return [Cell(label), *results, Cell(str(run.get("record") or ""), muted=True)]
