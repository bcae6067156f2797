"""Lines of a record about failed drives, their repair, and the recovery of pools.

Left out: a recovery slows down when few groups remain; its time left assumes the mean rate so far.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import tomli

from hotband.base.foreign import marked
from hotband.base.text.numbers import counted, number, rate, share, size, span
from hotband.base.text.quantities import size_bytes, span_ns
from hotband.data.record.states import values_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.text import Text

    from hotband.base.text.values import Toml
    from hotband.data.documents.record import FailureDoc, RebuildDoc, RecordDoc, RepairDoc, ServiceDoc

STATES = {
    "waiting": "waiting for another rebuild on the same drives",
    "running": "not finished when the run ended",
    "done": "done",
    "stopped": "[red]stopped[/]: too few members remained",
    "spare failed": "[red]given up[/]: the spare failed",
}


ZONES = 1000
"""Number of zones over which the time of a rebuild is summed."""
SAME_NS = 1e6
"""Times that differ by less than this are equal, because a mean rate is rounded."""


def took_ns(began: float | None, end: float | None, done: float | None, mean: float | None) -> float | None:
    """Return the duration of a rebuild so far, from its record's `began_ns`, `ended_ns` or the end of the run, `bytes`
    and `mean_bytes_per_s`. It includes time in earlier runs, which count as its beginning here. None if it has not
    begun."""
    if began is None or end is None:
        return None
    return 1e9 * done / mean if done is not None and mean else end - began


def repair_lines(record: RecordDoc) -> list[str | Text]:
    """Return lines about failures, the progress of each rebuild, the service in every state of the machine, and losses.
    None if no failure was requested."""
    repair = record.get("repair")
    if repair is None:
        return []
    lines: list[str | Text] = [
        f"Failed: {', '.join(failure_text(failure) for failure in repair['failures']) or 'nothing yet'}"
    ]
    lines += [rebuild_line(rebuild, left_words(record, rebuild)) for rebuild in repair["rebuilds"]]
    lines += [service_line(service, repair) for service in repair["service"]]
    lost = f"[red]{size(repair['bytes_lost'])} lost[/]" if repair["bytes_lost"] else "no data lost"
    errors = counted(repair["io_errors"], "I/O") + " failed" if repair["io_errors"] else "no I/O failed"
    sectors = f", {counted(repair['sector_errors'], 'unreadable sector')}" if repair["sector_errors"] else ""
    return [*lines, marked(f"  {lost}, {errors}{sectors}")]


def failure_text(failure: FailureDoc) -> str:
    """Return a drive and the time of its failure."""
    return f"{failure['drive']} at {span(failure['at_ns'])}"


def left_words(record: RecordDoc, rebuild: RebuildDoc) -> str:
    """Return the time left of a running rebuild in words; empty for another state."""
    left, by_zones = left_ns(record, rebuild)
    if left is None:
        return ""
    return f"about {span(left)} more{', with the slower inner tracks' if by_zones else ' at this rate'}"


def left_ns(record: RecordDoc, rebuild: RebuildDoc) -> tuple[float | None, bool]:
    """Return the time left of a running rebuild, and whether the zones of the drive count.

    A rebuild writes a drive from its outer tracks inwards, at the rate of the tracks or its limit if that is lower. The
    load is assumed to leave it the same share of the time as so far.
    """
    began, mean, whole = rebuild["began_ns"], rebuild["mean_bytes_per_s"], rebuild["of_bytes"]
    if rebuild["state"] != "running" or began is None or not mean or not rebuild["bytes"]:
        return None, False
    took = took_ns(began, rebuild["ended_ns"] or record["duration_ns"], rebuild["bytes"], mean) or 0.0
    limit = rebuild["rate_limit_bytes_per_s"] or math.inf
    outer, inner = _media_rates(record, rebuild["drive"])
    done = rebuild["bytes"] / whole
    passed = _share_of_time(done, outer, inner, limit)
    return took * (1 - passed) / passed, outer > inner and limit > inner


def _share_of_time(done: float, outer: float, inner: float, limit: float) -> float:
    """Return the share of the time of a whole pass that its first bytes take. Every track takes a revolution, so that
    bytes are proportional to its rate, and time is longer only where the limit is below that."""
    tracks = [outer + (inner - outer) * (n + 0.5) / ZONES for n in range(ZONES)]
    times = [track / min(track, limit) for track in tracks]
    left, passed = done * sum(tracks), 0.0
    for track, time in zip(tracks, times, strict=True):
        share = min(left / track, 1.0)
        passed += share * time
        left -= share * track
    return passed / sum(times)


def _media_rates(record: RecordDoc, drive: str) -> tuple[float, float]:
    """Return the rates of the outermost and the innermost tracks of a drive; equal ones if its file states none."""
    values = values_of(record, drive)
    outer, inner = (size_bytes(values.get(f"sustained_{end}", "").removesuffix("/s")) for end in ("outer", "inner"))
    return (outer, inner) if outer and inner else (1.0, 1.0)


def rebuild_line(rebuild: RebuildDoc, left: str = "") -> Text:
    """Return the progress of a rebuild, and the time that is `left`."""
    what = f"{rebuild['drive']} of {rebuild['layout']} on {rebuild['spare']}"
    line = marked(f"  rebuild of {{what}}: {STATES[rebuild['state']]}", what=what)
    if rebuild["began_ns"] is None:
        return line
    text = f", {size(rebuild['bytes'])} ({share(rebuild['bytes'] / rebuild['of_bytes'])})"
    began, ended = rebuild["began_ns"], rebuild["ended_ns"]
    took = took_ns(began, ended, rebuild["bytes"], rebuild["mean_bytes_per_s"])
    if ended is not None and took is not None:
        here = ended - began
        before = "" if here > took - SAME_NS else f" ({span(took - here)} of them before this run)"
        text += f" in {span(took)}{before}"
    if rebuild["mean_bytes_per_s"] is not None:
        text += f", {rate(rebuild['mean_bytes_per_s'])}{left and f': {left}'}"
    if rebuild["sector_errors"]:
        text += f", {counted(rebuild['sector_errors'], 'unreadable sector')}, {rebuild['repaired_sectors']:,} repaired"
    return line.append(text)


def state_name(service: ServiceDoc, repair: RepairDoc) -> str:
    """Return the name of a machine's state. A record's "degraded" includes the time after too many drives have failed:
    if I/Os failed in that state and data was lost, the name includes that; a machine whose only failure lost data was
    never degraded."""
    name = str(service.get("phase"))
    if name != "degraded" or not repair.get("bytes_lost") or not service.get("errors"):
        return name
    times = {failure.get("at_ns") for failure in repair.get("failures") or []}
    return "data lost" if len(times) == 1 else "degraded, data lost"


def service_line(service: ServiceDoc, repair: RepairDoc) -> str:
    """Return the service that hosts received in one state of the machine."""
    figures = {"mean": service["latency_mean_ns"], "p99": service["latency_p99_ns"]}
    latencies = ", ".join(f"{name} {span(value)}" for name, value in figures.items())
    bandwidth = rate(service["bandwidth_bytes_per_s"])
    errors = f", {counted(service['errors'], 'error')}" if service["errors"] else ""
    rates = f"{number(service['iops'])} IOPS, {bandwidth}"
    return f"  {state_name(service, repair):<19} {span(service['duration_ns']):>10}: {rates}, {latencies}{errors}"


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
    repair = record.get("repair")
    failures = [] if repair is None else [failure["at_ns"] for failure in repair["failures"]]
    return next((time for time in [*times, *failures] if time is not None), None)
