"""Does fuzzing tell an input that takes long from a busy machine, and from a target that starts slowly?"""

from __future__ import annotations

import sys
from pathlib import Path

import fuzz
import pytest

BURNS = """
import sys, time
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
burn(0.4)
data = open(sys.argv[1], "rb").read()
burn(1.2 if data == b"slow" else 0.0)
time.sleep(1.0 if data == b"waits" else 0.0)
"""


@pytest.mark.parametrize(("data", "slow"), [(b"slow", True), (b"waits", False), (b"quick", False)])
def test_an_input_is_slow_for_what_it_takes_of_the_processor_beyond_the_start(
    data: bytes, slow: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "MOST_S", 0.3)
    (tmp_path / "burns.py").write_text(BURNS)
    target = fuzz.Target("x", tmp_path, [sys.executable, str(tmp_path / "burns.py")], [])
    found = target.folder / "found/timeout-1"
    found.write_bytes(data)
    assert target.still_slow() == slow == found.exists()
