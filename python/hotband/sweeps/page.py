"""The page of a sweep: the answer, throughput and latency against what was swept, latency against throughput, a matrix
where two parameters were swept, and the numbers."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.errors import UserError
from hotband.report.page import Block, Cell, Chart, Charts, Fold, Group, KeyItem, Page, Prose, Section, Table, plain
from hotband.report.text import number
from hotband.sweeps.answers import alike, answers_of
from hotband.sweeps.curves import LOADS, TITLES, Curve, Curves, Dot
from hotband.sweeps.frames import numbers_of
from hotband.sweeps.plan import NOT_SET
from hotband.sweeps.show import in_unit, notes_of, states_of, time_unit

if TYPE_CHECKING:
    import polars as pl

    from hotband.draw.charts import View
    from hotband.draw.review import Axis, Lines
    from hotband.draw.swept import Steps
    from hotband.sweeps.sweep import Sweep

SIGNS = ("●", "■", "▲", "◆", "▼", "✚", "▶", "◀")
"""Of the shapes of points, in their order."""
NAMES = {"target": "machines", "workload": "workloads"}
MOST_LISTED = 4
"""Values that a title lists one by one."""
SIDE_BY_SIDE = 6
"""Panels that are drawn beside one another; of more the reader chooses one, and another to compare with."""
OPEN_ROWS = 24
"""Rows of numbers that stand open; more are folded."""
MOST_ROWS = 2000
"""Rows of numbers that a page has; more are in the Parquet file alone."""
WIDTH, HALF = 460, 360
"""Least width of a chart (px)."""


@dataclass(frozen=True)
class Figure:
    """What is drawn of a point: its title and unit, and what it is in that unit."""

    column: str
    title: str
    scale: float
    is_latency: bool

    def of(self, dot: Dot) -> float | None:
        """In its unit; None where it was not measured."""
        value = dot.figures.get(self.column)
        return None if value is None or (self.is_latency and value <= 0) else value / self.scale

    def ends(self, dot: Dot) -> tuple[float, float] | tuple[None, None]:
        """Between which it lies; a log axis has no zero."""
        found = dot.ends.get(self.column)
        if found is None or (self.is_latency and found[0] <= 0):
            return None, None
        return found[0] / self.scale, found[1] / self.scale


def sweep_page(sweep: Sweep) -> Page:
    """The page. Raises UserError where no run ended."""
    if not len(sweep):
        raise UserError("sweep", "", "", "no run has ended, so there is nothing to draw")
    curves = Curves(sweep)
    said = Prose(answers_of(sweep)) if answers_of(sweep) else None
    sections = curve_sections(curves, [said] if said is not None else [])
    numbers = Section("numbers", "Numbers", [_numbers(sweep, curves)])
    conditions = Section("conditions", "Conditions", _conditions(sweep, curves))
    return Page(_title(sweep, curves), [*sections, numbers, conditions], subtitle=_subtitle(sweep), kicker="Sweep")


def _title(sweep: Sweep, curves: Curves) -> str:
    """What differs: "qd 1 to 256 of fio-randread on A, B"."""
    swept = []
    for key in curves.swept:
        values = [str(value) for value in curves.values[key]]
        shown = ", ".join(values) if len(values) <= MOST_LISTED else f"{values[0]} to {values[-1]}"
        if len(values) > MOST_LISTED and numbers_of(curves.values[key]) is None:
            shown = f"{len(values)} values"
        swept.append(f"{TITLES.get(key, key)} {shown}")
    what = f"{_listed(curves, 'workload')} on {_listed(curves, 'target')}"
    return f"{what}: {', '.join(swept)}" if swept else what


def _listed(curves: Curves, name: str) -> str:
    values = [str(value) for value in curves.values.get(name, [])]
    return ", ".join(values) if len(values) <= MOST_LISTED else f"{len(values)} {NAMES[name]}"


def _subtitle(sweep: Sweep) -> str:
    of = len(sweep.points)
    seeds = len({at.get("seed") for at in sweep.points})
    runs = f"{of // seeds:,} points, {seeds} seeds each" if seeds > 1 else f"{of:,} runs"
    left = f"; {len(sweep.missing):,} runs of {of:,} are missing" if sweep.missing else ""
    same = ", ".join(f"{TITLES.get(key, key)} {value}" for key, value in _same(sweep).items())
    return f"{runs}{left}{f'; {same} in all' if same else ''}"


def _same(sweep: Sweep) -> dict[str, str]:
    """Settings that are the same in all runs."""
    names = [name for name in sweep.points[0] if name not in NOT_SET and name not in sweep.axes]
    return {name: str(sweep.points[0][name]) for name in names}


# --- charts -----------------------------------------------------------------------------------------------------


def curve_sections(curves: Curves, begin: Sequence[Block]) -> list[Section]:
    """The sections of charts, what is said first in the first of them."""
    ms = time_unit(curves.every(lambda dot: dot.figures.get("latency_p99_ns")))
    rates = [Figure("iops", "IOPS", 1.0, False)]
    if any(key in curves.swept for key in ("bs", "size")) or "workload" in curves.sweep.axes:
        rates.append(Figure("bandwidth_bytes_per_s", "Bandwidth (MB/s)", 1e6, False))
    p99 = Figure("latency_p99_ns", f"p99 latency ({ms.name})", ms.ns, True)
    latencies = [p99, Figure("latency_mean_ns", f"Mean latency ({ms.name})", ms.ns, True)]
    draw = _Drawing(curves)
    said = [*begin, *([Prose(draw.explained())] if draw.explained() else [])]
    if curves.along is None:
        bars = [draw.bars(one) for one in (*rates, *latencies)]
        return [Section("answer", "Answer", [*said, Charts(bars, width=WIDTH)])]
    sections = [
        Section("answer", "Answer", [*said, *draw.along(rates)]),
        Section("latency", "Latency", draw.along(latencies)),
    ]
    if curves.along.key in LOADS:
        sections.append(Section("response", "Latency against throughput", draw.hockey(rates[0], p99)))
    matrix = draw.matrices([rates[0], p99])
    return [*sections, Section("matrix", "Matrix", [matrix])] if matrix is not None else sections


class _Drawing:
    """The charts of a page, with one colour a line in all of them."""

    def __init__(self, curves: Curves) -> None:
        from hotband.draw.review import Lines, palette, ramp

        self.curves = curves
        title = curves.line_title
        drawn = ramp(title, curves.lines) if curves.lines_grow else palette(title, curves.lines)
        self.lines: Lines = Lines(title, drawn.colors, _hidden(curves))
        self.chosen = list(curves.panels) if len(curves.panels) > SIDE_BY_SIDE else []

    def _steps(self) -> Steps:
        from hotband.draw.swept import Steps

        along = self.curves.along
        assert along is not None, "asked for where something lies along the axis"
        title = along.title[:1].upper() + along.title[1:]
        return Steps(title, along.texts, along.numbers, along.is_log)

    def _key(self) -> list[KeyItem]:
        """The key of all charts; none of one line."""
        if len(self.lines.names) < 2:
            return []
        pairs = enumerate(self.lines.colors.items())
        return [KeyItem(name, color, SIGNS[n % len(SIGNS)]) for n, (name, color) in pairs]

    def explained(self) -> list[str]:
        """What is said once of all charts: error bars, and that the reader chooses."""
        said = [self.curves.of_ends] if self.curves.has_ends else []
        if self.chosen:
            said.append(
                f"{len(self.chosen):,} combinations of {', '.join(self.curves.panel_keys)} have charts of their own: "
                "choose one and, to compare it with, another."
            )
        return [" ".join(said)] if said else []

    def _blocks(self, of_figures: Sequence[Sequence[Chart]]) -> list[Charts]:
        """Charts of several figures: side by side where each has one, else a row for each. The key stands above all."""
        if all(len(charts) < 2 for charts in of_figures):
            return [Charts([one for charts in of_figures for one in charts], WIDTH, self.chosen, self._key())]
        first, *others = [charts for charts in of_figures if charts]
        return [Charts(first, HALF, key=self._key()), *(Charts(charts, HALF) for charts in others)]

    def _rows(self, run: str, panel: Mapping[str, Curve], y: Figure, further: Sequence[Figure]) -> pl.DataFrame:
        import polars as pl

        rows = []
        for line, curve in panel.items():
            for dot in curve:
                values = [one.of(dot) for one in (y, *further)]
                if None not in values:
                    rows.append([run, line, dot.x, dot.text, *values, *y.ends(dot)])
        names = ["run", "line", "x", "at", y.column, *(one.column for one in further), "low", "high"]
        kinds = [pl.String, pl.String, pl.Float64, pl.String]
        return pl.DataFrame(
            rows, schema=list(zip(names, [*kinds, *[pl.Float64] * (len(names) - 4)], strict=True)), orient="row"
        )

    def _panels(self, y: Figure, further: Sequence[Figure] = ()) -> list[tuple[str, pl.DataFrame]]:
        """A frame for each panel, or one of all where the reader chooses."""
        import polars as pl

        found = [(name, self._rows(name, panel, y, further)) for name, panel in self.curves.panels.items()]
        found = [(name, rows) for name, rows in found if rows.height]
        if self.chosen and found:
            return [("", pl.concat([rows for _, rows in found]))]
        return found

    def along(self, figures: Sequence[Figure]) -> list[Charts]:
        """Figures against what was swept, a chart for each panel."""
        return self._blocks([self._of_figure(one) for one in figures])

    def _of_figure(self, figure: Figure) -> list[Chart]:
        from hotband.draw.swept import swept_chart

        steps, axis = self._steps(), self._axis(figure)
        return [
            Chart(_of(figure.title, name), swept_chart(rows, steps, axis, self.lines, chosen=bool(self.chosen)))
            for name, rows in self._panels(figure)
        ]

    def hockey(self, x: Figure, y: Figure) -> list[Charts]:
        """Latency against rate."""
        from hotband.draw.swept import hockey_chart

        along = self._steps().title
        drawn: list[Chart] = []
        for name, rows in self._panels(y, [x]):
            view = hockey_chart(rows, self._axis(x), self._axis(y), self.lines, along, chosen=bool(self.chosen))
            caption = "" if drawn else f"Each line goes through its points in the order of the {along.lower()}."
            drawn.append(Chart(_of(f"{y.title} against {x.title}", name), view, caption))
        return self._blocks([drawn])

    def _axis(self, figure: Figure) -> Axis:
        """One axis for all panels."""
        import polars as pl

        from hotband.draw.review import Axis

        every = self.curves.every(figure.of)
        every += self.curves.every(lambda dot: figure.ends(dot)[0])
        every += self.curves.every(lambda dot: figure.ends(dot)[1])
        within = pl.Series(every, dtype=pl.Float64)
        return Axis(figure.column, figure.title, "log" if figure.is_latency else "rate", within)

    def bars(self, figure: Figure) -> Chart:
        """Without an axis of numbers: an amount for each line and panel."""
        import polars as pl

        from hotband.draw.review import amounts

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
        return Chart(figure.title, amounts(frame, figure.title, self.lines, wide=False))

    def matrices(self, figures: Sequence[Figure]) -> Charts | None:
        """Two parameters as columns and rows, a matrix for each machine; None where not two were swept."""
        curves = self.curves
        if len(curves.swept) != 2 or curves.along is None:
            return None
        drawn = []
        for line, cells in _cells(curves).items():
            for figure in figures:
                found = self._matrix(cells, figure)
                if found is not None:
                    drawn.append(Chart(_of(figure.title, line), found))
        return Charts(drawn, width=HALF) if drawn else None

    def _matrix(self, cells: Mapping[tuple[str, str], Dot], figure: Figure) -> View | None:
        import polars as pl

        from hotband.draw.swept import Matrix, matrix_chart

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
        of = Matrix(
            self._steps().title,
            curves.along.texts,
            TITLES.get(other, other),
            [str(value) for value in curves.values[other]],
            figure.title,
            pl.Series(curves.every(figure.of), dtype=pl.Float64),
        )
        return matrix_chart(frame, of)


def _short(value: float) -> str:
    """Three digits at most, which fit into a cell: `1.2k`, `34k`, `256`."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{number(value / size, 3 if value < 10 * size else 2)}{unit}"
    return number(value, 3 if value >= 10 else 2)


def _of(title: str, name: str) -> str:
    return f"{title}: {name}" if name else title


def _cells(curves: Curves) -> dict[str, dict[tuple[str, str], Dot]]:
    """Points of a sweep of two parameters by machine (no name of a single one), column and row."""
    assert curves.along is not None, "a matrix has numbers along its columns"
    other = next(key for key in curves.swept if key != curves.along.key)
    found: dict[str, dict[tuple[str, str], Dot]] = {}
    for panel, lines in curves.panels.items():
        for line, curve in lines.items():
            row = (line if curves.lines_are_panels else panel).removeprefix(f"{other} ")
            cells = found.setdefault("" if curves.lines_are_panels or len(curves.lines) == 1 else line, {})
            cells.update({(dot.text, row): dot for dot in curve})
    return found


def _hidden(curves: Curves) -> list[str]:
    """Lines that lie on one before them in all that they share: dashed, they let it be seen."""
    found: list[str] = []
    for panel in curves.panels.values():
        drawn: list[Curve] = []
        for line, curve in panel.items():
            if any(_same_curve(curve, other) for other in drawn) and line not in found:
                found.append(line)
            drawn.append(curve)
    return found


def _same_curve(one: Curve, other: Curve) -> bool:
    pairs = [(a, b) for a, b in zip(one, other, strict=False) if "iops" in a.figures and "iops" in b.figures]
    return bool(pairs) and all(alike(a, b, "iops") for a, b in pairs)


# --- numbers and conditions -------------------------------------------------------------------------------------


def _numbers(sweep: Sweep, curves: Curves) -> Table:
    """A row a point, with what differs."""
    from hotband.sweeps.show import COLUMNS, cells_of

    frame = sweep.means
    unit = time_unit(curves.every(lambda dot: dot.figures.get("latency_p99_ns")))
    differs = [name for name in sweep.axes if name != "seed"] or ["target"]
    heads = [{"target": "Machine", "workload": "Workload"}.get(name, TITLES.get(name, name)) for name in differs]
    rows = [
        [Cell(str(row[name]), numeric=isinstance(row[name], int | float)) for name in differs]
        + [Cell(text, numeric=True) for text in cells_of(row, unit)]
        for row in frame.head(MOST_ROWS).iter_rows(named=True)
    ]
    more = f"; {frame.height - MOST_ROWS:,} more are in sweep.parquet" if frame.height > MOST_ROWS else ""
    caption = f"{frame.height:,} points{more}"
    return Table(
        [*heads, *in_unit(COLUMNS, unit)], [Group(rows)], caption=caption, folded=len(rows) > OPEN_ROWS, tight=True
    )


def _conditions(sweep: Sweep, curves: Curves) -> list[Block]:
    """What has to be known to read the figures: states of drives, notes, seeds, and the command."""
    named = [pair if pair[0] else ("all", pair[1]) for pair in states_of(sweep)]
    blocks: list[Block] = [Table(["Machine", "State of drives"], [Group([plain(pair) for pair in named])])]
    notes = notes_of(sweep)
    if notes:
        rows = [[Cell(note), Cell(f"{count:,}", numeric=True)] for note, count in notes]
        caption = "Notes of the runs; those that differ in their numbers alone are one"
        blocks.append(Table(["Note", "Runs"], [Group(rows)], caption=caption, folded=len(rows) > 3))
    seeds = ", ".join(str(seed) for seed in curves.values.get("seed", []))
    length = f" Each run was measured for {sweep.duration}." if sweep.duration else ""
    happened = f" In each: {'; '.join(sweep.events)}." if sweep.events else ""
    which = f"Seeds {seeds}." if "," in seeds else f"Seed {seeds}."
    blocks.append(Prose([f"{which}{length}{happened} The same sweep gives the same figures, bit for bit."]))
    if command := command_of(sweep):
        blocks.append(Fold("The command", command, open=True))
    return blocks


def command_of(sweep: Sweep) -> str:
    """The sweep as a command; nothing for one that was made of records."""
    if not sweep.points or "seed" not in sweep.points[0]:
        return ""
    curves = Curves(sweep)
    words = ["hotband", "sweep", *map(str, curves.values["workload"][:1])]
    for target in curves.values["target"]:
        words += ["--on", str(target)]
    for key, values in curves.values.items():
        if key not in NOT_SET:
            words += ["--set", f"{key}={','.join(_quoted(value) for value in values)}"]
    seeds = [int(seed) for seed in curves.values["seed"] if isinstance(seed, int)]
    words += ["--seed", str(seeds[0])] if seeds and seeds[0] != 1 else []
    words += ["--repeat", str(len(seeds))] if len(seeds) > 1 else []
    words += ["--duration", sweep.duration] if sweep.duration else []
    words += [word for event in sweep.events for word in ("--event", event)]
    words += ["--interval", f"{sweep.level:g}"] if sweep.level is not None else []
    return shlex.join(words)


def _quoted(value: object) -> str:
    """A value as a list takes it."""
    text = ("on" if value else "off") if isinstance(value, bool) else str(value)
    return f'"{text}"' if "," in text or ".." in text else text
