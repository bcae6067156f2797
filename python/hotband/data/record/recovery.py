"""Lines of a record about the recovery of a pool whose daemon went out: bytes to move, moved, and the time left.

Left out: the time left follows the mean rate so far; recovery ends later where a few groups remain.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import tomli

from hotband.base.text.numbers import rate, size, span
from hotband.base.text.quantities import size_bytes, span_ns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hotband.base.text.values import Toml
    from hotband.data.documents.record import RecordDoc

KIND = "recovery"
"""Kind of the part of a record that counts the copies of objects."""
OBJECT = "4 MiB"
"""Size of an object of a pool by default (docs/guides/machines.md)."""
OUT = re.compile(r"at (?P<at>.+?): osd-out (?P<pool>[^.\s]+)\.")


def recovery_lines(record: RecordDoc) -> list[str]:
    """Return a line per pool that recovers, with its bytes and its time; nothing for other records."""
    return [
        _line(record, part["id"].removesuffix(f".{KIND}"), part["counters"]["objects_moved"], part["at_end"])
        for part in record["parts"]
        if part["kind"] == KIND and any([part["counters"]["objects_moved"], *part["at_end"].values()])
    ]


def _line(record: RecordDoc, pool: str, moved: int, at_end: Mapping[str, int]) -> str:
    """Return the progress of one pool."""
    left, took = at_end["objects_misplaced"], at_end["time_to_recover_ns"]
    bytes_each = _object_bytes(record, pool)
    if not left:
        done = f"{size(moved * bytes_each)} moved" if moved else "done before the measured time"
        return f"Recovery of {pool}: {done}, in {span(took)}"
    progress = f"{size(moved * bytes_each)} of {size((moved + left) * bytes_each)} moved"
    began = _began_ns(record, pool)
    if began is None or not moved or began >= record["duration_ns"]:
        return f"Recovery of {pool}: {progress}"
    speed = moved / (record["duration_ns"] - began) * 1e9
    return (
        f"Recovery of {pool}: {progress}, {rate(speed * bytes_each)}: {span(left / speed * 1e9)} more at this mean rate"
    )


def _pool(record: RecordDoc, pool: str) -> Mapping[str, Toml]:
    """Return the keys of a pool in the machine's text."""
    layout = tomli.loads(record["spec"]["machine"])["layouts"][pool]
    keys: Mapping[str, Toml] = next(value for value in layout.values() if isinstance(value, dict))
    return keys


def _object_bytes(record: RecordDoc, pool: str) -> float:
    """Return the bytes of an object's copy, or of its shard in an erasure-coded pool."""
    keys = _pool(record, pool)
    return (size_bytes(str(keys.get("object", OBJECT))) or 0.0) / int(str(keys.get("k", 1)))


def _began_ns(record: RecordDoc, pool: str) -> float | None:
    """Return the measured time at which a recovery began; None if no event or failure states it."""
    outs = (OUT.match(event) for event in record["spec"].get("events") or () if isinstance(event, str))
    times = [span_ns(out["at"]) for out in outs if out is not None and out["pool"] == pool]
    failures = [failure["at_ns"] for failure in (record.get("repair") or {}).get("failures", [])]
    return next((time for time in [*times, *failures] if time is not None), None)
