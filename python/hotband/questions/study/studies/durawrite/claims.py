"""What the evaluation's figures claim, checked in the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.questions.study.runs import Results
from hotband.questions.study.studies.durawrite.cells import (
    ECO,
    NYTRO,
    OTHERS,
    S4500,
    amplified,
    mean_of,
    over,
    percent,
    published,
    rate,
    stated,
)

if TYPE_CHECKING:
    from hotband.data.documents.study import ClaimDoc

RATIO_WITHIN = 0.10
"""A ratio of write amplification that is off by no more than this is the published one; the ratios are 0 to 1."""

SAME_RATE = 0.01
"""Rates that differ by less are the same: both may be the rate that is asked for."""


def claim(name: str, text: str, holds: bool | None, measured: str, source: str) -> ClaimDoc:
    """One claim."""
    return {"id": name, "text": text, "holds": holds, "measured": measured, "source": source}


def ycsb_gains(results: Results) -> ClaimDoc:
    """Large records of little compressibility gain throughput."""
    gain = over(rate(results, NYTRO, "ycsb"), mean_of([rate(results, name, "ycsb") for name in OTHERS]))
    text = (
        "The compressing drive does more operations of YCSB A than the mean of the others "
        f"(published {stated(results, '-001'):+.0f} %)"
    )
    holds = None if gain is None else gain > 1
    measured = "not measured" if gain is None else percent(gain - 1, signed=True)
    return claim("ycsb-gains", text, holds, measured, published(results, "-001").id)


def vdi_ratio(results: Results) -> ClaimDoc:
    """A third of the write amplification under VDI."""
    ratio = over(amplified(results, NYTRO, "vdi"), mean_of([amplified(results, name, "vdi") for name in OTHERS]))
    printed = stated(results, "-007")
    text = f"Under VDI its write amplification is {printed:.2f} of the others' (within {RATIO_WITHIN:.1f})"
    holds = None if ratio is None else abs(ratio - printed) <= RATIO_WITHIN
    measured = "not measured" if ratio is None else f"{ratio:.2f}"
    return claim("vdi-ratio", text, holds, measured, published(results, "-007").id)


def vdi_is_not_faster(results: Results) -> ClaimDoc:
    """And still it is not the faster drive there."""
    rates = {name: rate(results, name, "vdi") for name in (NYTRO, S4500, ECO)}
    one, other = rates[NYTRO], rates[S4500]
    text = (
        "Under VDI it is no faster than the S4500 "
        f"(published {stated(results, '-004'):,.0f} and {stated(results, '-005'):,.0f} op/s)"
    )
    holds = None if one is None or other is None else one <= other * (1 + SAME_RATE)
    measured = " / ".join("–" if value is None else f"{value:,.0f}" for value in rates.values())
    return claim("vdi-not-faster", text, holds, f"{measured} op/s (with the 5200 ECO)", published(results, "-005").id)


def all_of(results: Results) -> list[ClaimDoc]:
    """Every claim that the visible figures make."""
    return [check(results) for check in (ycsb_gains, vdi_ratio, vdi_is_not_faster)]
