"""The page of a sweep: the answer, the charts, the numbers, and the conditions for reading them."""

from __future__ import annotations

import shlex

from hotband.base.errors import UserError
from hotband.base.text.numbers import counted
from hotband.questions.slo import slo_text
from hotband.questions.sweeps.frames import numbers_of
from hotband.questions.sweeps.plan import NOT_SET
from hotband.questions.sweeps.sweep import Sweep
from hotband.views.report.kept import Report
from hotband.views.report.page import Block, Cell, Fold, Group, Page, Prose, Section, Table, plain
from hotband.views.report.sweep_drawn import curve_sections
from hotband.views.sweeps.answers import answers_of
from hotband.views.sweeps.curves import TITLES, Curves
from hotband.views.sweeps.show import notes_of, states_of, sweep_table

NAMES = {"target": "machines", "workload": "workloads"}
MOST_LISTED = 4
"""Most values that a title lists one by one."""
OPEN_ROWS = 24
"""Most rows of an unfolded table of numbers."""
MOST_ROWS = 2000
"""Most rows of numbers on a page; the Parquet file has all."""


def sweep_page(sweep: Sweep) -> Page:
    """Return the page. Raises UserError if no run finished."""
    if not len(sweep):
        raise UserError("sweep", "", "", "no run has ended, so there is nothing to draw")
    curves = Curves(sweep)
    sections = curve_sections(curves, [Prose(answers_of(sweep), lead=True)])
    numbers = Section("numbers", "Numbers", [_numbers(sweep)])
    conditions = Section("conditions", "Conditions", _conditions(sweep, curves))
    return Page(_title(sweep, curves), [*sections, numbers, conditions], subtitle=_subtitle(sweep), kicker="Sweep")


def _title(sweep: Sweep, curves: Curves) -> str:
    """Return the question that the page answers: "How fast is fio-randread on A, B with qd 1 to 256?"."""
    swept = []
    for key in curves.swept:
        values = [str(value) for value in curves.values[key]]
        shown = ", ".join(values) if len(values) <= MOST_LISTED else f"{values[0]} to {values[-1]}"
        if len(values) > MOST_LISTED and numbers_of(curves.values[key]) is None:
            shown = f"{len(values)} values"
        swept.append(f"{TITLES.get(key, key)} {shown}")
    what = f"{_listed(curves, 'workload')} on {_listed(curves, 'target')}"
    axes = f" with {', '.join(swept)}" if swept else ""
    return f"How fast is {what}{axes}?"


def _listed(curves: Curves, name: str) -> str:
    values = [str(value) for value in curves.values.get(name, [])]
    return ", ".join(values) if len(values) <= MOST_LISTED else f"{len(values)} {NAMES[name]}"


def _subtitle(sweep: Sweep) -> str:
    count = len(sweep.points)
    seeds = len({at.get("seed") for at in sweep.points})
    runs = f"{count // seeds:,} points, {seeds} seeds each" if seeds > 1 else f"{count:,} runs"
    left = f"; {len(sweep.missing):,} runs of {count:,} are missing" if sweep.missing else ""
    same = ", ".join(f"{TITLES.get(key, key)} {value}" for key, value in _same(sweep).items())
    return f"{runs}{left}{f'; {same} in all' if same else ''}"


def _same(sweep: Sweep) -> dict[str, str]:
    """Return the settings that all runs share."""
    names = [name for name in sweep.points[0] if name not in NOT_SET and name not in sweep.axes]
    return {name: str(sweep.points[0][name]) for name in names}


def _numbers(sweep: Sweep) -> Table:
    """Return one row per point, with its differences."""
    count = sweep.means.height
    more = f"; {count - MOST_ROWS:,} more are in sweep.parquet" if count > MOST_ROWS else ""
    return Table.of(sweep_table(sweep, MOST_ROWS), f"{counted(count, 'point')}{more}", folded=count > OPEN_ROWS)


def _conditions(sweep: Sweep, curves: Curves) -> list[Block]:
    """Return the conditions for reading the figures: states of drives, notes, seeds, and the command."""
    named = [pair if pair[0] else ("all", pair[1]) for pair in states_of(sweep)]
    blocks: list[Block] = [Table(["Machine", "State of drives"], [Group([plain(pair) for pair in named])])]
    notes = notes_of(sweep)
    if notes:
        rows = [[Cell(note), Cell(f"{count:,}", numeric=True)] for note, count in notes]
        caption = "Notes of the runs; notes that differ only in numbers are merged"
        blocks.append(Table(["Note", "Runs"], [Group(rows)], caption=caption, folded=len(rows) > 3))
    seeds = ", ".join(str(seed) for seed in curves.values.get("seed", []))
    length = f" Each run lasted {sweep.duration}." if sweep.duration else ""
    happened = f" In each: {'; '.join(sweep.events)}." if sweep.events else ""
    which = f"Seeds {seeds}." if "," in seeds else f"Seed {seeds}."
    blocks.append(Prose([f"{which}{length}{happened} The same sweep gives the same figures, bit for bit."]))
    if command := command_of(sweep):
        blocks.append(Fold("The command", command, open=True))
    return blocks


def command_of(sweep: Sweep) -> str:
    """Return the sweep as a command; empty if it was made from records."""
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
    words += ["--slo", slo_text(sweep.slo)] if sweep.slo else []
    words += ["--interval", f"{sweep.level:g}"] if sweep.level is not None else []
    return shlex.join(words)


def _quoted(value: object) -> str:
    """Return a value as an item of a list on the command line."""
    text = ("on" if value else "off") if isinstance(value, bool) else str(value)
    return f'"{text}"' if "," in text or ".." in text else text


def report_of(sweep: Sweep) -> Report:
    """Return the page as a report that can be saved. Raises UserError if no run finished."""
    return Report(sweep_page(sweep))
