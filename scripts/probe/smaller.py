"""Makes an input that breaks something smaller, as long as it breaks the same."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from probe.mutate import Donors, Step, damaged, parsed, places, written

MOST_TRIES = 150
"""Inputs that are tried for one fault: most faults are a line by then, and a hang takes ten seconds a try."""
Breaks = Callable[[bytes], bool]


class Enough(Exception):
    """All tries were used."""


def smaller(
    form: str, base: bytes, steps: Sequence[Step], donors: Donors, breaks: Breaks, tries: int = MOST_TRIES
) -> bytes:
    """The smallest input that was found to break the same: without steps, then without parts."""
    best = damaged(form, base, steps, donors)
    left = tries

    def tried(data: bytes) -> bool:
        nonlocal left, best
        if left == 0:
            raise Enough
        left -= 1
        if not breaks(data):
            return False
        best = data
        return True

    try:
        chosen = list(steps)
        for one in steps if len(steps) > 1 else ():
            fewer = [other for other in chosen if other is not one]
            if fewer and tried(damaged(form, base, fewer, donors)):
                chosen = fewer
        if parsed(form, best) is not None:
            _without_keys(form, best, tried)
        else:
            _without_lines(best, tried)
    except Enough:
        pass
    return best


def _without_keys(form: str, data: bytes, tried: Callable[[bytes], bool]) -> None:
    """Leaves out values, the outer ones first."""
    tree, number = parsed(form, data), 0
    while number < len(list(places(tree))):
        smaller_tree: Any = copy.deepcopy(tree)
        holder, key = list(places(smaller_tree))[number]
        del holder[key]
        if tried(written(form, smaller_tree)):
            tree = smaller_tree
        else:
            number += 1


def _without_lines(data: bytes, tried: Callable[[bytes], bool]) -> None:
    """Leaves out lines, many at first, then bytes of what is left in the same way."""
    for mark in (b"\n", b""):
        pieces = data.split(mark) if mark else [data[n : n + 1] for n in range(len(data))] if len(data) < 400 else []
        size = max(1, len(pieces) // 2)
        while pieces and size:
            at = 0
            while at < len(pieces):
                fewer = pieces[:at] + pieces[at + size :]
                if tried(mark.join(fewer)):
                    pieces = fewer
                else:
                    at += size
            size //= 2
        data = mark.join(pieces) if pieces else data
