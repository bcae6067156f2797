"""The command equivalent to the page's action: its words, and one line for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

Option = str | int | float | bool | Sequence[str] | None


def options(**given: Option) -> list[str]:
    """Return options with their values: nothing for None, False and empty lists, only the name for True, one option per
    item of a list. Names have `_` where the command line has `-`."""
    words: list[str] = []
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif isinstance(value, str | int | float) and value is not False:
            words += [option, f"{value:g}" if isinstance(value, float) else str(value)]
        elif isinstance(value, Sequence):
            words += [word for item in value for word in (option, str(item))]
    return words


def line(words: Sequence[str]) -> str:
    """Return the text to type into a POSIX shell: `hotband run ...`."""
    return shlex.join(["hotband", *words])
