"""A program: its name, requirements, settings and run function; and the result of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hotband.data.documents.program import FigureDoc

if TYPE_CHECKING:
    from hotband.execution.programs.work import Work


@dataclass(frozen=True)
class Need:
    """A required program of the system, and its package."""

    command: str
    package: str
    """Debian's package; empty if `make programs` builds it."""


@dataclass(frozen=True)
class Count:
    """A setting that is a whole number; what it counts, or its unit, is in its name or in `what`."""

    default: int
    what: str
    least: int = 1
    most: int = 1_000_000


@dataclass(frozen=True)
class Choice:
    """A setting with one of several words as its value. Default: the first word."""

    words: tuple[str, ...]
    what: str

    @property
    def default(self) -> str:
        """The first."""
        return self.words[0]


@dataclass(frozen=True)
class Size:
    """A setting that is a size with its unit."""

    default: str
    what: str
    least: str = "1 MiB"
    most: str = "100 TiB"


FILE_SYSTEM = Choice(("ext4", "xfs"), "file system that is made on the volumes of a machine; a folder has its own")
"""A setting of every program."""

Setting = Count | Choice | Size
Settings = Mapping[str, int | str]
"""Settings of a program: counts and bytes as numbers, choices as words."""


@dataclass(frozen=True)
class Outcome:
    """Result of a run: the program's version, its figures, its output, and notes for the user."""

    version: str
    figures: list[FigureDoc]
    text: str
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Program:
    """One real program as a workload; a file and a line in `hotband.execution.programs.PROGRAMS` each."""

    name: str
    title: str
    asks: str
    """Its load on the disk, in one line."""
    needs: tuple[Need, ...]
    settings: Mapping[str, Setting]
    run: Callable[[Work], Outcome]
    """Function that prepares, runs and reads the figures; the `Work` that it receives ends its processes and mounts."""
    volumes: tuple[str, ...] = ("data",)
    """Volumes that it uses where the machine has them by these names; see `Devices.volume`."""
    stands_for: Mapping[str, str] = field(default_factory=dict)
    """Catalog workloads that fio cannot run, for which it is the program, with the settings (`mix=vdi`) that do."""


def figure(name: str, value: float, unit: str) -> FigureDoc:
    """A figure."""
    return {"name": name, "value": value, "unit": unit}


def latencies(
    operation: str, mean: float | None, percentiles: Mapping[int, float], unit: str = "ms"
) -> list[FigureDoc]:
    """Mean and percentiles of a latency as figures; `of` names the operation, and may be empty."""
    begin = f"{operation} latency".strip()
    figures = [] if mean is None else [figure(f"{begin} mean", mean, unit)]
    return figures + [figure(f"{begin} p{rank}", value, unit) for rank, value in sorted(percentiles.items())]


def percentile(ordered: Sequence[float], rank: float) -> float:
    """The nearest-rank percentile of ordered values; at least one."""
    return ordered[max(0, math.ceil(len(ordered) * rank / 100) - 1)]
