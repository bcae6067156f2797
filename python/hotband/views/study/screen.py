"""A study's result on a screen: the answer, its values as bars, the accuracy of predictions, and the worst one."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.text.numbers import counted, percent
from hotband.base.text.table import CHANGE, Cell, Table, column, numeric
from hotband.views.text.bars import bar_column, bars
from hotband.views.text.screen import DETAILS, LINES, Screen, folded, lines_of, screen_table
from hotband.views.text.tables import error_colour

if TYPE_CHECKING:
    from hotband.base.question import Question
    from hotband.base.text.table import View
    from hotband.data.documents.study import ListedFigureDoc, StudyDoc
    from hotband.data.documents.study_answer import AnswerChartDoc, AnswerPointDoc

NEAR = 20.0
"""Percent of the published value within which a prediction counts as near: the goal of the classes of figures
(`accuracy.GOALS`)."""
BAR = 12
FEWEST_ROWS = 4


@dataclass(frozen=True)
class Bar:
    """A row of the table: a value as published and as predicted."""

    group: str
    name: str
    published: float | None
    predicted: float | None
    error_pct: float | None


def study_screen(result: StudyDoc, further: Question, details: Sequence[View]) -> Screen:
    """Return the terminal screen of a study."""
    answer = result["answer"]
    head, more = (_summary(result), "") if answer is None else _parted(answer["text"])
    rows, title = _figure_bars(result) if answer is None else _chart_bars(answer["chart"])
    remarks = [*_untrusted(result), *_findings(result)]
    notes = [*_accuracy(result), *_worst(result)]
    page = [f"Report: {result['report']}"] if "report" in result else []
    texts = [head, more] if more else [head]
    others = [*texts, *remarks, *notes, *page, "Next"]
    # Two blank lines, the table's title and its headings.
    room = LINES - sum(map(folded, others)) - 2 - folded(title) - 1
    body = [_table(rows, title, max(room, FEWEST_ROWS))] if rows else []
    rest = "" if answer is None else answer["further"]
    if rest and sum(map(folded, [*others, rest])) + 2 + lines_of(body) <= LINES:
        more = f"{more} {rest}".strip()
    return Screen(
        answer=head,
        more=[more] if more else [],
        body=body,
        remarks=remarks,
        state=[*notes, *page],
        next=further,
        details=details,
    )


def _parted(text: str) -> tuple[str, str]:
    """Split a text into its first sentence and the others."""
    first, *others = re.split(r"(?<=[.:]) (?=[A-Z])", text, maxsplit=1)
    return first, " ".join(others)


def _summary(result: StudyDoc) -> str:
    """Return a sentence on the errors, for a result without an answer."""
    summary = result["summary"]
    loads = f" (only {', '.join(result['only'])})" if "only" in result else ""
    be = "is" if summary["figures"] == 1 else "are"
    what = f"{counted(summary['figures'], 'figure')} of {result['title']}{loads} {be} predicted"
    if not summary["compared"]:
        return f"{what}, none of them published."
    typical, worst = (percent(summary[key], signed=False) for key in ("median_abs_error_pct", "max_abs_error_pct"))
    return f"{what}, {summary['compared']} compared, median error {typical}, largest {worst}."


def _chart_bars(chart: AnswerChartDoc) -> tuple[list[Bar], str]:
    """Return the values of the answer's chart and their title: for curves their ends, for several large groups the
    first group, which the title then names."""
    points = _ends(chart["points"])
    title = f"{chart['quantity']}: {chart['title'][0].lower()}{chart['title'][1:]}"
    groups = list(dict.fromkeys(map(_group, points)))
    first = [point for point in points if _group(point) == groups[0]] if groups else []
    if len(first) >= FEWEST_ROWS:
        points, title = first, f"{title}, {groups[0]}"
        groups = groups[:1]
    alone = len({point["machine"] for point in points}) == 1
    rows = [
        Bar(
            "" if alone or len(groups) == 1 else _group(point),
            _group(point) if alone else point["machine"],
            point["published"],
            point["predicted"],
            _error(point),
        )
        for point in points
    ]
    return rows, title


def _group(point: AnswerPointDoc) -> str:
    """Return the name of a value's row; for a curve with the queue depth."""
    return point["row"] if point["qd"] is None else f"{point['row']}, QD {point['qd']}"


def _ends(points: Sequence[AnswerPointDoc]) -> list[AnswerPointDoc]:
    """Return the points; for curves over queue depth the first and the last of each."""
    curves: dict[tuple[str, str], list[AnswerPointDoc]] = {}
    for point in points:
        curves.setdefault((point["machine"], point["row"]), []).append(point)
    if all(point["qd"] is None for point in points):
        return list(points)
    ends = [sorted(curve, key=lambda point: point["qd"] or 0) for curve in curves.values()]
    ends_of_curves = [curve[at] for curve in ends for at in ((0, -1) if len(curve) > 1 else (0,))]
    return sorted(ends_of_curves, key=lambda point: (point["row"], point["qd"] or 0))


def _error(point: AnswerPointDoc) -> float | None:
    published, predicted = point["published"], point["predicted"]
    return (predicted / published - 1) * 100 if published and predicted is not None else None


def _figure_bars(result: StudyDoc) -> tuple[list[Bar], str]:
    """Return the figures of the most frequent measure."""
    figures = [row for row in result["figures"] if row["predicted"] is not None]
    measures = [(row["metric"], row["unit"]) for row in figures]
    if not measures:
        return [], ""
    metric, unit = max(dict.fromkeys(measures), key=measures.count)
    rows = [row for row in figures if (row["metric"], row["unit"]) == (metric, unit)]
    title = metric if unit in ("", metric) else f"{metric} ({unit})"
    return [
        Bar(row["label"], row["config"], row["published"], row["predicted"], row["error_pct"]) for row in rows
    ], title


def _table(rows: Sequence[Bar], title: str, room: int) -> Table:
    """Return the bars that fit below the headings."""
    shown = rows if len(rows) <= room else rows[: room - 1]
    has_published = any(bar.published is not None for bar in shown)
    grouped = any(bar.group for bar in shown)
    names = [column("", once=True)] if grouped else []
    values = [row.published if has_published else row.predicted for row in rows]
    table = screen_table(
        [
            *names,
            column(""),
            bar_column(BAR),
            *([numeric("published")] if has_published else []),
            numeric("predicted"),
            *([numeric("error", CHANGE)] if has_published else []),
        ],
        title,
    )
    for bar, drawn in zip(shown, bars(values, BAR), strict=False):
        error = bar.error_pct
        table.add(
            *([bar.group] if grouped else []),
            bar.name,
            drawn,
            *([bar.published] if has_published else []),
            bar.predicted,
            *([None if error is None else Cell(error, error_colour(error))] if has_published else []),
        )
    if len(shown) < len(rows):
        table.caption = f"{len(rows) - len(shown)} more: {DETAILS}"
    return table


def _accuracy(result: StudyDoc) -> list[str]:
    """Return the numbers of near predictions and of claims that hold."""
    sizes = [abs(error) for row in result["figures"] if row["counted"] and (error := row["error_pct"]) is not None]
    near = sum(size <= NEAR for size in sizes)
    sentences = [f"{near} of {len(sizes)} predictions are within {percent(NEAR, signed=False)}"] if sizes else []
    decided = [claim for claim in result["claims"] if claim["holds"] is not None]
    if decided:
        sentences.append(f"{sum(bool(claim['holds']) for claim in decided)} of {len(decided)} claims hold")
    return [f"{', '.join(sentences)}."] if sentences else []


def _worst(result: StudyDoc) -> list[str]:
    """Return the figure with the largest error, if it is not near."""
    compared = [row for row in result["figures"] if row["counted"] and row["error_pct"] is not None]
    worst = max(compared, key=_size, default=None)
    if worst is None or _size(worst) <= NEAR:
        return []
    what = f"{worst['metric']} of {worst['config']}, {worst['label']}"
    return [f"Worst: {what} ({percent(worst['error_pct'])})."]


def _size(row: ListedFigureDoc) -> float:
    error = row["error_pct"]
    return -math.inf if error is None else abs(error)


def _untrusted(result: StudyDoc) -> list[str]:
    return [result["untrusted"]] if "untrusted" in result else []


def _findings(result: StudyDoc) -> list[str]:
    """Return the first finding, and the number of further ones."""
    titles = [finding["title"] for finding in result["findings"]]
    if not titles:
        return []
    more = f" ({counted(len(titles) - 1, 'more finding')}: {DETAILS})" if len(titles) > 1 else ""
    return [f"{titles[0]}{more}"]
