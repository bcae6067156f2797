"""An advice on the terminal: what to buy on top, what it rests on, then the front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.base.text.cells import counted
from hotband.base.text.formats import Estimate, Figure, as_rows
from hotband.questions.advise.advice import Between, Point

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from hotband.questions.advise.advice import Advice


def advice_views(advice: Advice, every: bool = False) -> list[Table | Text | str]:
    """The answer, what it rests on, the front (all of it with `every`, or where tables alone are asked for), notes."""
    views: list[Table | Text | str] = []
    if advice.answer:
        views.append(marked("[bold]{answer}[/]", answer=advice.answer[0]))
        views += advice.answer[1:]
    views += advice.rests_on
    points = advice.front if every or as_rows() else advice.shown
    if points:
        views.append(front_table(advice, points))
    if len(points) < len(advice.front):
        views.append(f"  {len(points)} of {len(advice.front)} points of the front; --all shows them all")
    views.append(f"  {searched_text(advice)}")
    return [*views, *(f"  note: {note}" for note in advice.notes)]


def searched_text(advice: Advice) -> str:
    """What was searched, and how much was run for it."""
    gone = [f"{count:,} {why}" for why, count in sorted(advice.left_out.items(), key=lambda one: -one[1]) if count]
    said = f"{advice.candidates:,} candidates, {advice.runs:,} runs of {advice.ios:,} I/Os"
    return f"{said}; left out: {', '.join(gone)}" if gone else said


def front_table(advice: Advice, points: list[Point]) -> Table:
    """A row a point: each figure, and below it its interval."""
    from rich.table import Table

    title = f"Front: {counted(len(points), 'point')}, {advice.level:g} % intervals of {advice.figure}"
    table = Table(title=title, title_justify="left")
    table.add_column("candidate", overflow="fold")
    priced = any(one.cost is not None for one in points)
    # Units stand below: seven columns fit into 80.
    for head in [*(["cost"] if priced else []), "W", "drives", f"{advice.figure}\nms", "rebuild\nh", "loss\n%"]:
        table.add_column(head, justify="right")
    for one in points:
        table.add_row(*_cells(advice, one, priced))
    return table


def _cells(advice: Advice, one: Point, priced: bool) -> list[str]:
    is_chosen = advice.recommended is not None and one.name == advice.recommended.name
    # In a table of its own each part has a line.
    name = f"{'* ' if is_chosen else ''}{one.layout}:{one.drives}x\n{one.name.partition('x')[2]}".replace(", ", "\n")
    return [
        one.name if as_rows() else name,
        *([_estimate(one.cost, 1.0, advice.currency)] if priced else []),
        _estimate(one.watts, 1.0, "W"),
        Figure(str(one.drives), float(one.drives)),
        _estimate(one.latency, 1e3, "ms"),
        _estimate(one.rebuild, 1.0, "h"),
        _estimate(one.loss, 100.0, "%"),
    ]


def _estimate(of: Between | None, scale: float, unit: str) -> str:
    """A figure with its interval in a line below it, which has two digits: it is no more certain than that."""
    if of is None:
        return Figure("–", None)
    scaled = of.times(scale)
    low = scaled.value if scaled.low is None else scaled.low
    high = scaled.value if scaled.high is None else scaled.high
    value = Figure(_short(scaled.value, 3), scaled.value, unit)
    # Where both ends are the value there is nothing to show.
    text = value if low == high else f"{value}\n{_short(low, 2)}–{_short(high, 2)}"
    return Estimate.of(str(text), value, low, high)


def _short(value: float, digits: int) -> str:
    """So many digits, whole numbers from a thousand on as they are."""
    if value >= 1000:
        return f"{value:,.0f}"
    if 0 < value < 0.001:
        return f"{value:.0e}".replace("e-0", "e-")
    return f"{float(f'{value:.{digits}g}'):,g}"
