"""A tool that hangs is waited for once and with a word; nested JSON of one is no crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from hotband.execution.devices import host as hosts
from hotband.execution.devices.device import asked_json
from hotband.execution.devices.host import Host


def tool(folder: Path, text: str) -> None:
    """Put an smartctl into a folder."""
    (folder / "smartctl").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "smartctl").chmod(0o755)


def test_a_tool_that_hangs_is_waited_for_once_and_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(tmp_path, "echo x >>$0.calls\nexec sleep 60")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(hosts, "_HUNG", set())
    monkeypatch.setattr(hosts, "SAY_AFTER_S", 0.05)
    said: list[str] = []
    for _ in range(3):
        output = Host(say=said.append).run("smartctl", "-i", "/dev/sdz", longest_s=0.6)
        assert output is not None
        assert output.errors == "smartctl did not end within 0.6 s"
    assert (tmp_path / "smartctl.calls").read_text() == "x\n"
    last = "smartctl did not end within 0.6 s: what it reports of /dev/sdz is missing"
    assert said == ["waiting for smartctl, 0.6 s at most", last]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000, "{", "1", "null"])
def test_json_that_is_none_is_an_empty_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "output").write_text(text)
    tool(tmp_path, f"cat {tmp_path}/output")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert asked_json(Host(), [], "smartctl", "--json", "/dev/sdz") == {}
