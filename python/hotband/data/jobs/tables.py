"""A workload's tables for writers of job files: streams with their loads, phases as steps, and the fate of each key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from hotband.base.errors import UserError
from hotband.base.text.quantities import size_bytes, span_ns
from hotband.base.text.tomltable import loads
from hotband.data.jobs.loss import Fate, Location, LossReport
from hotband.data.jobs.parts import Amount
from hotband.data.jobs.shares import flushes_per_io, percent_of, writes_of

Table = Mapping[str, Any]

NOT_PRECONDITIONED = "a job does not precondition drives: fill them first"
# What a workload may say besides streams, loads and phases, and why a job file does not.
_ELSEWHERE = {
    "precondition": NOT_PRECONDITIONED,
    "events": "a job cannot describe events of a machine",
    "power_loss": "a job cannot describe events of a machine",
    "limits": "a job has no limits",
    "record": "a job does not set what is recorded",
    "uncertainty": "a job has one value for each option",
    "smart_interval": "a job reads no SMART attributes",
    "interval": "affects results, not I/Os",
}
_WORDS = ("title", "source", "note", "confidence")
NO_JOB = {
    "app": "an app does more than block I/O, so it has no job file; expected streams with a load",
    "scripts": "a job cannot express a script: expected streams with a load",
    "trace": "a job cannot express a trace; expected streams with a load",
    "network": "a job cannot express a network; expected a workload without one",
}


@dataclass
class Stream:
    """A stream with its load; `share` is its part of that load, 1 if it is the only stream."""

    index: int
    name: str
    table: Table
    load: Table
    share: float
    load_key: str

    def key(self, name: str) -> str:
        return f"streams[{self.index}].{name}"

    @property
    def read_pct(self) -> float:
        return percent_of(self.table["read_pct"])

    @property
    def random_pct(self) -> float:
        return percent_of(self.table.get("random_pct", 0.0))

    @property
    def trim_pct(self) -> float:
        return percent_of(self.table.get("trim_pct", 0.0))

    @property
    def trims_first(self) -> bool:
        """Return whether each write follows a trim of its block."""
        return bool(self.table.get("trim_first", False))

    @property
    def writes(self) -> float:
        """Return the share of writes among its I/Os that are not flushes, 0 to 1."""
        return writes_of(self.table)

    @property
    def flush_every(self) -> int:
        """Return the writes from one flush to the next; 0 for no flushes."""
        return int(self.table.get("flush_every", 0)) if self.writes else 0

    @property
    def without_flushes(self) -> float:
        """Return the share of its I/Os that are not flushes, 0 to 1."""
        return 1 / (1 + flushes_per_io(self.table))

    @property
    def data_share(self) -> float:
        """Return its part of a load without flushes, which only a closed loop counts."""
        return self.share * self.without_flushes if "closed" in self.load else self.share

    @property
    def request_share(self) -> float:
        """Return its requests, flushes included, in the unit of `data_share`."""
        return self.data_share / self.without_flushes

    @property
    def sizes(self) -> list[tuple[int, float]]:
        if "size" in self.table:
            return [(_bytes(self.table["size"]), 100.0)]
        pairs = [(_bytes(size), float(weight)) for size, weight in self.table["sizes"].items()]
        whole = sum(weight for _, weight in pairs)
        return [(size, 100 * weight / whole) for size, weight in pairs]

    @property
    def range(self) -> tuple[Amount, Amount]:
        low, high = self.table.get("range", ["0 %", "100 %"])
        return _amount(low), _amount(high)

    @property
    def whole(self) -> bool:
        return self.range[1] == Amount(1.0, True) and not self.range[0].value

    def closed(self) -> tuple[int, int, float] | None:
        """Return threads, depth and pause in microseconds of a closed loop."""
        closed = self.load.get("closed")
        if closed is None:
            return None
        return int(closed["threads"]), int(closed.get("depth", 1)), _us(closed.get("think", "0 s"))


@dataclass
class Step:
    """A measured phase: its streams, seconds or I/Os, threads of `[load]`."""

    index: int
    name: str
    streams: list[Stream]
    seconds: float | None
    ios: int | None
    threads: int | None

    @cached_property
    def of_one_loop(self) -> list[Stream]:
        """Return the streams of `[load]`."""
        return [stream for stream in self.streams if stream.load_key == "load"]

    def ios_of(self, stream: Stream) -> float:
        """Return the requests of a stream, of a step that ends after a number of them."""
        return (self.ios or 0) * stream.request_share / self._requests_of_loads[stream.load_key]

    @cached_property
    def _requests_of_loads(self) -> dict[str, float]:
        """Return the sum of `request_share` of the streams of each load."""
        sums: dict[str, float] = {}
        for stream in self.streams:
            sums[stream.load_key] = sums.get(stream.load_key, 0.0) + stream.request_share
        return sums

    @cached_property
    def whole_of_one_loop(self) -> float:
        """Return the sum of their shares."""
        return sum(stream.share for stream in self.of_one_loop)


@dataclass
class Conversion:
    """A workload on its way to a job file."""

    file: str
    text: str
    report: LossReport
    table: dict[str, Any]
    streams: list[Stream] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    warm_up: float = 0.0
    fates: dict[str, tuple[Fate, str]] = field(default_factory=dict)

    def approximate(self, key: str, why: str) -> None:
        """Note why a key is approximated, next to other reasons."""
        fate, known = self.fates.get(key, (Fate.APPROXIMATED, ""))
        if fate is Fate.APPROXIMATED and why not in known.split("; "):
            self.fates[key] = fate, f"{known}; {why}".removeprefix("; ")

    def ignore(self, key: str, why: str) -> None:
        self.fates[key] = (Fate.IGNORED, why)

    def entropy(self, stream: Stream) -> tuple[float, bool] | None:
        """Return the mean entropy of a stream's writes, and whether the workload gives nothing more than the mean."""
        data = stream.table.get("data", self.table.get("data"))
        if isinstance(data, Mapping):
            return float(data.get("mean", 1.0)), False
        return None if data is None else (float(data), True)

    def heading(self, mark: str) -> str:
        """Return the comments of the job: its title, and what became of each key, which the report gets."""
        self.finish()
        lines = [self.table.get("title", self.file), f"hotband: {self.report.summary('written from')}"]
        return "".join(f"{mark} {line}\n" for line in [*lines, *self.report.matters()])

    def finish(self) -> None:
        """Add one line per key to the report."""
        for key, line, entry in _keys(self.text):
            for fate, why in self._fates_of(key):
                self.report.add(fate, Location(self.file, line), entry, why)

    def _fates_of(self, key: str) -> list[tuple[Fate, str]]:
        """Return what became of a key of the text: of the table that it is in, else of the keys in it if it is a table
        in one line."""
        top = re.split(r"[.\[]", key)[0]
        within = [key[: separator.start()] for separator in re.finditer(r"[.\[]|$", key)]
        fate = next((self.fates[prefix] for prefix in reversed(within) if prefix in self.fates), None)
        if fate is None and top in _ELSEWHERE:
            fate = Fate.UNUSED if top == "interval" else Fate.IGNORED, _ELSEWHERE[top]
        if fate is not None:
            return [fate]
        inner = [fate for other, fate in self.fates.items() if other.startswith((f"{key}.", f"{key}["))]
        return list(dict.fromkeys(inner)) or [(Fate.KEPT, "")]


def conversion_of(file: str, text: str, tool: str) -> Conversion:
    """Return the workload whose text is `text`. Raises UserError for what a job file cannot express."""
    table = cast("dict[str, Any]", loads(text, file))
    conversion = Conversion(file, text, LossReport(file, tool), table)
    for key, why in NO_JOB.items():
        if key in table:
            raise UserError(file, key, "", why)
    tables = table.get("streams", [])
    shared = [stream_table for stream_table in tables if "load" not in stream_table]
    whole = sum(percent_of(stream_table.get("share_pct", 100)) for stream_table in shared)
    for index, stream_table in enumerate(tables):
        for key in ("per_client", "files"):
            if key in stream_table:
                raise UserError(file, f"streams[{index}].{key}", "", "belongs to scripts, which a job cannot express")
        has_load = "load" in stream_table
        share = 1.0 if has_load else percent_of(stream_table.get("share_pct", 100)) / whole
        load = stream_table["load"] if has_load else table["load"]
        key = f"streams[{index}].load" if has_load else "load"
        conversion.streams.append(Stream(index, stream_table.get("name", "main"), stream_table, load, share, key))
        if "near" in stream_table.get("offsets", {}):
            conversion.ignore(f"streams[{index}].offsets", f"{tool} has no nearby jumps: jumps go anywhere")
    if "in_a_row" in table.get("load", {}):
        conversion.ignore("load.in_a_row", f"{tool} chooses a stream for each I/O separately")
    _phases(conversion)
    running = {stream.index for step in conversion.steps for stream in step.streams}
    for stream_table in conversion.streams:
        if stream_table.index not in running:
            conversion.ignore(stream_table.key("name"), "the stream runs in no measured phase")
    return conversion


def _phases(conversion: Conversion) -> None:
    begun = False
    for index, phase in enumerate(conversion.table["phases"]):
        key = f"phases[{index}]"
        named = phase.get("streams")
        streams = [stream for stream in conversion.streams if named is None or stream.name in named]
        seconds, ios = _length(conversion, key, phase)
        if phase.get("measure"):
            begun = True
            name = phase.get("name", "measure")
            conversion.steps.append(Step(index, name, streams, seconds, ios, phase.get("threads")))
        elif phase.get("untimed"):
            conversion.ignore(f"{key}.untimed", "a job has no untimed phase: write that data first")
        elif not begun and seconds:
            conversion.warm_up += seconds
            for what in ("streams", "threads"):
                if what in phase:
                    conversion.approximate(
                        f"{key}.{what}", "the warm-up runs with the settings of the first measured step"
                    )
        else:
            conversion.ignore(
                f"{key}.name", "a job has only a timed warm-up before its measured steps, and no steps after them"
            )


def _length(conversion: Conversion, key: str, phase: Table) -> tuple[float | None, int | None]:
    """Return seconds and I/Os of a phase; other conditions that end it are reported as ignored."""
    seconds = _us(phase["duration"]) / 1e6 if "duration" in phase else None
    ios = int(phase["ios"]) if "ios" in phase else None
    until = phase.get("until", [])
    if isinstance(until, dict):
        # Precision has ten minutes at the most (docs/guides/workloads.md).
        until = "10 min"
    for condition in [until] if isinstance(until, str) else until:
        count = re.fullmatch(r"([\d.e+]+)\s*I/Os", condition.strip())
        time = span_ns(condition)
        if count:
            ios = round(float(count[1]))
        elif time:
            seconds = time / 1e9
        else:
            conversion.ignore(f"{key}.until", f"a job does not end when {condition}")
    if phase.get("until_steady"):
        # 25 rounds at the latest (docs/guides/steady-state.md).
        seconds = 25 * _us(phase.get("round", "60 s")) / 1e6
        why = "all rounds run: fio and vdbench do not apply the rule of the SNIA PTS"
        conversion.approximate(f"{key}.until_steady", why)
    for what in ("until_warm", "until_done", "operations", "fills"):
        if what in phase:
            conversion.approximate(f"{key}.{what}", "the phase runs for its full time")
    return seconds, ios


def _bytes(text: str) -> int:
    return round(size_bytes(text) or 0)


def _us(text: str) -> float:
    return (span_ns(text) or 0.0) / 1000


def _amount(text: str) -> Amount:
    if " + " in text:
        first, _, second = text.partition(" + ")
        return _amount(first) + _amount(second)
    if text.strip().endswith("%"):
        return Amount(float(text.strip().rstrip("%")) / 100, True)
    return Amount(float(_bytes(text)))


def plain(name: str) -> str:
    """Replace characters that section names of fio and definitions of vdbench cannot have."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-") or "main"


_NAME = r"(?:[\w-]+|\"[^\"]*\"|'[^']*')"
_DOTTED = rf"\s*({_NAME}(?:\s*\.\s*{_NAME})*)\s*"
_ARRAY, _TABLE = re.compile(rf"\[\[{_DOTTED}\]\]"), re.compile(rf"\[{_DOTTED}\]")
_KEY = re.compile(rf"{_DOTTED}=\s*(.*)")


def _path(dotted: str, counts: Mapping[str, int]) -> str:
    """Return the path of a dotted name; a table within an array is in its last entry (TOML 1.0, "Array of Tables")."""
    outer: list[str]
    *outer, last = [str(name).strip("\"'") for name in re.findall(_NAME, dotted)]
    path = ""
    for name in outer:
        path += name
        path += f"[{counts[path]}]." if path in counts else "."
    return path + last


def _keys(text: str) -> list[tuple[str, int, str]]:
    """Return each key of TOML as a path, with its line and text; a table in one line is one key."""
    keys: list[tuple[str, int, str]] = []
    prefix = ""
    counts: dict[str, int] = {}
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        array, table = _ARRAY.match(line), _TABLE.match(line)
        if array:
            name = _path(array[1], counts)
            counts[name] = counts.get(name, -1) + 1
            prefix = f"{name}[{counts[name]}]."
        elif table:
            name = _path(table[1], counts)
            prefix = f"{name}[{counts[name]}]." if name in counts else f"{name}."
        elif key := _KEY.match(line):
            value = re.sub(r"\s+#[^\"]*$", "", key[2])
            path, entry = prefix + _path(key[1], {}), ""
            if line[0] in "\"'" and prefix:
                # Sizes and their shares are one option, however many there are.
                path = entry = prefix[:-1]
            if path not in _WORDS and (not entry or entry not in [other for *_, other in keys]):
                keys.append((path, number, entry or f"{path} = {value}"))
    return keys
