"""The charts of a sweep: throughput and latency over the swept values, latency over throughput, and a matrix for two
swept parameters; one colour per line in all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hotband.base.heavy import pl
from hotband.base.text.numbers import number
from hotband.base.text.words import capitalized
from hotband.base.views import View
from hotband.views.draw.review import Axis, Lines, amounts, palette, ramp
from hotband.views.draw.swept import Matrix, Steps, hockey_chart, matrix_chart, swept_chart
from hotband.views.report.page import Block, Chart, Charts, KeyItem, Prose, Section
from hotband.views.report.pictures import drawing
from hotband.views.sweeps.answers import COMMIT
from hotband.views.sweeps.curves import LOADS, TITLES, Curve, Curves, Dot
from hotband.views.sweeps.separated import is_close

SIGNS = ("●", "■", "▲", "◆", "▼", "✚", "▶", "◀")
"""Shapes of points, in order."""
SIDE_BY_SIDE = 6
"""Most panels side by side; with more, the reader chooses one, and another for comparison."""
WIDTH, HALF = 460, 330
"""Least width of a chart (px)."""


@dataclass(frozen=True)
class Figure:
    """The drawn quantity of a point: title, unit, and value in that unit."""

    column: str
    title: str
    scale: float
    is_latency: bool

    def of(self, dot: Dot) -> float | None:
        """Return the value in the unit; None if it was not measured."""
        value = dot.figures.get(self.column)
        return None if value is None or (self.is_latency and value <= 0) else value / self.scale

    def ends(self, dot: Dot) -> tuple[float, float] | tuple[None, None]:
        """Return the ends of the value's range; zero has no position on a log axis."""
        ends = dot.ends.get(self.column)
        if ends is None or (self.is_latency and ends[0] <= 0):
            return None, None
        return ends[0] / self.scale, ends[1] / self.scale


def curve_sections(curves: Curves, begin: Sequence[Block]) -> list[Section]:
    """Return the sections of charts, with the summary in the first."""
    # The answer ranks loads that flush by their commits, so the charts show those.
    has_commits = bool(curves.every(lambda dot: dot.figures.get(COMMIT)))
    side = "commit_" if has_commits else ""
    mean_column, p99_column = f"{side}latency_mean_ns", f"{side}latency_p99_ns"
    p99s = curves.every(lambda dot: dot.figures.get(p99_column))
    # All axes have one unit: microseconds if the largest latency is below two milliseconds.
    unit, scale = ("µs", 1e3) if p99s and max(p99s) < 2e6 else ("ms", 1e6)
    rates = [Figure("iops", "IOPS", 1.0, False)]
    if any(key in curves.swept for key in ("bs", "size")) or "workload" in curves.sweep.axes:
        rates.append(Figure("bandwidth_bytes_per_s", "Bandwidth (MB/s)", 1e6, False))
    name = "commit latency" if has_commits else "latency"
    p99 = Figure(p99_column, f"p99 {name} ({unit})", scale, True)
    latencies = [p99, Figure(mean_column, f"Mean {name} ({unit})", scale, True)]
    draw = _Drawing(curves)
    blocks = [*begin, *([Prose(draw.explained())] if draw.explained() else [])]
    if curves.along is None:
        bars = [draw.bars(latency) for latency in (*rates, *latencies)]
        return [Section("answer", "Answer", [*blocks, Charts(bars, width=WIDTH)])]
    sections = [
        Section("answer", "Answer", [*blocks, *draw.along(rates)]),
        Section("curves-latency", "Latency", draw.along(latencies)),
    ]
    if curves.along.key in LOADS:
        sections.append(Section("curves-response", "Latency against throughput", draw.hockey(rates[0], p99)))
    matrix = draw.matrices([rates[0], p99])
    return [*sections, Section("matrix", "Matrix", [matrix])] if matrix is not None else sections


class _Drawing:
    """The charts of a page, with one colour per line in all of them."""

    def __init__(self, curves: Curves) -> None:
        self.curves = curves
        title = curves.line_title
        drawn = ramp(title, curves.lines) if curves.lines_grow else palette(title, curves.lines)
        self.lines: Lines = Lines(title, drawn.colors, _hidden(curves))
        self.chosen = list(curves.panels) if len(curves.panels) > SIDE_BY_SIDE else []

    def _steps(self) -> Steps:
        along = self.curves.along
        assert along is not None, "asked for where something lies along the axis"
        title = capitalized(along.title)
        return Steps(title, along.texts, along.numbers, along.is_log)

    def _key(self) -> list[KeyItem]:
        """Return the key of all charts; none for a single line."""
        if len(self.lines.names) < 2:
            return []
        pairs = enumerate(self.lines.colors.items())
        return [KeyItem(name, color, SIGNS[n % len(SIGNS)]) for n, (name, color) in pairs]

    def explained(self) -> list[str]:
        """Return the sentences for all charts: error bars, and that the reader can choose."""
        sentences = [self.curves.of_ends] if self.curves.has_ends else []
        if self.chosen:
            sentences.append(
                f"{len(self.chosen):,} combinations of {', '.join(self.curves.panel_keys)} have charts of their own: "
                "choose one and, to compare it with, another."
            )
        return [" ".join(sentences)] if sentences else []

    def _blocks(self, of_figures: Sequence[Sequence[Chart]]) -> list[Charts]:
        """Return charts of several figures: side by side if each figure has one chart, else a row per figure. The key
        is above all."""
        if all(len(charts) < 2 for charts in of_figures):
            return [Charts([chart for charts in of_figures for chart in charts], WIDTH, self.chosen, self._key())]
        first, *others = [charts for charts in of_figures if charts]
        return [Charts(first, HALF, key=self._key()), *(Charts(charts, HALF) for charts in others)]

    def _rows(self, run: str, panel: Mapping[str, Curve], y: Figure, further: Sequence[Figure]) -> pl.DataFrame:
        rows = []
        for line, curve in panel.items():
            for dot in curve:
                values = [figure.of(dot) for figure in (y, *further)]
                if None not in values:
                    rows.append([run, line, dot.x, dot.text, *values, *y.ends(dot)])
        names = ["run", "line", "x", "at", y.column, *(figure.column for figure in further), "low", "high"]
        kinds = [pl.String, pl.String, pl.Float64, pl.String]
        return pl.DataFrame(
            rows, schema=list(zip(names, [*kinds, *[pl.Float64] * (len(names) - 4)], strict=True)), orient="row"
        )

    def _panels(self, y: Figure, further: Sequence[Figure] = ()) -> list[tuple[str, pl.DataFrame]]:
        """Return a frame for each panel, or one frame of all if the reader chooses."""
        panels = [(name, self._rows(name, panel, y, further)) for name, panel in self.curves.panels.items()]
        panels = [(name, rows) for name, rows in panels if rows.height]
        if self.chosen and panels:
            return [("", pl.concat([rows for _, rows in panels]))]
        return panels

    def along(self, figures: Sequence[Figure]) -> list[Charts]:
        """Return figures over the swept values, a chart per panel."""
        return self._blocks([self._of_figure(figure) for figure in figures])

    def _of_figure(self, figure: Figure) -> list[Chart]:
        steps, axis = self._steps(), self._axis(figure)
        return [
            Chart(
                _of(figure.title, name), drawing(swept_chart(rows, steps, axis, self.lines, chosen=bool(self.chosen)))
            )
            for name, rows in self._panels(figure)
        ]

    def hockey(self, x: Figure, y: Figure) -> list[Charts]:
        """Return charts of latency over rate."""
        steps = self._steps()
        drawn: list[Chart] = []
        for name, rows in self._panels(y, [x]):
            view = hockey_chart(rows, self._axis(x), self._axis(y), self.lines, steps.title, chosen=bool(self.chosen))
            caption = (
                "" if drawn else f"Each line goes through its points in the order of the {self.curves.along_title}."
            )
            drawn.append(Chart(_of(f"{y.title} against {x.title}", name), drawing(view), caption))
        return self._blocks([drawn])

    def _axis(self, figure: Figure) -> Axis:
        """Return one axis for all panels."""
        every = self.curves.every(figure.of)
        every += self.curves.every(lambda dot: figure.ends(dot)[0])
        every += self.curves.every(lambda dot: figure.ends(dot)[1])
        within = pl.Series(every, dtype=pl.Float64)
        return Axis(figure.column, figure.title, "log" if figure.is_latency else "rate", within)

    def bars(self, figure: Figure) -> Chart:
        """Return an amount for each line and panel, for a sweep without a numeric axis."""
        rows = []
        for name, panel in self.curves.panels.items():
            for line, curve in panel.items():
                value = figure.of(curve[0])
                if value is not None:
                    low, high = figure.ends(curve[0])
                    rows.append([name, name, line, value, number(value, 3), low, high])
        names = ["row", "label", "line", "value", "text", "low", "high"]
        kinds = [*[pl.String] * 3, pl.Float64, pl.String, pl.Float64, pl.Float64]
        frame = pl.DataFrame(rows, schema=list(zip(names, kinds, strict=True)), orient="row")
        return Chart(figure.title, drawing(amounts(frame, figure.title, self.lines, wide=False)))

    def matrices(self, figures: Sequence[Figure]) -> Charts | None:
        """Return two parameters as columns and rows, a matrix per machine; None unless two were swept."""
        curves = self.curves
        if len(curves.swept) != 2 or curves.along is None:
            return None
        drawn = []
        for line, cells in _cells(curves).items():
            for figure in figures:
                matrix = self._matrix(cells, figure)
                if matrix is not None:
                    drawn.append(Chart(_of(figure.title, line), drawing(matrix)))
        return Charts(drawn, width=WIDTH) if drawn else None

    def _matrix(self, cells: Mapping[tuple[str, str], Dot], figure: Figure) -> View | None:
        curves = self.curves
        assert curves.along is not None, "a matrix has numbers along its columns"
        other = next(key for key in curves.swept if key != curves.along.key)
        rows = [
            [column, row, value, _short(value)]
            for (column, row), dot in cells.items()
            if (value := figure.of(dot)) is not None
        ]
        if not rows:
            return None
        names = ["column", "row", "value", "text"]
        kinds = [pl.String, pl.String, pl.Float64, pl.String]
        frame = pl.DataFrame(rows, schema=list(zip(names, kinds, strict=True)), orient="row")
        matrix = Matrix(
            self._steps().title,
            curves.along.texts,
            TITLES.get(other, other),
            [str(value) for value in curves.values[other]],
            figure.title,
            pl.Series(curves.every(figure.of), dtype=pl.Float64),
        )
        return matrix_chart(frame, matrix)


def _short(value: float) -> str:
    """Format at most three digits, which fit into a cell: `1.2k`, `34k`, `256`."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{number(value / size, 3 if value < 10 * size else 2)}{unit}"
    return number(value, 3 if value >= 10 else 2)


def _of(title: str, name: str) -> str:
    return f"{title}: {name}" if name else title


def _cells(curves: Curves) -> dict[str, dict[tuple[str, str], Dot]]:
    """Return the points of a sweep of two parameters by machine (an empty name for a single one), column and row."""
    assert curves.along is not None, "a matrix has numbers along its columns"
    other = next(key for key in curves.swept if key != curves.along.key)
    by_machine: dict[str, dict[tuple[str, str], Dot]] = {}
    for panel, lines in curves.panels.items():
        for line, curve in lines.items():
            row = (line if curves.lines_are_panels else panel).removeprefix(f"{other} ")
            cells = by_machine.setdefault("" if curves.lines_are_panels or len(curves.lines) == 1 else line, {})
            cells.update({(dot.text, row): dot for dot in curve})
    return by_machine


def _hidden(curves: Curves) -> list[str]:
    """Return the lines of which at least half coincides with an earlier line: they are drawn dashed."""
    hidden: list[str] = []
    for panel in curves.panels.values():
        drawn: list[Curve] = []
        for line, curve in panel.items():
            if any(_same_curve(curve, other) for other in drawn) and line not in hidden:
                hidden.append(line)
            drawn.append(curve)
    return hidden


def _same_curve(curve: Curve, other: Curve) -> bool:
    pairs = [(a, b) for a, b in zip(curve, other, strict=False) if "iops" in a.figures and "iops" in b.figures]
    return bool(pairs) and 2 * sum(is_close(a.figures["iops"], b.figures["iops"]) for a, b in pairs) >= len(pairs)
