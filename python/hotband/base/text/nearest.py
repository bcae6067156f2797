"""Names that are nearly right: what was meant, before the list of what there is."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from hotband.base.errors import UserError

FEW = 12
"""Names that an error lists; of more it shows the nearest three alone, as `SpecError::unknown` of the engine does."""


def hint(name: str, known: Sequence[str], cutoff: float = 0.5) -> str:
    """`did you mean "NAME"? ` where one of `known` is near enough to be a slip of the pen; else nothing."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=cutoff)
    return f'did you mean "{near[0]}"? ' if near else ""


def unknown_name(where: str, name: str, known: Sequence[str]) -> UserError:
    """Return the error for a name that is none of `known`."""
    return UserError(where, "", name, expected(name, known))


def expected(name: str, known: Sequence[str]) -> str:
    """Return what is accepted in the place of an unknown name: all names if they are few, else the nearest."""
    if len(known) <= FEW:
        return f"{hint(name, known)}expected one of {', '.join(known)}"
    near = nearest(name, known)
    if not near:
        return f"expected one of {len(known)} names, such as {', '.join(known[:3])}"
    *others, last = near
    meant = f"{', '.join(others)} or {last}" if others else f'"{last}"'
    return f"did you mean {meant}? expected one of {len(known)} names"


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """Return up to three names that may be meant: those that begin with `name` or hold it, then by their letters."""
    lower = name.lower()
    begin = [one for one in known if lower and one.lower().startswith(lower)]
    hold = [one for one in known if len(lower) > 1 and lower in one.lower()]
    alike = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return list(dict.fromkeys([*begin, *hold, *alike]))[:3]
