"""A workload's tables as a writer of job files reads them: streams with what asks for them, phases as steps; and what
became of each key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from hotband.base.errors import UserError
from hotband.base.text.quantities import size_bytes, span_ns
from hotband.base.text.tomltable import loads
from hotband.data.jobs.loss import Fate, LossReport, Place
from hotband.data.jobs.parts import Amount

Table = Mapping[str, Any]

# What a workload may say besides streams, loads and phases, and why a job file does not.
_ELSEWHERE = {
    "precondition": "what the drives hold before is not part of a job: fill them first",
    "events": "what happens to a machine is not part of a job",
    "power_loss": "what happens to a machine is not part of a job",
    "limits": "a job has no limits to pass",
    "record": "what is recorded is not part of a job",
    "uncertainty": "a job has one value for each option",
    "smart_interval": "a job reads no SMART attributes",
    "interval": "is about results, not about I/Os",
}
_WORDS = ("title", "source", "note", "confidence")
NO_JOB = {
    "app": "an app is more than block I/Os: a workload with an app has no job file; expected streams with a load",
    "scripts": "a script is more than a job can say: expected streams with a load",
    "trace": "a trace is no pattern that a job could say; expected streams with a load",
    "network": "a job has no network to cross; expected a workload without it",
}


@dataclass
class Stream:
    """A stream with the load that asks for it; `share` is its part of that load, 1 where it is alone."""

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
        return _percent(self.table["read_pct"])

    @property
    def random_pct(self) -> float:
        return _percent(self.table.get("random_pct", 0.0))

    @property
    def trim_pct(self) -> float:
        return _percent(self.table.get("trim_pct", 0.0))

    @property
    def writes(self) -> float:
        """The share of writes of its I/Os that are no flushes, 0 to 1."""
        return (1 - self.read_pct / 100) * (1 - self.trim_pct / 100)

    @property
    def flush_every(self) -> int:
        """Writes from one flush to the next; 0 where there are none."""
        return int(self.table.get("flush_every", 0)) if self.writes else 0

    @property
    def without_flushes(self) -> float:
        """The share of its I/Os that are no flushes, 0 to 1."""
        return 1 / (1 + self.writes / self.flush_every) if self.flush_every else 1.0

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
        """Threads, depth and pause in microseconds of a closed loop."""
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
        """The streams of `[load]`."""
        return [stream for stream in self.streams if stream.load_key == "load"]

    @cached_property
    def whole_of_one_loop(self) -> float:
        """The sum of their shares."""
        return sum(one.share for one in self.of_one_loop)


@dataclass
class Told:
    """A workload under way to a job file."""

    file: str
    text: str
    report: LossReport
    table: dict[str, Any]
    streams: list[Stream] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    warm_up: float = 0.0
    fates: dict[str, tuple[Fate, str]] = field(default_factory=dict)

    def approximate(self, key: str, why: str) -> None:
        self.fates.setdefault(key, (Fate.APPROXIMATED, why))

    def ignore(self, key: str, why: str) -> None:
        self.fates[key] = (Fate.IGNORED, why)

    def entropy(self, stream: Stream) -> tuple[float, bool] | None:
        """The mean entropy of what a stream writes, and whether it is all that is said."""
        data = stream.table.get("data", self.table.get("data"))
        if isinstance(data, Mapping):
            return float(data.get("mean", 1.0)), False
        return None if data is None else (float(data), True)

    def finish(self) -> None:
        """One line a key into the report."""
        for key, line, said in _keys(self.text):
            top = re.split(r"[.\[]", key)[0]
            # What is said of a table holds for the keys in it, however it is written.
            within = [key[: found.start()] for found in re.finditer(r"\.|$", key)]
            fate = next((self.fates[one] for one in reversed(within) if one in self.fates), None)
            if fate is None and top in _ELSEWHERE:
                fate = Fate.UNUSED if top == "interval" else Fate.IGNORED, _ELSEWHERE[top]
            fate = fate or (Fate.KEPT, "")
            self.report.add(fate[0], Place(self.file, line), said, fate[1])


def told(file: str, text: str, tool: str) -> Told:
    """The workload whose text is `text`. UserError for what no job file can say."""
    table = cast("dict[str, Any]", loads(text, file))
    found = Told(file, text, LossReport(file, tool), table)
    for key, why in NO_JOB.items():
        if key in table:
            raise UserError(file, key, "", why)
    tables = table.get("streams", [])
    shared = [one for one in tables if "load" not in one]
    whole = sum(_percent(one.get("share_pct", 100)) for one in shared)
    for index, one in enumerate(tables):
        for key in ("per_client", "files"):
            if key in one:
                raise UserError(file, f"streams[{index}].{key}", "", "belongs to scripts, which a job cannot say")
        own = "load" in one
        share = 1.0 if own else _percent(one.get("share_pct", 100)) / whole
        load = one["load"] if own else table["load"]
        key = f"streams[{index}].load" if own else "load"
        found.streams.append(Stream(index, one.get("name", "main"), one, load, share, key))
        if "near" in one.get("offsets", {}):
            found.ignore(f"streams[{index}].offsets", f"{tool} has no jumps that stay near: all go anywhere")
    if "in_a_row" in table.get("load", {}):
        found.ignore("load.in_a_row", f"{tool} asks for each I/O of any stream by itself")
    _phases(found)
    asked = {stream.index for step in found.steps for stream in step.streams}
    for one in found.streams:
        if one.index not in asked:
            found.ignore(one.key("name"), "the stream runs in no measured phase")
    return found


def _phases(found: Told) -> None:
    begun = False
    for index, phase in enumerate(found.table["phases"]):
        key = f"phases[{index}]"
        named = phase.get("streams")
        streams = [stream for stream in found.streams if named is None or stream.name in named]
        seconds, ios = _length(found, key, phase)
        if phase.get("measure"):
            begun = True
            name = phase.get("name", "measure")
            found.steps.append(Step(index, name, streams, seconds, ios, phase.get("threads")))
        elif phase.get("untimed"):
            found.ignore(f"{key}.untimed", "what the drives hold before is not part of a job: fill them first")
        elif not begun and seconds:
            found.warm_up += seconds
            for what in ("streams", "threads"):
                if what in phase:
                    found.approximate(f"{key}.{what}", "the warm-up is that of the first measured step")
        else:
            found.ignore(f"{key}.name", "a job has a warm-up in time before what is measured, and nothing after it")


def _length(found: Told, key: str, phase: Table) -> tuple[float | None, int | None]:
    """Seconds and I/Os of a phase; what else ends it is told as ignored."""
    seconds = _us(phase["duration"]) / 1e6 if "duration" in phase else None
    ios = int(phase["ios"]) if "ios" in phase else None
    until = phase.get("until", [])
    for one in [until] if isinstance(until, str) else until:
        count = re.fullmatch(r"([\d.e+]+)\s*I/Os", one.strip())
        time = span_ns(one)
        if count:
            ios = round(float(count[1]))
        elif time:
            seconds = time / 1e9
        else:
            found.ignore(f"{key}.until", f"a job does not end when {one}")
    if phase.get("until_steady"):
        # 25 rounds at the latest (docs/guides/steady-state.md).
        seconds = 25 * _us(phase.get("round", "60 s")) / 1e6
        why = "all rounds are run: the rule of the SNIA PTS is not fio's or vdbench's"
        found.approximate(f"{key}.until_steady", why)
    for what in ("until_warm", "until_done", "operations", "fills"):
        if what in phase:
            found.approximate(f"{key}.{what}", "the phase has its whole time")
    return seconds, ios


def _percent(value: object) -> float:
    return float(str(value).strip().rstrip("%"))


def _bytes(text: str) -> int:
    return round(size_bytes(text) or 0)


def _us(text: str) -> float:
    return (span_ns(text) or 0.0) / 1000


def _amount(text: str) -> Amount:
    if text.strip().endswith("%"):
        return Amount(float(text.strip().rstrip("%")) / 100, True)
    return Amount(float(_bytes(text)))


def plain(name: str) -> str:
    """A name as sections of fio and definitions of vdbench can have it."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-") or "main"


def _keys(text: str) -> list[tuple[str, int, str]]:
    """Every key of TOML as a path, its line, and what it says; those of tables in one line are one key."""
    found: list[tuple[str, int, str]] = []
    prefix = ""
    counts: dict[str, int] = {}
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        array, table = re.match(r"\[\[([\w.]+)\]\]", line), re.match(r"\[([\w.]+)\]", line)
        if array:
            counts[array[1]] = counts.get(array[1], -1) + 1
            prefix = f"{array[1]}[{counts[array[1]]}]."
        elif table:
            prefix = f"{table[1]}."
        elif key := re.match(r"([\w.]+)\s*=\s*(.*)", line):
            value = re.sub(r"\s+#[^\"]*$", "", key[2])
            path = prefix + key[1]
            if path not in _WORDS:
                found.append((path, number, f"{path} = {value}"))
    return found
