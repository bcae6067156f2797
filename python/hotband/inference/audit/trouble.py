"""Rule group 0, trouble that a tool reports itself: failed I/Os, jobs that ended with an error, warnings, no device.

`troubles` returns the sentences that every command prints when it quotes a result. Left out: retries that a device
hides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hotband.base.question import INVALID
from hotband.base.text.numbers import counted, number, share
from hotband.base.text.words import capitalized
from hotband.data.documents.record import RecordDoc, side_of
from hotband.data.record.overload import (
    LATE_UNCOUNTED,
    MissedRate,
    completed_rate,
    has_bound,
    missed_rate,
    misses,
    only_script,
)
from hotband.data.record.stats import DIRECTIONS, OTHER_DIRECTIONS
from hotband.inference.audit import physics
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.finding import Finding, Number

WARNING = re.compile(r"warning of (\w+): (.+)", re.DOTALL)
"""Beginning of a note in which an importer quotes a warning of its tool, or has one of its own (`import`)."""
IMPORT = "import"
GUESSED = "guessed-reading"
MOST_WORDS = 2
IDLE = 0.5
"""Mean number of outstanding I/Os below which a target waits for its load most of the time."""
NO_DEVICE = frozenset({"null", "cpuio", "filecreate", "filestat", "filedelete"})
"""fio's engines that move no data (engines/null.c, cpu.c, fileoperations.c)."""


def check(runs: Sequence[Audited]) -> list[Finding]:
    """Return all findings of the rules of trouble."""
    rules = (_failed, _guessed, _warned, _no_device, overloaded, _invalid)
    return [finding for run in runs for rule in rules if (finding := rule(run)) is not None]


def troubles(record: RecordDoc, name: str = "") -> list[str]:
    """Return a sentence for each guess of its reader, then for each trouble of a result: failed I/Os first, reads from
    a cache last. `name` is the name of the result."""
    whose, run = f"{name}: " if name else "", Audited(name, record)
    cached = [] if run.is_model else physics.check([run], [None], frozenset())
    served = [f"{whose}{finding.title}; they came from a cache" for finding in cached]
    found = [f"{whose}{finding.title}" for finding in check([run]) if finding.rule != GUESSED]
    return [*(f"{whose}{guess.sentence}" for guess in run.guesses), *found, *served]


def _failed(run: Audited) -> Finding | None:
    """Find failed I/Os and jobs that ended with an error."""
    summaries = [run.summary(direction) for direction in (None, *OTHER_DIRECTIONS)]
    failed = sum(summary.get("errors") or 0 for summary in summaries)
    succeeded = sum(summary.get("count") or 0 for summary in summaries)
    ended = list(run.source.get("job_errors") or []) if run.source else []
    if not failed and not ended:
        return None
    words = (
        [f"{failed:,} of {failed + succeeded:,} I/Os failed ({share(failed / (failed + succeeded))})"] if failed else []
    )
    if ended:
        more = f" and {len(ended) - 1} more" if len(ended) > 1 else ""
        words.append(f"{ended[0].replace(': ', ' ended with ', 1)}{more}")
    numbers: dict[str, Number] = {"failed": failed, "succeeded": succeeded, "jobs_ended_with_errors": len(ended)}
    advice = (
        "Rates and latencies are of the I/Os that succeeded: find the cause (kernel log, SMART), and measure again."
    )
    return Finding("failed-ios", "severe", (run.name,), "; ".join(words), numbers, advice)


def _guessed(run: Audited) -> Finding | None:
    """Find readings of the files that leave another open."""
    if not run.guesses:
        return None
    words = "; ".join(guess.doubt for guess in run.guesses)
    advice = f"To read it otherwise: {'; '.join(guess.choice for guess in run.guesses)}."
    return Finding(GUESSED, "warning", (run.name,), capitalized(words), {"guesses": len(run.guesses)}, advice)


def _warned(run: Audited) -> Finding | None:
    """Find short and dropped I/Os, and warnings that the tool printed."""
    printed = [
        side.get("printed") for stream in run.record["streams"] for d in DIRECTIONS if (side := side_of(stream, d))
    ]
    short, dropped = (sum(each[key] for each in printed if each) for key in ("short_ios", "dropped_ios"))
    warnings = [match for note in run.notes if (match := WARNING.fullmatch(note))]
    reported = [f"{number(short)} short and {number(dropped)} dropped I/Os"] if short or dropped else []
    reported += [match[2] for match in warnings if match[1] != IMPORT]
    words = [f"{run.tool} reports trouble: {'; '.join(reported[:MOST_WORDS])}"] if reported else []
    words += [counted(len(reported) - MOST_WORDS, "more warning")] if len(reported) > MOST_WORDS else []
    words += [capitalized(match[2]) for match in warnings if match[1] == IMPORT]
    if not words:
        return None
    title = "; ".join(words)
    numbers: dict[str, Number] = {"short": short, "dropped": dropped, "warnings": len(warnings)}
    advice = "Look up what the tool means by it before you quote its figures."
    return Finding("tool-warning", "warning", (run.name,), title, numbers, advice)


def _no_device(run: Audited) -> Finding | None:
    """Find results of an engine that moves no data."""
    engines = {options["ioengine"].split(":")[0] for options in run.option_tables if "ioengine" in options}
    if run.tool != "fio" or not engines or not engines <= NO_DEVICE:
        return None
    engine = sorted(engines)[0]
    advice = "Its rates and latencies are fio's own: measure with an engine that issues I/O (libaio, io_uring, psync)."
    words = f"No device did these I/Os: fio's engine {engine} moves no data"
    return Finding("no-storage", "severe", (run.name,), words, {"engine": engine}, advice)


def overloaded(run: Audited) -> Finding | None:
    """Find a requested rate that was not reached."""
    if only_script(run.record) is not None:
        return _overloaded_script(run)
    requested, reached, count = run.asked.rate_iops, run.summary().get("iops"), run.summary().get("count")
    if reached is not None:
        # A requested rate includes trims.
        reached = completed_rate(run.record["summary"])
    if requested is None or reached is None or not misses(requested, reached, count, run.is_model):
        return None
    numbers: dict[str, Number] = {"requested_iops": requested, "iops": reached, "share_pct": 100 * reached / requested}
    # Load generators with a bound on their outstanding I/Os issue late ones later, and time them from there.
    effect = "measure the length of the run" if run.is_model and not has_bound(run.workload) else LATE_UNCOUNTED
    advice = f"Quote the rate that was reached. Latencies of an overloaded open loop {effect}."
    title = f"The target {MissedRate(requested, reached).words}"
    outstanding = run.summary().get("queue_depth_mean")
    if outstanding is not None and outstanding < IDLE:
        title = (
            f"The load generator issued {number(reached)} of {number(requested)} requested IOPS, "
            f"with {number(outstanding, 3)} I/Os outstanding in the mean"
        )
        advice = "Quote the rate that was reached. The target waited for I/Os: look at the load generator."
    return Finding("overload", "warning", (run.name,), title, numbers, advice)


def _overloaded_script(run: Audited) -> Finding | None:
    """Find a requested rate of transactions that was not reached."""
    missed = missed_rate(run.record)
    if missed is None:
        return None
    numbers: dict[str, Number] = {
        "requested_per_second": missed.requested,
        "per_second": missed.served,
        "share_pct": 100 * missed.served / missed.requested,
    }
    advice = "Quote the rate that was reached. Latencies of transactions measure the length of the run."
    return Finding("overload", "warning", (run.name,), f"The target {missed.words}", numbers, advice)


def _invalid(run: Audited) -> Finding | None:
    """Find results that this host could not serve or load as the drive would be."""
    reasons = [note.removeprefix(f"{INVALID}: ") for note in run.notes if note.startswith(INVALID)]
    if not reasons:
        return None
    advice = "Measure again on an idle host, or with a load that it can serve; the model's figures hold."
    title = f"The figures are the host's, not the drive's: {'; '.join(reasons)}"
    return Finding("invalid-emulation", "severe", (run.name,), title, {"reasons": len(reasons)}, advice)
