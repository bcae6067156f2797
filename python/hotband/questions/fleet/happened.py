"""Losses that happen in a repetition, drive by drive: of redundancy groups, from all failures of their drives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hotband.questions.fleet.failures import Events
from hotband.questions.fleet.plan import Floats, Indices

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Happened:
    """For each failure, whether it was one too many, and whether its rebuild ended without redundancy left, so that a
    sector that could not be read was lost."""

    loss: Flags
    bare: Flags

    def of(self, which: Flags) -> Happened:
        """Of some failures alone."""
        return Happened(self.loss & which, self.bare & which)


def happened(tolerated: int, group: Indices, failures: Events, until: Floats) -> Happened:
    """What each failure came to. `group` is the redundancy group of each, `until` the hour at which its machine ends
    its service."""
    count = len(failures)
    if tolerated == 0:
        return Happened(np.ones(count, dtype=bool), np.zeros(count, dtype=bool))
    # Drives of a group that are missing after each failure and each return. Every drive returns at some time, so that
    # the sum over all groups is that of the one group; at the same hour a drive returns before another fails.
    step = np.repeat([1, -1], count)
    order = np.lexsort((step, np.concatenate([failures.at, failures.back]), np.tile(group, 2)))
    missing = np.empty(2 * count, dtype=np.int64)
    missing[order] = np.cumsum(step[order])
    loss = missing[:count] == tolerated + 1
    bare = (missing[count:] == tolerated - 1) & (failures.back <= until)
    return Happened(loss, bare)
