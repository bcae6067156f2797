"""Guesses about a trace: ambiguities in the first lines of a known format.

A format fixes columns and units, but lines of another tool may have the same form. Each rule looks for evidence:
offsets in sectors that are all multiples of 512, times of the calendar that are not of the present, more I/Os a second
than a device completes. Left out: traces whose format the user states, I/O logs as Parquet, and events of a kernel
(blkparse, perf, ETW), whose lines have no other writer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import tomli

from hotband.base.guess import Guess
from hotband.base.heavy import pa
from hotband.base.text.regular import opened
from hotband.base.text.separated import separator_of
from hotband.data.traces.files import format_of, traces_of
from hotband.data.traces.headings import columns_of, is_operation, unit_in

SECTOR = 512
LEAST = 4
"""Fewest different values that are evidence of a unit: by chance one in 512 is a multiple of a sector."""
BEGINNING = 64 * 1024
"""Bytes that are examined, as in the detection of formats (crates/traces/src/detect.rs)."""
PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd"}
RATES = (1e-3, 1e7)
"""I/Os per second that a trace of a device may have."""
EPOCH_S = (5e8, 3e9)
"""Seconds since 1970 of the years 1985 to 2065."""
PER_S = {"s": 1.0, "ms": 1e3, "us": 1e6, "100ns": 1e7, "ns": 1e9}
FILETIME_S = 11_644_473_600
"""Seconds from 1601, where Windows counts from, to 1970."""
ISSUED = re.compile(r"start|issue|submit|begin", re.IGNORECASE)
"""Headings that name the time of issue."""


@dataclass(frozen=True)
class Form:
    """Columns of a format, counted from 1, and the units of offset, size and time. `since_s` is the beginning of its
    calendar in seconds since 1970; None if times count from the beginning of the trace. `read` is the word of a
    read."""

    columns: Mapping[str, int]
    offset: str
    size: str
    time: str
    separator: str | None = ","
    since_s: int | None = None
    read: str = ""

    def choice(self, **units: str) -> str:
        """Return the columns with other units, as they are given to commands and workloads."""
        of = {"offset": self.offset, "size": self.size, "time": self.time, "op": self.read, **units}
        return _stated({key: f"{at}:{of.get(key, '')}".removesuffix(":") for key, at in self.columns.items()})


_DISKSIM = {"time": 1, "device": 2, "offset": 3, "size": 4, "op": 5}
FORMS = {
    "spc": Form({"device": 1, "offset": 2, "size": 3, "op": 4, "time": 5}, "sectors", "B", "s"),
    "tencent": Form(
        {"time": 1, "offset": 2, "size": 3, "op": 4, "device": 5}, "sectors", "sectors", "s", since_s=0, read="0"
    ),
    "alibaba": Form({"device": 1, "op": 2, "offset": 3, "size": 4, "time": 5}, "B", "B", "us", since_s=0),
    "msr": Form({"time": 1, "op": 4, "offset": 5, "size": 6, "latency": 7}, "B", "B", "100ns", since_s=-FILETIME_S),
    "mqsim": Form(_DISKSIM, "sectors", "sectors", "ns", None, read="1"),
    "disksim-ascii": Form(_DISKSIM, "sectors", "sectors", "ms", None, read="1"),
}
"""Formats of plain columns (crates/traces/src/formats)."""


def guesses_in(workload: str, text: str | None) -> list[Guess]:
    """Return the guesses about the traces that a workload replays."""
    guesses = []
    for path, request in traces_of(workload, text):
        columns = _columns_at(request.key, text or "")
        guesses += guesses_of(path, None if columns else request.format, columns)
    return guesses


def _columns_at(key: str, text: str) -> Mapping[str, object]:
    """Return the columns of the trace at a key of a workload, such as `streams[1].trace`."""
    place: object = tomli.loads(text)
    for name, index in re.findall(r"(\w+)|\[(\d+)\]", key):
        if index:
            place = place[int(index)] if isinstance(place, list) else None
        else:
            place = place.get(name) if isinstance(place, dict) else None
    columns = place.get("columns") if isinstance(place, dict) else None
    return columns if isinstance(columns, dict) else {}


def guesses_of(path: Path, format_: str | None = None, columns: Mapping[str, object] | None = None) -> list[Guess]:
    """Return the guesses about a trace, of which the user states the format, the columns, or nothing. A file that
    cannot be read has none: reading it raises the error."""
    if format_ is not None and not columns:
        return []
    by_heading = columns_of(path)
    named = columns or by_heading
    form = None if named else FORMS.get(format_of(path) or "")
    if not named and form is None:
        return []
    try:
        lines = _first_lines(path)
    except (OSError, ValueError, EOFError):  # those of Arrow are ValueErrors
        return []
    if form is not None:
        return list(_of_form(path.name, form, lines))
    table = _Table(lines, {str(key): str(value) for key, value in (named or {}).items()})
    return list(_of_table(path.name, table, table.columns == by_heading))


def _first_lines(path: Path) -> list[str]:
    """Return the first lines of a file, which may be compressed."""
    with opened(path) as file:
        packed = PACKED.get(file.read(2))
        file.seek(0)
        beginning = pa.input_stream(file, compression=packed).read(BEGINNING) if packed else file.read(BEGINNING)
    lines = beginning.decode("utf-8", "replace").splitlines()
    # The last one may be cut.
    return [line for line in (lines[:-1] if len(beginning) >= BEGINNING else lines) if line and line[0] != "#"]


def _numbers(rows: Sequence[Sequence[str]], at: int) -> list[float]:
    """Return the numbers of a column, counted from 1."""
    texts = [row[at - 1].strip(' "') for row in rows if len(row) >= at]
    return [float(text) for text in texts if re.fullmatch(r"\d{1,25}(\.\d*)?", text)]


def _stated(columns: Mapping[str, str]) -> str:
    """Return how to state columns."""
    text = ",".join(f"{key}={value}" for key, value in columns.items())
    return f"set columns {text} (for a run, in its workload's [trace])"


def _named(unit: str) -> str:
    return "bytes" if unit == "B" else "sectors of 512 B"


def _of_form(name: str, form: Form, lines: Sequence[str]) -> Iterator[Guess]:
    """Yield the guesses about a format of plain columns."""
    rows = [line.split(form.separator) for line in lines]
    of = {key: _numbers(rows, at) for key, at in form.columns.items()}
    other = _other_blocks(of["offset"], of["size"], form.offset, form.size)
    if other is not None:
        reading = f"{name}: offsets are read in {_named(form.offset)}"
        yield Guess(reading, _named(other[0]), form.choice(offset=other[0], size=other[1]))
    unit = _other_time(of["time"], form)
    if unit is not None:
        yield Guess(f"{name}: times are read in {form.time}", unit, form.choice(time=unit))


def _other_blocks(
    offsets: Sequence[float], sizes: Sequence[float], of_offsets: str, of_sizes: str
) -> tuple[str, str] | None:
    """Return other units of offsets and sizes if they are equally plausible: bytes if numbers read as sectors are all
    multiples of 512, sectors if numbers read as bytes are not."""
    different = set(offsets)
    if len(different) < LEAST:
        return None
    in_bytes = all(offset % SECTOR == 0 for offset in different)
    if of_offsets != "B" and in_bytes:
        return "B", "B" if sizes and all(size % SECTOR == 0 for size in sizes) else of_sizes
    if of_offsets == "B" and not in_bytes:
        return "sectors", "sectors" if sizes and all(size % SECTOR for size in sizes) else of_sizes
    return None


def _other_time(times: Sequence[float], form: Form) -> str | None:
    """Return another unit of times if this one gives dates far from the present, more I/Os per second than a device
    completes, or fewer than a trace has."""
    if len(set(times)) < LEAST:
        return None
    if form.since_s is None:
        return _by_rate(times, form.time)
    first, last = (end - form.since_s for end in EPOCH_S)
    if first <= times[0] / PER_S[form.time] <= last:
        return None
    since_1970 = (unit for unit, scale in PER_S.items() if EPOCH_S[0] <= times[0] / scale <= EPOCH_S[1])
    return next(since_1970, None) or _by_rate(times, form.time) or ("us" if form.time != "s" else "ms")


def _by_rate(times: Sequence[float], unit: str) -> str | None:
    """Return the unit nearest to this one that makes as many I/Os a second as devices complete; None if this one
    does."""
    length = max(times) - min(times)
    rates = {name: (len(times) - 1) * scale / length for name, scale in PER_S.items()} if length else {}
    fitting = [name for name, rate in rates.items() if RATES[0] <= rate <= RATES[1]]
    if not fitting or unit in fitting:
        return None
    return min(fitting, key=lambda name: max(PER_S[name] / PER_S[unit], PER_S[unit] / PER_S[name]))


class _Table:
    """The first lines of a table, and its columns by their meaning: number or heading, with a unit."""

    def __init__(self, lines: Sequence[str], columns: Mapping[str, str]) -> None:
        separator = separator_of(lines[0]) if lines else ","
        self.rows = [[cell.strip(' "') for cell in line.split(separator)] for line in lines]
        self.columns, self.units, self.places = columns, {}, {}
        headings = self.rows[0] if self.rows else []
        for key, value in columns.items():
            place, _, unit = value.replace(" ", ":").partition(":")
            at = int(place) if place.isdecimal() else headings.index(place) + 1 if place in headings else None
            if at is not None and 0 < at <= len(headings):
                self.places[key], self.units[key] = at, unit

    def numbers(self, key: str) -> list[float]:
        """Return the numbers of a column; none if it is not there."""
        return _numbers(self.rows[1:], self.places[key]) if key in self.places else []

    def texts(self, key: str) -> list[str]:
        """Return the cells of a column; none if it is not there."""
        at = self.places.get(key)
        return [] if at is None else [row[at - 1] for row in self.rows[1:] if len(row) >= at]

    def choice(self, others: Mapping[str, str | None]) -> str:
        """Return the columns, of which some are others or left out."""
        return _stated({key: value for key, value in {**self.columns, **others}.items() if value is not None})


def _separators(name: str, table: _Table) -> Iterator[Guess]:
    """Yield the guesses about points and commas in numbers: an offset or a size is cut at its point, and in tables
    without commas between columns a comma starts the decimals of a time."""
    for key, mark in (("offset", "."), ("size", "."), ("time", ","), ("latency", ",")):
        texts = table.texts(key)
        grouped = [text for text in texts if re.fullmatch(rf"[1-9]\d{{0,2}}(\{mark}\d{{3}})+", text)]
        if grouped and all(text in grouped or len(text) <= 3 for text in texts):
            taken = grouped[0].partition(mark)[0] if mark == "." else grouped[0].replace(",", ".")
            reading = f"{name}: {key} {grouped[0]} is read as {taken}"
            yield Guess(reading, grouped[0].replace(mark, ""), "write numbers without separators")


def _headings(name: str, table: _Table) -> Iterator[Guess]:
    """Yield the guesses about headings: of a unit that is not the one of its column, and of operations that no column
    has."""
    headings = table.rows[0] if table.rows else []
    for key, usual in (("time", "s"), ("end", "s"), ("latency", "s"), ("offset", "bytes"), ("size", "bytes")):
        at = table.places.get(key)
        unit = unit_in(headings[at - 1]) if at is not None and not table.units[key] else ""
        if unit and at is not None and (unit in PER_S) == (usual == "s"):
            yield Guess(f"{name}: {headings[at - 1]} is read in {usual}", unit, table.choice({key: f"{at}:{unit}"}))
    op = next((at for at, heading in enumerate(headings, 1) if is_operation(heading)), None)
    if op is not None and "op" not in table.places:
        yield Guess(f"{name}: all I/Os are read as reads", f"{headings[op - 1]}", table.choice({"op": str(op)}))
    read, words = table.units.get("op", "").removeprefix("read="), table.texts("op")
    if read and words and read not in "01" and set(words) <= {"0", "1"}:
        choice = table.choice({"op": f"{table.places['op']}:{words[0]}"})
        yield Guess(f"{name}: no operation of the first lines is {read}, a read", f"{words[0]} for a read", choice)


def _of_table(name: str, table: _Table, by_heading: bool) -> Iterator[Guess]:
    """Yield the guesses about a table."""
    places, units = table.places, table.units
    other = _other_blocks(table.numbers("offset"), table.numbers("size"), units.get("offset") or "B", "B")
    if other is not None and not units["offset"]:
        sectors = {
            key: f"{places[key]}:sectors" for key, unit in zip(("offset", "size"), other, strict=True) if unit != "B"
        }
        yield Guess(f"{name}: offsets are read in bytes", _named("sectors"), table.choice(sectors))
    yield from _separators(name, table)
    yield from _headings(name, table)
    if set(table.texts("op")) == {"0", "1"} and not units["op"]:
        yield Guess(f"{name}: operation 0 counts as a read", "operation 1", table.choice({"op": f"{places['op']}:1"}))
    if by_heading and {"time", "latency"} <= places.keys():
        heading = table.rows[0][places["time"] - 1]
        if not ISSUED.search(heading):
            chosen = table.choice({"time": None, "end": table.columns["time"]})
            yield Guess(f"{name}: {heading} is read as the time of issue", "that of completion", chosen)
