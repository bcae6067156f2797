"""Rule group 10, interference: I/O and processor time of other processes, and a host whose processors were busy.

The sources are the record's `context` (activity of other processes during a run on hardware), the processor time of
fio's jobs, and the cores of a modelled host. Results of other tools do not have it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from hotband.base.text.numbers import finite, percent, share, size
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.finding import Finding, Number

OTHERS_IO = 0.02
"""Least bytes of other processes relative to the run's. Every system writes logs and journals below 2 %, and the
tolerance of a comparison (docs/guides/expect.md) is as wide."""
LEAST_BYTES = 1e6
OTHERS_CPU = 0.25
"""Least share of all processors that others keep busy: from a quarter on, I/Os wait for a processor (estimate)."""
STOLEN = 0.02
"""Least share of processor time that the host of a virtual machine takes: a tick of 10 ms in every half second."""
FULL = 95.0
"""Percent of a processor from which a job is limited by it: the remainder is accounting."""


def check(runs: Sequence[Audited]) -> list[Finding]:
    """Return all findings of the rules of interference."""
    findings: list[Finding] = []
    for run in runs:
        findings += [finding for finding in (_io(run), _processors(run), _job(run)) if finding is not None]
    return findings


def background(run: Audited) -> Mapping[str, object]:
    """Return the record's activity of other processes; empty if it has none."""
    context = dict(run.record).get("context")
    others = context.get("background") if isinstance(context, dict) else None
    return others if isinstance(others, dict) else {}


def _io(run: Audited) -> Finding | None:
    """Find I/O of other processes. Further bytes of the device do not count: warm-up and the layout of a file belong to
    the run, too, and lie outside the measured time."""
    ours = sum(float(run.summary(way).get("bytes") or 0) for way in ("read", "write"))
    by_name = {str(row.get("name")): _bytes_of(row) for row in _rows(background(run).get("processes"))}
    others = sum(by_name.values())
    if not ours or others < max(OTHERS_IO * ours, LEAST_BYTES):
        return None
    most = max(by_name, key=lambda name: by_name[name])
    numbers: dict[str, Number] = {
        "others_bytes": others,
        "ours_bytes": ours,
        "share_pct": 100 * others / ours,
        "processes": len([moved for moved in by_name.values() if moved]),
        "most": most,
    }
    words = (
        f"Other processes moved {size(others)} during the run, {share(others / ours)} of its own I/O; most by {most}"
    )
    return _finding(run, words, numbers)


def _bytes_of(row: Mapping[str, object]) -> float:
    return (finite(row.get("read_bytes")) or 0.0) + (finite(row.get("written_bytes")) or 0.0)


def _processors(run: Audited) -> Finding | None:
    """Find processor time that other processes, or the host of a virtual machine, took."""
    others = background(run)
    taken, stolen = finite(others.get("cpu_others")) or 0.0, finite(others.get("cpu_stolen")) or 0.0
    if taken < OTHERS_CPU and stolen < STOLEN:
        return None
    numbers: dict[str, Number] = {"others_pct": 100 * taken, "stolen_pct": 100 * stolen}
    causes = []
    if taken >= OTHERS_CPU:
        causes.append(f"other processes kept {share(taken)} of all processors busy")
    if stolen >= STOLEN:
        causes.append(f"the host of this virtual machine took {share(stolen)}")
    return _finding(run, f"During the run, {' and '.join(causes)}", numbers)


def _finding(run: Audited, words: str, numbers: dict[str, Number]) -> Finding:
    advice = "Stop the other programs and measure again; repeat the run to catch load that comes and goes."
    return Finding("interference", "warning", (run.name,), words, numbers, advice)


def _job(run: Audited) -> Finding | None:
    """Find a job, or a core of a modelled host, without processor time left. A polling job always uses all of it."""
    source = dict(run.source or {})
    used = finite(source.get("job_cpu_pct"))
    host = run.record.get("host")
    full = list(host.get("full") or []) if isinstance(host, dict) else []
    jobs = run.asked.jobs
    polls = "hipri" in json.dumps(run.record.get("spec") or {})
    if used is not None and used >= FULL and not polls:
        many = f"each of its {jobs} jobs" if jobs and jobs > 1 else "its only job"
        words = f"The host was the limit, not the device: {many} used {percent(used, signed=False)} of a processor"
        numbers: dict[str, Number] = {"job_cpu_pct": used, "jobs": jobs or 1}
    elif full:
        words = f"The host was the limit, not the device: {', '.join(full)} were busy at least 95 % of the time"
        numbers = {"full_cores": len(full)}
    else:
        return None
    advice = "Use more jobs (fio: numjobs), each with a smaller depth, until the rate stops growing."
    return Finding("processor-bound", "warning", (run.name,), words, numbers, advice)


def _rows(value: object) -> list[Mapping[str, object]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
