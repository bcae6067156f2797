"""Statements of the evaluation, checked in the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.questions.study.runs import Results
from hotband.questions.study.studies.savvio_raid import files
from hotband.questions.study.studies.savvio_raid.cells import bandwidth, published, ratio

if TYPE_CHECKING:
    from hotband.data.documents.study import ClaimDoc

EQUAL = 0.10
"""Two averages within ten percent of each other count as a match: the bound that the study's ratios have."""
AHEAD = 1.05
"""Ahead is by more than five percent: seeds move these averages by less than one."""


def claim(name: str, text: str, holds: bool, measured: str, source: str) -> ClaimDoc:
    """One claim as a report shows it."""
    return {"id": name, "text": text, "holds": holds, "measured": measured, "source": source}


def mirror_matches_stripe(results: Results) -> ClaimDoc:
    """Server mixes."""
    found = ratio(results, "savvio-raid1", "savvio-raid0")
    text = "On server mixes a mirror matches a stripe (within 10 %)"
    return claim("mirror-matches-stripe", text, abs(found - 1) <= EQUAL, f"{found:.2f}x", published(results, "-026").id)


def mirror_reads(results: Results) -> ClaimDoc:
    """The pattern that only reads."""
    found = ratio(results, "savvio-raid1", "savvio-raid0", ("web-server",))
    text = "On random reads (web server) a mirror is clearly ahead of a stripe (by more than 5 %)"
    return claim("mirror-ahead-on-reads", text, found > AHEAD, f"{found:.2f}x", published(results, "-026").id)


def two_beat_one(results: Results) -> list[ClaimDoc]:
    """Two 10K disks against one of 15,000 rpm."""
    listed = []
    for level in ("raid0", "raid1"):
        found = ratio(results, f"savvio-{level}", "cheetah15-single")
        name = {"raid0": "a stripe", "raid1": "a mirror"}[level]
        text = f"On server mixes two Savvio 10K.1 in {name} beat one Cheetah 15K.4"
        listed.append(claim(f"{level}-beats-15k", text, found > 1, f"{found:.2f}x", published(results, "-027").id))
    return listed


def stripe_doubles(results: Results) -> ClaimDoc:
    """Linear reads."""
    found = bandwidth(results, "savvio-raid0", "linear-read") / bandwidth(results, "savvio-single", "linear-read")
    text = "A stripe doubles linear reads (within 10 %)"
    return claim("stripe-doubles", text, abs(found / 2 - 1) <= EQUAL, f"{found:.2f}x", published(results, "-007").id)


def all_of(results: Results) -> list[ClaimDoc]:
    """Every claim of the evaluation that can be checked."""
    return [
        mirror_matches_stripe(results),
        mirror_reads(results),
        *two_beat_one(results),
        stripe_doubles(results),
        files.worse_writes(results),
    ]
