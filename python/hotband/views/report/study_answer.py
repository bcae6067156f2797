"""The top of a study's page: the answer with its chart, the accuracy of the predictions, and the machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hotband.base.heavy import pl
from hotband.base.text import table as tables
from hotband.base.text.numbers import percent
from hotband.base.text.table import column, numeric
from hotband.views.accuracy.tables import COLUMNS, class_cells
from hotband.views.draw import published
from hotband.views.report.page import Block, Cards, Cell, Chart, Charts, Group, Prose, Section, Table
from hotband.views.report.study_figures import error_frame, figure_rows, frame_of, names_of

if TYPE_CHECKING:
    from hotband.base.views import View
    from hotband.data.documents.study import ClassErrorsDoc, FigureDoc, StudyDoc
    from hotband.data.documents.study_answer import AnswerChartDoc, MachineDoc

# Most loads that the description of a drive state names; with more, their number.
NAMED_LOADS = 3


def answer_section(result: StudyDoc) -> Section | None:
    """Return the answer and one chart; or why there is none if only part of the study was run. A study that states no
    answer has its largest chart of published figures."""
    answer = result.get("answer")
    if answer is not None:
        answer_chart = answer["chart"]
        chart = Chart(answer_chart["title"], _answer_chart(answer_chart), _answer_caption(answer_chart))
        further = [Prose([answer["further"]])] if answer["further"] else []
        return Section("answer", "Answer", [Prose([answer["text"]], lead=True), Charts([chart], width=1000), *further])
    text = "Only some loads were run: the answer, claims and findings need the whole study." if "only" in result else ""
    blocks: list[Block] = [Prose([text])] if text else []
    blocks += [Prose([result["untrusted"]])] if "untrusted" in result else []
    return Section("answer", "Answer", blocks) if blocks else None


def _answer_chart(chart: AnswerChartDoc) -> View:
    """Return a chart over queue depth if points have one, else one row per value."""
    points = chart["points"]
    if any(point["qd"] is not None for point in points):
        rows = [
            {
                "machine": point["machine"],
                "series": point["row"],
                **{key: point[key] for key in ("qd", "published", "predicted")},
            }
            for point in points
        ]
        kinds = {"machine": pl.String, "series": pl.String, "qd": pl.Int64, "published": pl.Float64}
        return published.depth_chart(pl.DataFrame(rows, schema={**kinds, "predicted": pl.Float64}), chart["quantity"])
    rule = chart["rule"]
    return published.published_chart(_rows(chart), chart["quantity"], rule["at"] if rule else None)


def _rows(chart: AnswerChartDoc) -> pl.DataFrame:
    """Return the rows of a chart: the machines under each heading, or one row each if there is one machine."""
    alone = len({point["machine"] for point in chart["points"]}) == 1
    figures: list[FigureDoc] = [
        {
            "id": str(n),
            "config": "" if alone else point["row"],
            "label": point["row"] if alone else point["machine"],
            "metric": chart["quantity"],
            "unit": "",
            "source": "",
            "published": point["published"],
            "predicted": point["predicted"],
            "error_pct": _error(point["published"], point["predicted"]),
            "note": "",
        }
        for n, point in enumerate(chart["points"])
    ]
    rows = figure_rows(figures)
    machines = {f"{n}:{n}": point["machine"] for n, point in enumerate(chart["points"])}
    has_published = any(point["published"] is not None for point in chart["points"])
    return frame_of(
        [
            {**row, "machine": machines[row["id"]], "error_text": row["error_text"] if has_published else ""}
            for row in rows
        ]
    )


def _error(published: float | None, predicted: float | None) -> float | None:
    return (predicted / published - 1) * 100 if published and predicted is not None else None


def _answer_caption(chart: AnswerChartDoc) -> str:
    both = [point for point in chart["points"] if point["published"] is not None and point["predicted"] is not None]
    error = (
        "The label at each pair of points is the error of the prediction."
        if both and chart["points"][0]["qd"] is None
        else ""
    )
    rule = f"The dashed line is {chart['rule']['text']}." if chart["rule"] else ""
    return " ".join(text for text in (rule, error, chart["caption"]) if text)


# --- accuracy -----------------------------------------------------------------------------------------------


def accuracy_section(result: StudyDoc) -> Section:
    """Return the errors of the predictions, over all figures and by class."""
    summary, claims = result["summary"], result.get("claims") or []
    decided = [claim for claim in claims if claim.get("holds") is not None]
    cards = [
        (percent(summary.get("median_abs_error_pct"), signed=False), "median error, either way"),
        (percent(summary.get("max_abs_error_pct"), signed=False), "largest error, either way"),
        (str(summary["compared"]), f"measurements compared, in {summary['figures']} figures"),
    ]
    if claims:
        held = sum(bool(claim["holds"]) for claim in decided)
        cards.append((f"{held} of {len(decided)}", "claims that hold, of those decided"))
    if result.get("runs"):
        cards.append((str(len(result["runs"])), "runs"))
    blocks: list[Block] = [Cards(cards)]
    rows = error_frame(result["figures"], names_of(result.get("machines") or []))
    if rows.height > 1:
        caption = "Each point is a published figure; zero is exact."
        far = published.beyond(rows, published.reach_of(rows["error_pct"].to_list()))
        caption += " An arrow is farther off than the axis goes." if far.height else ""
        blocks.append(Charts([Chart("Errors at a glance", published.error_chart(rows), caption)], width=1000))
    classes = summary.get("classes") or []
    if any(errors["blind"]["measurements"] for errors in classes):
        blocks.append(_class_table(classes))
    return Section("accuracy", "Accuracy", blocks)


def _class_table(classes: Sequence[ClassErrorsDoc]) -> Table:
    """Return errors by class of figure, if some figures were predicted before they were seen."""
    columns = [column("Figures"), *(numeric(f"{over}: {name}") for over, name in COLUMNS[1:])]
    table = tables.Table("", columns)
    for errors in classes:
        table.add(*class_cells(errors))
    caption = (
        "Errors, either way, in percent, each measurement once: of figures that were seen while the models were built, "
        "and of those that were predicted blind, before they were seen, as predicted then and as predicted now."
    )
    return Table.of(table, caption)


# --- machines -----------------------------------------------------------------------------------------------


def machines_section(result: StudyDoc, colors: Mapping[str, str]) -> Section | None:
    """Return the machines side by side: the parts of each, and the settings of its drives. The dots are the machines'
    colours on the page."""
    machines = result.get("machines") or []
    if not machines:
        return None
    rows = [_machine_cells(machine, colors.get(machine["name"], "")) for machine in machines]
    return Section("machines", "Machines", [Table(["Machine", "Built from", "Drives as run"], [Group(rows)])])


def _machine_cells(machine: MachineDoc, color: str) -> list[Cell]:
    under = machine["label"] if machine["label"] != machine["name"] else ""
    mark = "what if" if machine["what_if"] else ""
    state = Cell(
        machine["state"], under="; ".join(_varying(varying["text"], varying["loads"]) for varying in machine["varying"])
    )
    return [Cell(machine["name"], mark=mark, under=under, color=color), Cell(machine["built"]), state]


def _varying(text: str, loads: Sequence[str]) -> str:
    named = ", ".join(loads) if len(loads) <= NAMED_LOADS else f"{len(loads)} loads"
    return f"{named}: {text}"
