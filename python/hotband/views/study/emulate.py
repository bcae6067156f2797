"""Emulated parts on the terminal: one row per part, and its details."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hotband.base.text import numbers
from hotband.base.text.numbers import number
from hotband.base.text.table import OF_ROW, Table, Unit, column, numeric

if TYPE_CHECKING:
    from hotband.base.text.table import View
    from hotband.data.documents.emulate import EmulationDoc, PartDoc, RatioDoc
    from hotband.questions.study.asked import StudyEmulateQuestion
    from hotband.questions.study.emulate.result import EmulationResult


def terminal(result: EmulationResult, _: StudyEmulateQuestion) -> list[View]:
    """Return the views of `study emulate`."""
    return [emulation_table(result.document), *emulation_lines(result.document)]


def emulation_table(result: EmulationDoc) -> Table:
    """Return one row per part that was run: the figure of the program on both machines, its ratio, the model's and the
    published one, and which of them have the same direction."""

    figures = [numeric("A", OF_ROW), numeric("B", OF_ROW), *map(numeric, ("emulated", "model", "published"))]
    columns = [column("part"), column("figure"), *figures, column("same direction")]
    table = Table(f"{result['study']} on real programs: B over A", columns)
    for part in result["parts"]:
        if part["a"] is None or part["b"] is None:
            continue
        ratios = [
            None if ratio is None else ratio["ratio"]
            for ratio in (part["emulated"], part["predicted"], part["published"])
        ]
        values = (part["a"]["value"], part["b"]["value"])
        table.add(part["id"], part["figure"], *values, *ratios, agreement_text(part), unit=Unit(part["unit"]))
    return table


def agreement_text(part: PartDoc) -> str:
    """Return which of model and publication have the direction of the emulation."""
    same = [name for name, agrees in part["agrees"].items() if agrees]
    return {"predicted": "model", "published": "publication"}[same[0]] if len(same) == 1 else "both" if same else "none"


def emulation_lines(result: EmulationDoc) -> Iterator[str]:
    """Yield the details of each part: machines, scale, load of the host, and warnings."""
    for part in result["parts"]:
        yield ""
        yield f"{part['id']}: {part['title']}"
        if part["skipped"]:
            yield f"  skipped: {part['skipped']}"
            continue
        for letter, side in (("A", part["a"]), ("B", part["b"])):
            if side is not None:
                load = f"load average {number(side['load_before'])} before, {number(side['load_after'])} after"
                yield f"  {letter}: {side['name']} ({numbers.span(1e9 * side['seconds'])}, {load})"
                yield from (f"     warning: {note}" for note in side["notes"])
        yield f"  {part['how']}"
        for name, ratio in (("model", part["predicted"]), ("published", part["published"])):
            yield f"  {name}: {source_text(ratio, name)}"
        if part["note"]:
            yield f"  {part['note']}"


def source_text(ratio: RatioDoc | None, name: str) -> str:
    """Describe the source of a ratio."""
    if ratio is None:
        return "no such ratio is published" if name == "published" else "no such ratio is predicted"
    return f"{ratio['measure']} {numbers.between(ratio['a'], ratio['b'])} {ratio['unit']} ({ratio['source']})"
