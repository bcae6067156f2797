"""Names that are nearly right: what was meant, before the list of what there is."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from hotband.base.errors import UserError


def hint(name: str, known: Sequence[str], cutoff: float = 0.5) -> str:
    """`did you mean "NAME"? ` where one of `known` is near enough to be a slip of the pen; else nothing."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=cutoff)
    return f'did you mean "{near[0]}"? ' if near else ""


def unknown_name(where: str, name: str, known: Sequence[str]) -> UserError:
    """The error for a name that is none of `known`."""
    return UserError(where, "", name, f"{hint(name, known)}expected one of {', '.join(known)}")
