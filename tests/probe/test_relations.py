"""What must hold between two runs (`make probe-relations`): a sample, and that the tool sees what does not hold."""

from __future__ import annotations

import csv
import json
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import probe_relations
import pytest
from probe.identities import contradictions
from probe.relations import WHY, Setup
from probe_relations import Answer

import hotband as hb
from forms import sized
from hotband.data.record.record import Record

ROOT = Path(__file__).parents[2]


def made(setup: Setup) -> Answer:
    """Rates in which every relation holds but that of depth, at 32 and more outstanding."""
    rate = {"read": 9e4, "write": 8e4}.get(setup.access, 100.0) / setup.kib * (0.8 if setup.depth >= 32 else 1)
    return Answer(rate)


def probe(folder: Path, *more: str) -> int:
    return probe_relations.main(["--drive", "ent-15k", "--layouts-of", "", "--folder", str(folder), *more])


def test_a_disk_keeps_its_relations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert probe(tmp_path, "--relation", sized("span", "size,in-a-row,cache,span")) == 0
    said = capsys.readouterr().out
    assert re.search(r"\d+ hold", said)
    assert "DO NOT" not in said


def test_what_does_not_hold_is_said_with_its_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe_relations.Answers, "ask", lambda self, setup: made(setup))
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

    def some(self: probe_relations.Answers, setup: Setup) -> Answer:
        if len(asked) == 25:
            raise KeyboardInterrupt
        asked.append(setup)
        return made(setup)

    monkeypatch.setattr(probe_relations.Answers, "ask", some)
    assert probe(tmp_path, "--relation", "size") == 130
    kept = [json.loads(line)["setup"] for line in (tmp_path / "relations.jsonl").read_text().splitlines()]
    assert kept == [str(setup) for setup in asked[: len(kept)]]
    assert len(kept) > 15
    monkeypatch.setattr(probe_relations.Answers, "ask", lambda self, setup: asked.append(setup) or made(setup))
    assert probe(tmp_path, "--relation", "size") == 0
    assert not {str(setup) for setup in asked[25:]} & set(kept)


def test_a_record_that_contradicts_itself_is_told_with_its_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(self: probe_relations.Answers, setup: Setup) -> Answer:
        return Answer(100.0, ("all: I/Os a second: 1, not 2",) if setup.depth == 4 and setup.access == "read" else ())

    monkeypatch.setattr(probe_relations.Answers, "ask", ask)
    assert probe(tmp_path, "--relation", "depth") == 1
    said = capsys.readouterr().out
    assert "read on ent-15k bs=4k qd=4: all: I/Os a second: 1, not 2\n    hotband run fio-read --on ent-15k" in said
    assert "2 RECORDS CONTRADICT THEMSELVES" in said


@pytest.fixture(scope="module")
def mirrored() -> dict[str, Any]:
    """A record of reads and writes on a mirror."""
    settings = {"qd": 4, "warm_up": "1 s"}
    record = hb.run("iometer-database", on="raid1:2xent-15k", duration="3 s", set=settings, progress=False)
    return record.to_dict()


@pytest.mark.parametrize(
    ("at", "factor", "said"),
    [
        ("", 1.0, ""),
        ("summary.iops", 1.01, "all: I/Os a second"),
        ("summary.bandwidth_bytes_per_s", 0.99, "all: bytes a second"),
        ("summary.read.count", 1.5, "count of reads and writes"),
        ("summary.errors", None, "errors of reads and writes"),
        ("summary.write.latency_p99_ns", 0.1, "write: latency_p50_ns"),
        ("summary.write.latency_mean_ns", 1e3, "write: mean latency"),
        ("summary.read.times_mean_ns.seek", 2.0, "read: parts of the mean latency"),
        ("summary.read.times_mean_ns.link", -1.0, "read: link takes -"),
        ("summary.queue_depth_mean", 1.5, "6 outstanding on average, 4 at most"),
        ("summary.queue_depth_mean", 0.5, "2 outstanding on average, 4."),
        ("streams.0.write.bytes", 1.5, "bytes of writes of streams"),
        ("streams.0.read.histogram.buckets.7.1", None, "reads in the histogram"),
        ("streams.0.read.latency_sum_ns", 2, "mean of reads"),
        ("energy.energy_j", 1.1, "energy of the drives"),
        ("energy.energy_high_j", 0.5, "energy of all drives lies outside of its range"),
        ("energy.idle_w", 9.0, "less than at rest"),
        ("parts.0.power.mean_w", 1.1, "energy of d0"),
        ("parts.0.power.states.0.time_ns", 99, "for longer than the run"),
        ("parts.0.counters.written_bytes", 1.5, "drives wrote"),
        ("parts.1.counters.busy_ns", 99, "a drive was busy for longer than the run"),
    ],
)
def test_what_a_record_counts_twice_is_compared(
    mirrored: dict[str, Any], at: str, factor: float | None, said: str
) -> None:
    document = json.loads(json.dumps(mirrored))
    if at:
        *path, last = (int(key) if key.isdigit() else key for key in at.split("."))
        place = document
        for key in path:
            place = place[key]
        place[last] = type(place[last])(place[last] * factor) if factor is not None else place[last] + 1
    found = contradictions(Record(document), "raid1", 4, 8192)
    assert any(said in line for line in found) if said else found == [], found


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
