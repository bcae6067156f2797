"""The parts of every way in which Hotband is given an input: the words of a command, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from probe import bases, written_by_hand
from probe.command import ENDINGS, REFUSED, Said, expect_well, is_past_first_check

Came = tuple[bool, bool]
"""What came of an input: whether it got past the first check, and whether it was taken."""
Way = Callable[[Path, Path, Path], Came]
"""Gives Hotband a damaged file: (what was made, an empty folder, the file)."""


def came(said: Said, is_json: bool = False, accepted: Sequence[int] = ENDINGS) -> Came:
    """Raises Wrong where the command ended as none should."""
    expect_well(said, accepted, is_json)
    return is_past_first_check(said), said.code != REFUSED


def filled(words: str, made: Path, folder: Path, file: Path) -> list[str]:
    """A command's words as arguments."""
    places = {
        "file": file, "out": folder / "out", "record": made / "records/closed", "other": made / "records/other",
        "store": made / "store", "trace": made / "traces/own.csv", "tiny": bases.ROOT / "tests/study/tiny",
    }  # fmt: skip
    places |= {f"out.{end}": folder / f"out.{end}" for end in ("html", "toml", "fio", "parm", "csv", "spc", "png")}
    return [
        re.sub(r"{([a-z.]+)}", lambda one: str(places.get(one[1], one[0])), word)
        for word in written_by_hand.arguments(words)
    ]
