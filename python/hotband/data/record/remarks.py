"""Remarks on a run that change what its figures mean, as every answer prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.data.record.cached import write_cache_notes
from hotband.data.record.durability import durability_notes
from hotband.data.record.pools import pool_notes

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc


def remarks_of(record: RecordDoc) -> list[str]:
    """Return what survives a power failure, which cache served the writes, and what limited a pool."""
    return [*durability_notes(record), *write_cache_notes(record), *pool_notes(record)]
