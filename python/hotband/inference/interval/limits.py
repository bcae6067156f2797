"""Physical limits of the figures of a run, whatever the evidence: ports and media, seek and rotation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hotband.inference.interval.ceiling import capped, room_of
from hotband.inference.interval.turns import bounded, latency_bounds

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.run import RunSpec


@dataclass(frozen=True)
class Limits:
    """Limits by figure: `room` has the rise of rates up to what ports and media carry, as log-ratios, `turns` the least
    and the greatest value that seek and rotation allow."""

    room: Mapping[str, float] = field(default_factory=dict)
    turns: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def within(
        self, name: str, predicted: float, ends: tuple[float, float], *, is_inverse: bool
    ) -> tuple[float, float]:
        """Return the ends of a figure's interval as log-ratios, within the limits (`is_inverse` as in `capped`)."""
        ends = capped(name, ends, self.room, is_inverse=is_inverse)
        return bounded(predicted, ends, self.turns[name]) if name in self.turns else ends


def limits_of(spec: RunSpec, record: RecordDoc) -> Limits:
    """Return the limits of a run. Raises UserError for a machine or a workload that cannot be read."""
    return Limits(room_of(spec, record), latency_bounds(spec, record))
