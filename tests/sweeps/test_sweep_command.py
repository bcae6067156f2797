"""`hotband sweep`: the same engine and frame as `hb.sweep`, what is kept, what is refused."""

from __future__ import annotations

import csv
import fcntl
import io
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from small_sweep import ASKED, Swept

import hotband as hb
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.data.results.sweep_journal import FRAME_FILE, JOURNAL_FILE
from hotband.execution.experiment.progress import Pace
from hotband.inference.interval import of_record
from hotband.inference.interval.of_run import Asked, figures_of

DISKS = ["ent-10k", "ent-15k"]


def python(**more: object) -> hb.Sweep:
    """The same from Python."""
    asked = {"on": DISKS, "qd": "1..4", "repeat": 2, "duration": "500 ms", "records": False, "progress": False}
    return hb.sweep("fio-randread", **{**asked, **more})  # type: ignore[arg-type]


def test_command_and_python_give_the_same_frame(swept: Swept) -> None:
    sweep = python()
    kept = pl.read_parquet(swept.out / FRAME_FILE)
    assert kept.equals(sweep.frame)
    assert kept.height == 12
    assert kept.columns[:5] == ["target", "workload", "qd", "seed", "iops"]
    assert swept.printed["runs"] == kept.to_dicts()
    assert swept.printed["points"] == sweep.means.to_dicts()
    assert swept.printed["answers"] == sweep.answers


def test_a_row_is_what_the_run_alone_gives(swept: Swept) -> None:
    alone = hb.run("fio-randread", on="ent-15k", qd=2, seed=2, duration="500 ms", progress=False)
    row = pl.read_parquet(swept.out / FRAME_FILE).filter(target="ent-15k", qd=2, seed=2).to_dicts()[0]
    assert row["iops"] == alone.iops
    assert row["read_latency_p99_ns"] == alone.document["summary"]["read"]["latency_p99_ns"]
    assert row["write_latency_mean_ns"] is None


def test_a_point_is_the_mean_of_its_seeds_with_its_spread(swept: Swept) -> None:
    a, b = pl.read_parquet(swept.out / FRAME_FILE).filter(target="ent-10k", qd=4)["latency_mean_ns"].to_list()
    point = next(one for one in swept.printed["points"] if (one["target"], one["qd"]) == ("ent-10k", 4))
    # Student's t of 97.5 % and one degree of freedom is 12.7062; the standard error of two is half their distance.
    half = 12.7062 * abs(a - b) / 2
    assert half > 0
    assert (point["runs"], point["latency_mean_ns"]) == (2, pytest.approx((a + b) / 2))
    assert point["latency_mean_ns_low"] == pytest.approx((a + b) / 2 - half, rel=1e-5)
    assert point["latency_mean_ns_high"] == pytest.approx((a + b) / 2 + half, rel=1e-5)


def test_csv_has_the_values_of_the_points_themselves(swept: Swept, hotband) -> None:
    done = hotband("sweep", *ASKED, "--repeat", "2", "--out", str(swept.out), "--format", "csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    columns = {"IOPS": ("iops", 1.0), "MB/s": ("bandwidth_bytes_per_s", 1e6), "Mean": ("latency_mean_ns", 1e6)}
    for row, point in zip(rows, swept.printed["points"], strict=True):
        assert (row["machine"], float(row["queue depth"])) == (point["target"], point["qd"])
        for heading, (name, scale) in columns.items():
            for ending, its_end in (("", ""), (", from", "_low"), (", to", "_high")):
                value = point[f"{name}{its_end}"] / scale
                unit = " (ms)" if heading == "Mean" else ""
                assert float(row[f"{heading}{ending}{unit}"]) == pytest.approx(value, rel=1e-11)


def test_units_are_a_column_of_numbers() -> None:
    frame = hb.sweep(
        "fio-randread", on="ent-10k", bs="4KiB,1MiB", think="1 ms", duration="200 ms", progress=False
    ).frame
    assert frame.columns[:6] == ["target", "workload", "bs", "bs_bytes", "think", "think_ns"]
    assert frame["bs"].to_list() == ["4 KiB", "1 MiB"]
    assert frame["bs_bytes"].to_list() == [4096.0, 1048576.0]
    assert frame["think_ns"].to_list() == [1e6, 1e6]


def test_what_is_there_is_not_run_again_and_more_is_added(swept: Swept, tmp_path: Path, hotband) -> None:
    out = Path(shutil.copytree(swept.out, tmp_path / "out"))
    before = (out / JOURNAL_FILE).read_bytes()
    assert python(out=out).complete
    assert (out / JOURNAL_FILE).read_bytes() == before
    done = hotband("sweep", *ASKED, "--repeat", "2", "--set", "wce=on", "--out", str(out))
    assert done.returncode == 2
    assert "holds another sweep, fio-randread on ent-10k, ent-15k: qd (" in done.stderr
    done = hotband("sweep", *ASKED, "--repeat", "3", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "12 of 18 runs were there already" in done.stderr
    after = (out / JOURNAL_FILE).read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == 1 + 18
    assert pl.read_parquet(out / FRAME_FILE).equals(python(repeat=3).frame)


# Kills itself, as `kill -9` would, in the middle of the line of a run.
KILLED = """
import os, signal, sys
from hotband.data.results import sweep_journal as journal
left = [int(sys.argv.pop(1))]
line_of = journal.line_of
def cut(entry):
    left[0] -= 1
    if left[0] < 0:
        os.write(lines._file, line_of(entry)[:40])
        os.kill(os.getpid(), signal.SIGKILL)
    return line_of(entry)
opened = journal.Journal.open
def open(self):
    global lines
    lines = self
    opened(self)
journal.Journal.open, journal.line_of = open, cut
from hotband.faces.cli import main
main()
"""


def test_what_was_killed_goes_on_without_losing_or_repeating_a_run(tmp_path: Path, swept: Swept) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-c", KILLED, "6", "sweep", *ASKED, "--repeat", "2", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    before = (out / JOURNAL_FILE).read_bytes()
    assert not before.endswith(b"\n")
    whole = before[: before.rindex(b"\n") + 1]
    assert whole.count(b"\n") == 1 + 5
    assert python(out=out).complete
    after = (out / JOURNAL_FILE).read_bytes()
    assert after.startswith(whole)
    assert after.count(b"\n") == 1 + 12
    assert pl.read_parquet(out / FRAME_FILE).equals(pl.read_parquet(swept.out / FRAME_FILE))


def test_rows_alone_do_not_stand_for_records(swept: Swept, tmp_path: Path) -> None:
    out = Path(shutil.copytree(swept.out, tmp_path / "out"))
    rows = python(out=out)
    with pytest.raises(KeyError, match="records were not kept"):
        rows[0]
    whole = python(out=out, records=True)
    assert whole[0].iops == rows.frame["iops"][0]
    assert python(out=out, records=True)[11] == whole[11]


def half_to_double(spec: RunSpec, whole: Finished, asked: Asked, *_: object) -> dict[str, object]:
    """Intervals without their hundred runs: from half of a figure to the double of it."""
    figures = figures_of(whole.record).items()
    bounds = [{"figure": name, "low": value / 2, "high": 2 * value} for name, value in figures]
    return {"level": asked.level, "notes": [], "figures": bounds}


def test_a_sweep_says_which_intervals_exclude_their_predictions(hotband, monkeypatch: pytest.MonkeyPatch) -> None:
    note = f"IOPS: {of_record.CONTRADICTED}, which figures of x contradict"

    def contradicted(spec: RunSpec, whole: Finished, asked: Asked, *_: object) -> dict[str, object]:
        return {**half_to_double(spec, whole, asked), "notes": ["another", note]}

    monkeypatch.setattr(of_record, "intervals_of", contradicted)
    line = ("sweep", *ASKED, "--out", "out")
    shown = " ".join(hotband(*line, "--interval", "90").stdout.split())
    assert f"! {note} (6 runs)" in shown
    assert "another" not in shown
    assert of_record.CONTRADICTED not in " ".join(hotband(*line).stdout.split()), "no interval was requested"


def test_intervals_are_of_the_first_seed(tmp_path: Path, hotband, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_record, "intervals_of", half_to_double)
    asked = ("sweep", *ASKED, "--repeat", "2", "--interval", "90", "--out", "out")
    done = hotband(*asked, "--details")
    assert done.returncode == 0, done.stderr
    assert "in brackets: 90 % intervals of the predictions" in done.stdout
    said = " ".join(done.stdout.split())
    assert (
        "The 90 % intervals of predicted IOPS overlap at 3 of 3 points, those of p99 overlap at 3 of 3 points." in said
    )
    frame = pl.read_parquet(tmp_path / "out" / FRAME_FILE)
    first, second = frame.filter(seed=1), frame.filter(seed=2)
    assert first["iops_interval_low"].equals(first["iops"] / 2)
    assert first["latency_p99_ns_interval_high"].equals(2 * first["latency_p99_ns"])
    assert second["iops_interval_low"].null_count() == second.height == 6
    monkeypatch.setattr(of_record, "intervals_of", None)
    again = hotband(*asked, "--json")
    assert "12 of 12 runs were there already" in again.stderr
    assert pl.read_parquet(tmp_path / "out" / FRAME_FILE).equals(frame)
    without = python(out=tmp_path / "out").frame
    assert "iops_interval_low" not in without.columns


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--set", "qdd=1..4"], "--set = 'qdd': did you mean"),
        (["--set", "qd=1.."], "--set: qd = '1..': the range '1..' lacks an end"),
        (["--set", "qd=1,2", "--set", "qd=4"], "--set: qd = '4': is given twice"),
        (["--set", "bs=4KiB,4k"], "bs = \"['4 KiB', '4k']\": expected each value once"),
        (["--set", "qd=1,2,2"], "qd = '[1, 2, 2]': expected each value once"),
        (["--set", "qd=0,1"], "--set: qd = '0': expected a whole number from 1 to 65536"),
        (["--on", "emulated:"], "--on = 'emulated:': expected emulated:MACHINE, such as emulated:exos-15e900-512n"),
        (["--on", "ent-10k"], "--on = 'ent-10k': is given twice; expected each machine once"),
        (["--on", "s4500-960", "--set", "rpm=7200 rpm"], "--set = 'rpm': on s4500-960: expected one of"),
        (["--repeat", "0"], "--repeat = '0': expected a whole number, 1 or more"),
        (["--seed", str(2**64 - 1), "--repeat", "2"], f"--seed = '{2**64 - 1}': expected a whole number"),
        (["--draws", "9"], "--draws = '9': is for intervals"),
        (["-o", "/dev/null/page.html"], "--output = '/dev/null/page.html': /dev/null is not a folder"),
        (["--duration", "5"], "--duration = '5': expected a time with its unit"),
        (["--event", "at 1 s: explode"], "--event = 'at 1 s: explode': expected"),
        (["--out", "/proc/nowhere"], "--out = '/proc/nowhere': the folder cannot be written"),
    ],
)
def test_a_mistake_is_one_line(hotband, arguments: list[str], expected: str) -> None:
    done = hotband("sweep", "fio-randread", "--on", "ent-10k", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"hotband: error: {expected}"), done.stderr
    assert done.stderr.count("\n") == 1


def test_a_mistake_in_what_is_to_start_over_leaves_what_is_there(swept: Swept, tmp_path: Path, hotband) -> None:
    out = Path(shutil.copytree(swept.out, tmp_path / "out"))
    before = (out / JOURNAL_FILE).read_bytes()
    assert hotband("sweep", *ASKED, "--set", "wce=perhaps", "--out", "out", "--fresh").returncode == 2
    assert (out / JOURNAL_FILE).read_bytes() == before
    done = hotband("sweep", *ASKED, "--set", "wce=on", "--out", "out", "--fresh")
    assert done.returncode == 0, done.stderr
    assert pl.read_parquet(out / FRAME_FILE)["wce"].to_list() == ["on"] * 6


def test_what_is_left_is_told_by_the_pace_of_what_was_run() -> None:
    times = iter([0.0, 1.0, 10.0, 20.0, 7200.0, 7300.0])
    pace = Pace(lambda: next(times))
    # Half was there already: a tenth takes ten seconds.
    assert [pace.left(share) for share in (0.5, 0.52, 0.6, 0.7)] == ["", "", "40 s left, ", "30 s left, "]
    assert [pace.left(share) for share in (0.9, 1.0)] == ["30 min left, ", ""]


def test_a_million_runs_are_refused_with_the_time_they_would_take(hotband) -> None:
    asked = ["--set", "qd=1..1000/1", "--set", "read_pct=0..99/1", "--repeat", "10", "--duration", "10 ms"]
    done = hotband("sweep", "fio-randread", "--on", "ent-10k", *asked)
    assert done.returncode == 2
    pattern = (
        r"--set = '1,000,000 runs': would take about [\d.,]+ (s|min|h) on \d+ cores, estimated from its first run "
    )
    assert re.search(pattern + r"\(qd 1,000, read_pct 100, seed 10\): expected at most 100,000 runs", done.stderr)


def test_a_folder_of_other_runs_and_a_second_writer_are_refused(tmp_path: Path, hotband) -> None:
    run = ["run", "fio-randread", "--on", "ent-10k", "--duration", "100 ms"]
    assert hotband(*run, "--then", "fio-read", "--out", "runs").returncode == 0
    done = hotband("sweep", *ASKED, "--out", "runs")
    assert "--out = 'runs': holds the runs fio-randread, fio-read on ent-10k" in done.stderr
    (tmp_path / "out").mkdir()
    with (tmp_path / "out" / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = hotband("sweep", *ASKED, "--out", "out")
    assert done.returncode == 2
    assert "--out = 'out': another process is writing there" in done.stderr


@pytest.mark.parametrize(
    ("more", "differs"),
    [
        (["--duration", "20 ms"], "duration is 10 ms there and 20 ms here"),
        (["--seed", "2"], "seed is 1 there and 2 here"),
        (["--event", "at 5 ms: fail d0"], "events is not said there and at 5 ms: fail d0 here"),
        (["--set", "wce=off"], "wce is not said there and off here"),
        (["--set", "qd=4,8"], "qd is 1, 2 there and 4, 8 here"),
        ([], "the text of ./my.toml was another"),
    ],
)
def test_a_folder_of_another_sweep_says_what_differs(tmp_path: Path, hotband, more: list[str], differs: str) -> None:
    machine = tmp_path / "my.toml"
    machine.write_text('[drives.d0]\nproduct = "ent-10k"\n', encoding="utf-8")
    asked = {"--on": "./my.toml", "--set": "qd=1,2", "--duration": "10 ms", "--out": "out"}
    first = ["sweep", "fio-randread", *(word for pair in asked.items() for word in pair)]
    assert (done := hotband(*first)).returncode == 0, done.stderr
    if not more:
        machine.write_text(machine.read_text(encoding="utf-8").replace("10k", "15k"), encoding="utf-8")
    replaced = [word for pair in asked.items() if pair[0] not in more or more[1] == "wce=off" for word in pair]
    done = hotband("sweep", "fio-randread", *replaced, *more)
    assert done.returncode == 2
    assert f"holds another sweep, fio-randread on ./my.toml: qd ({differs}): expected another folder" in done.stderr


def test_csv_has_a_further_percentile(hotband) -> None:
    options = ("--set", "qd=1,4", "--duration", "1 s", "--format", "csv")
    head, *rows = csv.reader(hotband("sweep", "fio-randread", "--on", "ent-10k", *options).stdout.splitlines())
    assert "p99.9 (ms)" in head
    assert len(rows) == 2
    of_transactions = hotband("sweep", "postgres-oltp", "--on", "7450-pro-3840", "--set", "clients=1,4", *options[2:])
    names, *rows = csv.reader(of_transactions.stdout.splitlines())
    columns = [dict(zip(names, row, strict=True)) for row in rows]
    assert all(float(row["p99.9 (ms)"]) >= float(row["p99 (ms)"]) for row in columns)
