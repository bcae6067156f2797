"""Mistakes in names: suggestions of similar ones, before the list of accepted ones, and names that occur twice."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence

from hotband.base.errors import UserError

FEW = 12
"""Most names that an error lists; with more it shows only the nearest three, as the engine's `SpecError::unknown`."""


def hint(name: str, known: Sequence[str], cutoff: float = 0.5) -> str:
    """Return `did you mean "NAME"? ` if one of `known` is near enough to be a typing error; else nothing."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=cutoff)
    return f'did you mean "{near[0]}"? ' if near else ""


def unknown_name(where: str, name: str, known: Sequence[str]) -> UserError:
    """Return the error for a name that is not in `known`."""
    return UserError(where, "", name, expected(name, known))


def expected(name: str, known: Sequence[str]) -> str:
    """Return accepted names for an unknown one: all names if there are few, else the nearest."""
    if len(known) <= FEW:
        return f"{hint(name, known)}expected one of {', '.join(known)}"
    near = nearest(name, known)
    if not near:
        return f"expected one of {len(known)} names, such as {', '.join(known[:3])}"
    *others, last = near
    meant = f"{', '.join(others)} or {last}" if others else f'"{last}"'
    return f"did you mean {meant}? expected one of {len(known)} names"


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """Return up to three likely intended names: those that begin with `name` or contain it, then those with similar
    letters."""
    lower = name.lower()
    begin = [candidate for candidate in known if lower and candidate.lower().startswith(lower)]
    hold = [candidate for candidate in known if len(lower) > 1 and lower in candidate.lower()]
    alike = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return list(dict.fromkeys([*begin, *hold, *alike]))[:3]


def repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurs more than once; None if all differ."""
    return next((name for name, times in Counter(names).items() if times > 1), None)
