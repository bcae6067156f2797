"""Tell whether the writes of a run were served by a cache of the drive that a longer run fills: the rate is that of the
cache, and later writes are slower. Judged by the counters of the drives at the end of the run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.base.text.numbers import share, span
from hotband.base.text.quantities import size_bytes
from hotband.data.record.states import values_of

if TYPE_CHECKING:
    from hotband.data.documents.record import PartDoc, RecordDoc

IN_PSLC = 0.9
"""Share of the writes in a pSLC cache from which the rate is that of the cache."""
BEFORE_FULL = 0.1
"""Share of the writes to the media cache of a shingled disk that found room without waiting, from which the rate is
not that of a full cache: there each one waits."""


def write_cache_notes(record: RecordDoc) -> list[str]:
    """Return a sentence for each kind of cache of the drives that the run did not fill, or filled only during it."""
    parts = record.get("parts", [])
    written, in_pslc = (_sum(parts, key) for key in ("written_bytes", "pslc_bytes"))
    in_cache = [part for part in parts if part["counters"].get("pslc_bytes")]
    writes, waited = (_sum(parts, key) for key in ("media_cache_writes", "blocked_writes"))
    notes = []
    if written and in_pslc >= IN_PSLC * written and all(_never_filled(part) for part in in_cache):
        slower = any(_is_slower_directly(record, part) for part in in_cache)
        later = "; sustained writes are slower" if slower else ""
        notes.append(f"the writes ended in the pSLC cache, which never filled{later}")
    if writes and not waited:
        media = "media cache of shingled disks"
        notes.append(f"the writes ended in the {media}, which never filled{_fill(record)}; sustained writes are slower")
    elif writes - waited > BEFORE_FULL * writes:
        before = f"{share((writes - waited) / writes)} of the writes came before it was full"
        notes.append(f"the media cache of shingled disks filled during the run: {before}; sustained writes are slower")
    return notes


def _sum(parts: list[PartDoc], key: str) -> float:
    """Return the sum of a counter over all parts."""
    counts = (part["counters"].get(key) for part in parts)
    return sum(count for count in counts if isinstance(count, int | float))


def _never_filled(part: PartDoc) -> bool:
    """Return whether a pSLC cache had room throughout the run: also with the data that it folded meanwhile, the data
    at the end would fit."""
    levels = part.get("at_end", {})
    folded = float(part["counters"].get("folded_bytes") or 0)
    return levels.get("pslc_bytes", 0) + folded < levels.get("pslc_size", 0)


def _is_slower_directly(record: RecordDoc, part: PartDoc) -> bool:
    """Return whether a drive programs its other blocks at a lower rate than the run reached."""
    rate = values_of(record, part["id"]).get("program_rate")
    written = float(part["counters"].get("written_bytes") or 0)
    return rate is not None and _core.quantity("rate", rate) < written / record["duration_ns"] * 1e9


def _fill(record: RecordDoc) -> str:
    """Return how full the fullest media cache is, and when it would be full; nothing if a value is missing."""
    fullest, soonest = 0.0, math.inf
    for part in record["parts"]:
        values = values_of(record, part["id"]) if part["counters"].get("media_cache_writes") else {}
        most = {"bytes": size_bytes(values.get("smr_cache_size", "")), "extents": values.get("smr_cache_extents")}
        for what, counter in (("bytes", "media_cache_written_bytes"), ("extents", "media_cache_writes")):
            used = part.get("at_end", {}).get(f"media_cache_{'used_bytes' if what == 'bytes' else what}")
            grown, end = part["counters"].get(counter), float(most[what] or 0)
            if used and grown and end:
                fullest = max(fullest, used / end)
                soonest = min(soonest, (end - used) / grown * record["duration_ns"])
    if not fullest:
        return ""
    return f" ({share(min(fullest, 1.0))}; full after another {span(max(soonest, 0.0))} at this rate)"
