"""Emulated parts on the terminal: a row a part, and what must be known with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from hotband.data.documents.emulate import EmulationDoc, PartDoc, RatioDoc


def emulation_table(result: EmulationDoc) -> Table:
    """A row a part that was run: the figure of the program on both machines, its ratio beside the model's and the
    published one, and which of them go the same way."""
    from rich.table import Table

    from hotband.base.text.cells import significant

    table = Table(title=f"{result['study']} on real programs: B over A", title_justify="left")
    for name in ("part", "figure"):
        table.add_column(name, overflow="fold")
    for name in ("A", "B", "emulated", "model", "published"):
        table.add_column(name, justify="right")
    table.add_column("same way", overflow="fold")
    for part in result["parts"]:
        if part["a"] is None or part["b"] is None:
            continue
        figure = f"{part['figure']}, {part['unit']}"
        values = (significant(part["a"]["value"]), significant(part["b"]["value"]))
        ratios = (ratio_text(part["emulated"]), ratio_text(part["predicted"]), ratio_text(part["published"]))
        table.add_row(part["id"], figure, *values, *ratios, agreement_text(part))
    return table


def ratio_text(ratio: RatioDoc | None) -> str:
    """A ratio with its direction; a dash where there is none."""
    return "–" if ratio is None else f"{ratio['ratio']:.2f} {ratio['direction']}"


def agreement_text(part: PartDoc) -> str:
    """Which of model and publication go the way of the emulation."""
    same = [name for name, agrees in part["agrees"].items() if agrees]
    return {"predicted": "model", "published": "publication"}[same[0]] if len(same) == 1 else "both" if same else "none"


def emulation_lines(result: EmulationDoc) -> Iterator[str]:
    """What each part compared, at what scale, on how busy a host, and what it warned of."""
    for part in result["parts"]:
        yield ""
        yield f"{part['id']}: {part['title']}"
        if part["skipped"]:
            yield f"  skipped: {part['skipped']}"
            continue
        for letter, side in (("A", part["a"]), ("B", part["b"])):
            if side is not None:
                load = f"load average {side['load_before']:.1f} before, {side['load_after']:.1f} after"
                yield f"  {letter}: {side['name']} ({side['seconds']:,.0f} s, {load})"
                yield from (f"     warning: {note}" for note in side["notes"])
        yield f"  {part['how']}"
        for name, ratio in (("model", part["predicted"]), ("published", part["published"])):
            yield f"  {name}: {source_text(ratio, name)}"
        if part["note"]:
            yield f"  {part['note']}"


def source_text(ratio: RatioDoc | None, name: str) -> str:
    """What a ratio is of, in words."""
    if ratio is None:
        return "no such ratio is published" if name == "published" else "no such ratio is predicted"
    return f"{ratio['measure']} {ratio['a']:,.4g} to {ratio['b']:,.4g} {ratio['unit']} ({ratio['source']})"
