"""Open loops that a machine does not keep up with: the rate that they request, and a note on a run that misses it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import hotband._core as _core
from hotband.base.text.numbers import number

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc, ScriptDoc, SummaryDoc

SLACK = {True: 0.01, False: 0.05}
"""Share of a requested rate that may be missing: of a model's exact time, as in `hotband find`; of a tool, which begins
and ends within its windows."""

MISSED = "does not keep up"
"""Beginning of the note on a run that misses its rate."""
LATE_UNCOUNTED = "leave out how late I/Os were issued"
"""Effect of a missed rate on latencies if the loop has a bound on its outstanding I/Os."""


def open_rate(workload: Mapping[str, object], changed: Mapping[str, str]) -> float | None:
    """Return the rate that the open loops of the measured time request together, with changed settings; None for other
    loads."""
    try:
        # A rate that is set applies to all loops, including those that were closed.
        if "rate_iops" in changed:
            rates = [float(changed["rate_iops"])]
        else:
            rates = [float(dict(load)["open"]["rate_iops"]) for load in _measured_loads(workload)]
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return sum(rates) if rates and min(rates) > 0 else None


def _measured_loads(workload: Mapping[str, object]) -> list[Any]:
    """Return the loads of the streams that run in a measured phase; `[load]` is one for those without their own."""
    listed, phases = (cast("list[Any]", workload.get(key) or []) for key in ("streams", "phases"))
    named = [phase.get("streams") for phase in phases if phase.get("measure")]
    runs = {name for names in named for name in names or ()} if named and all(named) else None
    streams = [stream for stream in listed if runs is None or stream.get("name") in runs]
    loads = [stream["load"] for stream in streams if "load" in stream]
    return loads if loads and len(loads) == len(streams) else [*loads, workload.get("load")]


def misses(requested: float | None, iops: float | None, count: int | None, is_model: bool) -> bool:
    """Return whether a run missed the rate that its load requests; arrivals at random vary by their root."""
    if not requested or iops is None or not count:
        return False
    return iops < (1 - slack_of(count, is_model)) * requested


def slack_of(count: float, is_model: bool = True) -> float:
    """Return the share of a requested rate that a run which keeps up may miss: also what chance explains (four standard
    deviations of a Poisson count)."""
    return max(SLACK[is_model], 4 / math.sqrt(max(1.0, count)))


@dataclass(frozen=True)
class MissedRate:
    """A rate that a run's load requests, the lower one that the machine serves, and what is counted."""

    requested: float
    served: float
    unit: str = "IOPS"

    @property
    def words(self) -> str:
        """Return how far the rate was missed."""
        return f"{MISSED}: {number(self.served)} of {number(self.requested)} {self.unit}"


def missed_rate(record: RecordDoc) -> MissedRate | None:
    """Return the missed rate of the open loops of a run, or of its script; None if it reaches what is requested."""
    spec, summary = record["spec"], record["summary"]
    iops, text, changed = summary["iops"], spec.get("workload", ""), spec.get("set") or {}
    is_model = record["target"].get("kind", "model") == "model"
    script = only_script(record)
    if script is not None:
        requested = script.get("requested_per_second")
        if not requested or keeps_up(script, record["duration_ns"]):
            return None
        return MissedRate(requested, script["per_second"], f"{script['unit']}s/s")
    if iops is None or len(record.get("steps") or []) > 1 or not ("open" in text or "rate_iops" in changed):
        return None
    requested = open_rate(_core.workload(text)["table"], changed)
    iops = completed_rate(summary) or iops
    is_missed = misses(requested, iops, summary["count"], is_model)
    return MissedRate(requested, iops) if requested and is_missed else None


def keeps_up(script: ScriptDoc, duration_ns: int) -> bool:
    """Return whether clients began the runs of a script as they arrived: those that are still under way at the end do
    not count as late, those that wait for a client do."""
    requested = script.get("requested_per_second")
    if not requested:
        return True
    slack = slack_of(requested * duration_ns / 1e9)
    return script.get("backlog_ns", 0) <= slack * duration_ns or script["per_second"] >= (1 - slack) * requested


def only_script(record: RecordDoc) -> ScriptDoc | None:
    """Return the only script of a run; None if it has none, or several."""
    scripts = record.get("scripts") or []
    return scripts[0] if len(scripts) == 1 else None


def completed_rate(summary: SummaryDoc) -> float:
    """Return completed reads, writes and trims per second: an open loop's rate includes trims, IOPS do not."""
    trims = summary["trim"]["iops"] if "trim" in summary else None
    return (summary["iops"] or 0.0) + (trims or 0.0)


def overload_notes(record: RecordDoc) -> list[str]:
    """Return a note for a model's run that misses the rate of its open loop."""
    missed = missed_rate(record)
    if missed is None:
        return []
    effect = LATE_UNCOUNTED if is_bounded(record) else "grow throughout the run"
    if only_script(record) is not None:
        effect = f"of {missed.unit.removesuffix('/s')} {effect}"
    return [f"{missed.words}; latencies {effect}"]


def is_bounded(record: RecordDoc) -> bool:
    """Return whether the open loops of a run have a bound on their outstanding I/Os: late ones wait to be issued."""
    return has_bound(_core.workload(record["spec"].get("workload", ""))["table"])


def has_bound(workload: Mapping[str, object]) -> bool:
    """Return whether the measured loops of a workload, a table, have a bound on their outstanding I/Os."""
    return all("outstanding" in (load or {}).get("open", {}) for load in _measured_loads(workload))
