"""Losses of a written job that follow from reading it again.

Left out: streams that a job divides or leaves out, and outstanding I/Os of phases with threads of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap
from typing import Any, cast

import tomli

from hotband.base.text.quantities import size_bytes, span_ns
from hotband.data.documents.workload import StreamTable, WorkloadTable
from hotband.data.jobs.parts import Amount
from hotband.data.jobs.tables import Conversion, Stream


def plain(table: StreamTable, workload: WorkloadTable) -> dict[str, object]:
    """Return the I/Os of a workload's stream, in one form for all spellings."""
    keys = cast("dict[str, Any]", table)
    stream = Stream(0, "", keys, {}, 1.0, "")
    smallest, random = min(size for size, _ in stream.sizes), stream.random_pct
    offsets, is_read_only = keys.get("offsets", {}), stream.read_pct == 100
    band = offsets.get("hotband")
    # A shift of writes of 1 % is what is meant where nothing is said.
    unit = band and (band.get("table_unit", "1 MB"), band.get("writes_shifted", "1 %"))
    return {
        "read_pct": stream.read_pct,
        "random_pct": round(random, 6),
        "random_mode": keys.get("random_mode") if 0 < random < 100 else None,
        "sizes": {size: round(weight, 2) for size, weight in stream.sizes},
        "align": round(size_bytes(keys.get("align", "")) or smallest) if random else None,
        # 0 B and 0 % are one place.
        "range": [str(end + Amount(0.0)) for end in stream.range],
        "offsets": {key: value for key, value in offsets.items() if key != "hotband"}
        | ({"hotband": unit} if band else {}),
        "fua": keys.get("fua", False) and not is_read_only,
        "flush_every": stream.flush_every,
        "trim_first": stream.trims_first,
        "start": float(str(keys.get("start", 0)).strip(" %")),
        "data": None if is_read_only else keys.get("data", workload.get("data", 1.0)),
        "cursor": keys.get("cursor", "shared") if random < 100 else "shared",
    }


def compare(conversion: Conversion, read_back: str) -> None:
    """Approximate each key of a workload that is another one where its job is read, and of which nothing is known."""
    for paths, value, other in _differences(conversion, tomli.loads(read_back)):
        known = [path for path in paths if any(path.startswith(key) for key in conversion.fates)]
        if not known:
            conversion.approximate(paths[0], f"{value} is read back as {other}")


def _differences(conversion: Conversion, after: Mapping[str, Any]) -> Iterator[tuple[list[str], object, object]]:
    """Yield keys whose values differ, and those that say the same, with both values."""
    before = conversion.table
    measured = [(number, phase) for number, phase in enumerate(before["phases"]) if phase.get("measure")]
    others = [phase for phase in after["phases"] if phase.get("measure")]
    if len(measured) == len(others):
        for (number, phase), other in zip(measured, others, strict=True):
            if not _same_end(_end(phase), _end(other)):
                keys = [f"phases[{number}].{key}" for key in ENDS if key in phase]
                yield keys, " or ".join(_end(phase)), " or ".join(_end(other))
    named = {stream.get("name", "main"): stream for stream in after["streams"]}
    # A stream that runs in no measured phase is not written.
    streams = [
        (n, stream) for n, stream in enumerate(before["streams"]) if f"streams[{n}].name" not in conversion.fates
    ]
    if len(streams) != len(after["streams"]) or len(named) != len(after["streams"]):
        return
    whole, other_whole = cast("WorkloadTable", before), cast("WorkloadTable", after)
    for (number, stream), in_place in zip(streams, after["streams"], strict=True):
        read_back = named.get(stream.get("name", "main"), in_place)
        values, read = plain(stream, whole), plain(read_back, other_whole)
        for key in values:
            paths = [f"streams[{number}].{name}" for name in (key, *SAME.get(key, ())) if name in stream]
            if values[key] != read[key] and (paths or key == "data"):
                yield paths or ["data"], values[key], read[key]


ENDS = ("until", "duration", "ios", "until_steady", "operations", "until_precise")
"""Keys that say when a phase ends."""
SAME = {"sizes": ("size",), "align": ("size", "sizes"), "random_mode": ("random_pct",), "start": ("cursor",)}
"""Keys that say the same as another, or change with it."""


ROUNDED_NS = 0.5e6
"""Largest rounding of times to fio's milliseconds."""
ROUNDED = 0.001
"""Share of a time above which its rounding changes what a phase measures, however short it is."""


def _same_end(before: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether a phase ends as before, apart from the rounding of its times."""
    return len(before) == len(after) and all(starmap(_same_time, zip(before, after, strict=True)))


def _same_time(before: str, after: str) -> bool:
    times = span_ns(before), span_ns(after)
    if times[0] is None or times[1] is None:
        return before == after
    return abs(times[1] - times[0]) <= min(ROUNDED_NS, ROUNDED * times[0])


def _end(phase: Mapping[str, Any]) -> list[str]:
    """Return the times and amounts that end a phase, without a precision, which ends it sooner."""
    ends = phase.get("until") or phase.get("duration") or f"{phase.get('ios', 0)} I/Os"
    texts = [str(end) for end in (ends if isinstance(ends, list) else [ends])]
    return [text for text in texts if not text.startswith("precise")]
