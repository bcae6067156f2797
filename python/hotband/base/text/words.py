"""Words of a sentence: its first letter, names in a list, and a name cut to a width."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def capitalized(text: str) -> str:
    """Return the text with its first letter as a capital; the others stay, unlike with `str.capitalize`."""
    return f"{text[:1].upper()}{text[1:]}"


def cut(text: str, width: int) -> str:
    """Return at most `width` characters, the last an ellipsis if there are more."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def unused(name: str, taken: Collection[str], form: str = " ({})", *, any_case: bool = False) -> str:
    """Return the name; if it is taken (in `any_case`, as names of files are on some systems), the name with the first
    free number from 2, written in this form."""
    free, number = name, 2
    while free in taken or (any_case and free.lower() in map(str.lower, taken)):
        free, number = name + form.format(number), number + 1
    return free


def enumerated(names: Sequence[str], most: int) -> str:
    """Join names for a sentence: `a, b and c`; of more than `most` the first and the number of others."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
