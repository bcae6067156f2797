"""A job of any tool as streams, loops and steps, and the equivalent workload text.

The five tools agree on little: fio's jobs run concurrently and wait for each other (`stonewall`), vdbench's runs follow
one another over shared threads, Iometer's workers each have a list of tests. Here a `Loop` issues I/Os of its streams
by their shares, and a `Step` is a measured time in which some loops run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hotband.base.foreign import visible
from hotband.data.jobs.loss import LossReport
from hotband.data.jobs.source import Option

Value = str | int | float | bool | list[str] | dict[str, "Value"]

# The tools say no time where they go on until they are stopped, or until the whole target was covered once.
UNSAID_SECONDS = 60.0
# A script's step counts its I/Os; a loop over several streams that is no script has none to count. A run of a
# script waits for its last I/O, so that a step of a million I/Os is as good as endless.
ENDLESS_IOS = 1_000_000
# Of a job file: every step of every stream costs the run some of its time.
MOST_STREAMS = 4096


@dataclass
class StreamForm:
    """A stream: its keys as a workload has them, and the option that each came from."""

    name: str
    keys: dict[str, Value]
    came_from: dict[str, Option] = field(default_factory=dict)
    share: float = 100.0


@dataclass
class Closed:
    """Closed-loop load: `threads`, each with `depth` I/Os outstanding; after `burst` I/Os it waits for all, then
    `think`."""

    threads: int = 1
    depth: int = 1
    think_us: float = 0.0
    burst: int = 1


@dataclass
class Open:
    """Open-loop load: I/Os are issued at a rate, at most `outstanding` of them at once. With `drain`, the pause before
    the next I/O begins once none is outstanding."""

    rate: float
    arrival: str = "fixed"
    outstanding: int | None = None
    drain: bool = False

    def part(self, share: float) -> Open:
        """Return the load of a stream that issues this share of the I/Os."""
        most = self.outstanding if self.outstanding is None else max(1, round(self.outstanding * share))
        return Open(self.rate * share, self.arrival, most, self.drain)


@dataclass
class Loop:
    """Streams and the load that issues their I/Os."""

    streams: list[StreamForm]
    load: Closed | Open


@dataclass
class Step:
    """A measured time: its loops, its length and its warm-up. `ios` ends it earlier."""

    name: str
    loops: list[int]
    seconds: float | None
    warm_up: float = 0.0
    ios: int | None = None
    threads: int | None = None
    only: list[StreamForm] | None = None
    """Streams of its loops that it leaves to run; all of them where None."""


@dataclass
class Form:
    """A whole job."""

    title: str
    report: LossReport
    loops: list[Loop] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    interval_s: float | None = None

    def streams(self) -> Iterator[StreamForm]:
        for loop in self.loops:
            yield from loop.streams


def bytes_text(size: int) -> str:
    """Format bytes as an exact size with the largest fitting unit."""
    for unit, power in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size and size % (1 << power) == 0:
            return f"{size >> power} {unit}"
    return f"{size} B"


def seconds_text(seconds: float) -> str:
    """Format seconds as a time, exact to the nanosecond."""
    if seconds and seconds < 1:
        return f"{number_text(seconds * 1000)} ms"
    return f"{number_text(seconds)} s"


def number_text(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".")


def workload_text(form: Form) -> str:
    """Return the workload in TOML, its loss report on top, and after each key the option that it came from."""
    _drop_empty(form)
    _name_all(form)
    shared = _shared_loop(form)
    scripts: list[str] = []
    lines = [*form.report.comments(), "", f"title = {quoted(form.title)}"]
    lines.append(f"source = {quoted(f'{form.report.file}, a job file of {form.report.tool}')}")
    if form.interval_s is not None:
        lines.append(f"interval = {quoted(seconds_text(form.interval_s))}")
    if shared is not None:
        lines += ["", "[load]", *_load_lines(form.loops[shared].load)]
    script_names: dict[int, str] = {}
    names = Names()
    for index, loop in enumerate(form.loops):
        if index != shared and _is_script(loop):
            script_names[index] = names.new(loop.streams[0].name)
            scripts += _script_lines(script_names[index], loop)
        whole = sum(stream_.share for stream_ in loop.streams)
        for stream in loop.streams:
            lines += ["", *_stream_lines(stream, loop, whole, index == shared, index in script_names)]
    lines += [*scripts, *_phase_lines(form, script_names)]
    return "\n".join(lines) + "\n"


def _drop_empty(form: Form) -> None:
    """Drop loops whose streams were merged into another loop."""
    filled = [n for n, loop in enumerate(form.loops) if loop.streams]
    places = {n: index for index, n in enumerate(filled)}
    for step in form.steps:
        step.loops = [places[n] for n in step.loops if n in places]
    form.loops = [form.loops[n] for n in filled]


def _name_all(form: Form) -> None:
    """Give every stream a different name."""
    names = Names()
    for stream in form.streams():
        stream.name = names.new(stream.name or "main")


class Names:
    """Unique names: a name in use gets a number appended."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}

    def new(self, name: str) -> str:
        """Return the name, or the name with the first free number."""
        unique = name
        while unique in self._taken:
            # Numbers below are taken: no name is given back.
            self._numbers[name] = self._numbers.get(name, 1) + 1
            unique = f"{name} {self._numbers[name]}"
        self._taken.add(unique)
        return unique


def _is_script(loop: Loop) -> bool:
    """Return whether a loop needs a script: bursts, and further loops over several streams."""
    load = loop.load
    return isinstance(load, Closed) and (load.burst > 1 or len(loop.streams) > 1)


def _shared_loop(form: Form) -> int | None:
    """Return the loop that becomes `[load]`: the only one, else the first of several streams or with threads that
    change."""
    may = [n for n, loop in enumerate(form.loops) if not (isinstance(loop.load, Closed) and loop.load.burst > 1)]
    if len(form.loops) == 1 and may:
        return 0
    changed = {n for step in form.steps if step.threads is not None for n in step.loops}
    several = [n for n in may if len(form.loops[n].streams) > 1 or n in changed]
    return several[0] if several else None


def quoted(text: str) -> str:
    """Return a TOML string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda char: f"\\u{ord(char[0]):04x}", escaped) + '"'


def toml(value: Value) -> str:
    """Return a value in TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        pairs = (
            f"{key if re.fullmatch(r'[A-Za-z0-9_]+', key) else quoted(key)} = {toml(v)}" for key, v in value.items()
        )
        return "{ " + ", ".join(pairs) + " }" if value else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(quoted(item) for item in value) + "]"
    return number_text(value)


def percent(value: float) -> str:
    """Format a percentage; up to 1 it gets its sign, so that it is not read as a share (0.5 is not 50 %)."""
    return quoted(f"{number_text(value)} %") if 0 < value <= 1 else number_text(value)


def _load_lines(load: Closed | Open) -> list[str]:
    return [f"{key} = {toml(value)}" for key, value in _load_table(load).items()]


def _load_table(load: Closed | Open) -> dict[str, Value]:
    if isinstance(load, Open):
        bound: dict[str, Value] = {} if load.outstanding is None else {"outstanding": load.outstanding}
        bound |= {"drain": True} if load.drain else {}
        return {"open": {"rate_iops": load.rate, "arrival": load.arrival, **bound}}
    closed: dict[str, Value] = {"threads": load.threads, "depth": load.depth}
    if load.think_us:
        closed["think"] = seconds_text(load.think_us / 1e6)
    return {"closed": closed}


def _stream_lines(stream: StreamForm, loop: Loop, whole: float, is_shared: bool, is_script: bool) -> list[str]:
    """Return the lines of a stream of a loop whose streams' shares add up to `whole`."""
    lines = ["[[streams]]", f"name = {quoted(stream.name)}"]
    if len(loop.streams) > 1 and (is_shared or is_script):
        lines.append(f"share_pct = {percent(100 * stream.share / whole)}")
    if not is_shared and not is_script:
        load = loop.load
        if isinstance(load, Open) and len(loop.streams) > 1:
            load = load.part(stream.share / whole)
        lines.append(f"load = {toml(_load_table(load))}")
    for key, value in stream.keys.items():
        option = stream.came_from.get(key)
        came = f"  # {_where(option)}: {_comment(str(option))}" if option else ""
        text = percent(value) if key.endswith("_pct") and isinstance(value, float | int) else toml(value)
        lines.append(f"{key} = {text}{came}")
    return lines


def _where(option: Option) -> str:
    return f"{visible(Path(option.location.file).name)}:{option.location.line}"


def _comment(text: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f]", " ", text)[:80]


def _script_lines(name: str, loop: Loop) -> list[str]:
    load = loop.load
    assert isinstance(load, Closed), "only closed loops are scripts"
    ios = load.burst if load.burst > 1 else ENDLESS_IOS
    lines = ["", "[[scripts]]", f"name = {quoted(name)}", f"clients = {load.threads}", "repeat = true"]
    lines += [f"think = {quoted(seconds_text(load.think_us / 1e6))}"] if load.think_us and load.burst > 1 else []
    lines += ["", "[[scripts.steps]]", 'name = "ask"', f"ios = {ios}", f"depth = {min(load.depth, ios)}"]
    names = [stream.name for stream in loop.streams]
    lines.append(f"stream = {quoted(names[0])}" if len(names) == 1 else f"streams = {toml(names)}")
    # A pause after every I/O of a loop over several streams is the time before each.
    lines += [f"cpu = {quoted(seconds_text(load.think_us / 1e6))}"] if load.think_us and load.burst == 1 else []
    return lines


def _phase_lines(form: Form, scripts: dict[int, str]) -> list[str]:
    lines: list[str] = []
    names = Names()
    for number, step in enumerate(form.steps):
        of_step = _asking(form, step, scripts)
        if step.warm_up and not number:
            lines += [
                "",
                "[[phases]]",
                'name = "warm-up"',
                f"duration = {quoted(seconds_text(step.warm_up))}",
                *of_step,
            ]
        lines += ["", "[[phases]]", f"name = {quoted(names.new(step.name))}", _until(step), "measure = true", *of_step]
        # The tools wait for the outstanding I/Os of a step before the next begins; at a rate without a bound they drop
        # the I/Os that are late when the time is over.
        stops = all(n not in scripts and _is_bounded(form.loops[n].load) for n in step.loops)
        if stops and number + 1 < len(form.steps):
            lines.append("drain = true")
    return lines


def _is_bounded(load: Closed | Open) -> bool:
    """Return whether a load has a bound on its outstanding I/Os."""
    return isinstance(load, Closed) or load.outstanding is not None


def _until(step: Step) -> str:
    seconds = UNSAID_SECONDS if step.seconds is None and step.ios is None else step.seconds
    if step.ios is None:
        return f"duration = {quoted(seconds_text(seconds or 0.0))}"
    return f"ios = {step.ios}" if seconds is None else f"until = {toml([f'{step.ios} I/Os', seconds_text(seconds)])}"


def _asking(form: Form, step: Step, scripts: dict[int, str]) -> list[str]:
    """Return a phase's lines for streams, scripts and threads; none if all of them run."""
    lines = []
    active = [stream for n in step.loops for stream in form.loops[n].streams] if step.only is None else step.only
    if len(active) < sum(len(loop.streams) for loop in form.loops):
        lines.append(f"streams = {toml([stream.name for stream in active])}")
        if scripts:
            lines.append(f"scripts = {toml([scripts[n] for n in step.loops if n in scripts])}")
    return [*lines, f"threads = {step.threads}"] if step.threads is not None else lines
