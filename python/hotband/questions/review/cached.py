"""Warnings about streams of a review that ended in a cache, so that their rate is that of the cache.

A run is judged by the counters of its drives at its end: data that a volatile write cache had not yet written to the
media, writes to a cache on flash or media that never filled, and reads served by a drive's memory. Look-ahead of
sequential reads is left out: it continues as long as the reader does. The counters cover whole runs, so a step that
ended in a cache is noticed if it is a large part of its run.
"""

from __future__ import annotations

from collections.abc import Mapping

from hotband.base.text.numbers import share
from hotband.data.documents.record import RecordDoc
from hotband.data.record.cached import write_cache_notes

PARTS = ("linear", "access", "streams", "streaming")
"""Parts of a review whose rates are quoted as those of the media."""
UNWRITTEN = 0.1
"""Share of the written data in a volatile cache at the end: the rate is off by at least as much."""
FROM_MEMORY = 0.5
"""Share of the reads served by a drive's memory."""


def cache_notes(part: str, records: Mapping[str, RecordDoc]) -> list[str]:
    """Return a sentence for each run of a part that ended in a cache."""
    if part not in PARTS:
        return []
    return [
        f"{part}, {name}: {words}" if name != part else f"{part}: {words}"
        for name, record in records.items()
        for words in _of(record)
    ]


def _of(record: RecordDoc) -> list[str]:
    """Return sentences on the counters of a run's drives."""
    total: dict[str, float] = {}
    for of_part in record["parts"]:
        for key, value in of_part["counters"].items():
            if isinstance(value, int | float):
                total[key] = total.get(key, 0.0) + value
    sentences = []
    written = total.get("written_bytes", 0.0)
    left = (written - total["destaged_bytes"]) / written if written and total.get("cached_writes") else 0.0
    if left >= UNWRITTEN:
        rate = "the write rate is partly that of the cache"
        sentences.append(f"ended with {share(left)} of its writes in a volatile write cache; {rate}")
    sentences += write_cache_notes(record)
    reads = total.get("reads", 0.0)
    hits = total.get("cache_hits", 0.0) - total.get("look_ahead_hits", 0.0)
    if reads and hits >= FROM_MEMORY * reads:
        sentences.append(f"the drives' memory served {share(hits / reads)} of the reads; the media is slower")
    return sentences
