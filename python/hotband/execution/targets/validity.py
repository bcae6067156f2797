"""Whether what fio measured on an emulated drive is the drive's: the host kept up, and the flushes are the model's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from hotband.base.text.numbers import share, span
from hotband.data.documents.record import SummaryDoc
from hotband.data.documents.serving import Serving
from hotband.data.record.stats import DIRECTIONS

LATE = 0.1
"""Share of the time that I/Os take in the model: where fio waited so much longer than the server took, fio measured the
host (the limit of the emulation delay, `crates/serve/src/tally.rs`)."""
FLUSHES = 0.05
"""Share by which numbers of flushes may differ, beyond those that were outstanding at the end."""


def reasons(model: SummaryDoc | None, fio: Sequence[SummaryDoc], serving: Serving) -> tuple[str, ...]:
    """Return why fio's figures of the runs on one served machine cannot be compared with the model's, one per line;
    none if they can. Without a run of the model, and for several runs, flushes are not compared."""
    late = [] if serving.late is None else [serving.late]
    flushed = _flushed(model, fio[0], serving) if model is not None and len(fio) == 1 else ()
    return (*late, *_waited(fio, serving), *flushed)


def _waited(fio: Sequence[SummaryDoc], serving: Serving) -> Iterator[str]:
    """Yield by how much fio waited longer than the server took, if that changes the result."""
    longer, whole, kinds = 0.0, 0.0, []
    for name in (*DIRECTIONS, "flush"):
        kind, figures = serving.kind(name), [summary[name] for summary in fio if name in summary]
        count = sum(each["count"] or 0 for each in figures)
        if kind is None or kind.client is None or kind.model is None or not count:
            continue
        mean = sum((each["count"] or 0) * (each["latency_mean_ns"] or 0.0) for each in figures) / count
        whole += count * kind.model.mean_ns
        if mean > kind.client.mean_ns:
            longer += count * (mean - kind.client.mean_ns)
            kinds.append(f"{name} mean {span(mean)} against {span(kind.client.mean_ns)}")
    if longer > LATE * whole:
        yield (
            f"the client waited longer than the server took, by {share(longer / whole)} of the time in the model "
            f"({', '.join(kinds)}): the host is too busy"
        )


def _flushed(model: SummaryDoc, fio: SummaryDoc, serving: Serving) -> Iterator[str]:
    """Yield the numbers of flushes for the same number of writes, if they differ."""
    writes, of_model = fio["write"]["count"] or 0, model["write"]["count"] or 0
    kinds = {name: serving.kind(name) for name in ("write", "flush")}
    of_server = {name: 0 if kind is None else kind.count for name, kind in kinds.items()}
    if not writes or not of_model or not of_server["write"]:
        return
    outstanding = model["flush"]["queue_depth_mean"] or 0.0 if "flush" in model else 0.0
    expected = _flushes(model) * writes / of_model
    counts = {"fio": float(_flushes(fio)), "the server": of_server["flush"] * writes / of_server["write"]}
    allowed = FLUSHES * expected + ceil(outstanding) + 1
    if any(abs(count - expected) > allowed for count in counts.values()):
        listed = ", ".join(f"{round(count):,} by {name}" for name, count in counts.items())
        yield f"for {writes:,} writes there were {round(expected):,} flushes in the model, {listed}"


def _flushes(summary: SummaryDoc) -> int:
    return summary["flush"]["count"] or 0 if "flush" in summary else 0
