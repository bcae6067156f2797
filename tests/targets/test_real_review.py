"""Is hardware reviewed like a machine, without what fio cannot say?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import hotband as hb
from hotband.questions.review.suite import plan
from hotband.questions.review.target import targets_of

GIB = 1 << 30


def test_what_fio_cannot_say_is_left_out_with_the_reason(tmp_path: Path) -> None:
    [target] = targets_of([f"real:{tmp_path}"], (), None, 1, True, size_bytes=GIB)
    made = plan(target)
    assert target.capacity_bytes == GIB
    assert {"linear", "access", "block-sizes", "streams", "patterns", "streaming"} <= set(made.parts)
    said = "\n".join(made.notes)
    assert "files: left out, a job cannot express a script" in said
    assert "energy: left out, what hardware draws" in said
    with pytest.raises(hb.UserError, match="is of models: expected data or state for hardware"):
        targets_of([f"real:{tmp_path}"], (("wce", "off"),), None, 1, True)
    with pytest.raises(hb.UserError, match="happens to models alone"):
        targets_of([f"real:{tmp_path}"], (), None, 1, True, ["at 1 s: fail d0"])


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)")
def test_a_part_is_measured_on_a_folder(hotband, tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    asked = ("review", f"real:{folder}", "--size", "16 MiB", "--only", "access", "--quick", "--json")
    done = hotband(*asked, "--yes", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    access = json.loads(done.stdout)["access"]
    assert access["read"]["count"] == access["write"]["count"] - 1 == 2500
    assert 0 < access["read"]["mean_ns"] <= access["read"]["max_ns"]
    assert list(folder.iterdir()) == []
    assert "no terminal to ask: expected --yes" in hotband(*asked).stderr
