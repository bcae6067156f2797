"""Does the guide of sweeps run as it stands?"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "sweeps.md"
GUIDE = PAGE.read_text(encoding="utf-8").partition("## Experiments in Python")[0]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)


@pytest.mark.long
def test_its_commands_run_and_say_what_stands_there(hotband, tmp_path: Path) -> None:
    first, second = (shlex.split(block)[1:] for block in blocks("sh"))
    done = hotband(*first)
    assert done.returncode == 0, done.stderr
    said = re.search(r"\*(exos-15e900-512n has the most IOPS .*?)\*", GUIDE, re.DOTALL)
    assert said is not None
    assert " ".join(said[1].split()) in " ".join(done.stdout.split())
    assert hotband(*second).returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"qd.html", "grid.html", "qd"}
    assert {path.name for path in (tmp_path / "qd").iterdir()} == {"sweep.journal", "sweep.parquet"}


def test_its_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [block] = blocks("python")
    exec(block, {})
    assert (tmp_path / "python.html").is_file()
