"""Statements of the evaluation, checked in the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.questions.study.runs import Results
from hotband.questions.study.studies.exos_15e900.cells import AWC_OFF, AWC_ON, TURBO, VARIANTS, number, published, short

if TYPE_CHECKING:
    from hotband.data.documents.study import ClaimDoc

WITHIN = 0.35
"""A claim with a number holds if the model comes within this share of it: the bound that the study's figures have."""
HALF_HOUR_NS = 30 * 60 * 1_000_000_000


def claim(name: str, text: str, holds: bool, measured: str, source: str) -> ClaimDoc:
    """One claim as a report shows it."""
    return {"id": name, "text": text, "holds": holds, "measured": measured, "source": source}


def low_depth(results: Results) -> ClaimDoc:
    """5 ms at the lowest queue depth."""
    first = number(results, AWC_OFF, "read", "qd1") or 0.0
    text = "At the lowest queue depth a random 4 KB I/O takes about 5 ms"
    return claim("qd1-latency", text, _about(first, 5), f"{first:.2f} ms", published(results, "-023").id)


def nearly_6000(results: Results) -> ClaimDoc:
    """Random reads of the whole array, and no gain from either cache."""
    reads = [results.iops(config, "read") for config in VARIANTS]
    text = "Random reads of the whole array reach nearly 6,000 IOPS, and neither cache changes that"
    near = all(_about(value, 5900) for value in reads) and max(reads) / min(reads) < 1.05
    return claim(
        "reads-do-not-gain", text, near, " / ".join(f"{value:.0f}" for value in reads), published(results, "-022").id
    )


def random_writes(results: Results) -> ClaimDoc:
    """Write cache and random writes."""
    gains = [results.iops(config, "write") / results.iops(AWC_OFF, "write") - 1 for config in (AWC_ON, TURBO)]
    text = "Advanced Write Cache lifts random writes by about 70 %"
    holds = all(_about(gain, 0.7) for gain in gains)
    return claim("writes-gain", text, holds, _gains(gains), published(results, "-024").id)


def mixed_loads(results: Results) -> ClaimDoc:
    """Write cache and mixes."""
    loads = ("half", "mixed")
    gains = [results.iops(AWC_ON, load) / results.iops(AWC_OFF, load) - 1 for load in loads]
    text = "Advanced Write Cache lifts mixed loads by about 40 % (here: half reads, 70 % reads)"
    holds = all(_about(gain, 0.4) for gain in gains)
    return claim("mixes-gain", text, holds, _gains(gains), "the evaluation's text")


def hot_band(results: Results) -> ClaimDoc:
    """Gain at 5 ms."""
    off, on, turbo = (number(results, config, "hot-band", "iops-at-5ms") for config in VARIANTS)
    gain = (published(results, "-014").value or 0.0) / (published(results, "-013").value or 1.0)
    text = (
        f"At 5 ms the hot band gains several-fold (published {gain:.1f}x; rests on the assumption that writes of "
        "RAID 5 are forced)"
    )
    ratios = [value / off for value in (on, turbo) if off and value]
    measured = (
        " / ".join(f"{ratio:.1f}x" for ratio in ratios) + f" ({short(results, AWC_ON)} / {short(results, TURBO)})"
    )
    holds = len(ratios) == 2 and _about(ratios[0], gain) and ratios[1] > 2
    return claim("hot-band-gains", text, holds, measured, published(results, "-014").id)


def warm_within(results: Results) -> list[ClaimDoc]:
    """Caches warm within the first half hour: from then on what flash holds no longer changes much."""
    listed = []
    for load, what in (("warm-up", "hot band, 16 threads"), ("web", "web server, 5 to 20 users")):
        caches = results.cells[TURBO, load].records[0]["caches"]
        warm = caches["warm_after_ns"]
        after = "not within the test" if warm is None else f"after {warm / 60e9:.0f} min"
        measured = f"warm {after}; flash answers {caches['flash_hit_ratio'] or 0:.0%} of random reads over the test"
        holds = warm is not None and warm <= HALF_HOUR_NS
        text = f"Caches warm within the first half hour ({what})"
        listed.append(claim(f"warm-{load}", text, holds, measured, "the evaluation's text"))
    return listed


def _about(value: float, stated: float) -> bool:
    return abs(value / stated - 1) <= WITHIN


def _gains(gains: list[float]) -> str:
    return " / ".join(f"{gain:+.0%}" for gain in gains)


def all_of(results: Results) -> list[ClaimDoc]:
    """Every claim of the evaluation that can be checked."""
    one = [low_depth, nearly_6000, random_writes, mixed_loads, hot_band]
    return [check(results) for check in one] + warm_within(results)
