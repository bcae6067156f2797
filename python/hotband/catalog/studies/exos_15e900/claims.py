"""Statements of the evaluation, checked in the model."""

from __future__ import annotations

from typing import Any

from hotband.catalog.studies.exos_15e900.cells import AWC_OFF, AWC_ON, TURBO, VARIANTS, number, published, short
from hotband.studyruns import Results

HALF_HOUR_NS = 30 * 60 * 1_000_000_000
FIVE_MINUTES_NS = 5 * 60 * 1_000_000_000


def claim(name: str, text: str, holds: bool, measured: str, source: str) -> dict[str, Any]:
    """One claim as a report shows it."""
    return {"id": name, "text": text, "holds": holds, "measured": measured, "source": source}


def low_depth(results: Results) -> dict[str, Any]:
    """5 ms at the lowest queue depth."""
    first = number(results, AWC_OFF, "read", "qd1") or 0.0
    text = "At the lowest queue depth a random 4 KB I/O takes about 5 ms"
    return claim("qd1-latency", text, abs(first / 5 - 1) < 0.1, f"{first:.2f} ms", published(results, "-023").id)


def nearly_6000(results: Results) -> dict[str, Any]:
    """Random reads of the whole array, and no gain from either cache."""
    reads = [results.iops(config, "read") for config in VARIANTS]
    text = "Random reads of the whole array reach nearly 6,000 IOPS, and neither cache changes that"
    near = all(5400 <= value <= 6300 for value in reads) and max(reads) / min(reads) < 1.05
    return claim(
        "reads-do-not-gain", text, near, " / ".join(f"{value:.0f}" for value in reads), published(results, "-022").id
    )


def random_writes(results: Results) -> dict[str, Any]:
    """Write cache and random writes."""
    gains = [results.iops(config, "write") / results.iops(AWC_OFF, "write") - 1 for config in (AWC_ON, TURBO)]
    text = "Advanced Write Cache lifts random writes by about 70 % (here: by 50 to 100 %)"
    holds = all(0.5 <= gain <= 1.0 for gain in gains)
    return claim("writes-gain", text, holds, _gains(gains), published(results, "-024").id)


def mixed_loads(results: Results) -> dict[str, Any]:
    """Write cache and mixes."""
    loads = ("half", "mixed")
    gains = [results.iops(AWC_ON, load) / results.iops(AWC_OFF, load) - 1 for load in loads]
    text = "Advanced Write Cache lifts mixed loads by about 40 % (here: half reads and 70 % reads, by 25 to 60 %)"
    holds = all(0.25 <= gain <= 0.6 for gain in gains)
    return claim("mixes-gain", text, holds, _gains(gains), "the evaluation's text")


def hot_band(results: Results) -> dict[str, Any]:
    """Gain at 5 ms."""
    off, on, turbo = (number(results, config, "hot-band", "iops-at-5ms") for config in VARIANTS)
    text = "At 5 ms the hot band gains several-fold"
    ratios = [value / off for value in (on, turbo) if off and value]
    measured = (
        " / ".join(f"{ratio:.1f}x" for ratio in ratios) + f" ({short(results, AWC_ON)} / {short(results, TURBO)})"
    )
    holds = len(ratios) == 2 and min(ratios) >= 2.5
    return claim("hot-band-gains", text, holds, measured, published(results, "-014").id)


def warm_within(results: Results) -> list[dict[str, Any]]:
    """Caches warm within the first half hour: the hit ratio has then what it has at the end."""
    listed = []
    for load, what in (("warm-up", "hot band"), ("web", "web server")):
        at_half_hour, at_end = _hit_ratios(results, load)
        text = f"Caches warm within the first half hour ({what})"
        measured = f"flash answers {at_half_hour:.0%} of random reads after 30 min, {at_end:.0%} at the end"
        holds = at_end > 0 and at_half_hour >= 0.9 * at_end
        listed.append(claim(f"warm-{load}", text, holds, measured, "the evaluation's text"))
    return listed


def _hit_ratios(results: Results, load: str) -> tuple[float, float]:
    """Flash hit ratio in the five minutes before the half hour and in the last five."""
    caches = results.cells[TURBO, load].runs[0].caches or {}
    times = [int(time) for time in caches.get("time_ns", [])]
    end = times[-1] if times else 0

    def ratio(to: int) -> float:
        inside = [index for index, time in enumerate(times) if to - FIVE_MINUTES_NS <= time < to]
        hits = sum(int(caches["flash_hits"][index]) for index in inside)
        misses = sum(int(caches["flash_misses"][index]) for index in inside)
        return hits / (hits + misses) if hits + misses else 0.0

    return ratio(HALF_HOUR_NS), ratio(end)


def _gains(gains: list[float]) -> str:
    return " / ".join(f"{gain:+.0%}" for gain in gains)


def all_of(results: Results) -> list[dict[str, Any]]:
    """Every claim of the evaluation that can be checked."""
    one = [low_depth, nearly_6000, random_writes, mixed_loads, hot_band]
    return [check(results) for check in one] + warm_within(results)
