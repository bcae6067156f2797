"""Gains of two disks over one on files, concurrent writers and streams, and what a mirror costs on random writes.

What the test's patterns are is published by name alone. Sizes, depths and the way the average is taken are those of
`hotband review`, which the figures were predicted with before they were seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import geometric_mean, mean
from typing import TYPE_CHECKING

from hotband.data.documents.record import known
from hotband.questions.study.comparisons import error_of
from hotband.questions.study.measures import curve
from hotband.questions.study.runs import Results
from hotband.questions.study.studies.savvio_raid.cells import published
from hotband.questions.study.study import figure

if TYPE_CHECKING:
    from hotband.data.documents.study import ClaimDoc, FigureDoc

FILES = tuple(f"{op}-{size}-files" for size in ("small", "large") for op in ("read", "write", "copy"))
STREAMING = tuple(f"streaming-{op}-{size}" for op in ("read", "write") for size in ("small", "large"))
WRITERS = "write-streams"
SAVVIO, CHEETAH = "2x Savvio 10K.1", "2x Cheetah 10K.7"
WORSE = 1.05
"""Noticeably worse is by more than five percent; seeds move these means by less than one."""


def ratios(results: Results, of: str, over: str, loads: Iterable[str]) -> list[float]:
    """One configuration's IOPS over another's, at every depth or number of writers of each load."""
    found: list[float] = []
    for load in loads:
        top, below = (curve(results.cells[config, load].runs) for config in (of, over))
        found += [known(one.iops) / known(other.iops) for one, other in zip(top, below, strict=True)]
    return found


def gain(ending: str, results: Results, config: str, label: str, ratio: float) -> FigureDoc:
    """A gain in percent beside its published row, scored by the ratio that it stands for."""
    row, predicted = published(results, ending), (ratio - 1) * 100
    return figure(
        id=row.id,
        config=config,
        label=label,
        workload=row.workload,
        metric=row.metric,
        published=row.value,
        unit="%",
        predicted=predicted,
        error=error_of("gain_pct", row.value, predicted),
        source=row.id,
        caveat=row.caveat,
        group="Files" if "Files" in label or "writers" in label else "Linear",
    )


def gains(results: Results) -> list[FigureDoc]:
    """Published gains: of files and streams the geometric mean of all, of writers the mean."""
    listed = []
    for level, files, streaming in (("raid1", "-028", "-033"), ("raid0", "-029", "-031")):
        config = f"{SAVVIO}, {level.upper().replace('D', 'D ')}, over one"
        for ending, label, loads in ((files, "Files", FILES), (streaming, "Streaming", STREAMING)):
            found = ratios(results, f"savvio-{level}", "savvio-single", loads)
            listed.append(gain(ending, results, config, label, geometric_mean(found)))
    for ending, family, level, name in (
        ("-009", "savvio", "raid1", f"{SAVVIO}, RAID 1, over one"),
        ("-010", "cheetah10", "raid1", f"{CHEETAH}, RAID 1, over one"),
        ("-011", "cheetah10", "raid0", f"{CHEETAH}, RAID 0, over one"),
        ("-012", "savvio", "raid0", f"{SAVVIO}, RAID 0, over one"),
    ):
        found = ratios(results, f"{family}-{level}", f"{family}-single", [WRITERS])
        listed.append(gain(ending, results, name, "One to four writers of files of 100 MB", mean(found)))
    return listed


def write_ms(results: Results, config: str) -> float:
    """Mean time of a random write."""
    value = results.value(config, "write-access", "access-time")
    assert value is not None, "the load completes I/Os"
    return value


def random_writes(results: Results) -> list[FigureDoc]:
    """How many times as long a random write takes in a mirror as in a stripe, of both drives."""
    row = published(results, "-003")
    return [
        figure(
            id=f"{row.id}/{family}",
            config=f"{name}, RAID 1 against RAID 0",
            label="Random access, 512 B writes",
            workload=row.workload,
            metric=row.metric,
            published=row.value,
            unit=row.unit,
            predicted=write_ms(results, f"{family}-raid1") / write_ms(results, f"{family}-raid0"),
            source=row.id,
            caveat=row.caveat,
            group="Access time",
        )
        for family, name in (("savvio", SAVVIO), ("cheetah10", CHEETAH))
    ]


def worse_writes(results: Results) -> ClaimDoc:
    """What is published of the Savvio in words."""
    ratio = write_ms(results, "savvio-raid1") / write_ms(results, "savvio-single")
    return {
        "id": "mirror-slows-random-writes",
        "text": "Random writes take a mirror of two Savvio 10K.1 noticeably longer than one (by more than 5 %)",
        "holds": ratio > WORSE,
        "measured": f"{ratio:.2f}x",
        "source": published(results, "-005").id,
    }
