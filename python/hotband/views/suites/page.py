"""The PTS report as one HTML page that loads nothing: what was found, the header that the specification requests, and
for every test its tables and plots (sections 5 and 7 to 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hotband.base.text.numbers import ABSENT, number, percent, rate, size, span
from hotband.base.text.table import MBS, MS, Unit
from hotband.base.views import View
from hotband.data.documents.pts import CellDoc, FigureDoc, LoopDoc, MomentDoc, PtsDoc, TestDoc, TrackedDoc
from hotband.data.record.states import state_lines
from hotband.questions.suites.cells import kib_text, mix_text
from hotband.questions.suites.pts.over_time import lines
from hotband.questions.suites.pts.verdict import verdict
from hotband.views.report.page import (
    Block,
    Cell,
    Chart,
    Charts,
    Group,
    Page,
    Prose,
    Section,
    Table,
    plain,
    write_report,
)
from hotband.views.suites import draw

KINDS = {"model": "a model, simulated", "emulated": "a model, served to fio on this host", "real": "a real device"}
LATENCIES = (
    ("Mean latency (ms)", "latency_mean_ns"),
    ("99.999 % latency (ms)", "latency_p99_999_ns"),
    ("Longest latency (ms)", "latency_max_ns"),
)


def write_page(document: PtsDoc, out: Path) -> Path:
    """Writes the report to the file `out`. Raises UserError, OSError."""
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):
        sections = [_first(document), _header(document), *(_test(test) for test in document["tests"])]
        device, of = document["device"], document["specification"]
        title = f"PTS {of['version']} {of['drive_class']}: {device['title']}"
        made = f"{of['name']}. Made with Hotband {document['hotband']} on {document['made']}."
        return write_report(out, Page(title, sections, made, "Hotband PTS"))


def _first(document: PtsDoc) -> Section:
    """Return the answer, and whether it is one by the specification."""
    blocks: list[Block] = [Prose([verdict(document)], lead=True), Prose(document["answer"])]
    departures = document["specification"]["departures"]
    if departures:
        blocks.append(Prose([f"Different from the specification: {'; '.join(departures)}."]))
    blocks += [Prose(document["notes"])] if document["notes"] else []
    rows = [
        plain([test["title"], str(test["section"]), _steady_word(test), test["demand"]]) for test in document["tests"]
    ]
    blocks.append(Table(["Test", "Section", "Steady state", "Threads and depth"], [Group(rows)], tight=True))
    return Section("answer", "What was found", blocks)


def _steady_word(test: TestDoc) -> str:
    if test["steady"] is None:
        return "not asked for"
    rounds = ", ".join(str(len(loop["rounds"])) for loop in test["loops"])
    return f"{'reached' if test['steady'] else 'not reached'} in {rounds} rounds"


def _header(document: PtsDoc) -> Section:
    """Sponsor, device, conditions (section 5.2)."""
    device, asked = document["device"], document["conditions"]
    rows = [
        ("Test sponsor", document["sponsor"] or ABSENT),
        ("Device", f"{device['title']} ({device['name']})"),
        ("Kind", KINDS[device["kind"]]),
        ("User capacity", size(device["capacity_bytes"])),
        ("Logical block", f"{device['block_bytes']} B"),
        ("State", "; ".join(state_lines(device["drive_state"])) if device["drive_state"] else ABSENT),
        ("Write cache", asked["write_cache"] or "as found"),
        ("Active range", f"{asked['active_range_pct']:g} % of the addresses, {size(asked['active_bytes'])} of them"),
        ("Data pattern", asked["data_pattern"]),
        ("Purge", asked["purge"] or "none"),
        ("Preconditioning", asked["preconditioning"]),
        ("Random loads", asked["demand"]),
        ("Scale of the model", str(asked["scale"]) if device["kind"] == "model" else ABSENT),
        ("Seed", asked["seed"]),
        *_of_context(device["context"]),
    ]
    table = Table(["", ""], [Group([[Cell(name, muted=True), Cell(text)] for name, text in rows])])
    return Section("header", "Device and conditions", [table])


def _of_context(context: object) -> list[tuple[str, str]]:
    """Return the record's data on device and host, as far as available."""
    if not isinstance(context, dict):
        return []
    device, cpu = context.get("device"), context.get("cpu")
    rows = []
    if isinstance(device, dict):
        told = {"Model": "model", "Serial": "serial", "Firmware": "firmware", "Transport": "transport"}
        rows += [(name, str(device[key])) for name, key in told.items() if device.get(key)]
    if isinstance(cpu, dict):
        rows.append(("Processor", f"{cpu.get('model') or ABSENT}, {cpu.get('count')} of them"))
    rows += [("Kernel", str(context["kernel"]))] if context.get("kernel") else []
    for name, key in (("Temperature before", "temperature_before_c"), ("after", "temperature_after_c")):
        rows += [(name, f"{context[key]:g} °C")] if isinstance(context.get(key), int | float) else []
    return rows


def _test(test: TestDoc) -> Section:
    blocks: list[Block] = [Prose([test["answer"]], lead=True)]
    for loop in test["loops"]:
        blocks += _loop(test, loop)
    blocks += _moments(test)
    histogram = test.get("histogram")
    if histogram:
        chart = Chart("Latencies of 4 KiB writes", draw.answered(histogram), "20 minutes after the loop")
        blocks.append(Charts([chart]))
    blocks.append(
        Table(
            ["Figure", "Value"],
            [Group([[Cell(f["name"]), Cell(value_text(f), True)] for f in test["figures"]])],
            "Figures",
        )
    )
    blocks += [Prose([f"Note: {note}" for note in test["notes"]])] if test["notes"] else []
    return Section(test["id"], f"{test['title']} (section {test['section']})", blocks)


def _loop(test: TestDoc, loop: LoopDoc) -> list[Block]:
    """Convergence, window, means."""
    name = f", {loop['name']}" if len(test["loops"]) > 1 else ""
    charts = [Chart(f"Steady state convergence{name}", draw.convergence(loop))]
    for one in loop["tracked"]:
        view = draw.measured_window(one)
        if view is not None:
            charts.append(Chart(f"Measurement window: {one['name']}", view, _window_words(one)))
    blocks: list[Block] = [Charts(charts, width=460)]
    if test["id"] == "iops":
        blocks += [
            _matrix(loop, "IOPS", "iops"),
            *_drawn({"IOPS by size and mix": draw.by_size(loop, "iops", "IOPS", 1.0)}),
        ]
    if test["id"] == "throughput":
        blocks.append(_matrix(loop, "MB/s", "bandwidth_bytes_per_s", 1e-6))
    if test["id"] == "latency":
        for title, key in (
            ("Mean latency (ms)", "latency_mean_ns"),
            ("99.999 % latency (ms)", "latency_p99_999_ns"),
            ("Longest latency (ms)", "latency_max_ns"),
        ):
            blocks.append(_matrix(loop, title, key, 1e-6))
        mean = draw.by_size(loop, "latency_mean_ns", "ms", 1e-6)
        longest = draw.by_size(loop, "latency_max_ns", "ms", 1e-6)
        blocks += _drawn({"Mean latency": mean, "Longest latency": longest}, 460)
    return blocks


def _drawn(views: Mapping[str, View | None], width: int = 620) -> list[Block]:
    """Charts by their titles, as far as there is something to be drawn."""
    charts = [Chart(title, view) for title, view in views.items() if view is not None]
    return [Charts(charts, width=width)] if charts else []


def _window_words(one: TrackedDoc) -> str:
    window = one["window"]
    assert window is not None, "a window that was drawn is there"
    reached = "steady" if one["reached"] else "not steady"
    unit, factor = draw.UNITS[one["unit"]]
    slope = f"{number(window['slope_per_round'] * factor)} x R + {number(window['intercept'] * factor)}"
    where = f"rounds {window['first']} to {window['last']}, {reached}: mean {number(window['mean'] * factor)} {unit}"
    range_, slope_ = (percent(window[key], signed=False) for key in ("range_pct", "slope_pct"))
    excursions = f"range {range_} (at most 20), slope {slope_} (at most 10)"
    return f"{where}, {excursions}; {slope}"


def _matrix(loop: LoopDoc, title: str, key: str, factor: float = 1.0) -> Table:
    """Sizes as rows, mixes as columns, means of the measurement window."""
    cells: Sequence[CellDoc] = loop["means"]
    mixes = list(dict.fromkeys(cell["read_pct"] for cell in cells))
    sizes = list(dict.fromkeys(cell["block_bytes"] for cell in cells))
    rows = []
    for block in sizes:
        row = [Cell(kib_text(block))]
        for mix in mixes:
            one = next((c for c in cells if (c["read_pct"], c["block_bytes"]) == (mix, block)), None)
            value = None if one is None else dict(one)[key]
            row.append(Cell(number(value * factor) if isinstance(value, int | float) else ABSENT, True))
        rows.append(row)
    return Table(
        [title, *(mix_text(mix) for mix in mixes)], [Group(rows)], f"{title}, reads/writes in columns", tight=True
    )


def _moments(test: TestDoc) -> list[Block]:
    """Return charts of rates and latencies over the time of a test."""
    moments: list[MomentDoc] = test["moments"]
    if not moments:
        return []
    rate_of = ("bandwidth_bytes_per_s", "MB/s", 1e-6) if test["id"] == "cross-stimulus" else ("iops", "IOPS", 1.0)
    charts = {f"{rate_of[1]} over time": draw.over_time(moments, *rate_of)}
    if test["id"] == "write-saturation":
        charts[f"{rate_of[1]} over bytes written"] = draw.over_time(moments, *rate_of, "fills")
    for title, key in (("Mean latency (ms)", "latency_mean_ns"), ("Longest latency (ms)", "latency_max_ns")):
        charts[f"{title} over time"] = draw.over_time(moments, key, title, 1e-6)
    rows = []
    for line, of in lines(moments).items():
        cells = [one["cell"] for one in of]
        longest = max((cell["latency_max_ns"] or 0 for cell in cells), default=0)
        mean = sum(cell["iops"] for cell in cells) / len(cells)
        bytes_ = sum(cell["bandwidth_bytes_per_s"] for cell in cells) / len(cells)
        rows.append([Cell(line), Cell(number(mean), True), Cell(rate(bytes_), True), Cell(number(longest / 1e6), True)])
    table = Table(["Part", "Mean IOPS", "Mean rate", "Longest (ms)"], [Group(rows)], tight=True)
    return [*_drawn(charts, 620), table]


def unit_of(figure: FigureDoc) -> Unit:
    """Return the unit of a figure."""
    if figure["unit"] == "s":
        return Unit("s", 1.0, lambda seconds: span(1e9 * seconds) if seconds else "at once")
    return {"B/s": MBS, "ns": MS}.get(figure["unit"], Unit(figure["unit"]))


def value_text(figure: FigureDoc) -> str:
    """Return a figure with its unit."""
    return unit_of(figure).shown(figure["value"])
