"""Rule group 3, faster than physics: I/Os that the media of a disk cannot have served, and the rate without them.

A read at random of a spinning disk waits for its sector: in less than a quarter of a revolution few reads end, and in
less than an eighth almost none, however short the seeks and deep the queue (docs/guides/audit.md has the shares that
every disk of the catalog shows). Left out: sequential reads (look-ahead serves them), solid-state drives with an
unknown page read time, and measurements that include caches: then the finding says how much they served.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hotband.base.heavy import pl
from hotband.base.text.numbers import number, share, span
from hotband.data.documents.record import known
from hotband.data.record.stats import DIRECTIONS
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.distribution import Distribution
from hotband.inference.audit.facts import MachineFacts
from hotband.inference.audit.finding import Finding, Number

QUARTER_SHARE = 0.15
"""Share of reads faster than a quarter of a revolution that points to a cache. Of 90 model runs (three disks of 15,000,
10,000 and 7,200 rpm, queue depths 1 to 256, on 1 % to all of the disk) none had more than 12.6 % (10,000 rpm, 1 %,
depth 1)."""
EIGHTH_SHARE = 0.03
"""Share of reads faster than an eighth of a revolution that points to a cache: at most 1.1 % in these runs."""
UNKNOWN_CUT_NS = 2e6
"""Cut for an inferred disk: a quarter of a revolution of 7,200 rpm is 2.08 ms, an eighth of 15,000 rpm 0.5
ms."""
MODE_SHARE = 0.10
"""Least share of the I/Os on either side of the cut that makes two groups of them."""
SLOW_NS = 4e6
"""Least latency of the slow group, if it is disk reads: half a revolution of 7,200 rpm is 4.17 ms."""
VALLEY = 0.25
"""Largest share of I/Os from 2 to 4 ms, relative to the fullest factor of two in either group."""
SSD_SHARE = 0.15
"""Share of reads faster than reading a page of flash that points to a cache."""


@dataclass(frozen=True)
class Quick:
    """I/Os faster than the media: their share, the latency that they stay below, and how that is known."""

    share: float
    cut_ns: float
    why: str
    inferred: bool


def check(runs: Sequence[Audited], facts_of: Sequence[MachineFacts | None], replayed: frozenset[str]) -> list[Finding]:
    """Return all findings of the group. `replayed` names the runs whose offsets repeat (rule group 4)."""
    findings: list[Finding] = []
    for run, facts in zip(runs, facts_of, strict=True):
        if run.asked.pattern != "random":
            continue
        quick = quick_reads(run, facts)
        if quick is not None:
            findings.append(_served(run, facts, quick, run.name in replayed))
        findings += _medians(run, facts, quick is not None)
    return findings


def quick_reads(run: Audited, facts: MachineFacts | None) -> Quick | None:
    """Return the share of random reads that no media can have served, None if it is small or unknown."""
    reads = run.shares("read") if run.directions() and "read" in run.directions() else None
    if reads is None:
        return None
    if facts is not None and facts.rpm is not None and facts.revolution_ns is not None:
        return _on_disk(reads, facts.rpm, facts.revolution_ns)
    if facts is not None and facts.kind == "ssd":
        return _on_ssd(reads, facts)
    return _of_two_groups(reads)


def _on_disk(reads: Distribution, rpm: float, revolution_ns: float) -> Quick | None:
    quarter, eighth = revolution_ns / 4, revolution_ns / 8
    share = reads.share_below(quarter)
    if share <= QUARTER_SHARE and reads.share_below(eighth) <= EIGHTH_SHARE:
        return None
    why = f"a {number(rpm)} rpm disk turns once in {span(revolution_ns)}"
    return Quick(share, reads.edge_below(quarter), why, False)


def _on_ssd(reads: Distribution, facts: MachineFacts) -> Quick | None:
    floor = facts.read_time_ns
    if floor is None or reads.share_below(floor / 2) <= SSD_SHARE:
        return None
    why = f"reading a page of its flash alone takes {floor / 1e3:g} us"
    return Quick(reads.share_below(floor / 2), reads.edge_below(floor / 2), why, False)


def _of_two_groups(reads: Distribution) -> Quick | None:
    """Find a quick group below 2 ms (memory) and a slow one of several milliseconds (disks) with few I/Os between."""
    quick, slow = reads.share_below(UNKNOWN_CUT_NS), 1 - reads.share_below(SLOW_NS)
    if min(quick, slow) < MODE_SHARE or reads.kind == "percentiles":
        return None
    between = 1 - quick - slow
    if between > VALLEY * min(_highest(reads, 0, UNKNOWN_CUT_NS), _highest(reads, SLOW_NS, float("inf"))):
        return None
    why = "the slow group is disk reads, and a 7,200 rpm disk turns once in 8.33 ms"
    return Quick(quick, reads.edge_below(UNKNOWN_CUT_NS), why, True)


def _highest(reads: Distribution, low_ns: float, high_ns: float) -> float:
    """Return the largest share of I/Os in any factor of two of latency within a range."""
    best, edge = 0.0, min((value for value in reads.values_ns if value > low_ns), default=0.0)
    top = min(high_ns, max(reads.values_ns))
    while 0 < edge <= top:
        best = max(best, reads.share_below(min(edge * 2, top)) - reads.share_below(max(low_ns, edge * 0.999)))
        edge *= 2**0.5
    return best


def media_rate(run: Audited, share: float) -> tuple[float, float | None]:
    """Return the lower and upper bound of reads per second from the media; the upper is None if it is unbounded.

    lower = slow reads / runtime. The upper bound subtracts the least time that the quick reads need: that at the run's
    peak rate (the highest IOPS of any interval).
    """
    summary = run.summary("read")
    count, iops = known(summary["count"]), known(summary["iops"])
    seconds = count / iops
    slow, quick = count * (1 - share), count * share
    peak = peak_iops(run)
    rest = seconds - quick / peak if peak else 0.0
    return slow / seconds, slow / rest if rest > 0 else None


def peak_iops(run: Audited) -> float | None:
    """Return the most reads per second of any interval of the tool or the series; None unless above the run's mean."""
    sides = [stream.get("read") or {} for stream in run.record["streams"]]
    printed = [side.get("iops_max") for side in sides if side.get("count")]
    peak: float | None = None
    if len(printed) == 1 and printed[0]:
        peak = float(printed[0])
    elif run.series is not None and "iops" in run.series.columns:
        reads = run.series.filter(pl.col("direction") == "read").group_by("time_ns").agg(pl.col("iops").sum())
        highest = reads["iops"].max()
        peak = float(highest) if isinstance(highest, int | float) else None
    return peak if peak and peak > known(run.summary("read")["iops"]) else None


def _served(run: Audited, facts: MachineFacts | None, quick: Quick, replayed: bool) -> Finding:
    lower, upper = media_rate(run, quick.share)
    cut = f"{quick.cut_ns / 1e6:g} ms"
    numbers: dict[str, Number] = {
        "cache_served_pct": 100 * quick.share,
        "cut_ms": quick.cut_ns / 1e6,
        "iops": known(run.summary("read")["iops"]),
        "media_iops_lower": lower,
    }
    if upper is not None:
        numbers["media_iops_upper"] = upper
    if facts is not None and facts.drives:
        numbers |= {"drives": facts.drives, "media_iops_a_drive_lower": lower / facts.drives}
        if upper is not None:
            numbers["media_iops_a_drive_upper"] = upper / facts.drives
    severe = replayed or not (quick.inferred or (facts is not None and facts.known == "the record"))
    above = f" to {number(upper)}" if upper is not None else " or a little more"
    again = "It repeats the offsets of earlier runs: give every run a fresh seed. " if replayed else ""
    return Finding(
        "cache-served",
        "severe" if severe else "warning",
        (run.name,),
        f"{share(quick.share)} of the random reads completed within {cut}, faster than the media allow: {quick.why}",
        numbers,
        f"{again}They came from a cache (host, server or drive). Do not quote {number(numbers['iops'])} IOPS as the "
        f"media's rate, which is {number(lower)}{above} reads/s. Read more data than all caches hold, or state that "
        "caches are measured.",
    )


def _medians(run: Audited, facts: MachineFacts | None, is_cached: bool) -> list[Finding]:
    """Find medians below half a revolution: of reads without another finding, of writes that no cache may complete."""
    if facts is None or facts.revolution_ns is None:
        return []
    half = facts.revolution_ns / 2
    findings = []
    for direction in DIRECTIONS:
        writes = direction == "write"
        median = run.summary(direction).get("latency_p50_ns")
        if (
            median is None
            or median >= half
            or (writes and facts.write_through is not True)
            or (not writes and is_cached)
        ):
            continue
        source = "a write-through disk cannot do that" if writes else "the media cannot do that"
        advice = (
            "Writes were acknowledged from memory: is a write cache on, or a controller's? Power loss would lose them."
            if writes
            else "Most reads came from a cache: read more data than all caches hold, in a fresh order."
        )
        findings.append(
            Finding(
                "below-half-revolution",
                "severe",
                (run.name,),
                f"Half of the random {direction}s completed within {span(median)}, less than half a revolution "
                f"({span(half)}): {source}",
                {
                    "latency_p50_ms": median / 1e6,
                    "half_revolution_ms": half / 1e6,
                    "rpm": facts.rpm or 0.0,
                    "direction": direction,
                },
                advice,
            )
        )
    return findings
