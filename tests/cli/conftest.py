"""Commands that run in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from hotband.faces.cli import main


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """Runs a command in an empty folder, in this process: its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def called(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["hotband", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        done = capsys.readouterr()
        return int(end.value.code or 0), done.out, done.err

    return called
