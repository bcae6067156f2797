"""What claims and findings of the Savvio study read from its cells."""

from __future__ import annotations

from statistics import geometric_mean, mean

from hotband.data.documents.record import known
from hotband.questions.study.definition import Published
from hotband.questions.study.runs import Results

PATTERNS = ("file-server", "web-server", "database")
"""The patterns of the published average."""
DESKTOP = ("desktop-business", "desktop-high-end", "desktop-image-editor", "desktop-boot", "desktop-copy")
POLICIES = {
    "savvio-raid1": "idle-or-nearest",
    "mirror-least-pending": "least-pending",
    "mirror-round-robin": "round-robin",
    "mirror-nearest-head": "nearest-head",
    "mirror-by-region": "by-region",
}


def published(results: Results, number_of: str) -> Published:
    """A published row by the end of its id."""
    return next(one for one in results.study.published if one.id.endswith(number_of))


def iops(results: Results, config: str, load: str) -> dict[int, float]:
    """IOPS of a cell by queue depth."""
    return {
        depth: known(record["summary"]["iops"]) for depth, record in sorted(results.cells[config, load].records.items())
    }


def ratio(results: Results, of: str, over: str, loads: tuple[str, ...] = PATTERNS) -> float:
    """Mean over loads and queue depths of one configuration's IOPS over another's."""
    pairs = [(iops(results, of, load), iops(results, over, load)) for load in loads]
    return mean(top[depth] / below[depth] for top, below in pairs for depth in below)


def access_ms(results: Results, config: str) -> float:
    """Mean access time."""
    value = results.value(config, "access", "access-time")
    assert value is not None, "the load completes I/Os"
    return value


def bandwidth(results: Results, config: str, load: str) -> float:
    """Bandwidth in MiB/s."""
    value = results.value(config, load, "bandwidth")
    assert value is not None, "the load completes I/Os"
    return value


def desktop(results: Results, of: str, over: str) -> float:
    """Geometric mean over the desktop loads of one configuration's bandwidth over another's."""
    return geometric_mean(bandwidth(results, of, load) / bandwidth(results, over, load) for load in DESKTOP)
