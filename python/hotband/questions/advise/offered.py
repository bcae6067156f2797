"""The candidates if the user names no drives: drives sold for arrays, without those that another one exceeds in
everything for no more money."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.data.catalog.filters import filter_words, select_drives
from hotband.data.catalog.products import CatalogDrive, catalog_drives
from hotband.inference.amplification import uniform

if TYPE_CHECKING:
    from hotband.questions.advise.candidates import Drive

HOME_MARKETS = ("consumer", "desktop", "nas")
"""Markets whose drives are candidates only if they are named: arrays are not built of them."""
LESS = {
    "disk": {"seek_read_average": "time", "seek_write_average": "time", "command_overhead": "time"},
    "ssd": {
        "command_interval": "time", "write_interval": "time", "write_overhead": "time", "program_time": "time",
    },
}  # fmt: skip
"""Values of each mechanism that are faster if smaller, with their quantity."""
MORE = {
    "disk": {
        "rpm": "speed", "sustained_outer": "rate", "sustained_inner": "rate", "cache_size": "size", "queue_tags": "",
        "actuators": "", "write_cache_extents": "", "reorder_window": "",
    },
    "ssd": {"link_rate": "rate", "program_rate": "rate", "queue_tags": ""},
}  # fmt: skip
"""Values that are faster if larger."""
BEST = {"disk": {"smr": "off", "awc": "on"}, "ssd": {"plp": "on", "flush": "durable"}}
"""Options that are at least as fast as any other."""
ABSENT = {"write_interval": 0.0, "reorder_window": math.inf, "actuators": 1.0, "power_idle": math.inf}
"""Values of drives that do not state them; options are then off."""


def named_drives(words: Sequence[str]) -> list[str]:
    """Return the products that names, and words such as `nas` or `consumer`, select."""
    known = filter_words()
    names = [[drive.name for drive in select_drives([word]).drives] if word in known else [word] for word in words]
    return list(dict.fromkeys(name for some in names for name in some))


def offered(drives: Sequence[Drive]) -> list[Drive]:
    """Return the drives of the catalog that are candidates."""
    sold = {drive.name: drive for drive in catalog_drives()}
    pool = [drive for drive in drives if sold[drive.name].market not in HOME_MARKETS]
    figures = {drive.name: _figures(drive, sold[drive.name]) for drive in pool}
    return [
        drive
        for drive in pool
        if not any(
            other.kind == drive.kind and _exceeds(figures[other.name], figures[drive.name], other.name < drive.name)
            for other in pool
            if other is not drive
        )
    ]


def _exceeds(other: Mapping[str, float], drive: Mapping[str, float], is_first: bool) -> bool:
    """Return whether a drive is at least as good in every metric and better in one; of equal drives, the first by
    name."""
    return all(other[key] <= drive[key] for key in drive) and (
        is_first or any(other[key] < drive[key] for key in drive)
    )


def _figures(drive: Drive, sold: CatalogDrive) -> dict[str, float]:
    """Return the metrics of a drive, each better if it is lower."""
    figures = {
        "capacity": -float(sold.capacity_bytes),
        "price": sold.eur_per_tb * sold.capacity_bytes,
        "endurance": -float(sold.endurance_bytes or 0),
        "mtbf": -_number(drive, "reference.mtbf", "hours"),
        "power": _number(drive, "power_idle", "power"),
    }
    figures |= {key: _number(drive, key, quantity) for key, quantity in LESS[drive.kind].items()}
    figures |= {key: -_number(drive, key, quantity) for key, quantity in MORE[drive.kind].items()}
    figures |= {key: float(_text(drive, key) != best) for key, best in BEST[drive.kind].items()}
    if drive.is_flash:
        spare = _number(drive, "over_provisioning", "share") / 100
        figures["single read"] = _number(drive, "read_time", "time") + _number(drive, "read_overhead", "time")
        link = "link_write_rate" if "link_write_rate" in drive.values else "link_rate"
        figures["received"] = -_number(drive, link, "rate")
        figures["steady writes"] = -_number(drive, "program_rate", "rate") / uniform(spare)
    return figures


def _text(drive: Drive, key: str) -> str:
    return drive.values[key][0] if key in drive.values else "off"


def _number(drive: Drive, key: str, quantity: str) -> float:
    if key not in drive.values:
        return ABSENT.get(key, 0.0)
    text = drive.values[key][0]
    return _core.quantity(quantity, text) if quantity not in ("", "hours", "share") else float(text.split()[0])
