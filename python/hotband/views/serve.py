"""Output of a served machine on the terminal: its addresses, a live line, and the served latencies."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

from hotband.base.question import INVALID
from hotband.base.text import numbers
from hotband.base.text.numbers import counted, number
from hotband.base.text.table import MS, Table, View, Whole, column, numeric
from hotband.data.documents.serving import Serving, Times
from hotband.data.record.files import RECORD_FILE
from hotband.execution.serve import asked
from hotband.execution.serve.lateness import lateness_lines, priority
from hotband.execution.serve.left import ServedLeft
from hotband.execution.serve.served import Served, nbd_uri
from hotband.views.run import run_views
from hotband.views.run_screen import state_line
from hotband.views.text.screen import Screen, command, screen_table


def reached_lines(served: Served) -> Iterator[str]:
    """Yield the addresses of the volumes for programs, one line each."""

    for volume in served.volumes.values():
        where = volume.device or volume.file or volume.uri
        yield f"{volume.name}: {numbers.size(volume.size)}, blocks of {volume.block} B, at {where}"
        if served.port is not None and served.socket is not None:
            yield f"  NBD: {nbd_uri(served.socket.absolute(), volume.name)}"
        if volume.uri is not None and where is not volume.uri:
            yield f"  NBD: {volume.uri}"
        if volume.file is not None and volume.device is not None:
            yield f"  file: {volume.file}"


def live_line(serving: Serving, before: Serving | None, seconds: float) -> str:
    """Format the rates since `before`, over the last `seconds`, and the p99 of the emulation delay since the start."""
    counts = {kind.kind: kind.count for kind in before.kinds} if before is not None else {}
    parts = []
    for kind in serving.kinds:
        rate = (kind.count - counts.get(kind.kind, 0)) / max(seconds, 1e-9)
        mean = numbers.span(kind.client.mean_ns) if kind.client is not None else "–"
        parts.append(f"{kind.kind} {number(rate)}/s {mean}")
    late = "" if serving.lateness is None else f" | late p99 {numbers.span(serving.lateness.p99_ns)}"
    return f"{', '.join(parts) or 'no I/O'}{late}"


def serving_table(serving: Serving) -> Table:
    """Return the latencies of the model, and those from the arrival of a request at the server to its completion there.
    A client measures more, because the time until the host wakes it is unknown here."""
    columns = ("mean", "p50", "p99", "served mean", "served p50", "served p99")
    title = "Served: latency of the model, and of the server (clients measure more)"
    table = Table(title, [column(""), numeric("I/Os"), *(numeric(name, MS) for name in columns)])
    for kind in serving.kinds:
        table.add(kind.kind, kind.count, *_three(kind.model), *_three(kind.client))
    return table


def _three(times: Times | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if times is None else (times.mean_ns, times.p50_ns, times.p99_ns)


def live_lines() -> Callable[[Served], None]:
    """Return a function that prints a line twice a second, over the previous one on a terminal."""
    previous: list[tuple[float, Serving]] = []
    terminal = sys.stderr.isatty()

    def look(served: Served) -> None:
        now = time.monotonic()
        if previous and now - previous[-1][0] < 0.5:
            return
        serving = served.serving()
        before, since = (previous[-1][1], now - previous[-1][0]) if previous else (None, served.seconds)
        previous[:] = [(now, serving)]
        line = f"{served.seconds:6.1f} s  {live_line(serving, before, since)}"
        sys.stderr.write(f"\r{line[:79]:<79}" if terminal else f"{line}\n")
        sys.stderr.flush()

    return look


def terminal(left: ServedLeft, _: asked.Serving) -> Screen:
    """Return the final screen of `serve` and `mount`."""
    serving, record = left.serving, left.finished.record
    folder = left.finished.spec.out
    evidence: list[View] = [*run_views(record, folder), *([serving_table(serving)] if serving.kinds else [])]
    return Screen(
        answer=_sentence(serving, str(record["target"]["machine"])),
        verdict="no" if serving.late else "",
        body=[_screen_table(serving)] if serving.kinds else [],
        state=[
            state_line(record),
            *_delay(serving),
            *([] if folder is None else [Whole(f"Record: {folder / RECORD_FILE}")]),
        ],
        remarks=[serving.late] if serving.late else [],
        next="" if folder is None else command("report", folder, output="report.html"),
        details=[*evidence, *lateness_lines(serving)],
    )


def _sentence(serving: Serving, machine: str) -> str:
    """Return whether the host was too slow, and the number of completed I/Os."""
    if not serving.answers:
        return "No client connected, so nothing was completed."
    failed = sum(kind.errors for kind in serving.kinds)
    completed = serving.answers - failed
    errors = f", {failed:,} failed" if failed else ""
    invalid = f"The result is {INVALID}: this host did not keep up with the drive. " if serving.late else ""
    return f"{invalid}{counted(completed, 'I/O')} {'was' if completed == 1 else 'were'} completed by {machine}{errors}."


def _screen_table(serving: Serving) -> Table:
    """Return a row per kind of I/O: latency of the model, and of the server."""
    heads = ("model mean", "model p99", "served mean", "served p99")
    table = screen_table([column(""), numeric("I/Os"), *(numeric(name, MS) for name in heads)])
    for kind in serving.kinds:
        (mean, _, p99), (seen_mean, _, seen_p99) = _three(kind.model), _three(kind.client)
        table.add(kind.kind, kind.count, mean, p99, seen_mean, seen_p99)
    return table


def _delay(serving: Serving) -> list[str]:
    """Return the delay of completions relative to the model, and the priority of the threads."""
    late = serving.lateness
    if late is None:
        return []
    return [f"Emulation delay: p50 {numbers.span(late.p50_ns)}, p99 {numbers.span(late.p99_ns)}; {priority(serving)}"]
