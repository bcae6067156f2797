"""Do the commands of the guides of inverse questions and of judged results run as they stand?"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from hotband.inference.interval.of_run import Drawn, figures_of
from hotband.questions.expect import predict
from hotband.questions.find import find

GUIDES = Path(__file__).parents[2] / "docs" / "guides"


@pytest.fixture(autouse=True)
def short_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands as they stand, with fewer I/Os a trial."""
    for name in ("MEASURED", "BEYOND", "RARE"):
        monkeypatch.setattr(find, name, 3_000)
    monkeypatch.setattr(predict, "IOS", 10_000)


def blocks(guide: str) -> list[tuple[str, str, str]]:
    """Language, file and text of each block."""
    text = (GUIDES / f"{guide}.md").read_text()
    return re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_the_questions_of_the_guide_are_answered(hotband) -> None:
    lines = [line for language, _, text in blocks("find") if language == "sh" for line in text.strip().splitlines()]
    assert len(lines) == 4
    for line in lines:
        done = hotband(*shlex.split(line)[1:])
        assert done.returncode == 0, (line, done.stderr)
        assert "not reached" not in done.stdout.lower()


def test_the_result_of_the_guide_is_judged_as_it_says(hotband, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of: dict[str, str] = {}
    for language, _, text in blocks("expect"):
        # Further blocks are of comparing.
        of.setdefault(language, text)
    (tmp_path / "run.json").write_text(of["json"])
    one, array = (shlex.split(line)[1:] for line in of["sh"].strip().splitlines())
    done = hotband(*one)
    assert done.stdout.startswith("As good as predicted for exos-15e900-512n: "), done.stderr
    # Drawn once: the others are about the commands.
    monkeypatch.setattr(predict, "draw", lambda spec, whole, *_: Drawn(figures_of(whole.record)))
    array = hotband(*array)
    assert json.loads(array.stdout)["verdict"] == "worse than expected"
    monkeypatch.chdir(tmp_path)
    exec(of["python"], found := {})
    assert found["e"].verdict == "inside the interval"
    assert set(found["e"].frame.columns) == {"row", "figure", "measured", "predicted", "low", "high", "verdict"}
