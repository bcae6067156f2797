"""Desktop applications: the catalog's `desktop-*` workloads, as they are. Which there are the catalog says."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from hotband import _core, catalogue
from hotband.catalog import CATALOG_DIR
from hotband.review.asked import GIB, Ask
from hotband.review.target import Target

PREFIX = "desktop-"
NEEDS = GIB


def names() -> list[str]:
    """Desktop workloads of the catalog."""
    return [name for name in _core.catalog_names(CATALOG_DIR, "workloads") if name.startswith(PREFIX)]


def asks(target: Target) -> list[Ask]:
    """A run for each."""
    return [Ask(name, tomllib.loads(catalogue.workload(name)["text"])) for name in names()]


def figures(target: Target, records: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rates of each. The ends are those of the mix's stated uncertainty; where the catalog states none they are the
    rate."""
    rows = []
    for name in records:
        entry, one = catalogue.workload(name), records[name]["summary"]
        rate = one["bandwidth_bytes_per_s"]
        rows.append(
            {
                "name": name,
                "title": entry["title"],
                "bandwidth_bytes_per_s": rate,
                "iops": one["iops"],
                "low_bytes_per_s": rate,
                "high_bytes_per_s": rate,
                "uncertainty": "not swung: a synthetic mix, not the original program",
            }
        )
    return rows
