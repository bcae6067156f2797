"""Do intervals of a machine that is a file use the text that its run used, wherever that lies, and is the run printed
whatever becomes of them?"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import hotband as hb
from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR
from hotband.data.documents.run import RunSpec
from hotband.execution.experiment.experiment import execute
from hotband.inference.interval.of_run import Asked, draw, pinned

Hotband = Callable[..., "subprocess.CompletedProcess[str]"]
SHORT = ("--set", "qd=4", "--duration", "500 ms", "--draws", "8")
MIRROR = '[drives.d]\nproduct = "./x.toml"\ncount = 2\n[layouts.data]\nraid1 = { members = "d0..d1" }\n'


@pytest.fixture
def drives(tmp_path: Path) -> Path:
    folder = tmp_path / "drives"
    folder.mkdir()
    text = (CATALOG_DIR / "drives" / "exos-15e900-512n.toml").read_text(encoding="utf-8")
    (folder / "x.toml").write_text(text, encoding="utf-8")
    (folder / "mirror.toml").write_text(MIRROR, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["x.toml", pytest.param("mirror.toml", marks=pytest.mark.long)])
def test_a_machine_in_another_folder_has_intervals(hotband: Hotband, drives: Path, name: str) -> None:
    on = ("fio-randread", "--on", f"./drives/{name}", *SHORT)
    done = hotband("run", *on, "--interval", "90", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["intervals"]["values"]
    why = hotband("run", "--explain", *on, "--json")
    assert why.returncode == 0, why.stderr
    assert any(row["part"] == "./x.toml" for row in json.loads(why.stdout)["values"])


@pytest.mark.parametrize("form", [("--json",), ()])
def test_a_run_is_printed_whatever_becomes_of_its_intervals(
    hotband: Hotband, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...]
) -> None:
    def failing(*_: object) -> bool:
        raise UserError("x.toml", "", "", "cannot be read: it is gone")

    monkeypatch.setattr("hotband.questions.run.run.add_intervals", failing)
    done = hotband("run", "fio-randread", "--on", "exos-15e900-512n", *SHORT, "--interval", "90", *form)
    assert done.returncode == 2
    assert "it is gone" in done.stderr
    if form:
        assert json.loads(done.stdout)["summary"]["iops"] > 0
    else:
        assert "IOPS" in done.stdout


def test_a_file_that_changes_while_it_runs_is_not_another_drives_interval(drives: Path) -> None:
    spec = pinned(RunSpec("run", str(drives / "x.toml"), "fio-randread", (("qd", "4"),), duration="200 ms"))
    whole = execute([spec])[0]
    path = drives / "x.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("15000 rpm", "7200 rpm"), encoding="utf-8")
    with pytest.raises(UserError, match="has changed since the run"):
        draw(spec, whole, Asked(90, 8), None, lambda _: None, lambda _: None)  # type: ignore[arg-type, return-value]


def test_hardware_with_intervals_is_refused_before_it_is_measured(tmp_path: Path) -> None:
    with pytest.raises(hb.UserError, match="applies to predictions: expect PRODUCT has them"):
        hb.run("fio-randread", on=f"real:{tmp_path}", size="16 MiB", interval=90)
