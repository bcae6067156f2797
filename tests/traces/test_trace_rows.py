"""Is nothing left of the rows of a trace once the program that made them is killed?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hotband.base.temporary import left_folders

KILLED = """
import os, signal, sys
from hotband.data.traces.files import rows_of
rows_of("w", sys.argv[1])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_rows_of_a_killed_program_are_found_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = tmp_path / "a.iolog"
    trace.write_text("fio version 3 iolog\n0 data add\n0 data open\n0 data read 0 4096\n")
    text = f'[trace]\nfile = "{trace}"\n'
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    subprocess.run([sys.executable, "-c", KILLED, text], check=False)
    monkeypatch.setattr("tempfile.tempdir", str(place))
    made = [path for path in place.iterdir() if path.is_dir()]
    assert len(made) == 1
    assert left_folders() == made
