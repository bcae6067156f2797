"""A self-test of measuring: whether Hotband identifies a drive, protects it and measures it right, by reading alone.

The checks compare what fio reports with what the kernel counted below it. What only writes can show (purge, flushes,
preconditioning) is a list of commands in docs/guides/measure.md.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Literal

from hotband.base.errors import UserError
from hotband.base.question import Ending, Question, Way, asks
from hotband.base.text.numbers import number, share, span
from hotband.base.text.quantities import SPAN_EXPECTED, span_ns
from hotband.data.catalog.named import NONE, REAL
from hotband.execution.devices import blocks
from hotband.execution.devices.device import Device, device_of
from hotband.execution.devices.host import Host
from hotband.execution.devices.nodes import node_at, node_of
from hotband.execution.devices.readings import reading_of
from hotband.execution.devices.safety import permission
from hotband.execution.experiment import Tick, unwatched
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.execution.runs.signals import stoppable
from hotband.execution.targets.fio_child import find_fio, version_of
from hotband.execution.targets.on_device import OnDevice, Setup
from hotband.execution.targets.outlook import in_words
from hotband.execution.targets.real_target import real_target_of
from hotband.questions.review.asked import KIB, MIB
from hotband.questions.suites.bench import Bench, Stage
from hotband.questions.suites.cells import Cell, Extent
from hotband.questions.suites.target import SuiteTarget, target_of

Verdict = Literal["passes", "fails", "not known"]
DEPTH = 32
LEAST_READ = 0.9
"""Share of fio's bytes that the drive must have read. The counters may miss I/Os at the start and end of a run."""
LEAST_DEPTH = 0.25
"""Share of the requested depth that must reach the drive. Estimate: a drive that is faster than its host drains its
queue (18 of 32 on a virtual disk on two busy cores), and serialised submission leaves 1."""
LITTLE = 0.1
"""Share by which IOPS times mean latency may be off the depth: fio's own work between I/Os takes some per cent."""
STOP_AFTER_S, STOPPED_S = 1.0, 2.0
"""Seconds after which a run is stopped, and seconds within which fio must end (docs/guides/measure.md)."""
MOST_S = 600.0


@dataclass(frozen=True)
class Check:
    """One check: its name, its verdict, the value, and what was expected or why nothing could be checked."""

    name: str
    verdict: Verdict
    value: str
    expected: str


@dataclass(frozen=True)
class Selftest:
    """The checks of a drive in their order."""

    path: str
    checks: tuple[Check, ...]

    def with_verdict(self, verdict: Verdict) -> list[Check]:
        """Return the checks with a verdict."""
        return [check for check in self.checks if check.verdict == verdict]

    def to_dict(self) -> dict[str, object]:
        """Return what `hotband measure selftest --json` prints."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class SelftestQuestion(Question):
    """Check that a drive is identified, protected and measured right. Nothing is written.

    Compares fio's results with the kernel's counters of the drive. Raises UserError for a path that cannot be measured.
    """

    name = "measure selftest"
    schema = "hotband-selftest"
    answers = "hotband.questions.selftest:Selftest"
    runs = True
    has_executor = False

    path: str = asks("A block device or a file of this computer.", metavar="PATH", positional=True)
    duration: str = asks(
        "Time of each of the three measurements.", default="3 s", metavar="TIME", unit="s", called="for"
    )

    def document(self, answer: Selftest) -> tuple[object, str]:
        """Return the checks as JSON."""
        return answer.to_dict(), self.schema

    def ending(self, answer: Selftest) -> Ending | None:
        """Return exit code 1 if a check fails."""
        return Ending(1) if answer.with_verdict("fails") else None


def selftest(question: SelftestQuestion, way: Way) -> Selftest:
    """Return the checks. Raises UserError, KeyboardInterrupt if it is stopped."""
    time_ns = span_ns(question.duration)
    if time_ns is None:
        raise UserError("question.duration", "", question.duration, f"expected {SPAN_EXPECTED}")
    if not 1.0 <= time_ns / 1e9 <= MOST_S:
        raise UserError("question.duration", "", question.duration, 'expected a time from "1 s" to "10 min"')
    path = question.path.removeprefix(REAL)
    try:
        location, target = real_target_of(REAL + path), target_of(REAL + path)
    except UserError as error:
        raise UserError("question.path", error.key, path, error.accepted) from None
    if location.path is None or location.is_ours:
        accepted = "expected a block device or a file: nothing is written, so a folder cannot be tested"
        raise UserError("question.path", "", question.path, accepted)
    host = Host(say=way.say)
    device = device_of(path, host)
    granted = permission(path, host, writes=False, erase=None)
    executor = OnDevice(location, granted, Setup(product=NONE, probe_s=0.0))
    executor.expect_ready(writes=False)
    way.say(f"self-test of {path}: {in_words(3 * time_ns / 1e9 + 4)}, nothing is written")
    checks = [_fio(), _node(path, host), _identity(device), _protection(path, host)]
    with way.watch(f"self-test of {path}") as tick, stoppable() if way.on_terminal else nullcontext():
        checks += _measured(target, executor, time_ns / 1e9, tick or unwatched, host)
        checks += _readings(path, device, host)
        checks.append(_stop(target, executor, tick or unwatched))
    return Selftest(path, tuple(checks))


def _fio() -> Check:
    return Check("fio", "passes", version_of(find_fio()), "3.33 or newer, with libaio")


def _node(path: str, host: Host) -> Check:
    """Compare the node behind the path with the one that is opened."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        opened, named = node_of(descriptor), node_at(path, host)
    finally:
        os.close(descriptor)
    same = named is not None and named.is_same(opened)
    node = "" if opened is None else f"{opened.kind} {opened.number}"
    return Check("path and open file", "passes" if same else "fails", node, "the same device and inode")


def _identity(device: Device) -> Check:
    names = ", ".join(text for text in (device.model, device.serial, device.transport) if text)
    verdict: Verdict = "passes" if device.serial else "not known"
    return Check("identity", verdict, names or "none", "a serial number, which some bridges do not report")


def _protection(path: str, host: Host) -> Check:
    """Request permission to write without consent and with a wrong serial number; both must be refused."""
    expected, refused = "writing is refused without consent", ""
    for erase in (None, "no-such-serial"):
        try:
            granted = permission(path, host, writes=True, erase=erase)
        except UserError as error:
            refused = error.accepted
        else:
            if granted.may_write:
                ours = erase is None and granted.kind == "file"
                reason = "an empty file, or one that Hotband made" if ours else "may be written"
                return Check("protection", "not known" if ours else "fails", reason, expected)
    return Check("protection", "passes", refused, expected)


@dataclass(frozen=True)
class _Counted:
    """Counters of a disk (Documentation/block/stat.rst): bytes read, milliseconds with I/O in flight, and those times
    the number in flight."""

    read_bytes: int
    busy_ms: int
    queued_ms: int


def _counted(disk: str | None, host: Host) -> _Counted | None:
    """Return the counters of a disk; None if they are not known."""
    counters = host.disk_counters(host.sysfs(disk)) if disk else []
    return _Counted(counters[2] * 512, counters[9], counters[10]) if len(counters) > 10 else None


def _measured(target: SuiteTarget, executor: OnDevice, seconds: float, tick: Tick, host: Host) -> Iterator[Check]:
    """Yield the checks of three loads: one random read at a time, many, and sequential reads."""
    assert executor.target.path is not None, "a place with a path"
    disk = blocks.base_disk(str(executor.target.path), host)
    block = 4 * KIB if target.takes(4 * KIB) else target.block_bytes
    loads = (
        Cell("random, depth 1", 100, block, True, 1, 1, seconds),
        Cell(f"random, depth {DEPTH}", 100, block, True, 1, DEPTH, seconds),
        Cell("sequential", 100, MIB, False, 1, 8, seconds),
    )
    for load in loads:
        before = _counted(disk, host)
        bench = _bench(target, executor, tick)
        bench.run(Stage(load.name, (load,)))
        after = _counted(disk, host)
        summary = bench.finished[0].record["summary"]
        iops, mean, moved = summary["iops"], summary["latency_mean_ns"], summary["bytes"]
        if load.random and iops is not None and mean is not None:
            outstanding = iops * mean / 1e9
            expected = f"{load.depth}, or a few percent less"
            right = abs(outstanding / load.depth - 1) <= LITTLE
            product = f"{number(iops)} IOPS x {span(mean)} = {number(outstanding)}"
            yield Check(f"{load.name}: IOPS x mean", "passes" if right else "fails", product, expected)
        if before is None or after is None:
            unknown = "the disk is unknown or has no counters"
            yield Check(f"{load.name}: read by drive", "not known", "", unknown)
            continue
        part = (after.read_bytes - before.read_bytes) / moved if moved else 0.0
        expected = f"at least {share(LEAST_READ)} of what fio read; less is served from memory"
        verdict: Verdict = "passes" if part >= LEAST_READ else "fails"
        yield Check(f"{load.name}: read by drive", verdict, share(part), expected)
        if load.depth == DEPTH and after.busy_ms > before.busy_ms and part >= LEAST_READ:
            queued = (after.queued_ms - before.queued_ms) / (after.busy_ms - before.busy_ms)
            expected = f"at least {number(LEAST_DEPTH * DEPTH)}; fewer: serialised submission, or a slow host"
            verdict = "passes" if queued >= LEAST_DEPTH * DEPTH else "fails"
            yield Check(f"{load.name}: in flight", verdict, number(queued), expected)


def _bench(target: SuiteTarget, executor: OnDevice, tick: Tick) -> Bench:
    return Bench(target, executor, Extent(target.bytes), "self-test", f"the self-test of {target.name}", tick=tick)


def _readings(path: str, device: Device, host: Host) -> Iterator[Check]:
    """Yield what the record of a measurement can hold about the drive on this computer."""
    absent: list[str] = []
    reading = reading_of(path, host, absent)
    tools = f"; not installed: {', '.join(absent)}" if absent else ""
    link = device.link or ""
    at_most = device.link_max is None or device.link == device.link_max
    verdict: Verdict = "not known" if not link else "passes" if at_most else "fails"
    yield Check("connection", verdict, link, f"its fastest, {device.link_max}" if device.link_max else "a known link")
    warm = reading["temperature_c"]
    degrees = "" if warm is None else f"{warm:g} °C"
    yield Check("temperature", "not known" if warm is None else "passes", degrees, f"a sensor{tools}")
    errors, passed = reading["media_errors"], reading["passed"]
    counted = "" if errors is None else f"{errors:,} media errors"
    verdict = "not known" if errors is None and passed is None else "fails" if errors or passed is False else "passes"
    yield Check("health", verdict, counted, f"counters without media errors{tools}")


def _stop(target: SuiteTarget, executor: OnDevice, tick: Tick) -> Check:
    """Stop a run after a second, and return how long fio took to end."""
    cell = Cell("stopped", 100, target.block_bytes, True, 1, 1, 30.0)
    stopped: list[float] = []

    def stop() -> None:
        stopped.append(time.monotonic())
        executor.cancel()

    timer = threading.Timer(STOP_AFTER_S, stop)
    timer.start()
    try:
        _bench(target, executor, tick).run(Stage(cell.name, (cell,)))
    except RunsInterrupted:
        if not stopped:
            raise
    finally:
        timer.cancel()
    took = time.monotonic() - stopped[0]
    ended = f"fio ended after {took:.1f} s"
    return Check("stopping a run", "passes" if took <= STOPPED_S else "fails", ended, f"within {STOPPED_S:g} s")
