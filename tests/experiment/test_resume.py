"""Does what was killed go on from what is complete, without repeating or losing a run?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from kept_runs import finished, records

from forms import sized
from hotband.execution.experiment import Experiment, grid

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


# The list of the runs is the first file; each of the six runs has four or five more, and two run at a time.
@pytest.mark.parametrize(
    ("moment", "least", "most"),
    sized([(24, 3, 5)], [(1, 0, 0), (4, 0, 0), (6, 0, 1), (7, 0, 1), (15, 1, 3), (24, 3, 5)]),
)
def test_runs_killed_at_any_file_go_on(
    tiny: Path, tmp_path: Path, runs_killed: Killed, runs: Callable[..., str], moment: int, least: int, most: int
) -> None:
    out, undisturbed = tmp_path / "out", tmp_path / "undisturbed"
    runs_killed(moment, str(tiny), str(out))
    kept = finished(out)
    assert least <= len(kept) <= most
    again = runs(str(tiny), str(out))
    assert (f"{len(kept)} of 6 runs were there already" in again) is bool(kept)
    assert {name: finished(out)[name] for name in kept} == kept, "what was finished is not written again"
    assert not list(out.rglob("*.part"))
    frame = runs(str(tiny), str(undisturbed))
    assert again.splitlines()[-1] == frame.strip()
    assert records(out) == records(undisturbed)


def test_a_study_goes_on_to_its_result(tiny: Path, tmp_path: Path, killed: Killed, hotband) -> None:
    arguments = ("study", "run", str(tiny), "--only", "read", "--out", str(tmp_path / "out"))
    killed(10, *arguments)
    again = hotband(*arguments, "--json")
    assert "of 2 runs were there already" in again.stderr
    whole = json.loads(hotband(*arguments[:-2], "--json").stdout)
    assert json.loads(again.stdout)["figures"] == whole["figures"]


def test_a_record_that_is_not_as_it_was_written_is_run_again(tmp_path: Path) -> None:
    experiment = Experiment(grid(["savvio-10k1"], ["fio-randread"], {"qd": [1, 2]}, duration="1 s"))
    experiment.run(out=tmp_path)
    whole, file = records(tmp_path), next(tmp_path.rglob("record.json"))
    data = file.read_bytes()
    for damaged in (data[:100], data.replace(b"1", b"2", 1), b"\xff" * 9, b""):
        file.write_bytes(damaged)
        assert experiment.run(out=tmp_path).kept == 1
        assert records(tmp_path) == whole


def test_a_sequence_goes_on_with_the_machine_as_it_was(tmp_path: Path, killed: Killed, hotband) -> None:
    reads = tmp_path / "reads.toml"
    reads.write_text(READS)
    arguments = ("run", str(reads), "--on", "savvio-10k1", "--then", str(reads), "--then", str(reads), "--out")
    out, undisturbed = tmp_path / "out", tmp_path / "undisturbed"
    killed(7, *arguments, str(out))
    assert list(finished(out)) == ["1"]
    again = hotband(*arguments, str(out))
    assert "1 more run again, because the machine that they pass on is not stored" in again.stderr
    assert hotband(*arguments, str(undisturbed)).returncode == 0
    assert records(out) == records(undisturbed)
    third = hotband(*arguments, str(out), "--json")
    assert "3 of 3 runs were there already" in third.stderr
    assert [record["sequence"]["place"] for record in json.loads(third.stdout)] == [1, 2, 3]
    before = finished(out)
    assert "already" not in hotband(*arguments, str(out), "--fresh").stderr
    assert {name for name, file in finished(out).items() if file == before[name]} == set()


def test_a_run_of_a_sequence_that_is_made_again_is_never_lost(tmp_path: Path, killed: Killed) -> None:
    reads = tmp_path / "reads.toml"
    reads.write_text(READS)
    arguments = ("run", str(reads), "--on", "savvio-10k1", "--then", str(reads), "--out", str(tmp_path / "out"))
    killed(7, *arguments)
    before = finished(tmp_path / "out")
    assert list(before) == ["1"]
    for moment in sized((3,), (2, 3, 4)):
        killed(moment, *arguments)
        assert finished(tmp_path / "out") == before, f"killed when {moment} files had been written"


def test_a_review_goes_on(tmp_path: Path, review_killed: Killed, reviewed: Callable[..., str]) -> None:
    out = tmp_path / "out"
    review_killed(9, str(out))
    kept = finished(out)
    assert kept
    line, again = reviewed(str(out)).split("\n", 1)
    assert line == f"{len(kept)} of 3 runs were there already"
    assert {name: finished(out)[name] for name in kept} == kept
    assert again == reviewed(str(tmp_path / "other"))
