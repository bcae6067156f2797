"""The command equivalent to the page's action: its words, and one line for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

Option = str | int | float | bool | Sequence[str] | None


def options(**given: Option) -> list[str]:
    """Options and their values: none for None, False and empty lists, the name alone for True, one each of a list.
    Names are those of the command line with `_` for `-`."""
    words: list[str] = []
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif isinstance(value, str | int | float) and value is not False:
            words += [option, f"{value:g}" if isinstance(value, float) else str(value)]
        elif isinstance(value, Sequence):
            words += [word for one in value for word in (option, str(one))]
    return words


def line(words: Sequence[str]) -> str:
    """Text to type into a POSIX shell: `hotband run ...`."""
    return shlex.join(["hotband", *words])
