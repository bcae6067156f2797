"""The corpus on a terminal: families that others measured, and the measurements of one family."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

from hotband.base.text import numbers
from hotband.base.text.numbers import counted
from hotband.base.text.table import IOPS, MBS, MS, OF_ROW, PLAIN, Estimate, Table, Unit, column, estimate, numeric
from hotband.base.text.words import cut
from hotband.data.corpus.figure import BASE_UNITS
from hotband.views.text.screen import Screen, command, screen_table, shortened

if TYPE_CHECKING:
    from hotband.data.corpus.figure import Figure
    from hotband.inference.interval.of_catalog import MeasuredLoad
    from hotband.questions.corpus import (
        AddCorpusQuestion,
        CheckCorpusQuestion,
        CorpusAdded,
        CorpusChecked,
        CorpusListed,
        CorpusShown,
        Family,
        ListCorpusQuestion,
        ShowCorpusQuestion,
    )

ROWS = 16
"""Most rows of a table on a screen."""
NAME = 20
"""Most characters of a load's name on a screen."""
MOST_FINDINGS = 8
"""Most contradictions on a screen, each of up to two lines."""
UNITS_OF: Mapping[str, tuple[Unit, float]] = {"iops": (IOPS, 1.0), "mb_s": (MBS, 1e6)} | dict.fromkeys(
    ("lat_p50", "lat_p99"), (MS, 1e3)
)
"""Units of metrics, with the factor from a metric's unit to the base unit."""
US = Unit("us", 1.0, lambda microseconds: numbers.span(1e3 * microseconds))
KINDS = (
    ("hdd", "disks"),
    ("ssd-ent-nvme", "enterprise NVMe SSDs"),
    ("ssd-ent", "enterprise SATA, SAS and PCIe SSDs"),
    ("ssd-cons-nvme", "consumer NVMe SSDs"),
    ("ssd-cons", "consumer SATA SSDs"),
    ("array", "arrays and pools"),
    ("cloud", "cloud volumes"),
    ("db", "databases"),
    ("rebuild", "rebuilds"),
)
"""Beginnings of class names, and their names for people; the first match counts."""


def families_text(count: int) -> str:
    """Format a count of families."""
    return f"{count:,} {'family' if count == 1 else 'families'}"


def listed(answer: CorpusListed, question: ListCorpusQuestion) -> Screen:
    """Return the families; if they do not fit on a screen, the number of families of each kind."""
    families = answer.families
    figures = sum(family.figures for family in families)
    loads = counted(sum(family.loads for family in families), "measurement")
    names = families_text(len({family.family for family in families}))
    return Screen(
        answer=f"Others measured {names}: {figures:,} figures in {loads}.",
        body=[_families(families) if len(families) <= ROWS else _kinds(families)],
        next="hotband corpus show 7450-pro-3840"
        if not question.words
        else f"hotband corpus show '{families[0].family}'",
        details=[_families(families)],
    )


def _families(families: Sequence[Family]) -> Table:
    table = screen_table(
        [column("family"), column("class"), *(numeric(name, PLAIN) for name in ("loads", "figures", "sources"))]
    )
    for family in families:
        table.add(family.family, family.device_class, family.loads, family.figures, family.sources)
    return table


def _kinds(families: Sequence[Family]) -> Table:
    table = screen_table([column("kind"), column("word"), numeric("families", PLAIN), numeric("figures", PLAIN)])
    left = list(families)
    for start, kind in KINDS:
        those = [family for family in left if family.device_class.startswith(start)]
        left = [family for family in left if family not in those]
        if those:
            table.add(kind, start, len(those), sum(family.figures for family in those))
    return table


def shown(answer: CorpusShown, _: ShowCorpusQuestion) -> Screen:
    """Return others' measurements of a family: a line per load with the median of its measurements."""
    groups = sorted(answer.measurements, key=lambda group: _order(group[0]))
    figures = sum(len(group) for group in groups)
    sources = counted(len({group[0].source for group in groups}), "source")
    devices = sorted({group[0].device for group in groups})
    others = f" and {counted(len(devices) - 1, 'other device')} of its family" if len(devices) > 1 else ""
    return Screen(
        answer=(
            f"Others measured {devices[0]}{others} {counted(len(groups), 'time')}: {counted(figures, 'figure')} "
            f"from {sources}."
        ),
        body=[shortened(_medians(groups), ROWS, "more load")],
        details=[_all_measurements(groups)],
    )


PLAIN_LOADS = ("randread", "randwrite", "randrw", "read", "write")


def _order(figure: Figure) -> tuple[object, ...]:
    """Return the sort key of measurements: plain loads first, by block and depth."""
    plain = PLAIN_LOADS.index(figure.workload) if figure.workload in PLAIN_LOADS else len(PLAIN_LOADS)
    pct = figure.read_pct if figure.read_pct is not None else -1.0
    return plain, figure.workload, pct, figure.block_bytes or 0, figure.outstanding or 0, figure.side, figure.state


def _medians(groups: Iterable[Sequence[Figure]]) -> Table:
    """Return a row per load and state: the medians of its measurements, and their number."""
    table = screen_table(
        [
            column("load"), column("state"), numeric("n", PLAIN), numeric("IOPS", IOPS), numeric("MB/s", MBS),
            numeric("mean", US), numeric("p99", US),
        ]
    )  # fmt: skip
    loads: dict[tuple[str, str], list[Sequence[Figure]]] = {}
    for group in groups:
        loads.setdefault((_load(group[0]), group[0].state.split(" (")[0]), []).append(group)
    for (load, state), those in loads.items():
        values: dict[str, list[float]] = {}
        for figure in (figure for group in those for figure in group):
            values.setdefault(figure.metric, []).append(figure.middle)
        middle = {metric: median(several) for metric, several in values.items()}
        rate = middle["mb_s"] * 1e6 if "mb_s" in middle else None
        table.add(load, state, len(those), middle.get("iops"), rate, middle.get("lat_mean"), middle.get("lat_p99"))
    return table


def _all_measurements(groups: Iterable[Sequence[Figure]]) -> Table:
    """Return a row per measurement with its device, host and source."""
    metrics = list(dict.fromkeys(figure.metric for group in groups for figure in group))
    names = ("device", "load", "state", "cache", "span", "host")
    columns = [column(name) for name in names] + [numeric(f"{name} {BASE_UNITS[name]}", PLAIN) for name in metrics]
    table = Table("", [*columns, column("source")])
    for group in groups:
        first = group[0]
        values = {figure.metric: figure.middle for figure in group}
        texts = (first.device, _load(first), first.state, first.cache, first.span, first.host)
        table.add(*texts, *(values.get(name) for name in metrics), first.source)
    return table


def beside_table(rows: Sequence[MeasuredLoad], most: int) -> Table:
    """Return a row for each of the first loads that others measured: the median of their results next to the
    prediction. Of loads with the same name, only the first is shown."""
    figures = [numeric("n", PLAIN), numeric("median", OF_ROW)]
    table = screen_table([column("measured by others"), *figures, estimate("predicted (90 % interval)", PLAIN)])
    named: dict[str, MeasuredLoad] = {}
    for row in sorted(rows, key=lambda row: _order(row.example)):
        named.setdefault(_load_and_state(row.example), row)
    for name, row in list(named.items())[:most]:
        unit, size = UNITS_OF[row.example.metric]
        # Rates in the unit of the measured one, which is printed once.
        value, ends = row.predicted, row.interval or ()
        predicted = Estimate(value, *ends) if value is not None and ends else value
        table.add(name, row.results, row.measured * size, predicted, unit=unit)
    return table


def _load_and_state(figure: Figure) -> str:
    state = figure.state.split(" (")[0]
    return _load(figure) if state in ("", "unknown") else f"{_load(figure)}, {state}"


def _load(figure: Figure) -> str:
    """Return a load in a few words: `randread 4k qd32`."""
    offered = re.search(r"rate (\d+)/s", figure.workload)
    name = cut(figure.workload, NAME)
    name = f"{int(offered[1]):,}/s offered" if offered else name
    mix = f" {figure.read_pct:g} %" if figure.read_pct not in (None, 0.0, 100.0) else ""
    side = f"{figure.side}s of " if figure.side else ""
    depth = figure.outstanding
    return f"{side}{name}{mix} {_block(figure)}" + (f" qd{depth}" if depth is not None else "")


def _block(figure: Figure) -> str:
    size = figure.block_bytes
    units = ((1 << 20, "m"), (1 << 10, "k"))
    fitting = next(((unit, name) for unit, name in units if size and not size % unit), None)
    return figure.bs.lower() if size is None or fitting is None else f"{size // fitting[0]}{fitting[1]}"


def checked(answer: CorpusChecked, _: CheckCorpusQuestion) -> Screen:
    """Return the contradictions in a file of figures."""
    findings = answer.findings
    wrong = f"{counted(len(findings), 'contradiction')}" if findings else "No contradiction"
    table = screen_table([column("rule"), column("ids"), column("what")])
    for finding in findings:
        table.add(finding.rule, " ".join(finding.ids), finding.text)
    return Screen(
        answer=f"{wrong} in {counted(answer.figures, 'figure')} of {families_text(answer.families)}: {answer.path}.",
        verdict="no" if findings else "yes",
        body=[finding.text for finding in findings[:MOST_FINDINGS]],
        state=["Checked: ids, units, percentiles that rise, and Little's law of closed loops."],
        details=[table] if findings else [],
    )


def added(answer: CorpusAdded, question: AddCorpusQuestion) -> Screen:
    """Return how many figures were added."""
    restated = f"; corrected the state of {counted(answer.restated, 'figure')}" if answer.restated else ""
    present = f"; {answer.present:,} were there already" if answer.present else ""
    return Screen(
        answer=f"Added {counted(answer.added, 'figure')} to your corpus{restated}{present}.",
        state=[
            f"{answer.path}: {counted(answer.total, 'figure')}, "
            f"{answer.in_intervals:,} of drives of the catalog, on which intervals rest as well"
        ],
        next=command("corpus show", question.model.lower()) if question.model else command("corpus list"),
    )
