"""Does what was killed go on from what is complete, without repeating or losing a run?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from kept_runs import finished, records

Killed = Callable[..., None]
READS = """title = "t"
source = "t"
[load]
closed = { threads = 1, depth = 4 }
[[streams]]
read_pct = 100
random_pct = 100
size = "4 KiB"
[[phases]]
name = "measure"
duration = "1 s"
measure = true
"""


# The list of the runs is the first file; every run has four more: two tables, the record, and that it is finished.
@pytest.mark.parametrize(("moment", "whole"), [(1, 0), (2, 0), (5, 0), (6, 1), (7, 1), (16, 3), (26, 5)])
def test_a_study_killed_at_any_file_goes_on(
    tiny: Path, tmp_path: Path, killed: Killed, hotband, moment: int, whole: int
) -> None:
    arguments = ("study", "run", str(tiny), "--out")
    out, undisturbed = tmp_path / "out", tmp_path / "undisturbed"
    killed(moment, *arguments, str(out))
    kept = finished(out)
    assert abs(len(kept) - whole) <= 1, "two threads write at a time"
    again = hotband(*arguments, str(out), "--json")
    assert again.returncode == 0, again.stderr
    assert (f"{len(kept)} of 6 runs were there already" in again.stderr) is bool(kept)
    assert {name: finished(out)[name] for name in kept} == kept, "what was finished is not written again"
    result = json.loads(hotband(*arguments, str(undisturbed), "--json").stdout)
    assert records(out) == records(undisturbed)
    of_both = (json.loads(again.stdout), result)
    assert len({json.dumps(one["figures"]) for one in of_both}) == 1


def test_fresh_runs_everything_again(tiny: Path, tmp_path: Path, hotband) -> None:
    arguments = ("study", "run", str(tiny), "--only", "read", "--out", str(tmp_path / "out"))
    assert hotband(*arguments).returncode == 0
    before = finished(tmp_path / "out")
    done = hotband(*arguments, "--fresh")
    assert "already" not in done.stderr
    assert set(finished(tmp_path / "out")) == set(before)
    assert not set(finished(tmp_path / "out").values()) & set(before.values())


def test_a_record_that_is_not_as_it_was_written_is_run_again(tiny: Path, tmp_path: Path, hotband) -> None:
    out = tmp_path / "out"
    arguments = ("study", "run", str(tiny), "--only", "read", "--out", str(out))
    assert hotband(*arguments).returncode == 0
    whole = records(out)
    for damage in (lambda data: data[:100], lambda data: data.replace(b"1", b"2", 1), lambda data: b"\xff" * 9):
        file = out / "runs/ten.read/record.json"
        file.write_bytes(damage(file.read_bytes()))
        done = hotband(*arguments)
        assert "1 of 2 runs were there already" in done.stderr
        assert records(out) == whole


def test_a_sequence_goes_on_with_the_machine_as_it_was(tmp_path: Path, killed: Killed, hotband) -> None:
    reads = tmp_path / "reads.toml"
    reads.write_text(READS)
    arguments = ("run", str(reads), "--on", "savvio-10k1", "--then", str(reads), "--then", str(reads), "--out")
    out, undisturbed = tmp_path / "out", tmp_path / "undisturbed"
    killed(7, *arguments, str(out))
    assert list(finished(out)) == ["1"]
    again = hotband(*arguments, str(out))
    assert "1 more are run again, because the machine that they leave to the next is not kept" in again.stderr
    assert hotband(*arguments, str(undisturbed)).returncode == 0
    assert records(out) == records(undisturbed)
    third = hotband(*arguments, str(out), "--json")
    assert "3 of 3 runs were there already" in third.stderr
    assert [record["sequence"]["place"] for record in json.loads(third.stdout)] == [1, 2, 3]


def test_a_review_goes_on(tmp_path: Path, killed: Killed, hotband) -> None:
    arguments = ("review", "savvio-10k1", "--quick", "--only", "access,streams", "--out")
    out = tmp_path / "out"
    killed(12, *arguments, str(out))
    kept = finished(out)
    assert kept
    again = hotband(*arguments, str(out), "--json")
    assert f"{len(kept)} of 3 runs were there already" in again.stderr
    assert {name: finished(out)[name] for name in kept} == kept
    assert json.loads(again.stdout) == json.loads(hotband(*arguments, str(tmp_path / "other"), "--json").stdout)
