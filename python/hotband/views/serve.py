"""What a served machine says on the terminal: where it is reached, a live line, and what clients got in the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from hotband.base.text import numbers
from hotband.base.text.numbers import number
from hotband.base.text.table import MS, Table, View, column, numeric
from hotband.data.documents.serving import Serving, Times
from hotband.execution.serve.lateness import lateness_lines
from hotband.views.run import run_views

if TYPE_CHECKING:
    from hotband.execution.serve import asked
    from hotband.execution.serve.left import ServedLeft
    from hotband.execution.serve.served import Served


def reached_lines(served: Served) -> Iterator[str]:
    """Where programs find the volumes, a line each."""

    for volume in served.volumes.values():
        where = volume.device or volume.file or volume.uri
        yield f"{volume.name}: {numbers.size(volume.size)}, blocks of {volume.block} B, at {where}"
        if served.port is not None:
            yield f"  NBD on TCP: {served.spec.tcp} (port {served.port}), export {volume.name}"
        if volume.uri is not None and where is not volume.uri:
            yield f"  NBD: {volume.uri}"
        if volume.file is not None and volume.device is not None:
            yield f"  file: {volume.file}"


def live_line(serving: Serving, before: Serving | None, seconds: float) -> str:
    """What happened in the last `seconds`: rates since `before`, p99 of lateness since serving began."""
    counts = {kind.kind: kind.count for kind in before.kinds} if before is not None else {}
    parts = []
    for kind in serving.kinds:
        rate = (kind.count - counts.get(kind.kind, 0)) / max(seconds, 1e-9)
        mean = numbers.span(kind.client.mean_ns) if kind.client is not None else "–"
        parts.append(f"{kind.kind} {number(rate)}/s {mean}")
    late = "" if serving.lateness is None else f" | late p99 {numbers.span(serving.lateness.p99_ns)}"
    return f"{', '.join(parts) or 'nobody asks'}{late}"


def serving_table(serving: Serving) -> Table:
    """Latencies as the model meant them and as clients got them, and how late answers were."""
    columns = ("mean", "p50", "p99", "client mean", "client p50", "client p99")
    title = "Served: as the model meant it, and as clients got it"
    table = Table(title, [column(""), numeric("I/Os"), *(numeric(name, MS) for name in columns)])
    for kind in serving.kinds:
        table.add(kind.kind, kind.count, *_three(kind.model), *_three(kind.client))
    return table


def _three(times: Times | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if times is None else (times.mean_ns, times.p50_ns, times.p99_ns)


def live_lines() -> Callable[[Served], None]:
    """Prints a line twice a second, over the one before on a terminal."""
    kept: list[tuple[float, Serving]] = []
    terminal = sys.stderr.isatty()

    def look(served: Served) -> None:
        now = time.monotonic()
        if kept and now - kept[-1][0] < 0.5:
            return
        serving = served.serving()
        before, since = (kept[-1][1], now - kept[-1][0]) if kept else (None, served.seconds)
        kept[:] = [(now, serving)]
        line = f"{served.seconds:6.1f} s  {live_line(serving, before, since)}"
        sys.stderr.write(f"\r{line[:79]:<79}" if terminal else f"{line}\n")
        sys.stderr.flush()

    return look


def terminal(found: ServedLeft, _: asked.Serving) -> Iterator[View]:
    """What `serve` and `mount` print at the end."""
    yield from run_views(found.finished.record, found.finished.spec.out)
    if found.serving.kinds:
        yield serving_table(found.serving)
    yield from lateness_lines(found.serving)
