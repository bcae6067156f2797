"""Do the commands of the guide run as they stand?"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from hotband.questions.advise import advise as advising
from hotband.questions.advise import search as searching
from hotband.questions.advise.finalists import Finalist

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "advise.md"


def test_the_example_and_the_lines_of_python_run(hotband, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "ROUNDS", (200, 600, 1_800))
    monkeypatch.setattr(advising, "FAILED_IOS", 900)
    # Drawn in other tests: this one is about the page.
    monkeypatch.setattr(advising, "drawn", lambda point, *_: Finalist(point, [], 1.0))
    found = re.findall(r"^```(\w+)\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    blocks = dict(found)
    assert [language for language, _ in found] == ["csv", "sh", "text", "python"]
    (tmp_path / "prices.csv").write_text(blocks["csv"])
    monkeypatch.chdir(tmp_path)
    done = hotband(*shlex.split(blocks["sh"])[1:])
    assert done.returncode == 0, done.stderr
    # Shorter runs than the page's say about the same: what is bought is its first sentence.
    assert done.stdout.split()[:13] == blocks["text"].split()[:13]
    assert (tmp_path / "advice.html").exists()
    exec(blocks["python"], said := {})
    assert said["advice"].recommended.machine
