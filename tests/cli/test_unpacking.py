"""A compressed trace that unpacks to too much: a question on a terminal, else an error; memory counts, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hotband.base import memory
from hotband.base.errors import UserError
from hotband.base.question import Way
from hotband.faces.commands import question as commands
from hotband.inference.traces.asked import UNPACK, default_unpack
from hotband.inference.traces.convert import asked_of
from hotband.inference.traces.show import ShowTraceQuestion

TOO_MUCH = UserError("a.gz", "", "", "unpacks to more than 200 times its size; expected a larger question.unpack")


@pytest.mark.parametrize(("reply", "is_read"), [("y", True), ("Yes", True), ("", False), ("n", False), (None, False)])
def test_only_a_user_at_a_terminal_may_agree(monkeypatch: pytest.MonkeyPatch, reply: str | None, is_read: bool) -> None:
    asked: list[str] = []

    def answered(question: ShowTraceQuestion, _: Way) -> int:
        if question.unpack is None:
            raise TOO_MUCH
        return question.unpack

    def prompt(text: str) -> str:
        asked.append(text)
        return str(reply)

    monkeypatch.setattr(commands, "answer", answered)
    way: Any = Way(lambda title: None, print, prompt=None if reply is None else prompt)  # type: ignore[arg-type,return-value]
    question = ShowTraceQuestion(source=(Path("a.gz"),))
    if is_read:
        assert commands._unpacking(question, way) == commands.WITHOUT_LIMIT
    else:
        with pytest.raises(UserError, match="unpacks to more than"):
            commands._unpacking(question, way)
    assert asked == ["a.gz unpacks to more than 200 times its size. Read it as a whole? [y/N]"] * (reply is not None)


@pytest.mark.parametrize(("left", "factor"), [(10**9, UNPACK), (200_000, 100), (1000, 2), (None, UNPACK)])
def test_half_of_the_available_memory_is_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: int | None, factor: int
) -> None:
    monkeypatch.setattr(memory, "available", lambda: left)
    packed = tmp_path / "a.gz"
    packed.write_bytes(b"\x1f\x8b" + bytes(998))
    assert default_unpack(packed) == factor
    assert f"unpack: Some({factor})" in asked_of(packed, {}).selection
    # What the user states is taken as it is, also the default, and a plain file does not unpack.
    assert f"unpack: Some({UNPACK})" in asked_of(packed, {"unpack": UNPACK}).selection
    packed.write_bytes(bytes(1000))
    assert default_unpack(packed) == UNPACK
