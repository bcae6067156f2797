"""Explain a result outside its interval: findings of the auditor, assumptions, and runs with other settings of the
drives (`trials`). Each explanation names its support in the result, and is omitted if it has none.

Left out: causes that neither results nor models show, such as other load on the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.numbers import number
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.facts import MachineFacts, of_machine
from hotband.inference.audit.rules import findings
from hotband.questions.expect.judge import first_outside
from hotband.questions.expect.predict import Predicted
from hotband.questions.expect.trials import outside_of, rate_cap, tried, verdict_of

if TYPE_CHECKING:
    from hotband.data.documents.expected import Verdict
    from hotband.data.inputs.specify import Named

OF_A_CORE = 333_000
"""IOPS that one core issues and completes with `pread` and interrupts: 3 us of 2.5 to 4 (docs/models/layouts.md)."""
NEAR_A_CORE = 250_000
"""IOPS of a job from which the processor may be the limit: the slowest core of that range, 4 us."""
ANY = (
    *("contradiction", "no-storage", "drift", "no-steady-state", "warm-up-measured", "short-run", "littles-law"),
    "below-half-revolution",
)
SLOWED = ("stall", "jobs-ended-apart", "idle-concurrency", "cache-exhausted", "thermal-throttling", "interference")
RULES: dict[Verdict, tuple[str, ...]] = {
    "better": (
        *("faster-than-link", "cache-served", "replayed-offsets", "working-set-in-cache", "not-preconditioned"),
        *ANY,
    ),
    "worse": ("mixed-jobs", "processor-bound", *SLOWED, *ANY),
}
"""Rules of the auditor whose findings explain a figure that is better or worse (docs/guides/audit.md)."""


def explanations(predicted: Sequence[Predicted], machine: Named) -> list[str]:
    """Return possible explanations of the rows outside their interval."""
    outside = [prediction for prediction in predicted if first_outside(prediction.figures)]
    if not outside:
        return []
    facts = _facts(machine)
    sentences, is_possible = _audited(outside, facts)
    for verdict in ("better", "worse"):
        rows = [prediction for prediction in outside if verdict_of(prediction) == verdict]
        if rows and is_possible:
            sentences += _assumed(rows, verdict)
            sentences += [words for row in rows if (words := rate_cap(row))] if verdict == "worse" else []
            sentences += tried(_farthest(rows), verdict, facts)
    return list(dict.fromkeys(sentences))


def _farthest(rows: Sequence[Predicted]) -> Predicted:
    """Return the row that is farthest off."""
    return max(rows, key=lambda prediction: abs(outside_of(prediction).log_ratio))


def _facts(machine: Named) -> MachineFacts | None:
    """Return the facts of a machine; None if its text cannot be read again."""
    if machine.text is not None and not machine.name.endswith(".toml"):
        return None
    try:
        return of_machine(machine.name)
    except UserError:
        return None


def _audited(rows: Sequence[Predicted], facts: MachineFacts | None) -> tuple[list[str], bool]:
    """Return findings of the auditor on the rows, each rule once, and whether the target can have done it."""
    wanted = {rule for row in rows for rule in RULES[verdict_of(row)]}
    audited = [Audited(row.row.name, row.row.record) for row in rows]
    sentences: dict[str, str] = {}
    for finding in findings(audited, facts):
        if finding.rule in wanted and finding.severity != "note":
            sentences.setdefault(finding.rule, f"{finding.title} ({finding.rule})")
    return list(sentences.values()), "faster-than-link" not in sentences


def _assumed(rows: Sequence[Predicted], verdict: Verdict) -> list[str]:
    """Return assumptions that may be wrong in this direction."""
    sentences = []
    options = [row.row.record["source"]["asked"] for row in rows]
    texts = [text for row in rows if row.row.load for text in row.row.load.assumed]
    if verdict == "better":
        if any(option["direct"] is not True for option in options):
            sentences.append("the host's page cache may have served I/Os: the result does not show direct I/O")
        if any((outside_of(row).figure.startswith("write") or _writes(row)) for row in rows):
            sentences.append(
                "a controller's protected cache may have completed writes, which are faster than predicted "
                "(controller = in a machine's file)"
            )
        if any("to a file" in text for text in texts):
            sentences.append("a file system completes reads of unwritten blocks itself, and merges writes")
        return sentences
    fastest = max((rate for row in rows if (rate := _rate_of_a_job(row)) is not None), default=0.0)
    if fastest >= NEAR_A_CORE:
        sentences.append(
            f"a job completed {number(fastest)} IOPS, and a core can issue about {number(OF_A_CORE)}: "
            "the processor may have been the limit, which [host] of a machine's file models"
        )
    if any("to a file" in text for text in texts):
        sentences.append("a file system adds its own I/Os and locks")
    return sentences


def _rate_of_a_job(prediction: Predicted) -> float | None:
    """Return the measured IOPS of each job; None if the result has the processor time of its jobs, which the auditor
    judges (`processor-bound`)."""
    source, rate = prediction.row.record["source"], prediction.row.record["summary"]["iops"]
    if source.get("job_cpu_pct") is not None or rate is None:
        return None
    return rate / max(source["asked"]["jobs"] or 1, 1)


def _writes(prediction: Predicted) -> bool:
    """Return whether writes are better than predicted."""
    return any(each.figure.startswith("write") and each.verdict == "better" for each in prediction.figures)
