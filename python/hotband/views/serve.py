"""What a served machine says on the terminal: where it is reached, a live line, and what clients got in the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hotband.base.text.quantities import span_text
from hotband.data.documents.serving import Serving, Times

if TYPE_CHECKING:
    from rich.table import Table

    from hotband.execution.serve.served import Served


def reached_lines(served: Served) -> Iterator[str]:
    """Where programs find the volumes, a line each."""
    from hotband.base.text.cells import binary_size

    for volume in served.volumes.values():
        where = volume.device or volume.file or volume.uri
        yield f"{volume.name}: {binary_size(volume.size)}, blocks of {volume.block} B, at {where}"
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
        mean = span_text(kind.client.mean_ns) if kind.client is not None else "–"
        parts.append(f"{kind.kind} {rate:,.0f}/s {mean}")
    late = "" if serving.lateness is None else f" | late p99 {span_text(serving.lateness.p99_ns)}"
    return f"{', '.join(parts) or 'nobody asks'}{late}"


def serving_table(serving: Serving) -> Table:
    """Latencies as the model meant them and as clients got them, and how late answers were."""
    from rich.table import Table

    from hotband.base.text.cells import millis, number

    table = Table(title="Served (ms): as the model meant it, and as clients got it", title_justify="left")
    table.add_column("")
    for name in ("I/Os", "mean", "p50", "p99", "client mean", "client p50", "client p99"):
        table.add_column(name, justify="right")

    def cells(times: Times | None) -> list[str]:
        return [millis(None if times is None else one) for one in _three(times)]

    for kind in serving.kinds:
        table.add_row(kind.kind, number(kind.count, 0), *cells(kind.model), *cells(kind.client))
    return table


def _three(times: Times | None) -> tuple[float, float, float]:
    return (0.0, 0.0, 0.0) if times is None else (times.mean_ns, times.p50_ns, times.p99_ns)
