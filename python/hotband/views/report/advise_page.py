"""The page of an advice: the recommendation, the chart of the Pareto front, its metrics, and reading notes."""

from __future__ import annotations

from hotband.base.text import numbers
from hotband.base.text.numbers import between, counted, number, percent, share
from hotband.base.text.table import LATENCY
from hotband.base.text.words import capitalized
from hotband.questions.advise.advice import Advice, Between, Point
from hotband.views.advise.show import searched_text
from hotband.views.draw.advise import front_chart
from hotband.views.report.page import Block, Cell, Chart, Charts, Group, Page, Prose, Section, Table


def advise_page(advice: Advice) -> Page:
    """Return the page."""
    first: list[Block] = [Prose(advice.answer, lead=True)]
    if advice.rests_on:
        first.append(Prose(advice.rests_on))
    sections = [Section("answer", "What to buy", first)]
    if advice.front:
        sections += [Section("front", "The front", [_chart(advice), _table(advice)])]
    if advice.values:
        sections.append(Section("values", "Uncertain values", [_values(advice)]))
    sections.append(Section("searched", "What was searched", [Prose([f"{searched_text(advice)}."]), *_notes(advice)]))
    title = f"What to buy for {advice.slo}?"
    request = f"{advice.slo} under {', '.join(advice.workloads)}; {numbers.size(advice.capacity_bytes)}"
    return Page(title, sections, f"{request}, {counted(advice.failures, 'failure')} survived", kicker="Hotband advice")


def _chart(advice: Advice) -> Charts:
    against = "cost" if any(point.cost is not None for point in advice.front) else "drives"
    caption = f"Whiskers: {advice.level:g} % intervals. Dashed: the objective. Filled: what is recommended"
    return Charts([Chart(f"{advice.figure} against {against}", front_chart(advice), caption)], width=980)


def _table(advice: Advice) -> Table:
    priced = any(point.cost is not None for point in advice.front)
    heads = ["Candidate", *([f"Cost {advice.currency}".strip()] if priced else []), "Usable TB", "W", "Drives"]
    heads += [f"{advice.figure} ms", f"{advice.figure} ms, a drive failed", "Rebuild h", "Loss %", "Life, years"]
    rows = [_row(advice, point, priced) for point in advice.front]
    caption = f"{counted(len(rows), 'point')}: no other candidate is as good in every figure and better in one"
    return Table(heads, [Group(rows)], caption=caption, folded=len(rows) > 24, tight=True)


def _row(advice: Advice, point: Point, priced: bool) -> list[Cell]:
    mark = "recommended" if advice.recommended is not None and advice.recommended.name == point.name else ""
    return [
        Cell(point.name, mark=mark),
        *([_cell(point.cost, 1.0)] if priced else []),
        Cell(number(point.usable_bytes / 1e12), numeric=True),
        _cell(point.watts, 1.0),
        Cell(str(point.drives), numeric=True),
        _cell(point.latency, 1e3),
        Cell(LATENCY.bare(point.degraded), numeric=True),
        _cell(point.rebuild, 1.0),
        _cell(point.loss, 100.0),
        Cell(number(point.life), numeric=True),
    ]


def _cell(value: Between | None, scale: float) -> Cell:
    if value is None:
        return Cell("–", numeric=True)
    scaled = value.times(scale)
    ends = [scaled.value if end is None else end for end in (scaled.low, scaled.high)]
    under = "" if ends[0] == ends[1] else between(ends[0], ends[1])
    return Cell(number(scaled.value), numeric=True, under=under)


def _values(advice: Advice) -> Table:
    """Return the sensitivity of the recommended machine's latency to its uncertain values."""
    rows = [
        [
            Cell(f"{value['key']} of {value['part']}", under=value["meaning"]),
            Cell(value["nominal"]),
            Cell(f"{value['low']} to {value['high']}"),
            Cell(share(value["total"]), numeric=True),
            Cell(percent(value["low_pct"]), numeric=True),
            Cell(percent(value["high_pct"]), numeric=True),
        ]
        for value in advice.values
    ]
    heads = ["Value", "Taken", "Range", "Share", f"{advice.figure} at low", f"{advice.figure} at high"]
    return Table(
        heads, [Group(rows)], caption="Effects of the uncertain values of the recommended machine", folded=len(rows) > 8
    )


def _notes(advice: Advice) -> list[Block]:
    return [Prose([f"{capitalized(note)}." for note in advice.notes])] if advice.notes else []
