"""Names of the catalog's entries."""

from __future__ import annotations

import hotband._core as _core
from hotband.data import catalog


def drive_names() -> list[str]:
    """Return the names of the catalog's drives."""
    return catalog_names("drives")


def workload_names() -> list[str]:
    """Return the names of the catalog's workloads."""
    return catalog_names("workloads")


def daemon_names() -> list[str]:
    """Return the names of the catalog's daemons."""
    return catalog_names("osds")


def catalog_names(folder: str) -> list[str]:
    """Return the names of the entries in a folder of the catalog."""
    return _core.catalog_names(catalog.CATALOG_DIR, folder)
