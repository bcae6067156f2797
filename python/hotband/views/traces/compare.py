"""Two traces compared, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.base.text.cells import counted, millis, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table
    from rich.text import Text

    from hotband.data.documents.record import ComparedDoc
    from hotband.inference.traces.compare import ComparedIoDoc, ComparedSideDoc, TracesComparedDoc


def compared_views(found: TracesComparedDoc) -> list[Table | Text | str]:
    """Which two, whether they hold the same I/Os, figures by class, percentiles, notes."""
    return [*_sides(found), _same(found), _figures(found), _percentiles(found), *_notes(found)]


def _sides(found: TracesComparedDoc) -> Iterator[Text]:
    from hotband.base.foreign import marked

    for name, side in (("A", found["measured"]), ("B", found["replayed"])):
        what = f"{counted(side['ios'], 'I/O')}, {side.get('format', '')}"
        yield marked(f"{name}: {{file}} ({what})", file=side.get("file", ""))


def same_words(found: TracesComparedDoc) -> str:
    """Whether single I/Os could be compared; if not, why."""
    if found["same_ios"]:
        return "Both hold the same I/Os in the same order: each is compared with its own."
    first = found["first_difference"]
    assert first is not None, "what is not the same differs somewhere"
    places = f"I/O {first['io']:,} is {_io(first['measured'])} in A and {_io(first['replayed'])} in B"
    return f"Not the same I/Os in the same order ({places}): distributions are compared, single I/Os are not."


def _same(found: TracesComparedDoc) -> str:
    return same_words(found)


def _io(io: ComparedIoDoc | None) -> str:
    if io is None:
        return "missing"
    return f"a {io['op']} of {io['size_bytes']:,} B at {io['offset_bytes']:,}"


def rows_of(found: TracesComparedDoc) -> list[tuple[str, ComparedDoc]]:
    """All I/Os and each class, with what it is called."""
    classes: list[tuple[str, ComparedDoc]] = [
        (f"{one['direction']} {one['distance']}", one) for one in found["classes"]
    ]
    return [("all", found), *classes]


def _figures(found: TracesComparedDoc) -> Table:
    from rich.table import Table

    table = Table(title="Mean latency and distributions", title_justify="left")
    table.add_column("I/Os", no_wrap=True)
    for column in ("count", "A (ms)", "B (ms)", "error", "demerit (ms)", "demerit", "RMS (ms)"):
        table.add_column(column, justify="right")
    for name, one in rows_of(found):
        count = f"{one['ios']:,}" + (f" / {one['ios_replayed']:,}" if "ios_replayed" in one else "")
        shares = (_percent(one["mean_error_pct"], signed=True), _percent(one["demerit_pct"]))
        means = (millis(one["mean_measured_ns"]), millis(one["mean_replayed_ns"]))
        table.add_row(name, count, *means, shares[0], millis(one["demerit_ns"]), shares[1], millis(one["rms_ns"]))
    return table


def _percent(value: float | None, *, signed: bool = False) -> str:
    if value is None:
        return number(None)
    return f"{value:+.1f} %" if signed else f"{value:.1f} %"


def _percentiles(found: TracesComparedDoc) -> Table:
    from rich.table import Table

    table = Table(title="Percentiles of latency", title_justify="left")
    for column in ("percentile", "A (ms)", "B (ms)", "B - A (ms)"):
        table.add_column(column, justify="right")
    for one in found["percentiles"]:
        measured, replayed = one["measured_ns"], one["replayed_ns"]
        table.add_row(
            f"{one['percentile']:g} %", millis(measured), millis(replayed), f"{(replayed - measured) / 1e6:+.3f}"
        )
    return table


def _notes(found: TracesComparedDoc) -> Iterator[str | Text]:
    from hotband.base.foreign import marked

    for name, side in (("A", found["measured"]), ("B", found["replayed"])):
        for note in notes_of(name, side):
            yield marked("note: {note}", note=note)


def notes_of(name: str, side: ComparedSideDoc) -> list[str]:
    """What there is to say of one of the two."""
    notes = []
    if side["left_out"]:
        notes.append(f"{counted(side['left_out'], 'I/O')} of {name} failed or had no latency, and are left out")
    if side["unmeasured"]:
        notes.append(f"{counted(side['unmeasured'], 'I/O')} of {name} are of its warm-up, and are compared, too")
    return [*notes, *(f"{name}: {note}" for note in side["notes"])]
