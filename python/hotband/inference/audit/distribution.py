"""The latency distribution of the reads or writes of a run, from the most detailed form in the source.

Left out: interpolation inside a bucket. A share below a cut counts whole buckets whose upper edge is at or below it
(fio's coarse bins, histograms), so it is a lower bound. Between printed percentiles a quantile is interpolated on a
logarithmic scale and marked (`interpolated`).
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hotband.data.documents.record import StreamDoc, side_of
from hotband.data.documents.sides import Side
from hotband.data.record.stats import DIRECTIONS

# Half the width of a bucket relative to its value: 3 significant digits, 64 buckets a power of two
# (docs/guides/records.md).
RESOLUTION = {"hdr3": 0.0005, "hdr": 0.0005, "fio": 1 / 128}


@dataclass(frozen=True)
class Distribution:
    """Points (latency in ns, share of I/Os at or below it), both ascending, of `count` I/Os.

    `kind` is "histogram", "bins" (coarse) or "percentiles" (printed, with nothing between them).
    """

    kind: str
    values_ns: Sequence[float]
    shares: Sequence[float]
    count: int
    resolution: float = 0.0

    def share_below(self, cut_ns: float) -> float:
        """Return the share of I/Os known to be at or below a latency, a lower bound."""
        points = bisect.bisect_right(self.values_ns, cut_ns)
        return self.shares[points - 1] if points else 0.0

    def edge_below(self, cut_ns: float) -> float:
        """Return the edge (ns) up to which `share_below` counts."""
        points = bisect.bisect_right(self.values_ns, cut_ns)
        return self.values_ns[points - 1] if points else 0.0

    def quantile(self, share: float) -> float | None:
        """Return the latency (ns) that a share of the I/Os does not exceed; None above the last printed percentile."""
        index = bisect.bisect_left(self.shares, share - 1e-12)
        if index >= len(self.shares):
            return None
        if self.kind != "percentiles" or index == 0 or abs(self.shares[index] - share) <= 1e-12:
            return self.values_ns[index] if index or self.kind != "percentiles" or share >= self.shares[0] else None
        low, high = self.values_ns[index - 1], self.values_ns[index]
        part = (share - self.shares[index - 1]) / (self.shares[index] - self.shares[index - 1])
        return low if low <= 0 else math.exp(math.log(low) + part * (math.log(high) - math.log(low)))

    @property
    def interpolated(self) -> bool:
        """Whether quantiles are interpolated between printed percentiles."""
        return self.kind == "percentiles"


def sides_of(streams: Sequence[StreamDoc], direction: str | None = None) -> list[Side]:
    """Return the sides that did I/O, of one direction or of both."""
    wanted = DIRECTIONS if direction is None else (direction,)
    sides = [side_of(stream, name) for stream in streams for name in wanted]
    return [side for side in sides if side and side.get("count")]


def of(streams: Sequence[StreamDoc], direction: str | None, prefer: Sequence[str]) -> Distribution | None:
    """Return the distribution of a direction (None: both) by the first kind of `prefer` that all its sides have."""
    sides = sides_of(streams, direction)
    makers = {"histogram": _of_histograms, "bins": _of_bins, "percentiles": _of_percentiles}
    for kind in prefer:
        distribution = makers[kind](sides) if sides else None
        if distribution is not None:
            return distribution
    return None


def _buckets(side: Side) -> list[list[int]]:
    buckets: list[list[int]] = (side.get("histogram") or {}).get("buckets") or []
    return buckets


def _of_histograms(sides: Sequence[Side]) -> Distribution | None:
    kinds = {(side.get("histogram") or {}).get("kind", "none") for side in sides}
    if len(kinds) != 1 or not all(_buckets(side) for side in sides):
        return None
    kind = kinds.pop()
    counts: dict[float, int] = {}
    for side in sides:
        for value, count in _buckets(side):
            counts[value] = counts.get(value, 0) + count
    whole = sum(counts.values())
    if not whole:
        return None
    name = "bins" if kind == "bins" else "histogram"
    return _cumulative(
        name, {value: count / whole for value, count in counts.items()}, whole, RESOLUTION.get(kind, 0.0)
    )


def _of_bins(sides: Sequence[Side]) -> Distribution | None:
    if not all(side.get("latency_bins") for side in sides):
        return None
    whole = sum(side["count"] for side in sides)
    shares: dict[float, float] = {}
    for side in sides:
        for edge, pct in side["latency_bins"] or []:
            edge = math.inf if edge is None else float(edge)
            shares[edge] = shares.get(edge, 0.0) + pct / 100 * side["count"] / whole
    return _cumulative("bins", shares, whole, 0.0)


def _of_percentiles(sides: Sequence[Side]) -> Distribution | None:
    """Return the printed percentiles of a single side: those of several do not merge."""
    if len(sides) != 1 or not sides[0].get("percentiles"):
        return None
    points = sorted((pct / 100, float(value)) for pct, value in sides[0]["percentiles"] or [] if value)
    if not points:
        return None
    return Distribution("percentiles", [v for _, v in points], [s for s, _ in points], sides[0]["count"], 1 / 128)


def _cumulative(kind: str, shares: Mapping[float, float], count: int, resolution: float) -> Distribution:
    edges = sorted(shares)
    sums: list[float] = []
    for edge in edges:
        sums.append((sums[-1] if sums else 0.0) + shares[edge])
    return Distribution(kind, edges, [min(1.0, value) for value in sums], count, resolution)


FINE = ("histogram", "percentiles", "bins")
"""For quantiles: printed percentiles are finer than coarse bins."""
SHARES = ("histogram", "bins", "percentiles")
"""For shares below a cut."""
