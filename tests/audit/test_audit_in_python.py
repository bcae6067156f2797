"""Does `hb.audit` say what `hotband audit` prints, of files and of records in memory?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import hotband as hb

Hotband = Callable[..., "CompletedProcess[str]"]


@pytest.fixture(scope="module")
def run() -> hb.Record:
    """Too short for its p99.9, within 20 GB."""
    return hb.run("fio-randread", on="ent-10k", qd=8, span="20 GB", duration="2 s", progress=False)


def test_it_is_what_the_command_prints(hotband: Hotband, run: hb.Record, tmp_path: Path) -> None:
    run.save(tmp_path / "short")
    done = hotband("audit", str(tmp_path / "short"), "--study", "content-hdd", "--media", "hdd", "--json")
    found = hb.audit(tmp_path / "short", study="content-hdd", media="hdd")
    assert json.loads(json.dumps(found.to_dict())) == json.loads(done.stdout)
    assert found.is_severe == (done.returncode == 1)
    assert found.frame.height == len(found.findings) == sum(found.counts.values()) > 1


def test_a_record_in_memory_is_audited_as_the_one_on_disk(run: hb.Record, tmp_path: Path) -> None:
    folder = run.save(tmp_path / run.name.replace("/", "-"))
    in_memory, on_disk = hb.audit(run), hb.audit(folder)
    assert in_memory.findings, "there is something to find"
    assert in_memory.to_dict() == on_disk.to_dict()


def test_two_records_of_a_name_are_told_apart(run: hb.Record) -> None:
    assert hb.audit([run, run]).subjects == (run.name, f"{run.name} (2)")


def test_a_machine_of_ones_own_is_what_is_known_of_the_target(run: hb.Record) -> None:
    """A cache that holds all that was read."""
    table = {"drives": {"d": {"product": "ent-10k"}}}
    result = hb.audit(run, on=table, cache="8 TB")
    assert "working-set-in-cache" in {one.rule for one in result.findings}
    assert "working-set-in-cache" not in {one.rule for one in hb.audit(run, on=table).findings}


def test_nothing_found_is_a_frame_with_its_columns(run: hb.Record) -> None:
    none = hb.AuditResult((run.name,), ())
    assert (none.frame.height, none.is_severe, "no finding" in repr(none)) == (0, False, True)
    assert none.frame.columns == hb.audit(run).frame.columns
