"""Rule group 3, faster than the wire: bandwidth above all ports of the target, or above its media, random or not.

Left out: links that drives share, controllers' caches (which answer faster than the drives behind them), and
compression by a drive, which writes less than it is sent.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotband.base.text.numbers import rate
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.facts import MachineFacts
from hotband.inference.audit.finding import Finding, Number

TOLERANCE = 0.02
"""Share above a bound that runtimes cut to milliseconds and rounded rates of ports explain."""
CACHES = 20.0
"""Times the caches that a run must move before they explain no more than a twentieth of its bandwidth."""


def check(runs: Sequence[Audited], facts_of: Sequence[MachineFacts | None]) -> list[Finding]:
    """Return a finding for each direction that is faster than ports or media allow."""
    findings = []
    for run, facts in zip(runs, facts_of, strict=True):
        for direction in run.directions() if facts is not None else ():
            finding = _of(run, facts, direction) if facts is not None else None
            if finding is not None:
                findings.append(finding)
                break
    return findings


def _of(run: Audited, facts: MachineFacts, direction: str) -> Finding | None:
    """Find a direction faster than the ports, or faster than the media over more data than caches hold."""
    figures = run.summary(direction)
    measured, moved = figures.get("bandwidth_bytes_per_s"), figures.get("bytes") or 0
    port, media = facts.port_bytes_per_s, facts.media_bytes_per_s
    if not measured:
        return None
    caches = facts.read_cache_bytes if direction == "read" else facts.write_cache_bytes
    if port and measured > (1 + TOLERANCE) * port:
        bound, what = port, "the ports"
    elif media and moved > CACHES * caches and measured > (1 + TOLERANCE) * media:
        bound, what = media, "the media"
    else:
        return None
    count = f" of {facts.drives} drives" if facts.drives and facts.drives > 1 else ""
    words = f"{rate(measured)} of {direction}s is more than {what} of {facts.name}{count} can do, {rate(bound)}"
    numbers: dict[str, Number] = {
        "bandwidth_bytes_per_s": measured,
        "bound_bytes_per_s": bound,
        "ratio": measured / bound,
        "bound_by": what.removeprefix("the "),
    }
    if run.asked.direct is False:
        cause = "The host's page cache served the I/Os: measure with direct I/O."
    elif what == "the media" and direction == "read":
        cause = "A cache served the I/Os: read more data than all caches hold."
    else:
        cause = "It is another device, a cache in front of it served them, or no data moved: check the target's name."
    return Finding("faster-than-link", "severe", (run.name,), words, numbers, cause)
