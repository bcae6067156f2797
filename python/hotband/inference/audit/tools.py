"""Rule group 9: averaged percentiles, mixed jobs under group reporting, traps of tools and their versions.

Left out: traps that the importer of a tool has dealt with (units of old fio, fio's KB); it says so in its notes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from statistics import fmean

from hotband.data.documents.record import RecordDoc
from hotband.data.record.stats import SUMMARY_PERCENTILES
from hotband.inference.audit import distribution
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.finding import Finding, Number

SAME = 0.001
"""Relative difference within which a quoted percentile is the mean of others: what printing to three digits rounds."""
APART = 0.02
"""Relative difference from the percentile of all I/Os from which averaging did harm: twice the width of fio's
buckets."""
SIZE_TOLERANCE = 0.01
"""Share by which the mean size of I/Os may differ from the block size asked for: short I/Os at the end of a file."""
DEPTH_TOLERANCE = 0.05
"""As for Little's law."""
SUBMISSION = 0.10
"""Share of the completion latency that submission may take on top before percentiles without it mislead."""
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
    """All findings of the group."""
    found: list[Finding] = []
    for run in runs:
        found += [one for one in (_averaged(run), _mixed(run)) if one is not None]
        if not run.is_model:
            found += _traps(run)
    return found


def mixed_signs(run: Audited) -> list[str]:
    """What shows that several jobs of different kinds are reported as one group."""
    asked, summary = run.asked, run.summary()
    if run.tool != "fio" or run.is_published:
        return []
    signs = []
    for share, other in ((100, "write"), (0, "read")):
        count = run.summary(other).get("count") or 0
        if asked.read_pct == share and count:
            signs.append(f"{count:,} {other}s of a job that is to do none")
    sides = distribution.sides_of(run.record["streams"])
    count, moved = sum(side["count"] for side in sides), sum(side.get("bytes") or 0 for side in sides)
    if asked.block_bytes and count and abs(moved / count / asked.block_bytes - 1) > SIZE_TOLERANCE:
        signs.append(f"a mean size of {moved / count:,.0f} B where {asked.block_bytes:,} B were asked for")
    depth, declared = summary.get("queue_depth_mean"), run.concurrency
    above = bool(depth and declared and depth > (1 + DEPTH_TOLERANCE) * declared)
    told = any("several jobs may be reported as one group" in note for note in run.notes)
    if (above and asked.group_reporting) or told:
        signs.append(f"{depth or 0:.4g} I/Os outstanding of {declared or asked.concurrency or 'fewer'} declared")
    return signs


def _mixed(run: Audited) -> Finding | None:
    signs = mixed_signs(run)
    if not signs:
        return None
    return Finding(
        "mixed-jobs",
        "severe",
        (run.name,),
        f"Jobs of different kinds are reported as one group: {'; '.join(signs)}",
        {"signs": len(signs), "jobs": run.asked.jobs or "not known", "group_reporting": str(run.asked.group_reporting)},
        "Sums and percentiles are of unlike I/Os, under the options of the first job: leave out group_reporting, or "
        "give each kind a new_group.",
    )


def _averaged(run: Audited) -> Finding | None:
    """A percentile of the whole that is the mean of the parts', or is said to be averaged."""
    said = next((note for note in run.notes if _AVERAGED.search(note)), None)
    if said is not None:
        return _average_finding(run, f"as it says itself ({said})", {"said": said})
    for direction in (*run.directions(), None):
        parts = _parts(run.record, direction)
        merged = run.quantiles(direction)
        if len(parts) < 2 or merged is None or merged.kind != "histogram":
            continue
        for key, pct in SUMMARY_PERCENTILES.items():
            quoted, true = run.summary(direction).get(key), merged.quantile(pct / 100)
            own = [value for part in parts if (value := part.quantile(pct / 100)) is not None]
            if not quoted or not true or len(own) < len(parts) or abs(quoted / true - 1) <= APART:
                continue
            weighted = sum(value * part.count for value, part in zip(own, parts, strict=True))
            means = (fmean(own), weighted / sum(part.count for part in parts))
            if any(abs(quoted / mean - 1) <= SAME for mean in means):
                words = (
                    f"p{pct:g} is the mean of {len(parts)} streams' ({quoted / 1e6:.4g} ms), "
                    f"of all I/Os it is {true / 1e6:.4g} ms"
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
    found = [distribution.of([stream], direction, ("histogram",)) for stream in record["streams"]]
    return [part for part in found if part is not None]


def _average_finding(run: Audited, words: str, numbers: dict[str, Number]) -> Finding:
    return Finding(
        "averaged-percentiles",
        "severe",
        (run.name,),
        f"Percentiles are averaged: {words}",
        numbers,
        "A mean of percentiles is no percentile: merge the histograms of all clients and read it there (fio: "
        "--output-format=json+, hotband import fio).",
    )


def _traps(run: Audited) -> list[Finding]:
    """What the tool in this version does otherwise than one would think, where it bears on this result."""
    found = []
    for trap, severity, words, advice, numbers in (*_fio_traps(run), *_other_traps(run)):
        found.append(
            Finding(
                "tool-version",
                "warning" if severity == "warning" else "note",
                (run.name,),
                words,
                {"trap": trap, "tool": run.tool, "version": ".".join(map(str, run.version)) or "not known"} | numbers,
                advice,
            )
        )
    return found


Trap = tuple[str, str, str, str, dict[str, Number]]


def _fio_traps(run: Audited) -> list[Trap]:
    if run.tool != "fio":
        return []
    found: list[Trap] = []
    mean = run.summary().get("latency_mean_ns")
    from hotband.inference.audit.littles_law import submission_ns

    share = submission_ns(run) / mean if mean else 0.0
    if share > SUBMISSION:
        words = (
            f"fio's percentiles leave out submission, which took {100 * share:.0f} % of the completion latency on top"
        )
        advice = "Measure with lat_percentiles=1; submission that waits belongs to what the program sees."
        found.append(("clat-percentiles", "warning", words, advice, {"submission_pct": 100 * share}))
    median = run.summary().get("latency_p50_ns")
    if run.version and run.version < (2, 99) and median and median < WHOLE_US:
        words = f"fio before 3.0 counts whole microseconds: the median, {median / 1e3:g} us, is known to 1 us"
        found.append(
            ("microseconds", "note", words, "Use fio 3.0 or newer for latencies this short.", {"p50_us": median / 1e3})
        )
    note = next((note for note in run.notes if "has one I/O outstanding" in note), None)
    if note is not None:
        advice = "Use an asynchronous engine (libaio or io_uring with direct=1), or numjobs, for a queue."
        found.append(("synchronous-engine", "warning", f"The queue depth asked for was not used: {note}", advice, {}))
    return found


def _other_traps(run: Audited) -> list[Trap]:
    found: list[Trap] = []
    spec = run.record.get("spec") or {}
    text = json.dumps(spec).lower() if spec else ""
    name = str(run.record.get("name") or "").lower()
    if run.tool == "vdbench" and re.search(r"hot[ -]?band", text + name) and run.version[:3] in ((), (5, 4, 6)):
        words = (
            "vdbench's hot band is a thousand times hotter than its table says: it takes kB for MB "
            "(5.04.06, HotBand.java)"
        )
        advice = 'A third of the I/Os fall on the first MB: caches serve them. Model it with table_unit = "1 kB".'
        found.append(("hotband-unit", "warning", words, advice, {}))
    if _buffered(run, text):
        default = {"fio": "direct is off where not asked for", "diskspd": "caching is on without -S"}.get(run.tool, "")
        words = f"I/O went through the host's page cache{f' ({run.tool}: {default})' if default else ''}"
        advice = "Ask for direct I/O (fio direct=1, diskspd -Sh, vdbench openflags=o_direct) unless memory is measured."
        found.append(("buffered", "warning", words, advice, {}))
    return found


def _buffered(run: Audited, spec: str) -> bool:
    """Whether reads may have come from the host's page cache: of fio, unless the engine goes past it or the options
    are not known (terse output and logs have none)."""
    if "read" not in run.directions():
        return False
    if run.tool == "fio":
        engine = re.search(r'"ioengine": "([a-z_0-9]+)', spec)
        name = engine[1] if engine else "psync"
        return _has_options(run) and not run.asked.direct and name in _HOST_ENGINES
    return run.asked.direct is False


def _has_options(run: Audited) -> bool:
    """Whether the record has any option of a fio run: what is missing beside them was left at its default."""
    spec = run.record.get("spec") or {}
    jobs = spec.get("jobs") or {}
    return bool(spec.get("global")) or any(bool(options) for options in jobs.values())
