"""Names of what the catalog holds."""

from __future__ import annotations

import hotband._core as _core
from hotband.data import catalog


def drive_names() -> list[str]:
    """Of the catalog's drives."""
    return catalog_names("drives")


def workload_names() -> list[str]:
    """Of the catalog's workloads."""
    return catalog_names("workloads")


def daemon_names() -> list[str]:
    """Of the catalog's daemons."""
    return catalog_names("osds")


def catalog_names(folder: str) -> list[str]:
    """Of the entries of a folder of the catalog."""
    return _core.catalog_names(catalog.CATALOG_DIR, folder)
