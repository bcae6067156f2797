"""Job files where workloads are named: `run`, `workloads convert`, the Python API; what records keep of them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import hotband as hb

JOB = (
    "[global]\nioengine=libaio\ndirect=1\nfilename=/dev/sdx\n"
    "[a]\nrw=randread\nbs=8k\niodepth=4\nsize=4g\nruntime=1\ntime_based\n"
)
TINY = ("--duration", "0.1 s")


def test_a_job_file_runs_as_it_is_and_the_record_says_what_became_of_it(hotband, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "my.fio").write_text(JOB)
    done: CompletedProcess[str] = hotband("run", "my.fio", "--on", "exos-15e900-512n", *TINY, "--out", "o")
    assert done.returncode == 0, done.stderr
    assert "! approximated: my.fio:5: norandommap=0 (not set): " in done.stdout
    record = json.loads((tmp_path / "o" / "record.json").read_text())
    assert "converted from my.fio (fio): 9 kept, 1 approximated, 0 ignored" in record["notes"]
    assert any(note.startswith("approximated: my.fio:5: norandommap=0 (not set): ") for note in record["notes"])
    assert "# kept: my.fio:7: bs=8k" in record["spec"]["workload"]
    assert tomllib.loads(record["spec"]["workload"])["streams"][0]["size"] == "8 KiB"


def test_sizes_beyond_the_target_name_the_line_of_the_job_file(hotband, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "my.fio").write_text(JOB.replace("4g", "4000g"))
    done = hotband("run", "my.fio", "--on", "exos-15e900-512n", *TINY)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "hotband: error: my.fio:9: size = '4000g': ends beyond the target of 900185481216 B\n"


def test_settings_change_a_job_as_any_workload(hotband, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "my.fio").write_text(JOB)
    done = hotband("run", "my.fio", "--on", "exos-15e900-512n", *TINY, "--set", "qd=32", "--json")
    assert json.loads(done.stdout)["spec"]["set"] == {"qd": "32"}


def test_a_result_is_no_job(hotband, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "r.json").write_text('{"fio version": "fio-3.33", "jobs": []}')
    done = hotband("run", "./r.json", "--on", "exos-15e900-512n")
    assert done.returncode == 2
    assert "r.json: is a result of fio, not a job file: hotband import fio r.json reads it" in done.stderr


def test_output_of_another_tool_is_no_job(hotband, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "dd.txt").write_text("1+0 records in\n1+0 records out\n4096 bytes copied, 0.5 s, 8.2 kB/s\n")
    done = hotband("run", "./dd.txt", "--on", "exos-15e900-512n")
    assert done.returncode == 2
    assert "dd.txt: is the output of dd, which hotband does not read: " in done.stderr


@pytest.mark.parametrize("name", ["out.toml", "out.fio", "out.parm"])
def test_convert_writes_what_runs_alike(hotband, tmp_path: Path, name: str) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "my.fio").write_text(JOB)
    done = hotband("workloads", "convert", "my.fio", "-o", name)
    assert done.returncode == 0, done.stderr
    assert f"Workload: {name}" in done.stdout
    results = [
        hb.run(tmp_path / one, on="exos-15e900-512n", duration="0.2 s", progress=False).to_dict()["streams"][0]["read"]
        for one in ("my.fio", name)
    ]
    assert results[0]["count"] > 50
    # The warm-up of vdbench's first interval goes before: another part of one stream of random numbers.
    assert results[0]["count"] == pytest.approx(results[1]["count"], rel=0.15 if name == "out.parm" else 0)


def test_times_are_written_however_they_are_said(hotband, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A day, and a number with an exponent: a pause of no time, or a run of 1 ms, would be another job."""
    text = (
        'title = "a"\nsource = "b"\nconfidence = "low"\nload.bursts = { ios = 10, every = "1e4 us" }\n'
        'streams = [{ read_pct = 0, random_pct = 100, size = "4 KiB" }]\n'
        'phases = [{ name = "m", duration = "1 d", measure = true }]\n'
    )
    (tmp_path / "a.toml").write_text(text)
    done = hotband("workloads", "convert", str(tmp_path / "a.toml"), "-o", str(tmp_path / "a.fio"))
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "a.fio").read_text().splitlines()
    assert "runtime=86400s" in lines
    assert "thinktime=10000" in lines


def test_convert_prints_toml_and_says_losses_beside_it(hotband, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "my.fio").write_text(JOB)
    done = hotband("workloads", "convert", "my.fio")
    assert tomllib.loads(done.stdout)["streams"][0]["size"] == "8 KiB"
    assert "1 approximated" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("ycsb-a", "-o", "a.fio"), "ycsb-a: app: an app does more than block I/O, "),
        (("fio-read", "-o", "a.csv"), "--output = 'a.csv': expected a name that ends in one of .toml, .fio, "),
        (("fio-read", "-o", "a.fio", "--target", "a b"), "--target = 'a b': expected the path of a device or file"),
        (("none.fio", "-o", "a.toml"), "none.fio: the workload cannot be read: No such file or directory"),
    ],
)
def test_mistakes_of_convert(hotband, arguments: tuple[str, ...], error: str) -> None:  # type: ignore[no-untyped-def]
    done = hotband("workloads", "convert", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"hotband: error: {error}" in done.stderr


def test_a_sweep_takes_a_job_file(tmp_path: Path) -> None:
    (tmp_path / "my.fio").write_text(JOB)
    sweep = hb.sweep(tmp_path / "my.fio", on="exos-15e900-512n", duration="0.1 s", qd=[1, 8], progress=False)
    assert sweep.complete
    assert any("converted from" in note for note in sweep.records[0].to_dict()["notes"])


def test_convert_from_python(tmp_path: Path) -> None:
    done = hb.convert("fio-randread", to="fio", target="/dev/sdx")
    assert "filename=/dev/sdx" in done.text
    assert {str(loss.fate) for loss in done.losses} == {"kept"}
    with pytest.raises(hb.UserError, match="expected one of toml, fio, vdbench"):
        hb.convert("fio-randread", to="iometer")


def test_a_job_of_trims_alone_has_their_rate_as_answer(hotband, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "t.fio").write_text("[t]\nfilename=/dev/sdx\ndirect=1\nrw=randtrim\nbs=64k\nruntime=1\ntime_based\n")
    done = hotband("run", "t.fio", "--on", "s4500-960", "--duration", "5 ms")
    assert done.stdout.splitlines()[0].split(" ", 1)[1].startswith("trims/s, ")
