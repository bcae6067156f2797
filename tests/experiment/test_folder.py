"""Does a folder hold one experiment, by one writer?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from kept_runs import finished, records

import hotband as hb
from hotband.base.errors import UserError
from hotband.data.results import manifest
from hotband.data.results.sweep_journal import Journal, line_of
from hotband.execution.experiment import Experiment, Lock, grid, store
from hotband.questions.study.file import load
from hotband.questions.study.runs import points

RUN = ("run", "fio-randread", "--on", "savvio-10k1", "--duration", "1 s", "--out")


def small(seeds: tuple[int, ...] = (1,), depths: tuple[int, ...] = (1, 2), what: str = "a test") -> Experiment:
    return Experiment(grid(["savvio-10k1"], ["fio-randread"], {"qd": depths}, seeds, duration="1 s"), what=what)


def test_a_second_writer_is_refused_in_one_line(tiny: Path, tmp_path: Path, hotband) -> None:
    out = tmp_path / "out"
    commands = (RUN, (*RUN[:-1], "--then", "fio-randread", "--out"), ("study", "run", str(tiny), "--out"))
    with Lock(out):
        for command in (*commands, ("study", "swings", str(tiny), "--out"), ("review", "savvio-10k1", "--out")):
            done = hotband(*command, str(out))
            assert (done.returncode, done.stderr.count("\n")) == (2, 1), command
            assert f"process {os.getpid()} is writing there" in done.stderr
    assert not list(out.iterdir()), "nothing was begun, and the lock leaves no file"
    assert hotband(*RUN, str(out)).returncode == 0


def test_a_writer_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    program = "import os, signal, sys; from pathlib import Path; from hotband.execution.experiment import Lock\n"
    program += "with Lock(Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)"
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / ".lock").is_file()
    with Lock(tmp_path), pytest.raises(UserError, match="is writing there"), Lock(tmp_path):
        raise AssertionError("two hold it")


def test_what_is_of_another_spec_is_run_again_and_the_rest_kept(tiny: Path, tmp_path: Path) -> None:
    def run() -> list[str]:
        study, said = load(str(tiny)), []
        Experiment(points(study, study.pairs(), tmp_path, 1), what="tiny").run(out=tmp_path, say=said.append)
        return said

    run()
    before = finished(tmp_path)
    file = tiny / "study.toml"
    file.write_text(file.read_text().replace('duration = "1 s"', 'duration = "3 s"'))
    assert run() == [
        "4 of 6 runs were there already",
        "2 were of another spec and are run again (fifteen.read, ten.read)",
    ]
    changed = {name for name, file in finished(tmp_path).items() if before[name] != file}
    assert changed == {"runs/fifteen.read", "runs/ten.read"}


def test_the_text_of_a_machine_a_workload_and_a_drive_are_of_the_spec(tmp_path: Path) -> None:
    from hotband.data.documents.run import RunSpec
    from hotband.execution.experiment.point import keys_of

    workload, machine = tmp_path / "w.toml", tmp_path / "m.toml"
    workload.write_text("a")
    machine.write_text('product = "cheetah-10k7-performance"')
    spec = RunSpec("r", str(machine), str(workload))
    keys = [keys_of([[spec]])["r"]]
    for path in (workload, machine):
        path.write_text(path.read_text() + " ")
        keys.append(keys_of([[spec]])["r"])
    keys.append(keys_of([[RunSpec("r", str(machine), str(workload), events=("at 1 s: fail d0",))]])["r"])
    keys.append(keys_of([[RunSpec("r", str(machine), str(workload)), RunSpec("s", "d", "w")]])["r"])
    assert len(set(keys)) == 5
    from hotband.execution.experiment.point import _products

    assert set(_products(machine.read_text())) == {"cheetah-10k7", "cheetah-10k7-performance"}


def test_a_run_on_data_of_a_file_that_changed_is_run_again(tmp_path: Path) -> None:
    file = tmp_path / "data.json"

    def swept(ratio: float) -> int:
        chunk = {"size": 4096, "compressor": "deflate", "histogram": [1, 2, 3]}
        whole = {"archive": {"deflate": {"entropy": ratio}}, "chunks": [chunk]}
        file.write_text(json.dumps({"schema": "hotband-entropy", "schema_version": 1, **whole}))
        hb.sweep("fio-randwrite", on="ent-10k", set={"data": f"{file},0.5"}, duration="10 ms", out=tmp_path / "out")
        return len((tmp_path / "out/sweep.journal").read_bytes().splitlines())

    first = swept(0.5)
    assert swept(0.5) == first
    assert swept(0.25) == first + 1


@pytest.mark.parametrize("other", ["what", "seed", "version"])
def test_a_folder_of_something_else_is_refused_and_fresh_starts_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    small().run(out=tmp_path)
    before = records(tmp_path)
    again = small()
    if other == "what":
        again.what = "another test"
    elif other == "seed":
        again = small((2,))
    else:
        monkeypatch.setattr(manifest, "version", lambda: "9.9.9")
    words = {"what": "holds a test", "seed": "seed 1, not 2", "version": "another version of hotband"}
    with pytest.raises(UserError, match=words[other]) as refused:
        again.run(out=tmp_path)
    assert "question.fresh" in str(refused.value)
    assert records(tmp_path) == before
    assert again.run(out=tmp_path, fresh=True).kept == 0
    assert (records(tmp_path) == before) is (other != "seed")


def test_runs_that_are_not_asked_for_again_stay(tmp_path: Path) -> None:
    small(depths=(1, 2, 4)).run(out=tmp_path)
    said: list[str] = []
    done = small(depths=(2, 8)).run(out=tmp_path, say=said.append)
    assert done.kept == 1
    assert [line.split(" are left")[0] for line in said] == [
        "1 of 2 runs were there already",
        f"2 others in {tmp_path}",
    ]
    assert len(finished(tmp_path)) == 4


def test_a_single_record_is_not_mixed_with_an_experiment(tmp_path: Path, hotband) -> None:
    small().run(out=tmp_path / "out")
    done = hotband(*RUN, str(tmp_path / "out"))
    assert done.returncode == 2
    assert "holds a test" in done.stderr


@pytest.mark.parametrize("text", ["", "[]", '{"schema": "x"}', '{"runs": 3}'])
def test_a_broken_list_of_runs_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "experiment.json").write_text(text)
    with pytest.raises(UserError, match="not the list"):
        small().run(out=tmp_path)


@pytest.mark.parametrize("how", ["empty", "truncated", "newer"])
def test_fresh_starts_over_where_the_list_of_runs_is_damaged(tmp_path: Path, how: str) -> None:
    small().run(out=tmp_path)
    before, file = records(tmp_path), tmp_path / "experiment.json"
    whole = file.read_text()
    newer = whole.replace('"schema_version": 1', '"schema_version": 2')
    file.write_text({"empty": "", "truncated": whole[: len(whole) // 2], "newer": newer}[how])
    with pytest.raises(UserError, match=r"or question\.fresh"):
        small().run(out=tmp_path)
    assert records(tmp_path) == before
    assert store.other_version(tmp_path) is None
    assert small().run(out=tmp_path, fresh=True).kept == 0
    assert records(tmp_path) == before
    assert file.read_text() == whole


def test_lists_of_another_version_say_so(tmp_path: Path) -> None:
    (tmp_path / "experiment.json").write_text('{"schema": "hotband-experiment", "schema_version": 2}')
    (tmp_path / "sweep.journal").write_bytes(line_of({"schema": "hotband-sweep", "schema_version": 2}))
    newer = (
        "schema_version = '2': was written by another version of Hotband; this one reads 1: expected another folder, or"
    )
    with pytest.raises(UserError, match=rf"experiment\.json: {newer} the file"):
        store.read_manifest(tmp_path / "experiment.json")
    with pytest.raises(UserError, match=rf"sweep\.journal: {newer} question\.fresh"):
        Journal(tmp_path, "")


def test_a_list_that_names_folders_elsewhere_removes_nothing_there(tmp_path: Path) -> None:
    small().run(out=tmp_path / "out")
    (tmp_path / "record.json").write_text("mine")
    file = tmp_path / "out/experiment.json"
    file.write_text(file.read_text().replace('"runs/savvio-10k1-fio-randread-qd-1"', '".."'))
    small().run(out=tmp_path / "out", fresh=True)
    assert (tmp_path / "record.json").read_text() == "mine"
