"""Rule group 10: what else ran: I/O and processor time of others, and a host that had no processor left to ask.

From the record's `context` (what other processes did during a run on hardware), what fio says of its jobs' processor
time, and the cores of a modelled host. Results of other tools do not say it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from hotband.base.text.numbers import percent, share, size
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.finding import Finding, Number

OTHERS_IO = 0.02
"""Bytes that the device did for others, of ours: from 2 % on. Below, journals and a log are on every system, and the
tolerance of a comparison (docs/guides/compare.md) is as wide."""
LEAST_BYTES = 1e6
OTHERS_CPU = 0.25
"""Share of all processors that others kept busy: a quarter, so that I/Os wait for one (estimated)."""
STOLEN = 0.02
"""Share of the processors' time that the host of a virtual machine took away: a tick of 10 ms in every half second."""
FULL = 95.0
"""Percent of a processor at which a job has none left: what remains is accounting."""


def check(runs: Sequence[Audited]) -> list[Finding]:
    """All findings."""
    found: list[Finding] = []
    for run in runs:
        found += [one for one in (_io(run), _processors(run), _job(run)) if one is not None]
    return found


def background(run: Audited) -> Mapping[str, object]:
    """What others did, as the record has it; empty where it does not."""
    context = dict(run.record).get("context")
    found = context.get("background") if isinstance(context, dict) else None
    return found if isinstance(found, dict) else {}


def _io(run: Audited) -> Finding | None:
    """Bytes that other processes read and wrote. Those that the device did besides ours are not counted: warm-up and
    the laying out of a file are ours, too, and lie outside the measured time."""
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
        "processes": len([one for one in by_name.values() if one]),
        "most": most,
    }
    words = f"Others read and wrote {size(others)} meanwhile, {share(others / ours)} of ours; most of it {most}"
    return _finding(run, words, numbers)


def _bytes_of(row: Mapping[str, object]) -> float:
    return (_number(row.get("read_bytes")) or 0.0) + (_number(row.get("written_bytes")) or 0.0)


def _processors(run: Audited) -> Finding | None:
    """Processors that others, or the host of this one, took."""
    others = background(run)
    taken, stolen = _number(others.get("cpu_others")) or 0.0, _number(others.get("cpu_stolen")) or 0.0
    if taken < OTHERS_CPU and stolen < STOLEN:
        return None
    numbers: dict[str, Number] = {"others_pct": 100 * taken, "stolen_pct": 100 * stolen}
    said = []
    if taken >= OTHERS_CPU:
        said.append(f"others kept {share(taken)} of all processors busy")
    if stolen >= STOLEN:
        said.append(f"the host of this virtual machine took {share(stolen)}")
    return _finding(run, f"Meanwhile {' and '.join(said)}", numbers)


def _finding(run: Audited, words: str, numbers: dict[str, Number]) -> Finding:
    advice = "Stop what else runs and measure again; repeat, so that what comes and goes is seen."
    return Finding("interference", "warning", (run.name,), words, numbers, advice)


def _job(run: Audited) -> Finding | None:
    """A job, or a core of a modelled host, that had no processor time left. One that polls uses all of it always."""
    source = dict(run.source or {})
    used = _number(source.get("job_cpu_pct"))
    host = run.record.get("host")
    full = list(host.get("full") or []) if isinstance(host, dict) else []
    jobs = run.asked.jobs
    polls = "hipri" in json.dumps(run.record.get("spec") or {})
    if used is not None and used >= FULL and not polls:
        many = f"each of its {jobs} jobs" if jobs and jobs > 1 else "its one job"
        words = f"The host was the limit, not the device: {many} used {percent(used, signed=False)} of a processor"
        numbers: dict[str, Number] = {"job_cpu_pct": used, "jobs": jobs or 1}
    elif full:
        words = f"The host was the limit, not the device: busy for 95 % and more were {', '.join(full)}"
        numbers = {"full_cores": len(full)}
    else:
        return None
    advice = "Ask with more jobs (fio: numjobs), each with less depth, until the rate no longer grows."
    return Finding("processor-bound", "warning", (run.name,), words, numbers, advice)


def _rows(value: object) -> list[Mapping[str, object]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
