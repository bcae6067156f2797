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
            {"written_bytes": 1000, "pslc_bytes": 900},
            ["streams, write: the writes ended in the pSLC cache, which never filled; sustained writes are slower"],
        ),
        ({"written_bytes": 1000, "pslc_bytes": 899}, []),
        (
            {"reads": 10, "cache_hits": 6, "look_ahead_hits": 1},
            ["streams, write: the drives' memory served 50 % of the reads; the media is slower"],
        ),
        ({"reads": 10, "cache_hits": 10, "look_ahead_hits": 6}, []),
    ],
)  # fmt: skip
def test_counters_tell_where_a_run_ended_in_a_cache(counters: dict[str, int], notes: list[str]) -> None:
    assert cache_notes("streams", {"write": record(**counters)}) == notes


def test_parts_that_are_about_buffers_are_not_warned_of() -> None:
    assert cache_notes("block-sizes", {"write": record(written_bytes=1000, pslc_bytes=1000)}) == []


def test_a_new_consumer_drive_is_warned_of_and_a_full_one_is_not() -> None:
    new, full = (
        review("980-pro-1tb", set=(("state", state),), only=["streams"], quick=True)["notes"]
        for state in ("fob", "preconditioned")
    )
    warning = "streams, write: the writes ended in the pSLC cache, which never filled; sustained writes are slower"
    assert warning in new
    assert warning not in full
