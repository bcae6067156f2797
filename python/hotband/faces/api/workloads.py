"""Workloads of the catalog."""

from __future__ import annotations

from hotband.base.arguments import public
from hotband.data.catalog import entries


@public
def workload(name: str) -> str:
    """The TOML text of a workload of the catalog, to read or to change. Raises UserError for an unknown name."""
    return str(entries.workload(name)["text"])
