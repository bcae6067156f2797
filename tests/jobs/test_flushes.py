"""Flushes are I/Os of a closed loop here and none in fio: a job with fsync= does as many reads and writes as in fio,
and one that we write as many as its workload."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from job_files import Convert, Job, job_of

import hotband as hb
from hotband.data.jobs.flushes import with_flushes, without_flushes
from hotband.data.jobs.job_file import written
from hotband.data.jobs.loss import Fate

FIO = shutil.which("fio")
DIRECT = "[a]\nioengine=libaio\ndirect=1\nnorandommap\nfilename=/dev/sdx\n"
# Of the number of reads in as many draws, here and in fio.
DEVIATIONS = 5.0


def done(folder: Path, options: str, drive: str = "exos-15e900-512n") -> tuple[int, int, int]:
    """Reads, writes and flushes of a run of the job. No volatile cache: a flush takes no time."""
    path = folder / "a.fio"
    path.write_text(DIRECT + options.replace(" ", "\n") + "\n")
    summary = hb.run(path, on=drive, wce="off", progress=False).summary
    sides = (summary.read, summary.write, summary.flush)
    return tuple(0 if side is None else side.count for side in sides)  # type: ignore[return-value]


# What fio 3.33 does; fdatasync is not among its syncs, strace shows 499.
@pytest.mark.parametrize(
    ("options", "writes", "flushes"),
    [
        ("rw=write bs=64k size=8m fsync=1", 128, 127),
        ("rw=write bs=4k size=8m fdatasync=1 number_ios=500", 500, 499),
        ("rw=randwrite bs=4k size=64m rate_iops=100 fsync=1 runtime=4 time_based", 400, 400),
        ("rw=randwrite bs=4k size=16m rate=400k fsync=1 runtime=2 time_based", 200, 200),
        ("rw=randwrite bs=4k size=16m rate_iops=50 fsync=2 iodepth=8 runtime=2 time_based", 100, 50),
        ("rw=write bs=64k size=8m fsync=3 number_ios=50", 50, 16),
        ("rw=write bs=64k size=8m io_size=20m fsync=2", 320, 159),
        ("rw=write bs=64k size=8m loops=2 fsync=128", 256, 1),
        ("rw=write bs=64k size=8m numjobs=2 fsync=3", 256, 84),
        ("rw=write bs=64k size=8m fsync=4 fdatasync=2 number_ios=50", 50, 24),
        ("rw=write bs=64k size=8m sync_file_range=write:4", 128, 0),
    ],
)
def test_a_job_that_flushes_does_as_many_writes_as_fio(tmp_path: Path, options: str, writes: int, flushes: int) -> None:
    found = done(tmp_path, options)
    assert found[:2] == (0, pytest.approx(writes, abs=1 if "runtime" in options else 0))
    assert found[2] == pytest.approx(flushes, abs=1)


@pytest.mark.parametrize("drive", ["exos-15e900-512n", "s4500-960"])
def test_so_it_does_on_a_drive_that_it_has_worn_in(tmp_path: Path, drive: str) -> None:
    assert done(tmp_path, "rw=write bs=64k size=8m fsync=1", drive)[1] == 128


@pytest.mark.parametrize(
    ("options", "reads", "writes"),
    [
        ("rw=rw rwmixread=50 bs=4k size=16m fsync=1", 1992, 2104),
        ("rw=randrw rwmixread=70 bs=4k size=4m fsync=3", 707, 317),
        ("rw=randrw rwmixread=50 bs=4k size=16m rate_iops=50 fsync=2 runtime=2 time_based", 100, 100),
    ],
)
def test_a_mix_that_flushes_has_the_reads_and_writes_of_fio(
    tmp_path: Path, options: str, reads: int, writes: int
) -> None:
    found = done(tmp_path, options)
    for count, wanted in zip(found, (reads, writes), strict=False):
        # Both draw the direction of each I/O, and a draw of a flush is none of an I/O.
        spread = (2 * reads * writes / (reads + writes)) ** 0.5
        assert abs(count - wanted) <= DEVIATIONS * spread


@pytest.mark.parametrize("mix", ["rwmixread=100", "rwmixwrite=0"])
def test_a_mix_of_reads_alone_does_not_write_at_the_rate_of_writes(tmp_path: Path, mix: str) -> None:
    found = done(tmp_path, f"rw=randrw {mix} bs=4k size=16m rate_iops=100 fsync=1 runtime=4 time_based")
    assert found == (pytest.approx(400, abs=1), 0, 0)


@pytest.mark.parametrize(
    ("options", "writes"),
    # fio 3.33 with ioengine=null, whose I/Os take no time.
    [("thinktime=50000 fsync=1", 60), ("thinktime=50000 fsync=2", 60), ("thinktime=50000 thinktime_blocks=4", 228)],
)
def test_a_job_pauses_after_its_ios_and_not_after_flushes(tmp_path: Path, options: str, writes: int) -> None:
    if "blocks" in options:
        options += " fsync=4"
    found = done(tmp_path, f"rw=randwrite bs=4k size=16m runtime=3 time_based {options}", "s4500-960")
    assert found[1] == pytest.approx(writes, rel=0.06)


@pytest.mark.skipif(FIO is None, reason="fio is not installed")
@pytest.mark.parametrize(
    "options",
    ["fsync=1", "fdatasync=2 number_ios=70", "fsync=5 io_size=3m", "fsync=3 loops=2", "fsync=7 numjobs=3"],
)
def test_the_fio_that_is_here_does_as_many_writes(tmp_path: Path, options: str) -> None:
    job = f"rw=write bs=16k size=2m {options}"
    arguments = ["--name=a", "--ioengine=null", "--filename=a", *(f"--{one}" for one in job.split())]
    command = [str(FIO), *arguments, "--output-format=json"]
    said = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=True).stdout
    writes = sum(one["write"]["total_ios"] for one in json.loads(said)["jobs"])
    assert done(tmp_path, job)[:2] == (0, writes)


def workload(load: str, stream: str, phase: str) -> str:
    more = 'random_pct = 100\nsize = "4 KiB"\nrange = ["0 B", "64 MiB"]\n'
    return f"[load]\n{load}\n[[streams]]\n{more}{stream}\n[[phases]]\nmeasure = true\n{phase}\n"


ONE = "closed = { threads = 1, depth = 1 }"
FLUSHED = "read_pct = 0\nflush_every = 1"


def options_of(job: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in job.splitlines() if "=" in line and not line.startswith("#"))


def back(folder: Path, job: str) -> dict[str, Any]:
    path = folder / "back.fio"
    path.write_text(job)
    return job_of(path).table


def test_what_we_write_has_the_writes_of_the_workload_and_comes_back(tmp_path: Path) -> None:
    job, report = written("a.toml", workload(ONE, FLUSHED, "ios = 1000"), "fio")
    assert options_of(job)["number_ios"] == "500"
    assert report.of(Fate.APPROXIMATED) == []
    assert back(tmp_path, job)["phases"][0]["ios"] == 1000


@pytest.mark.parametrize("every", [1, 2, 3, 8, 500, 5000])
def test_a_number_of_writes_comes_back(every: int) -> None:
    for ios in (1, 2, 3, 499, 500, 501, 1000):
        assert without_flushes(with_flushes(ios, 1.0, every), 1.0, every) == ios
        assert abs(without_flushes(with_flushes(ios, 0.3, every), 0.3, every) - ios) <= 1


def test_a_rate_that_we_write_is_that_of_the_writes_and_comes_back(tmp_path: Path) -> None:
    text = workload('open = { rate_iops = 100, arrival = "fixed" }', FLUSHED, 'duration = "4 s"')
    job, report = written("a.toml", text, "fio")
    assert options_of(job)["rate_iops"] == "100"
    assert any("flush_every" in loss.option for loss in report.of(Fate.APPROXIMATED))
    assert back(tmp_path, job)["load"]["open"]["rate_iops"] == 100


def test_a_rate_of_random_times_has_even_gaps_where_fio_would_break_off() -> None:
    load = 'open = { rate_iops = 100, arrival = "poisson" }'
    job, report = written("a.toml", workload(load, FLUSHED, 'duration = "4 s"'), "fio")
    assert "rate_process" not in options_of(job)
    assert any("aborts when" in loss.why for loss in report.of(Fate.APPROXIMATED))
    plain, _ = written("a.toml", workload(load, "read_pct = 0", 'duration = "4 s"'), "fio")
    assert options_of(plain)["rate_process"] == "poisson"


def test_a_mix_that_we_write_has_its_reads_and_writes(tmp_path: Path) -> None:
    job, report = written("a.toml", workload(ONE, "read_pct = 60\nflush_every = 2", "ios = 1200"), "fio")
    assert options_of(job)["number_ios"] == "1000"
    assert any("after the reads" in loss.why for loss in report.of(Fate.APPROXIMATED))
    assert back(tmp_path, job)["phases"][0]["ios"] == 1200


def test_a_pause_that_we_write_is_that_of_the_flush_too(tmp_path: Path) -> None:
    load = 'closed = { threads = 1, depth = 1, think = "5 ms" }'
    job, report = written("a.toml", workload(load, FLUSHED, 'duration = "4 s"'), "fio")
    assert options_of(job)["thinktime"] == "10000"
    assert any("does not pause after flushes" in loss.why for loss in report.of(Fate.APPROXIMATED))
    assert back(tmp_path, job)["load"]["closed"]["think"] == "5 ms"


def test_a_burst_that_we_write_has_its_writes() -> None:
    job, _ = written("a.toml", workload('bursts = { ios = 32, every = "1 s" }', FLUSHED, 'duration = "4 s"'), "fio")
    assert options_of(job)["thinktime_blocks"] == "32"


def test_flushes_count_to_the_ratio_of_streams_in_fio_too() -> None:
    """fio 3.33, flow=1 each, one with fsync=1: 553 reads beside 276 writes and 276 flushes."""
    more = f'share_pct = 50\n{FLUSHED}\n[[streams]]\nname = "reads"\nshare_pct = 50\nread_pct = 100\n'
    text = workload(ONE, f'name = "writes"\n{more}random_pct = 100\nsize = "4 KiB"', "ios = 1000")
    job, _ = written("a.toml", text, "fio")
    assert [line for line in job.splitlines() if line.startswith(("flow=", "number_ios="))] == [
        "flow=500",
        "number_ios=250",
        "flow=500",
        "number_ios=500",
    ]


def test_jobs_of_a_ratio_keep_it_with_their_flushes(convert: Convert) -> None:
    text = f"[global]\nflow_id=1\nflow=1\nruntime=1\ntime_based\n{DIRECT}rw=randread\n"
    job = convert(text + DIRECT.replace("[a]", "[b]") + "rw=randwrite\nfsync=1\n")
    assert [one["share_pct"] for one in job.table["streams"]] == [50, 50]


def test_vdbench_keeps_the_rate_of_the_writes_and_has_no_flushes() -> None:
    text = workload('open = { rate_iops = 100, arrival = "fixed" }', FLUSHED, 'duration = "4 s"')
    job, report = written("a.toml", text, "vdbench")
    assert "iorate=100," in job
    assert any("flush_every" in loss.option for loss in report.of(Fate.IGNORED))


def test_vdbench_has_the_shares_without_flushes() -> None:
    more = f'share_pct = 60\n{FLUSHED}\n[[streams]]\nname = "reads"\nshare_pct = 40\nread_pct = 100\n'
    text = workload(ONE, f'name = "writes"\n{more}random_pct = 100\nsize = "4 KiB"', 'duration = "4 s"')
    job, _ = written("a.toml", text, "vdbench")
    skews = [line.rpartition("skew=")[2] for line in job.splitlines() if "skew=" in line]
    assert [float(skew) for skew in skews] == [pytest.approx(300 / 7), pytest.approx(400 / 7)]


TIMED = f"{DIRECT}runtime=5\ntime_based\n"


@pytest.mark.parametrize(
    ("options", "option", "fate", "why"),
    [
        ("rw=write\nfsync=1\n", "fsync", Fate.KEPT, ""),
        ("rw=rw\nfsync=1\n", "fsync", Fate.APPROXIMATED, "after the reads"),
        ("rw=read\nfsync=1\n", "fsync", Fate.IGNORED, "does not write"),
        ("rw=randrw\nrwmixread=100\nfsync=1\n", "fsync", Fate.IGNORED, "does not write"),
        ("rw=read\nsync=1\n", "sync", Fate.IGNORED, "does not write"),
        ("rw=trimwrite\nfsync=1\n", "fsync", Fate.IGNORED, "does not flush in a job that trims and writes"),
        ("rw=write\niodepth=8\nfsync=1\n", "fsync", Fate.APPROXIMATED, "fio would wait for it"),
        ("rw=randwrite\nnumjobs=2\nfsync=1\n", "fsync", Fate.APPROXIMATED, "counted together"),
        ("rw=write\nrate_iops=9\nfdatasync=1\n", "fdatasync", Fate.KEPT, ""),
        ("rw=write\nthinktime=9\nfsync=1\n", "thinktime", Fate.APPROXIMATED, "flushes also count towards it"),
        ("rw=write\nfsync=4\nfdatasync=6\n", "fdatasync", Fate.APPROXIMATED, "one mean number of writes"),
        ("rw=write\nfsync=4\nfdatasync=2\n", "fdatasync", Fate.KEPT, ""),
        ("rw=write\nfsync=1\nend_fsync=1\n", "end_fsync", Fate.IGNORED, "no flush follows"),
    ],
)
def test_what_is_not_as_fio_has_it_is_told(convert: Convert, options: str, option: str, fate: Fate, why: str) -> None:
    found, said = convert(TIMED + options).fate(option)
    assert found is fate
    assert why in said


def test_two_options_are_one_number_of_writes(convert: Convert) -> None:
    def every(options: str) -> object:
        job: Job = convert(f"{TIMED}rw=write\n{options}")
        return job.stream["flush_every"]

    # Of twelve writes fio flushes after 4, 6, 8 and 12.
    assert (every("fsync=4\nfdatasync=6\n"), every("fsync=4\nfdatasync=2\n")) == (3, 2)


def test_a_rate_of_a_job_that_flushes_has_the_limits_of_others(refused: Any) -> None:
    said = refused(f"{TIMED}rw=write\niodepth=2000\nrate_iops=2000000000\nfsync=1\n")
    assert said.startswith("a.fio:10: rate_iops")
    assert "expected 0.001 to 1e+09" in said


def test_mapped_memory_of_diskspd_is_not_kept(convert: Convert) -> None:
    target = "<Path>C:\\io.dat</Path><DisableOSCache>true</DisableOSCache><FileSize>1048576</FileSize>"
    mapped = "<MemoryMappedIo>true</MemoryMappedIo><MemoryMappedIoFlushMode>ViewOfFile</MemoryMappedIoFlushMode>"
    span = f"<TimeSpan><Duration>1</Duration><Targets><Target>{target}{mapped}</Target></Targets></TimeSpan>"
    job = convert(f"<Profile><TimeSpans>{span}</TimeSpans></Profile>", "a.xml")
    assert job.fate("MemoryMappedIo=")[0] is Fate.IGNORED
    assert job.fate("MemoryMappedIoFlushMode")[0] is Fate.IGNORED
