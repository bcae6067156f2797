"""Does what was promised outlive a crash of a served machine, and is it seen when it does not?

The long version is `python scripts/power_cuts.py`."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import power_cuts
import pytest
from crash import database, host, records
from crash.records import Promise
from crash.trials import CACHES, FILE_SYSTEMS, Outcome, Trial, run
from power_cuts import cuts, judged, kills, outcomes, run_all, table

no_block_devices = host.missing("mkfs.ext4", "e2fsck")
block_devices = pytest.mark.skipif(no_block_devices is not None, reason=no_block_devices or "")
no_xfs = host.missing("mkfs.xfs", "xfs_repair")
xfs = pytest.mark.skipif(no_xfs is not None, reason=no_xfs or "")
no_database = no_block_devices or database.missing()
postgresql = pytest.mark.skipif(no_database is not None, reason=no_database or "")

# Seconds since a machine is served: a file system is there after half of one on an idle host.
MOMENT_S = 1.6
CUT = Trial("cut", "power-off", "ext4", "ext4", "volatile", True, MOMENT_S)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that the user postgres reaches, too, which those of pytest are not."""
    with tempfile.TemporaryDirectory(prefix="hotband-crash-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
        host.clear(Path(folder))


def tried(trial: Trial, place: Path) -> Outcome:
    """What comes of a trial that is promised something, and leaves nothing mounted. On a busy host power may go off
    before that; then it is tried once more, with more time."""
    outcome = run(trial, place / trial.key, place / "templates")
    assert not outcome.broken
    if not outcome.acknowledged and trial.moment_s < 10 * MOMENT_S:
        return tried(replace(trial, moment_s=2 * trial.moment_s), place)
    assert outcome.acknowledged > 0
    assert host.mounts_in(place) == host.loops_in(place) == []
    return outcome


@pytest.mark.parametrize("program", [pytest.param("ext4", marks=block_devices), pytest.param("xfs", marks=xfs)])
def test_a_file_system_keeps_its_promises_on_a_volatile_cache(place: Path, program: str) -> None:
    outcome = tried(replace(CUT, program=program, file_system=program), place)
    assert outcome.whole, outcome.faults
    assert outcome.ledger["acknowledged_writes"] > 0


@block_devices
def test_what_is_promised_without_flushes_is_lost_with_a_volatile_cache_alone(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A buffer that does not empty itself at rest: what was promised last is in it, however long this host is busy with
    # something else before power goes off. A second, the longest in the range of the value, is not always enough.
    monkeypatch.setitem(CACHES, "volatile SSD", ("980-1tb", (("idle_delay", "1 h"),)))
    lossy = tried(replace(CUT, cache="volatile SSD", flushes=False), place)
    assert lossy.lost > 0
    assert lossy.ledger["lost_writes"] > 0
    assert not lossy.whole
    protected = tried(replace(CUT, key="protected", cache="protected SSD", flushes=False), place)
    assert protected.whole, protected.faults
    assert protected.ledger["lost_writes"] == 0


@block_devices
def test_a_killed_server_loses_nothing_even_if_it_is_killed_again(place: Path) -> None:
    outcome = tried(replace(CUT, crash="kill", moment_s=0.3, again_s=0.2), place)
    assert outcome.whole, outcome.faults
    assert outcome.ledger == {}


# Time from the first commit to a kill, and from serving to a cut: the first commit comes after two seconds.
@pytest.mark.parametrize(("crash", "moment_s"), [("power-off", 2.8), pytest.param("kill", 0.3, marks=pytest.mark.long)])
@postgresql
def test_a_database_keeps_its_commits_through_a_crash(place: Path, crash: str, moment_s: float) -> None:
    trial = replace(CUT, key=crash, crash=crash, program="postgresql", moment_s=moment_s)
    outcome = tried(trial, place)
    assert outcome.whole, outcome.faults


def written(folder: Path, last: int) -> Promise:
    """A writer's files with so many records, all of which were promised."""
    for number in range(1, last + 1):
        file = records.path(folder, 0, number)
        file.parent.mkdir(exist_ok=True)
        with file.open("ab") as stream:
            stream.write(records.record(0, number))
    return Promise(0, last)


def test_a_record_that_is_missing_cut_short_or_changed_is_seen(tmp_path: Path) -> None:
    last = records.A_FILE + 5
    promise = written(tmp_path, last)
    assert records.left(tmp_path, [promise]).lost == 0
    assert records.left(tmp_path, [replace(promise, last=last + 1)]).faults == [
        f"writer 0: 1 of {last + 1} records, from {last + 1} on"
    ]
    second = records.path(tmp_path, 0, last)
    with second.open("r+b") as stream:
        stream.truncate(second.stat().st_size - 1)
    assert records.left(tmp_path, [promise]).lost == 1
    with records.path(tmp_path, 0, 1).open("r+b") as stream:
        stream.seek(1)
        stream.write(b"x")
    assert records.left(tmp_path, [promise]).lost == 2
    second.unlink()
    assert records.left(tmp_path, [promise]).lost == 1 + 5


def told(trial: Trial, **found: object) -> dict[str, object]:
    """A line of the file of outcomes."""
    outcome = replace(Outcome(trial, acknowledged=10, recovered=True), **found)  # type: ignore[arg-type]
    line: dict[str, object] = json.loads(json.dumps(outcome.told()))
    return line


def test_a_loss_is_wrong_unless_flushes_were_kept_from_a_volatile_cache() -> None:
    unflushed = replace(CUT, flushes=False)
    assert judged([told(CUT), told(unflushed, lost=3)]) == []
    assert judged([told(CUT, lost=1)])
    assert judged([told(CUT, recovered=False)])
    assert judged([told(replace(unflushed, cache="off"), lost=1)])
    assert judged([told(replace(unflushed, crash="kill"), lost=1)])
    assert judged([told(unflushed, broken="hangs")])
    [nothing_lost] = judged([told(unflushed)])
    assert "cannot fail" in nothing_lost


def test_a_file_of_outcomes_is_taken_up_where_it_ends(tmp_path: Path) -> None:
    file = tmp_path / "outcomes.jsonl"
    assert outcomes(file) == []
    lines = [told(CUT), told(replace(CUT, key="again"), broken="hangs"), told(replace(CUT, key="again"), lost=2)]
    file.write_text("\n".join(json.dumps(line) for line in lines) + '\n{"trial": {"ke')
    assert [(one["lost"], one["broken"]) for one in outcomes(file)] == [(0, ""), (2, "")]
    *_, row = table(outcomes(file))
    assert row == "| power-off | ext4 | volatile | sent | 2 | 2 | 1 | 20 | 2 | 0 |"


def test_a_trial_that_fails_itself_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> Outcome:
        raise RuntimeError("a mistake of the script")

    monkeypatch.setattr(power_cuts, "run", fails)
    file = tmp_path / "outcomes.jsonl"
    run_all([CUT], tmp_path, file, 1, float("inf"))
    [outcome] = outcomes(file)
    assert outcome["broken"] == "exit code 1"
    assert judged([outcome])


def test_programs_that_work_in_the_folder_of_a_trial_end_and_no_others(tmp_path: Path) -> None:
    inside = tmp_path / "trial" / "fs"
    inside.mkdir(parents=True)
    within, beside = (subprocess.Popen(["sleep", "60"], cwd=folder) for folder in (inside, tmp_path))
    try:
        host.end_programs(tmp_path / "trial")
        assert within.wait(10) == -signal.SIGKILL
        assert beside.poll() is None
    finally:
        for process in (within, beside):
            process.kill()
            process.wait()


def test_plans_have_every_combination_and_repeat_their_moments() -> None:
    planned = list(cuts(4, seed=1))
    assert len(planned) == len({trial.key for trial in planned}) == 3 * len(CACHES) * (4 + 2)
    assert planned == list(cuts(4, seed=1)) != list(cuts(4, seed=2))
    assert {trial.file_system for trial in planned if trial.program == "postgresql"} == set(FILE_SYSTEMS)
    assert len(list(kills(4, seed=1))) == 12
    twice = list(kills(4, seed=1, again=True))
    assert all(trial.again_s is not None for trial in twice)
    assert not {trial.key for trial in twice} & {trial.key for trial in kills(4, seed=1)}
