"""What must hold between two runs (`make probe-relations`): a sample, and that the tool sees what does not hold."""

from __future__ import annotations

import csv
import json
import re
from fnmatch import fnmatchcase
from pathlib import Path

import probe_relations
import pytest
from probe.relations import WHY, Setup

import hotband as hb

ROOT = Path(__file__).parents[2]


def made(setup: Setup) -> float:
    """Rates in which every relation holds but that of depth, at 32 and more outstanding."""
    return {"read": 9e4, "write": 8e4}.get(setup.access, 100.0) / setup.kib * (0.8 if setup.depth >= 32 else 1)


def probe(folder: Path, *more: str) -> int:
    return probe_relations.main(["--drive", "ent-15k", "--layouts-of", "", "--folder", str(folder), *more])


def test_a_disk_keeps_its_relations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert probe(tmp_path, "--relation", "size,in-a-row,cache,span") == 0
    said = capsys.readouterr().out
    assert re.search(r"\d+ hold", said)
    assert "DO NOT" not in said


def test_what_does_not_hold_is_said_with_its_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe_relations.Rates, "rate", lambda self, setup: made(setup))
    assert probe(tmp_path, "--relation", "depth") == 1
    said = capsys.readouterr().out
    assert "depth 0.800: randread on ent-15k bs=4k qd=32 against randread on ent-15k bs=4k qd=16" in said
    assert "hotband run fio-randread --on ent-15k --duration '15 s' --seed 3 --set qd=32 --set bs='4 KiB'" in said
    known = tmp_path / "known.csv"
    known.write_text("relation,machine,load,least,why\ndepth,ent-*,* qd=*,0.79,docs/models/disk.md: a reason\n")
    monkeypatch.setattr(probe_relations, "EXCEPTIONS", known)
    assert probe(tmp_path, "--relation", "depth") == 0
    known.write_text("relation,machine,load,least,why\ndepth,ent-*,* qd=*,0.81,docs/models/disk.md: a reason\n")
    assert probe(tmp_path, "--relation", "depth") == 1, "0.80 is below what is known"


def test_it_goes_on_from_what_was_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Setup] = []

    def some(self: probe_relations.Rates, setup: Setup) -> float:
        if len(asked) == 25:
            raise KeyboardInterrupt
        asked.append(setup)
        return made(setup)

    monkeypatch.setattr(probe_relations.Rates, "rate", some)
    assert probe(tmp_path, "--relation", "size") == 130
    kept = [json.loads(line)["setup"] for line in (tmp_path / "relations.jsonl").read_text().splitlines()]
    assert kept == [str(setup) for setup in asked[: len(kept)]]
    assert len(kept) > 15
    monkeypatch.setattr(probe_relations.Rates, "rate", lambda self, setup: asked.append(setup) or made(setup))
    assert probe(tmp_path, "--relation", "size") == 0
    assert not {str(setup) for setup in asked[25:]} & set(kept)


def test_every_exception_is_of_something_and_says_where_it_is_described() -> None:
    names = hb.drives()["name"].to_list()
    with probe_relations.EXCEPTIONS.open() as lines:
        for row in csv.DictReader(lines):
            assert any(fnmatchcase(name, row["relation"]) for name in WHY), row
            drive = probe_relations.drive_of(row["machine"])
            assert any(fnmatchcase(name, drive) for name in names), row
            page = row["why"].partition(":")[0]
            assert (ROOT / page).is_file(), row
            assert 0 < float(row["least"]) < 1, row


def test_names_that_are_none_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        probe(tmp_path, "--relation", "deep")
    assert ended.value.code == 2
    assert "--relation: 'deep' is none of depth, size" in capsys.readouterr().err
