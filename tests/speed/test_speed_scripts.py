"""Do the scripts that count and compare speed read what callgrind writes, and run what they are given?

Programs are stand-ins: what real ones take is counted by `make budgets`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
CALLGRIND = """version: 1
positions: line
events: Ir
fl=(1) loop.rs
fn=(1) choose'advance'main'(below main)
7 30
+2 12
cfn=(2) seek'choose'advance'main
calls=4 90
9 400
10 5
fn=(2)
90 400
fn=(3) advance'2'advance'main
1 1
"""


def run(script: str, target: Path, **env: str) -> subprocess.CompletedProcess[str]:
    known = {key: value for key, value in os.environ.items() if key not in ("DISKSIM", "MQSIM", "LIBCACHESIM")}
    command = [sys.executable, "-B", str(SCRIPTS / script)]
    given = known | {"CARGO_TARGET_DIR": str(target)} | env
    return subprocess.run(command, capture_output=True, text=True, check=False, env=given, timeout=300)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A target folder whose `simulate` notes what it was asked."""
    program(tmp_path / "release" / "simulate", f'echo "$@" >> {tmp_path}/ours')
    return tmp_path


def program(path: Path, does: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)
    return path


def test_stacks_count_what_each_function_spends_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import flame

    assert flame.stacks(CALLGRIND) == {"advance;choose": 47, "advance;choose;seek": 400, "advance;advance'2": 1}


def test_without_peers_our_side_runs_and_says_what_is_missing(target: Path) -> None:
    done = run("bench_peers.py", target)
    assert done.returncode == 0, done.stderr
    assert all(f"{name}=PATH make bench-peers" in done.stdout for name in ("DISKSIM", "MQSIM", "LIBCACHESIM"))
    assert len((target / "ours").read_text().splitlines()) == 15, "three loads, five times each"


@pytest.mark.long
def test_peers_run_in_turn_with_ours_five_times_each(target: Path) -> None:
    theirs = program(target / "cachesim", f'test -s "$1" && echo "theirs $2 $3" >> {target}/ours')
    done = run("bench_peers.py", target, LIBCACHESIM=str(theirs))
    assert done.returncode == 0, done.stderr
    assert "against libcachesim" in done.stdout
    turns = [line.startswith("theirs csv lru") for line in (target / "ours").read_text().splitlines()]
    assert turns == [False] * 10 + [False, True] * 5


def test_a_peer_that_fails_is_told_with_its_words(target: Path) -> None:
    fails = program(target / "MQSim", "echo no configuration >&2; exit 3")
    done = run("bench_peers.py", target, MQSIM=str(fails))
    assert done.returncode == 1
    assert "exit code 3: no configuration" in done.stderr
    missing = run("bench_peers.py", target, DISKSIM=str(target / "none"))
    assert "no program; expected the path of one that was built" in missing.stderr


def test_waits_of_one_more_point_are_the_difference_of_two_commands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import bench_waits

    said = tmp_path / "said"
    runs = program(tmp_path / "bin" / "hotband", f"echo $1 $XDG_CACHE_HOME >> {said}; test $1 != broken || exit 3")
    monkeypatch.setattr(bench_waits, "HOTBAND", str(runs))
    monkeypatch.setattr(bench_waits, "TABLE", tmp_path / "waits.csv")
    rows = (bench_waits.Wait("points", "eleven", 1, base="first", points=10), bench_waits.Wait("other", "other", 1))
    monkeypatch.setattr(bench_waits, "WAITS", rows)
    monkeypatch.setattr(sys, "argv", ["bench_waits.py", "--only", "points", "--save"])
    bench_waits.main()
    commands = [line.split() for line in said.read_text().splitlines()]
    assert [command[0] for command in commands] == ["eleven", "first"]
    assert commands[0][1] != commands[1][1], "each has an empty cache folder of its own"
    assert capsys.readouterr().out.splitlines()[1].startswith("points")
    assert list(bench_waits.saved()) == ["points"]
    with pytest.raises(SystemExit, match="broken --all"):
        bench_waits.measured(bench_waits.Wait("broken", "broken --all", 1), 9)
