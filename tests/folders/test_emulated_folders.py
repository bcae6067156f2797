"""The folder of an emulated run is one result: every reader of folders takes the record of its client."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import hotband as hb
from command_line import run_hotband as hotband
from hotband.data.record.files import JOB_FILE
from hotband.data.record.load import records_below
from hotband.data.results.walk import walk


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as `run --on emulated:` leaves it: the three records have 100, 200 and 400 IOPS."""
    out = tmp_path_factory.mktemp("emulated") / "e1"
    for part, rate in (("model", 100), ("emulated", 200), ("served", 400)):
        hb.run("fio-randwrite", on="ent-10k", rate=rate, duration="30 s", warm_up="0 s").save(out / part)
    file = out / "emulated" / "record.json"
    document = json.loads(file.read_text())
    document["target"]["kind"] = "emulated"
    document["source"] = {"tool": "fio", "file": "fio.json"}
    file.write_text(json.dumps(document))
    (out / JOB_FILE).write_text("[global]\n")
    return out


def test_the_record_of_the_client_answers(folder: Path) -> None:
    assert hb.load(folder).write.iops == pytest.approx(200, rel=0.1)
    assert [record.write.iops for record in hb.load_all(folder)] == [hb.load(folder).write.iops]
    assert hb.load(folder / "model").write.iops == pytest.approx(100, rel=0.1)


def test_a_tree_has_each_emulated_run_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[str] = []
    scandir = os.scandir

    def counted(path: str | Path) -> object:
        listed.append(str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", counted)
    assert records_below(folder.parent) == [folder]
    assert sorted(listed) == sorted(set(listed)), "a folder is listed once"
    monkeypatch.undo()
    assert [result.test for result in walk(folder.parent).results] == ["e1"]
    (folder / JOB_FILE).rename(folder / "another.txt")
    try:
        assert [place.name for place in records_below(folder.parent)] == ["emulated", "model", "served"]
    finally:
        (folder / "another.txt").rename(folder / JOB_FILE)


def test_commands_take_one_result(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "m1"
    hb.run("fio-randwrite", on="ent-10k", rate=300, duration="30 s", warm_up="0 s").save(other)
    done = hotband("compare", str(other), str(folder), "--anyway")
    compared = done.stdout
    assert done.returncode == 0, done.stderr
    assert "e1" in compared.splitlines()[0]
    assert "runs" not in compared.splitlines()[0]
    assert hotband("audit", str(folder)).stdout.startswith("1 result")
    assert hotband("audit", "--steady", str(folder), "--round", "5 s").returncode in (0, 1)
    assert hotband("audit", str(folder.parent)).stdout.startswith("1 result")
    page = tmp_path / "page.html"
    assert hotband("report", str(folder), "--output", str(page)).returncode == 0
    assert page.is_file()


def test_a_store_keeps_the_run_once(folder: Path, tmp_path: Path) -> None:
    assert hotband("store", "add", str(tmp_path / "store"), str(folder)).returncode == 0
    assert hb.store(tmp_path / "store").runs().height == 1
