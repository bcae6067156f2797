"""Can symbolic links of another user redirect a command, and does a circle of links end in a one-line error?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from in_process import command_line

NOBODY = 65_534
RUN = ("run", "fio-randread", "--on", "ent-15k", "--duration", "1 ms")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a link of another user")
@pytest.mark.parametrize("owner", [NOBODY, 0])
def test_files_are_not_replaced_through_links_of_others(owner: int, tmp_path: Path) -> None:
    private, out = tmp_path / "private", tmp_path / "out"
    private.write_text("precious")
    out.mkdir()
    (out / "record.json").symlink_to(private)
    os.lchown(out / "record.json", owner, owner)
    code, _, said = command_line(*RUN, "--out", str(out))
    if owner:
        assert code == 2
        assert f"{out / 'record.json'} is a symbolic link of another user; expected a path without it" in said
        assert private.read_text() == "precious"
    else:
        assert code == 0
        assert private.read_text().startswith("{")


@pytest.mark.parametrize(
    "command", [("audit",), ("compare", "{loop}"), ("report", "-o", "x.html"), ("import", "auto"), ("trace", "show")]
)
def test_a_circle_of_links_is_named(command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    code, _, said = command_line(*(word.replace("{loop}", str(loop)) for word in command), str(loop))
    assert code == 2
    assert said.splitlines()[-1].startswith("hotband: error: ")
    assert "loop" in said
