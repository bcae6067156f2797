"""How tests ask questions below the faces: without progress, and with a list of what is said."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from hotband.base.question import Way


def quiet(say: Callable[[str], None] = lambda _: None) -> Way:
    """A way that shows nothing."""
    return Way(lambda _: nullcontext(), say)
