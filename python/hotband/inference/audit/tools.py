"""Rule group 9: averaged percentiles, mixed jobs under group reporting, traps of tools and their versions.

Left out: traps that the importer of a tool handles (units of old fio, fio's KB), with a note in the record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from statistics import fmean

from hotband.data.documents.record import RecordDoc
from hotband.data.importers.fio.load import reads_back
from hotband.data.record.stats import SUMMARY_PERCENTILES
from hotband.inference.audit import distribution
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.finding import Finding, Number

SAME = 0.001
"""Relative difference within which a quoted percentile is the mean of others: rounding to three digits."""
APART = 0.02
"""Least relative error of an averaged percentile: twice the width of fio's buckets."""
SIZE_TOLERANCE = 0.01
"""Share by which the mean size of I/Os may differ from the requested block size: short I/Os at the end of a file."""
DEPTH_TOLERANCE = 0.05
"""Share by which outstanding I/Os may exceed the declared concurrency, as in rule group 1."""
SUBMISSION = 0.10
"""Share of the completion latency from which percentiles without submission mislead."""
WHOLE_US = 20_000.0
"""Below this latency (ns) a whole microsecond is more than 5 %."""
_AVERAGED = re.compile(
    r"(averag\w*|\bmean of|\bavg\b)[^.;]*(percentile|\bp\d)|(percentile|\bp\d)[^.;]*(averag\w*|\bavg\b)", re.IGNORECASE
)
_HOST_ENGINES = (
    "libaio",
    "io_uring",
    "posixaio",
    "psync",
    "sync",
    "vsync",
    "pvsync",
    "pvsync2",
    "windowsaio",
    "solarisaio",
)


def check(runs: Sequence[Audited]) -> list[Finding]:
    """Return all findings of the group."""
    findings: list[Finding] = []
    for run in runs:
        findings += [finding for finding in (_averaged(run), _mixed(run)) if finding is not None]
        if not run.is_model:
            findings += _traps(run)
    return findings


def mixed_signs(run: Audited) -> list[str]:
    """Return the signs that several jobs are reported as one group."""
    depth = _depth_sign(run)
    return [*_signs_of_kinds(run), *([depth] if depth else [])]


def _signs_of_kinds(run: Audited) -> list[str]:
    """Return the signs that jobs of different kinds are reported as one group: directions or sizes that its options
    exclude."""
    options = run.asked
    if run.tool != "fio" or run.is_published:
        return []
    signs = []
    verifies = any(map(reads_back, run.job_options))
    for share, other in ((100, "write"), (0, "read")):
        count = run.summary(other).get("count") or 0
        if options.read_pct == share and count and not (other == "read" and verifies):
            signs.append(f"{count:,} {other}s of a job that should do none")
    sides = distribution.sides_of(run.record["streams"])
    count, moved = sum(side["count"] for side in sides), sum(side.get("bytes") or 0 for side in sides)
    if options.block_bytes and count and abs(moved / count / options.block_bytes - 1) > SIZE_TOLERANCE:
        signs.append(f"a mean size of {moved / count:,.0f} B where {options.block_bytes:,} B were requested")
    return signs


def _depth_sign(run: Audited) -> str:
    """Return the sign that more I/Os were outstanding than its options allow, which jobs of one kind show as well;
    empty without it."""
    depth, declared = run.summary().get("queue_depth_mean"), run.concurrency
    if run.tool != "fio" or run.is_published:
        return ""
    above = bool(depth and declared and depth > (1 + DEPTH_TOLERANCE) * declared)
    above = above and not any(map(reads_back, run.job_options))
    noted = any("several jobs may be reported as one group" in note for note in run.notes)
    if not (above and run.asked.group_reporting) and not noted:
        return ""
    return f"{depth or 0:.4g} I/Os outstanding of {declared or run.asked.concurrency or 'fewer'} declared"


def may_be_group(run: Audited) -> bool:
    """Return whether an entry of fio may be a group whose number of jobs is unknown."""
    return run.tool == "fio" and (bool(run.asked.group_reporting) or bool(_depth_sign(run)))


def _is_one_job(run: Audited) -> bool:
    """Return whether its only job is known to run once and ungrouped: older fio does not print an option without a
    value."""
    tables = run.option_tables
    prints_switches = any(value == "" for table in tables for value in table.values())
    return (
        len(run.record["streams"]) == 1
        and not run.asked.group_reporting
        and prints_switches
        and all(table.get("numjobs", "1") == "1" and "group_reporting" not in table for table in tables)
    )


def _mixed(run: Audited) -> Finding | None:
    signs = mixed_signs(run)
    if not signs:
        return None
    if _is_one_job(run):
        return Finding(
            "contradiction",
            "severe",
            (run.name,),
            f"Its figures contradict its options: {'; '.join(signs)}",
            {"contradictions": len(signs), "jobs": 1},
            "It is one job without group_reporting, so options or counts were changed, or are of another run: quote "
            "none of them, and repeat the run.",
        )
    numbers: dict[str, Number] = {"signs": len(signs), "jobs": run.asked.jobs or "not known"}
    numbers["group_reporting"] = str(run.asked.group_reporting)
    if not _signs_of_kinds(run):
        return Finding(
            "mixed-jobs",
            "warning",
            (run.name,),
            f"Several jobs are reported as one group; how many is unknown: {signs[0]}",
            numbers,
            "Declare the concurrency of all jobs together when you quote the result, or remove group_reporting: the "
            "options are those of the first job.",
        )
    return Finding(
        "mixed-jobs",
        "severe",
        (run.name,),
        f"Jobs of different kinds are reported as one group: {'; '.join(signs)}",
        numbers,
        "Sums and percentiles mix different I/Os under the options of the first job: remove group_reporting, or "
        "give each kind a new_group.",
    )


def _averaged(run: Audited) -> Finding | None:
    """Find a percentile of the whole that is the mean of its parts, or that a note calls averaged."""
    stated = next((note for note in run.notes if _AVERAGED.search(note)), None)
    if stated is not None:
        return _average_finding(run, f"its notes state it ({stated})", {"said": stated})
    for direction in (*run.directions(), None):
        parts = _parts(run.record, direction)
        merged = run.quantiles(direction)
        if len(parts) < 2 or merged is None or merged.kind != "histogram":
            continue
        for key, pct in SUMMARY_PERCENTILES.items():
            quoted, true = run.summary(direction).get(key), merged.quantile(pct / 100)
            quantiles = [value for part in parts if (value := part.quantile(pct / 100)) is not None]
            if not quoted or not true or len(quantiles) < len(parts) or abs(quoted / true - 1) <= APART:
                continue
            weighted = sum(value * part.count for value, part in zip(quantiles, parts, strict=True))
            means = (fmean(quantiles), weighted / sum(part.count for part in parts))
            if any(abs(quoted / mean - 1) <= SAME for mean in means):
                words = (
                    f"p{pct:g} is the mean of {len(parts)} streams ({quoted / 1e6:.4g} ms); "
                    f"over all I/Os it is {true / 1e6:.4g} ms"
                )
                numbers: dict[str, Number] = {
                    "percentile": pct,
                    "quoted_ms": quoted / 1e6,
                    "of_all_ms": true / 1e6,
                    "parts": len(parts),
                }
                return _average_finding(run, words, numbers)
    return None


def _parts(record: RecordDoc, direction: str | None) -> list[distribution.Distribution]:
    distributions = [distribution.of([stream], direction, ("histogram",)) for stream in record["streams"]]
    return [part for part in distributions if part is not None]


def _average_finding(run: Audited, words: str, numbers: dict[str, Number]) -> Finding:
    return Finding(
        "averaged-percentiles",
        "severe",
        (run.name,),
        f"Percentiles are averaged: {words}",
        numbers,
        "A mean of percentiles is not a percentile: merge the histograms of all clients and read it there (fio: "
        "--output-format=json+, hotband import fio).",
    )


def _traps(run: Audited) -> list[Finding]:
    """Find surprising behaviour of the tool in this version that affects this result."""
    findings = []
    for trap, severity, words, advice, numbers in (*_fio_traps(run), *_other_traps(run)):
        findings.append(
            Finding(
                "tool-version",
                "warning" if severity == "warning" else "note",
                (run.name,),
                words,
                {"trap": trap, "tool": run.tool, "version": ".".join(map(str, run.version)) or "not known"} | numbers,
                advice,
            )
        )
    return findings


Trap = tuple[str, str, str, str, dict[str, Number]]


def _fio_traps(run: Audited) -> list[Trap]:
    if run.tool != "fio":
        return []
    traps: list[Trap] = []
    mean = run.summary().get("latency_mean_ns")
    from hotband.inference.audit.littles_law import submission_ns

    share = submission_ns(run) / mean if mean else 0.0
    if share > SUBMISSION:
        words = f"fio's percentiles exclude submission, which adds {100 * share:.0f} % to the completion latency"
        advice = "Measure with lat_percentiles=1: a program waits for submission, too."
        traps.append(("clat-percentiles", "warning", words, advice, {"submission_pct": 100 * share}))
    median = run.summary().get("latency_p50_ns")
    if run.version and run.version < (2, 99) and median and median < WHOLE_US:
        words = f"fio before 3.0 counts whole microseconds: the median, {median / 1e3:g} us, is known to 1 us"
        traps.append(
            ("microseconds", "note", words, "Use fio 3.0 or newer for latencies this short.", {"p50_us": median / 1e3})
        )
    note = next((note for note in run.notes if "has one I/O outstanding" in note), None)
    if note is not None:
        advice = "Use an asynchronous engine (libaio or io_uring with direct=1), or numjobs, for a queue."
        traps.append(("synchronous-engine", "warning", f"The requested queue depth was not used: {note}", advice, {}))
    return traps


def _other_traps(run: Audited) -> list[Trap]:
    traps: list[Trap] = []
    spec = run.record.get("spec") or {}
    text = json.dumps(spec).lower() if spec else ""
    name = str(run.record.get("name") or "").lower()
    if run.tool == "vdbench" and re.search(r"hot[ -]?band", text + name) and run.version[:3] in ((), (5, 4, 6)):
        words = (
            "vdbench's hot band is a thousand times hotter than its table says: it reads MB as kB "
            "(5.04.06, HotBand.java)"
        )
        advice = 'A third of the I/Os fall on the first MB: caches serve them. Model it with table_unit = "1 kB".'
        traps.append(("hotband-unit", "warning", words, advice, {}))
    if _buffered(run, text):
        default = {"fio": "direct is off by default", "diskspd": "caching is on without -S"}.get(run.tool, "")
        words = f"I/O went through the host's page cache{f' ({run.tool}: {default})' if default else ''}"
        advice = "Use direct I/O (fio direct=1, diskspd -Sh, vdbench openflags=o_direct) unless you measure memory."
        traps.append(("buffered", "warning", words, advice, {}))
    return traps


def _buffered(run: Audited, spec: str) -> bool:
    """Return whether reads may have come from the host's page cache: for fio, unless the engine bypasses it or the
    options are unknown (terse output and logs have none, normal output has few)."""
    if "read" not in run.directions():
        return False
    if run.tool == "fio":
        engine = re.search(r'"ioengine": "([a-z_0-9]+)', spec)
        name = engine[1] if engine else "psync"
        # A record with any option has all of them: missing ones were left at their defaults.
        all_options = any(run.option_tables) and not any(note.startswith("normal output") for note in run.notes)
        return all_options and not run.asked.direct and name in _HOST_ENGINES
    return run.asked.direct is False
