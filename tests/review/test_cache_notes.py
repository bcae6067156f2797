"""Does a review warn where a stream ended in a cache, and stay silent where it did not?"""

from __future__ import annotations

from typing import Any, cast

import pytest

from hotband.questions.review.cached import cache_notes
from hotband.questions.review.suite import review


def record(**counters: int) -> Any:
    """A record of one drive with these counters."""
    return cast("Any", {"parts": [{"id": "d0", "kind": "disk", "counters": counters}]})


@pytest.mark.parametrize(
    ("counters", "notes"),
    [
        (
            {"written_bytes": 1000, "destaged_bytes": 900, "cached_writes": 9},
            ["streams, write: ended with 10 % of its writes in a volatile write cache; the write rate is partly that "
             "of the cache"],
        ),
        ({"written_bytes": 1000, "destaged_bytes": 901, "cached_writes": 9}, []),
        ({"written_bytes": 1000, "destaged_bytes": 0, "cached_writes": 0}, []),
        (
            {"reads": 10, "cache_hits": 6, "look_ahead_hits": 1},
            ["streams, write: the drives' memory served 50 % of the reads; the media is slower"],
        ),
        ({"reads": 10, "cache_hits": 10, "look_ahead_hits": 6}, []),
    ],
)  # fmt: skip
def test_counters_tell_where_a_run_ended_in_a_cache(counters: dict[str, int], notes: list[str]) -> None:
    assert cache_notes("streams", {"write": record(**counters)}) == notes


@pytest.mark.parametrize(
    ("counters", "used", "is_noted"),
    [
        ({"pslc_bytes": 900}, 1999, True),
        ({"pslc_bytes": 899}, 1999, False),
        ({"pslc_bytes": 1000}, 2000, False),
        ({"pslc_bytes": 1000, "folded_bytes": 500}, 1499, True),
        ({"pslc_bytes": 1000, "folded_bytes": 500}, 1500, False),
    ],
)
def test_a_flash_cache_that_was_full_is_not_called_empty(counters: dict[str, int], used: int, is_noted: bool) -> None:
    """It was if the data at the end, and what the drive folded meanwhile, fill it."""
    of_drive = record(written_bytes=1000, **counters)
    of_drive["parts"][0]["at_end"] = {"pslc_bytes": used, "pslc_size": 2000}
    of_drive["spec"] = {}
    notes = ["streams, write: the writes ended in the pSLC cache, which never filled"] * is_noted
    assert cache_notes("streams", {"write": of_drive}) == notes


def test_parts_that_are_about_buffers_are_not_warned_of() -> None:
    in_cache = record(written_bytes=1000, destaged_bytes=0, cached_writes=9)
    assert cache_notes("streams", {"write": in_cache})
    assert cache_notes("block-sizes", {"write": in_cache}) == []


def test_a_new_consumer_drive_is_warned_of_and_a_full_one_is_not() -> None:
    new, full = (
        review("980-pro-1tb", set=(("state", state),), only=["streams"], quick=True)["notes"]
        for state in ("fob", "preconditioned")
    )
    warning = "streams, write: the writes ended in the pSLC cache, which never filled; sustained writes are slower"
    assert warning in new
    assert warning not in full
