"""Check a corpus: figures of one measurement that contradict each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hotband.base.text.numbers import number
from hotband.data.corpus.figure import PERCENTILES, Figure

AGREE = 0.15
"""Tolerance between rate times mean latency and the depth: fio's ramp, and submission, which clat excludes."""
FLUSHED = re.compile(r"sync", re.I)
"""Loads whose threads also wait for flushes, which the latency of writes excludes."""


@dataclass(frozen=True)
class Finding:
    """A contradiction: the broken rule, the figures, and the fault in a sentence."""

    rule: str
    ids: tuple[str, ...]
    text: str


def measurements(figures: Iterable[Figure]) -> list[tuple[Figure, ...]]:
    """Return the figures by measurement, in their order: those of one device, load, state and source."""
    grouped: dict[tuple[object, ...], list[Figure]] = {}
    for figure in figures:
        grouped.setdefault(figure.measurement, []).append(figure)
    return [tuple(group) for group in grouped.values()]


def check(figures: Sequence[Figure]) -> list[Finding]:
    """Return contradictions: ids that appear twice, percentiles that fall, rate times latency that is not the depth."""
    times = Counter(figure.id for figure in figures)
    findings = [
        Finding("ids", (name,), f"The id {name} appears {count} times.") for name, count in times.items() if count > 1
    ]
    for group in measurements(figures):
        findings += _falling(group)
        findings += _little(group)
    return findings


def _falling(group: Sequence[Figure]) -> Iterator[Finding]:
    """Yield percentiles that are lower than a percentile of a smaller share."""
    rising = sorted((figure for figure in group if figure.metric in PERCENTILES), key=lambda f: PERCENTILES[f.metric])
    for smaller, larger in pairwise(rising):
        if larger.high < smaller.low and larger.metric != smaller.metric:
            text = (
                f"{larger.device}: {larger.metric} is {larger.value} {larger.unit}, below {smaller.metric}, "
                f"{smaller.value} {smaller.unit}."
            )
            yield Finding("percentiles", (smaller.id, larger.id), text)


def _little(group: Sequence[Figure]) -> Iterator[Finding]:
    """Yield a closed loop whose rate times mean latency is not its depth, by more than the digits printed explain."""
    depth = group[0].outstanding
    rates = [figure for figure in group if figure.metric == "iops"]
    means = [figure for figure in group if figure.metric == "lat_mean"]
    if depth is None or group[0].side or FLUSHED.search(group[0].workload) or len(rates) != 1 or len(means) != 1:
        return
    in_flight = rates[0].middle * means[0].middle / 1e6
    allowed = AGREE + sum(_rounding(figure.value) for figure in (*rates, *means))
    if abs(in_flight / depth - 1.0) > allowed:
        text = (
            f"{rates[0].device}: {rates[0].value} {rates[0].unit} with a mean of {means[0].value} {means[0].unit} are "
            f"{number(in_flight)} I/Os in flight, and the depth is {depth}."
        )
        yield Finding("Little's law", (rates[0].id, means[0].id), text)


def _rounding(printed: str) -> float:
    """Return half a unit of the last digit of a printed number, as a share of the number; 0 for other text."""
    match = re.match(r"(\d+)(?:\.(\d+))?", printed)
    if match is None or not float(match[0]):
        return 0.0
    return 0.5 * 10.0 ** -len(match[2] or "") / float(match[0])
