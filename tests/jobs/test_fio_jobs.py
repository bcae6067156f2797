"""Job files of fio as workloads: what traps people who read them as INI, or as one job."""

from __future__ import annotations

from pathlib import Path

import pytest
from job_files import Convert

from hotband.data.jobs.loss import Fate

DIRECT = "[global]\nioengine=libaio\ndirect=1\nnorandommap\nfilename=/dev/sdx\nruntime=5\ntime_based\n"


def test_one_job_is_one_loop(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randrw\nrwmixread=70\nbs=16k\niodepth=8\nnumjobs=4\n")
    assert job.closed() == {"threads": 4, "depth": 8}
    assert job.stream == {"name": "a", "read_pct": 70, "random_pct": 100, "size": "16 KiB"}
    assert job.table["phases"] == [{"name": "measure", "duration": "5 s", "measure": True}]
    assert {loss.fate for loss in job.report.losses} == {Fate.KEPT}


def test_every_key_names_the_line_that_it_came_from(convert: Convert) -> None:
    assert 'size = "16 KiB"  # a.fio:9: bs=16k' in convert(f"{DIRECT}[a]\nbs=16k\n").text


@pytest.mark.parametrize("engine", ["psync", "sync", "pvsync2"])
def test_a_synchronous_engine_has_a_depth_of_one(convert: Convert, engine: str) -> None:
    job = convert(f"{DIRECT}[a]\nioengine={engine}\niodepth=32\n")
    assert job.closed() == {"threads": 1, "depth": 1}
    fate, why = job.fate("iodepth")
    assert fate is Fate.IGNORED
    assert "waits for every I/O" in why


def test_without_an_engine_it_is_synchronous(convert: Convert) -> None:
    assert convert("[a]\nfilename=/dev/sdx\niodepth=32\nruntime=1\ntime_based\n").closed()["depth"] == 1


def test_global_sections_are_for_the_jobs_that_follow(convert: Convert) -> None:
    job = convert("[global]\nfilename=/dev/sdx\nruntime=1\ntime_based\nbs=4k\n[a]\n[global]\nbs=64k\n[b]\n[c]\nbs=8k\n")
    assert [one["size"] for one in job.table["streams"]] == ["4 KiB", "64 KiB", "8 KiB"]


def test_a_comment_ends_a_value_anywhere(convert: Convert) -> None:
    assert convert(f"{DIRECT}; a remark\n[a]\nbs=8k # eight\nrw=randread ; all\n").stream["size"] == "8 KiB"


def test_variables_come_from_the_environment(convert: Convert, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIZE_KB", "32")
    assert convert(f"{DIRECT}[a]\nbs=${{SIZE_KB}}k\n").stream["size"] == "32 KiB"


def test_included_files_stand_where_they_are_included(convert: Convert, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "base.inc").write_text("bs=64k\ninclude more.inc\n")
    (tmp_path / "parts" / "more.inc").write_text("iodepth=4\n")
    job = convert(f"{DIRECT}[a]\nbs=4k\ninclude parts/base.inc\n")
    assert (job.stream["size"], job.closed()["depth"]) == ("64 KiB", 4)
    assert any(str(loss.location).endswith("parts/more.inc:1") for loss in job.report.losses)


def test_stonewall_begins_a_step(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randread\n[b]\nrw=randwrite\n[c]\nstonewall\nrw=randread\nbs=64k\nruntime=7\n")
    assert [(one["duration"], one["streams"]) for one in job.table["phases"]] == [("5 s", ["a", "b"]), ("7 s", ["c"])]


def test_a_ramp_is_a_warm_up_of_the_first_step_alone(convert: Convert) -> None:
    job = convert(f"{DIRECT}ramp_time=3\n[a]\nrw=randread\n[b]\nstonewall\nrw=randwrite\n")
    warm_up, *measured = job.table["phases"]
    assert (warm_up["duration"], warm_up["streams"], "measure" in warm_up) == ("3 s", ["a"], False)
    assert len(measured) == 2
    fates = {one.fate for one in job.report.losses if one.option.startswith("ramp_time")}
    assert Fate.IGNORED in fates


@pytest.mark.parametrize(
    ("base", "text", "size"),
    # fio 3.33 itself says so (fio --ioengine=null, io_bytes): `kib` is the other way round, `ki` is not.
    [
        ("1024", "4k", 4096),
        ("1024", "512kib", 512_000),
        ("1000", "512k", 512_000),
        ("1000", "4kib", 4096),
        ("1024", "4ki", 4096),
    ],
)
def test_kb_base(convert: Convert, base: str, text: str, size: int) -> None:
    got = convert(f"{DIRECT}[a]\nkb_base={base}\nbs={text}\n").stream["size"]
    number, unit = got.split()
    assert int(number) * {"B": 1, "KiB": 1024}[unit] == size


def test_bssplit_shares_what_is_left(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randread\nbssplit=4k/50:1k/:32k/\n")
    assert job.stream["sizes"] == {"4 KiB": 50, "1 KiB": 25, "32 KiB": 25}
    # Offsets of a mix are aligned to the smallest size; ours to the size of each I/O where nothing is said.
    assert job.stream["align"] == "1 KiB"


def test_bsrange_is_multiples_of_the_smallest(convert: Convert) -> None:
    assert list(convert(f"{DIRECT}[a]\nrw=randread\nbsrange=4k-16k\n").stream["sizes"]) == [
        "4 KiB",
        "8 KiB",
        "12 KiB",
        "16 KiB",
    ]


def test_the_largest_size_of_bsrange_that_is_no_multiple_comes_as_often_as_in_fio(convert: Convert) -> None:
    # fio 3.33: of 96,411 I/Os 38,664 are of 4 KiB, 38,383 of 8, 19,364 of 10.
    assert convert(f"{DIRECT}[a]\nrw=randread\nbsrange=4k-10k\n").stream["sizes"] == {
        "4 KiB": 1,
        "8 KiB": 1,
        "10 KiB": 0.5,
    }


@pytest.mark.parametrize(
    ("before", "text", "read", "write"),
    [
        ("", "bs=,8k", "4 KiB", "8 KiB"),
        ("bs=16k\n", "bs=,8k", "16 KiB", "8 KiB"),
        ("", "bs=8k,", "8 KiB", "4 KiB"),
        ("", "bssplit=,64k/100", "4 KiB", "64 KiB"),
    ],
)
def test_a_size_that_is_left_out_is_the_one_before_or_fios_own(
    convert: Convert, before: str, text: str, read: str, write: str
) -> None:
    job = convert(f"{DIRECT}{before}[a]\nrw=randrw\n{text}\n")
    assert [one["size"] for one in job.table["streams"]] == [read, write]


def test_sizes_of_reads_and_writes_are_two_streams_of_one_loop(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randrw\nrwmixread=75\nbs=4k,64k\niodepth=4\n")
    told = [(one["share_pct"], one["read_pct"], one["size"]) for one in job.table["streams"]]
    assert told == [(75, 100, "4 KiB"), (25, 0, "64 KiB")]
    assert job.closed() == {"threads": 1, "depth": 4}


def test_a_sequential_mix_has_a_position_for_reads_and_one_for_writes(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=rw\nrwmixread=60\nbs=64k\n")
    assert [(one["name"], one["share_pct"], one["read_pct"]) for one in job.table["streams"]] == [
        ("a reads", 60, 100),
        ("a writes", 40, 0),
    ]


def test_percentage_random_is_a_coin_and_a_number_behind_rw_a_run(convert: Convert) -> None:
    coin = convert(f"{DIRECT}[a]\nrw=randread\npercentage_random=20\n").stream
    run = convert(f"{DIRECT}[a]\nrw=randread:5\n").stream
    assert (coin["random_pct"], coin["random_mode"]) == (20, "coin")
    assert (run["random_pct"], run["random_mode"]) == (20, "run")


@pytest.mark.parametrize(
    ("rw", "text", "random_pct"),
    [
        ("randwrite", "0,10,0", 10),
        ("randwrite", ",11,", 11),
        ("randwrite", "10,", 100),
        ("randwrite", "10", 10),
        ("randread", "0,25,0", 0),
        ("randtrim", "0,25,70", 70),
        ("randtrim", "0,25", 25),
        ("randtrimwrite", "0,25,70", 70),
    ],
)
def test_a_list_of_shares_is_for_reads_writes_and_trims(convert: Convert, rw: str, text: str, random_pct: int) -> None:
    """Each was tried with fio 3.33."""
    job = convert(f"{DIRECT}[a]\nrw={rw}\npercentage_random={text}\n")
    assert job.stream["random_pct"] == random_pct
    assert job.fate("percentage_random")[0] is Fate.KEPT


def test_a_share_that_is_left_out_is_that_of_the_line_before(convert: Convert) -> None:
    job = convert(f"{DIRECT}percentage_random=30\n[a]\nrw=randrw\npercentage_random=,20\n")
    assert [one["random_pct"] for one in job.table["streams"]] == [30, 20]


@pytest.mark.parametrize(
    ("said", "key", "values"),
    [
        ("percentage_random=0,25,0", "random_pct", [0, 25]),
        ("percentage_random=25,25,0", "random_pct", [25]),
        ("bssplit=4k/50:8k/50\nba=4k,16k", "align", ["4 KiB", "16 KiB"]),
        ("random_distribution=zipf:1.2,zipf:0.8", "offsets", [{"zipf": {"exponent": e}} for e in (1.2, 0.8)]),
        ("random_distribution=random,zipf:0.8", "offsets", [None, {"zipf": {"exponent": 0.8}}]),
    ],
)
def test_a_mix_whose_reads_and_writes_differ_is_two_streams(
    convert: Convert, said: str, key: str, values: list[object]
) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randrw\nrwmixread=70\n{said}\n")
    assert [one.get(key) for one in job.table["streams"]] == values
    if len(values) == 2:
        assert [one["share_pct"] for one in job.table["streams"]] == [70, 30]


def test_zones_of_writes_are_those_of_a_job_that_writes(convert: Convert) -> None:
    text = "size=100m\nrandom_distribution=zoned:50/5:50/95,80/10:20/90"
    stream = convert(f"{DIRECT}[a]\nrw=randwrite\n{text}\n").stream
    assert stream["offsets"] == {"hotspot": {"data": "10 %", "ios": "80 %"}}


@pytest.mark.parametrize(
    ("said", "rate"),
    [
        ("rw=randtrim\nrate_iops=100,200,300", 300),
        ("rw=randtrim\nrate_iops=,200", 200),
        ("rw=randtrim\nbs=4k,4k,64k\nrate=1m", 16),
        ("rw=randwrite\nrate_iops=100,", None),
        ("rw=randread\nrate_iops=,,300", None),
        ("rw=randtrimwrite\nrate_iops=100,200,300", 400),
        ("rw=randtrimwrite\nbs=4k,4k,64k\nrate=1m", 32),
    ],
)
def test_a_list_of_limits_is_for_reads_writes_and_trims(convert: Convert, said: str, rate: int | None) -> None:
    """Each was tried with fio 3.33: of trims with writes, each has the limit of writes."""
    job = convert(f"{DIRECT}[a]\n{said}\n")
    load = job.table.get("load", {})
    assert load.get("open", {}).get("rate_iops") == rate
    if rate is None:
        assert job.fate("rate_iops")[0] is Fate.IGNORED


def test_trims_end_after_the_size_in_trims_and_writes_after_them_are_not_counted(convert: Convert) -> None:
    """Tried with fio 3.33: 1,024 trims, and 1,024 trims and as many writes."""
    for rw, ios in (("trim", 1024), ("trimwrite", 2048)):
        text = f"[a]\nfilename=/dev/sdx\nrw={rw}\nbs=4k,8k,64k\nsize=64m\n"
        job = convert(text)
        assert (job.table["phases"][0]["ios"], job.stream["size"]) == (ios, "64 KiB")


def test_holes_of_writes_are_between_writes(convert: Convert) -> None:
    assert convert(f"{DIRECT}[a]\nrw=write:60k\nbs=64k,4k\n").stream["offsets"] == {"stride": "64 KiB"}


@pytest.mark.parametrize(
    ("options", "ios"),
    [
        ("rw=write:8k", 6),
        ("rw=write:8k\nloops=2", 12),
        ("rw=write:8k\nnumber_ios=10", 6),
        ("rw=write:8k\nio_size=64k", 16),
        ("rw=write:-8k", 16),
        ("rw=write:8k\nfilesize=128k", 11),
        ("rw=rw:8k", 12),
        ("rw=rw:8k\nrwmixread=100", 6),
    ],
)
def test_a_pass_with_holes_ends_with_its_range(convert: Convert, options: str, ios: int) -> None:
    """Tried with fio 3.33, which issues 11 I/Os of the last job."""
    job = convert(f"[a]\nfilename=/dev/sdx\nbs=4k\nsize=64k\n{options}\n")
    assert job.table["phases"][0]["ios"] == ios


def test_a_hole_back_to_the_same_block_repeats_it(convert: Convert) -> None:
    stream = convert(f"{DIRECT}[a]\nrw=write:-8k\nbs=8k\nsize=1g\noffset=1m\n").stream
    assert (stream["range"], stream["random_pct"]) == (["1 MiB", "1032 KiB"], 0)


def test_a_hole_is_a_stride(convert: Convert) -> None:
    assert convert(f"{DIRECT}[a]\nrw=read:60k\nbs=4k\n").stream["offsets"] == {"stride": "64 KiB"}


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("zipf:1.2", {"zipf": {"exponent": 1.2}}),
        ("pareto:0.2", {"hotspot": {"data": "20 %", "ios": "80 %"}}),
        ("normal:20", None),
        ("random", None),
    ],
)
def test_distributions(convert: Convert, text: str, offsets: object) -> None:
    assert convert(f"{DIRECT}[a]\nrw=randread\nrandom_distribution={text}\n").stream.get("offsets") == offsets


def test_zones_are_streams_with_shares_and_ranges(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randread\nsize=100m\nrandom_distribution=zoned:50/5:30/15:20/\n")
    told = [(one["share_pct"], one["range"]) for one in job.table["streams"]]
    assert told == [(50, ["0 B", "5 MiB"]), (30, ["5 MiB", "20 MiB"]), (20, ["20 MiB", "100 MiB"])]


def test_thinktime_caps_the_depth(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randread\niodepth=32\nthinktime=500\n")
    assert job.closed() == {"threads": 1, "depth": 1, "think": "0.5 ms"}
    assert job.fate("iodepth")[0] is Fate.IGNORED


def test_thinktime_after_blocks_is_a_script_of_bursts(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randread\niodepth=4\nthinktime=2ms\nthinktime_blocks=16\n")
    (script,) = job.table["scripts"]
    assert (script["clients"], script["think"], script["steps"][0]["ios"], script["steps"][0]["depth"]) == (
        1,
        "2 ms",
        16,
        4,
    )


def test_rate_iops_is_of_each_job_and_direction(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randrw\nrwmixread=80\nrate_iops=100\nnumjobs=3\nrate_process=poisson\n")
    assert job.table["load"]["open"] == {"rate_iops": 600, "arrival": "poisson", "outstanding": 3}
    assert (job.stream["read_pct"], job.fate("rate_iops")[0]) == (50, Fate.KEPT)
    assert job.fate("rwmixread")[1].startswith("reads are 50 % by their limits, not by rwmixread=")


def test_a_mix_with_one_limit_is_a_loop_for_each_direction(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randrw\nrwmixread=80\nrate_iops=,100\niodepth=4\n")
    assert [one["load"] for one in job.table["streams"]] == [
        {"closed": {"threads": 1, "depth": 4}},
        {"open": {"rate_iops": 100, "arrival": "fixed", "outstanding": 4, "drain": True}},
    ]


@pytest.mark.parametrize("rw", ["randrw", "readwrite"])
@pytest.mark.parametrize(
    ("options", "read_pct", "rate", "flush_every", "ignored"),
    [
        ("rwmixread=100\nrate_iops=200\nfsync=1", 100, 200, None, "fsync"),
        ("rwmixread=100\nrate_iops=50,100", 100, 50, None, None),
        ("rwmixread=100\nrate_iops=,100", 100, None, None, "rate_iops"),
        ("rwmixwrite=100\nrate_iops=200\nfsync=2", 0, 200, 2, None),
        ("rwmixwrite=100\nrate_iops=50,100", 0, 100, None, None),
        ("rwmixread=0\nrate_iops=100,", 0, None, None, "rate_iops"),
    ],
)
def test_a_mix_of_one_direction_has_nothing_of_the_other(
    convert: Convert,
    rw: str,
    options: str,
    read_pct: int,
    rate: float | None,
    flush_every: int | None,
    ignored: str | None,
) -> None:
    """Tried with fio 3.33."""
    job = convert(f"{DIRECT}[a]\nrw={rw}\n{options}\n")
    load = job.table["load"]
    assert (job.stream["read_pct"], job.stream.get("flush_every")) == (read_pct, flush_every)
    assert load.get("open", {}).get("rate_iops") == rate
    assert ("closed" in load) == (rate is None)
    changed = [loss.option.partition("=")[0] for loss in job.report.losses if loss.fate is not Fate.KEPT]
    assert [key for key in changed if key in options] == ([ignored] if ignored else [])


@pytest.mark.parametrize(
    ("options", "bound", "drains"),
    [("iodepth=16\nnumjobs=2", 32, None), ("ioengine=psync\niodepth=16", 1, None), ("iodepth=16", 16, True)],
)
def test_a_rate_has_the_bound_of_the_depth(convert: Convert, options: str, bound: int, drains: bool | None) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randread\nrate_iops=100\n{options}\n")
    load = job.table["load"]["open"]
    assert (load["outstanding"], load.get("drain")) == (bound, drains)
    assert (job.fate("rate_iops")[0] is Fate.KEPT) == (bound != 32)


def test_a_trim_comes_before_the_write_of_its_block(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randtrimwrite\nbs=4k,8k,64k\n")
    assert (job.stream["read_pct"], job.stream["trim_first"], job.stream["size"]) == (0, True, "64 KiB")
    assert (job.stream["random_pct"], job.fate("rw=")[0]) == (100, Fate.KEPT)


def test_a_mix_is_said_to_come_from_the_later_of_two_options(convert: Convert) -> None:
    text = convert(f"{DIRECT}[a]\nrw=randrw\nrwmixread=70\nrwmixwrite=20\n").text
    assert "read_pct = 80  # a.fio:11: rwmixwrite=20" in text


def test_rate_is_divided_by_the_size(convert: Convert) -> None:
    assert convert(f"{DIRECT}[a]\nbs=64k\nrate=1m\n").table["load"]["open"]["rate_iops"] == 16


@pytest.mark.parametrize("rate", ["rate_iops=5000000", "rate=100g", "rate_iops=100,5000000"])
def test_a_rate_that_no_drive_reaches_is_full_speed(convert: Convert, rate: str) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randwrite\nbs=4k\niodepth=4\nnumjobs=2\n{rate}\n")
    assert job.closed() == {"threads": 2, "depth": 4}
    why = "4 outstanding at once cannot reach it: I/Os are issued at full speed, as in fio"
    assert job.fate("rate") == (Fate.IGNORED, why)


def test_flow_joins_jobs_to_one_loop(convert: Convert) -> None:
    job = convert(f"{DIRECT}flow_id=1\n[a]\nrw=randread\nflow=3\niodepth=4\n[b]\nrw=randwrite\nflow=1\niodepth=4\n")
    assert job.closed() == {"threads": 1, "depth": 8}
    assert [one["share_pct"] for one in job.table["streams"]] == [75, 25]


def test_clones_of_a_sequential_job_each_begin_at_the_beginning(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=read\nsize=1g\nnumjobs=3\n")
    assert [one["range"] for one in job.table["streams"]] == [["0 B", "1 GiB"]] * 3
    assert all(one["load"]["closed"]["threads"] == 1 for one in job.table["streams"])


def test_offset_increment_moves_each_clone(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randread\nsize=1g\nnumjobs=3\noffset=1g\noffset_increment=2g\n")
    assert [one["range"] for one in job.table["streams"]] == [
        ["1 GiB", "2 GiB"],
        ["3 GiB", "4 GiB"],
        ["5 GiB", "6 GiB"],
    ]


def test_without_a_name_every_clone_has_a_file_of_its_own(convert: Convert) -> None:
    job = convert("[a]\nrw=randwrite\nsize=1g\nnumjobs=4\nruntime=1\ntime_based\ndirect=1\nnorandommap\n")
    assert job.stream["range"] == ["0 B", "4 GiB"]


def test_files_lie_one_after_the_other(convert: Convert) -> None:
    text = "[global]\nruntime=1\ntime_based\ndirect=1\nrw=randread\n"
    text += "[a]\nfilename=/x/1:/x/2\nsize=2g\n[b]\nfilename=/x/3\nsize=1g\n"
    assert [one["range"] for one in convert(text).table["streams"]] == [["0 B", "2 GiB"], ["2 GiB", "3 GiB"]]


def test_devices_of_unknown_size_are_equal_parts(convert: Convert) -> None:
    text = "[global]\nruntime=1\ntime_based\ndirect=1\nrw=randread\n"
    text += "[a]\nfilename=/dev/sda\n[b]\nfilename=/dev/sdb\nsize=50%\n"
    assert [one["range"] for one in convert(text).table["streams"]] == [["0 %", "50 %"], ["50 %", "75 %"]]


def test_without_a_time_the_size_is_gone_through_once(convert: Convert) -> None:
    text = "[a]\nfilename=/dev/sdx\nrw=write\nbs=64k\nsize=64m\nloops=2\n"
    assert convert(text).table["phases"] == [{"name": "measure", "ios": 2048, "measure": True}]
    timed = convert(text + "runtime=10\n").table["phases"][0]
    assert timed["until"] == ["2048 I/Os", "10 s"]


@pytest.mark.parametrize(("said", "ios"), [("io_size=16m", 256), ("io_size=25%", 256), ("io_size=25%\nloops=2", 512)])
def test_a_part_of_the_size_ends_a_job(convert: Convert, said: str, ios: int) -> None:
    text = f"[a]\nfilename=/dev/sdx\nrw=write\nbs=64k\nsize=64m\n{said}\n"
    assert convert(text).table["phases"] == [{"name": "measure", "ios": ios, "measure": True}]


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ("size=10%", ["0 B", "10 MiB"]),
        ("offset=90m", ["90 MiB", "100 MiB"]),
        ("offset=80m\nsize=50m", ["80 MiB", "100 MiB"]),
        ("offset=10m\nsize=50m", ["10 MiB", "100 MiB"]),
        ("offset=20%\nsize=30%", ["20 MiB", "50 MiB"]),
    ],
)
def test_the_part_of_a_file_whose_size_is_said_lies_within_it(convert: Convert, said: str, part: list[str]) -> None:
    job = convert(f"[a]\nfilename=file\nfilesize=100m\nrw=write\nbs=64k\n{said}\n")
    assert job.stream["range"] == part


def test_flushes_forced_writes_trims_and_data(convert: Convert) -> None:
    write = convert(f"{DIRECT}[a]\nrw=write\nfsync=8\nsync=dsync\nbuffer_compress_percentage=60\n").stream
    assert (write["flush_every"], write["fua"], write["data"]) == (8, True, 0.4)
    trim = convert(f"{DIRECT}[a]\nrw=randtrim\n").stream
    assert (trim["read_pct"], trim["trim_pct"]) == (0, 100)


def test_what_fio_does_otherwise_where_nothing_is_said_is_told(convert: Convert) -> None:
    job = convert("[a]\nfilename=/dev/sdx\nrw=randread\nruntime=1\ntime_based\n")
    assert job.fate("direct=0 (not set)")[0] is Fate.APPROXIMATED
    assert job.fate("norandommap=0 (not set)")[0] is Fate.APPROXIMATED


@pytest.mark.parametrize(
    ("options", "ignored", "why"),
    [
        ("rw=randrw\nrwmixread=70\nrwmixwrite=60\n", "rwmixread", "contradicts"),
        ("rw=randread\nrate=1m\nrate_iops=0\n", "rate_iops=0", "a limit of 0 is no limit"),
        ("rw=read\npercentage_random=50\n", "percentage_random", "sequential"),
        ("bs=4k\nbssplit=8k/100\n", "bs=4k", "bssplit= takes precedence"),
        ("write_hint=short\n", "write_hint", "a single write stream"),
        ("latency_target=500\n", "latency_target", "no search for a latency target"),
    ],
)
def test_contradictions_and_what_is_not_modelled_are_told(
    convert: Convert, options: str, ignored: str, why: str
) -> None:
    fate, said = convert(f"{DIRECT}[a]\n{options}").fate(ignored)
    assert fate is Fate.IGNORED
    assert why in said


def test_what_is_about_results_is_not_needed(convert: Convert) -> None:
    assert convert(f"{DIRECT}[a]\ngroup_reporting\n").fate("group_reporting")[0] is Fate.UNUSED


def test_limits_in_the_ratio_of_the_mix_are_one_loop(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randrw\nrwmixread=70\nrate_iops=350,150\n")
    assert job.table["load"]["open"]["rate_iops"] == 500
    assert job.stream["read_pct"] == 70


def test_fractions_of_percent_are_not_what_fio_makes_of_them(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randread\nbssplit=4k/4.5:8k/95.5\n")
    assert job.stream["sizes"] == {"4 KiB": 4.5, "8 KiB": 95.5}
    assert job.fate("bssplit")[0] is Fate.APPROXIMATED


def test_a_whole_device_is_whole_whatever_another_job_uses_of_it(convert: Convert) -> None:
    job = convert(f"{DIRECT}[data]\nrw=randread\n[log]\nrw=write\noffset=50g\nsize=8g\n")
    data, log = job.table["streams"]
    assert "range" not in data
    assert log["range"] == ["50 GiB", "58 GiB"]
    share = convert(f"{DIRECT}[data]\nrw=randread\nsize=100%\n[log]\nrw=write\noffset=50g\nsize=8g\n")
    assert "range" not in share.table["streams"][0]


def test_a_step_ends_when_what_it_has_outstanding_is_answered(convert: Convert) -> None:
    """`stonewall` waits for the jobs before it. A rate or a script does not stop at once; nothing is after the last."""
    deep = "rw=randread\niodepth=64\n"
    one = "stonewall\nrw=write\niodepth=1\n"
    drains = [phase.get("drain") for phase in convert(f"{DIRECT}[deep]\n{deep}[one]\n{one}").table["phases"]]
    assert drains == [True, None]
    rated = convert(f"{DIRECT}[deep]\n{deep}rate_iops=100\n[one]\n{one}")
    paused = convert(f"{DIRECT}[deep]\n{deep}thinktime=1000\nthinktime_blocks=4\n[one]\n{one}")
    assert not any("drain" in phase for phase in paused.table["phases"])
    assert [phase.get("drain") for phase in rated.table["phases"]] == [True, None]


def test_the_job_behind_a_wall_has_only_its_own_ios(tmp_path: Path) -> None:
    import hotband as hb

    path = tmp_path / "two.fio"
    path.write_text(
        f"{DIRECT}[deep]\nrw=randread\niodepth=64\n[one]\nstonewall\nrw=randwrite\niodepth=1\n", encoding="utf-8"
    )
    run = hb.run(str(path), on="exos-15e900-512n", wce="off", progress=False)
    deep, one = (step.summary for step in run.steps)
    assert one.read.count == 0
    for summary, depth in ((deep, 64), (one, 1)):
        assert summary.iops is not None
        assert summary.mean is not None
        assert summary.iops * summary.mean == pytest.approx(depth, rel=0.03)
