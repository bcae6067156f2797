"""Rule group 0: a finding for each result whose figures contradict each other, and percentiles that a tool cut off."""

from __future__ import annotations

from collections.abc import Sequence

from hotband.base.claim import Claim
from hotband.base.text.numbers import span
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.consistency import LAST_BUCKET_NS, claims
from hotband.inference.audit.consistency_further import further
from hotband.inference.audit.consistency_over_time import over_time
from hotband.inference.audit.distribution import RESOLUTION, sides_of
from hotband.inference.audit.finding import Finding, Number, Rows


def check(runs: Sequence[Audited]) -> list[Finding]:
    """Return a finding for each result with figures that others contradict."""
    findings = []
    for run in runs:
        if run.is_published:
            continue
        wrong = [claim for claim in (*claims(run), *further(run), *over_time(run)) if not claim.holds]
        if wrong:
            findings.append(_finding(run, wrong))
        findings += _cut_percentiles(run)
    return findings


def _finding(run: Audited, wrong: Sequence[Claim]) -> Finding:
    first, more = wrong[0], len(wrong) - 1
    also = f" (and {more} more)" if more else ""
    rows: list[list[Number]] = [[claim.figure, claim.stated, claim.source, claim.low, claim.high] for claim in wrong]
    return Finding(
        "contradiction",
        "severe",
        (run.name,),
        f"Its figures contradict each other: {first.words}{also}",
        {"contradictions": len(wrong), "stated": first.stated, "least": first.low, "most": first.high},
        "One of them was changed, printed wrong, or is of another run: quote none of them, and repeat the run.",
        Rows(["figure", "stated", "follows from", "least", "most"], rows),
    )


def _cut_percentiles(run: Audited) -> list[Finding]:
    """Find percentiles that are the last of fio's buckets: longer latencies are counted in it."""
    if run.tool != "fio":
        return []
    last = LAST_BUCKET_NS[not run.version or run.version >= (2, 99)]
    for direction in run.directions():
        for side in sides_of(run.record["streams"], direction):
            cut = [pct for pct, value in side.get("percentiles") or [] if value >= last]
            high = side["latency_max_ns"]
            if cut and high is not None and high > last * (1 + RESOLUTION["fio"]):
                which = f"p{cut[0]:g} of the {direction}s"
                words = f"{which} is the last of fio's buckets, {span(last)}: the max is {span(high)}"
                advice = (
                    f"Quote it as more than {span(last)}; the log of each I/O (write_lat_log) has the latency itself."
                )
                numbers: dict[str, Number] = {"percentile": cut[0], "bucket_s": last / 1e9, "latency_max_s": high / 1e9}
                return [Finding("percentile-cut", "severe", (run.name,), words, numbers, advice)]
    return []
