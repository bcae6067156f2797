"""What could explain a result outside its interval: findings of the auditor, what was assumed, and runs with another
setting of the drives.

What it leaves out: what no result and no model shows, such as other load on the target or an array that is degraded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.numbers import number
from hotband.base.text.table import unit_of
from hotband.execution.experiment import Experiment, Point
from hotband.execution.runs.run import refusal
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.facts import MachineFacts, of_machine
from hotband.inference.audit.rules import findings
from hotband.questions.expect.judge import Judged, compared, first_outside
from hotband.questions.expect.predict import Predicted

if TYPE_CHECKING:
    from hotband.data.documents.expected import Verdict
    from hotband.data.inputs.specify import Named

OF_A_CORE = 333_000
"""I/Os a second that one core hands out and takes back with `pread` and interrupts: 3 us of 2.5 to 4
(docs/models/host.md)."""
NEAR_A_CORE = 250_000
"""I/Os a second of a job from which on the processor may be the limit: the slowest core of that range, 4 us."""
WHAT_IF = (
    ("wce", "on", "the drives' volatile write cache on"),
    ("wce", "off", "the drives' write cache off"),
    ("state", "fob", "drives that are new (nothing was written before)"),
    ("data", "0.3", "data that compresses to 30 %"),
)
"""Settings that testers leave unsaid, and what they mean."""
CLOSER = 0.5
"""A setting is worth a word where it takes half of the distance (in logarithms) away."""
ANY = ("drift", "no-steady-state", "warm-up-measured", "short-run", "littles-law", "below-half-revolution")
RULES: dict[Verdict, tuple[str, ...]] = {
    "better": ("cache-served", "replayed-offsets", "working-set-in-cache", "not-preconditioned", *ANY),
    "worse": ("mixed-jobs", "processor-bound", *ANY),
}
"""Rules of the auditor whose findings explain a figure that is better or worse (docs/guides/audit.md)."""


def explanations(predicted: Sequence[Predicted], machine: Named) -> list[str]:
    """What could explain the rows that are outside, most of them first."""
    outside = [prediction for prediction in predicted if first_outside(prediction.figures)]
    if not outside:
        return []
    sentences = _audited(outside, machine)
    for verdict in ("better", "worse"):
        rows = [prediction for prediction in outside if _verdict(prediction) == verdict]
        if rows:
            sentences += _assumed(rows, verdict)
            sentences += _what_if(_farthest(rows))
    return list(dict.fromkeys(sentences))


def _verdict(prediction: Predicted) -> Verdict:
    """That of the first figure outside."""
    return _outside(prediction).verdict or "worse"


def _outside(prediction: Predicted) -> Judged:
    return first_outside(prediction.figures) or prediction.figures[0]


def _farthest(rows: Sequence[Predicted]) -> Predicted:
    """The row that is farthest off."""
    return max(rows, key=lambda prediction: abs(_outside(prediction).log_ratio))


def _audited(rows: Sequence[Predicted], machine: Named) -> list[str]:
    """Findings of the auditor on the rows; each rule once."""
    facts: MachineFacts | None = None
    if machine.text is None or machine.name.endswith(".toml"):
        try:
            facts = of_machine(machine.name)
        except UserError:
            facts = None
    wanted = {rule for row in rows for rule in RULES[_verdict(row)]}
    audited = [Audited(row.row.name, row.row.record) for row in rows]
    sentences: dict[str, str] = {}
    for finding in findings(audited, facts):
        if finding.rule in wanted and finding.severity != "note":
            sentences.setdefault(finding.rule, f"{finding.title} ({finding.rule})")
    return list(sentences.values())


def _assumed(rows: Sequence[Predicted], verdict: Verdict) -> list[str]:
    """What was assumed, where that may be wrong in this direction."""
    sentences = []
    options = [row.row.record["source"]["asked"] for row in rows]
    texts = [text for row in rows if row.row.load for text in row.row.load.assumed]
    if verdict == "better":
        if any(option["direct"] is not True for option in options):
            sentences.append("the host's page cache may have answered: that it was passed by is not in the result")
        if any("whole target" in text for text in texts):
            sentences.append("a smaller part of the target may have been used than all of it: span=SIZE says which")
        if any((_outside(row).figure.startswith("write") or _writes(row)) for row in rows):
            sentences.append(
                "a controller's protected cache may have answered writes (controller = in a machine's file)"
            )
        if any("to a file" in text for text in texts):
            sentences.append("a file system answers reads of what was never written, and gathers writes")
        return sentences
    fastest = max((rate for row in rows if (rate := _rate_of_a_job(row)) is not None), default=0.0)
    if fastest >= NEAR_A_CORE:
        sentences.append(
            f"a job did {number(fastest)} I/Os a second, and a core hands out about {number(OF_A_CORE)}: "
            "the processor may have been the limit, which [host] of a machine's file models"
        )
    if any(option["ramp_ns"] in (None, 0) for option in options):
        sentences.append("the warm-up is in the measured time: no ramp was asked for")
    if any("to a file" in text for text in texts):
        sentences.append("a file system adds its own I/Os and locks")
    return sentences


def _rate_of_a_job(prediction: Predicted) -> float | None:
    """Measured I/Os a second of each job; None where the result has the processor time of its jobs, by which the
    auditor judges (`processor-bound`)."""
    source, rate = prediction.row.record["source"], prediction.row.record["summary"]["iops"]
    if source.get("job_cpu_pct") is not None or rate is None:
        return None
    return rate / max(source["asked"]["jobs"] or 1, 1)


def _writes(prediction: Predicted) -> bool:
    """Whether writes are better than they should be."""
    return any(each.figure.startswith("write") and each.verdict == "better" for each in prediction.figures)


def _what_if(prediction: Predicted) -> list[str]:
    """Runs with another setting, where that comes closer."""
    held = dict(prediction.spec.set)
    tried = [
        (replace(prediction.spec, id=f"{key}={value}", set=(*prediction.spec.set, (key, value))), words)
        for key, value, words in WHAT_IF
        if key not in held
    ]
    accepted = [(spec, words) for spec, words in tried if refusal([spec]) is None]
    if not accepted or prediction.row.load is None:
        return []
    finished = {run.spec.id: run for run in Experiment([Point(spec) for spec, _ in accepted]).run().finished}
    main, sentences = _outside(prediction), []
    for spec, words in accepted:
        figures = {
            each.figure: each
            for each in compared(prediction.row.record, finished[spec.id].record, prediction.row.load.asks)
        }
        other = figures.get(main.figure)
        if other is not None and abs(other.log_ratio) < (1 - CLOSER) * abs(main.log_ratio):
            sentences.append(f"{words}: {_said(other)} would be predicted ({spec.id}; {prediction.row.name})")
    return sentences


def _said(figure: Judged) -> str:
    return unit_of(figure.figure).shown(figure.predicted)
