"""vdbench's parameter files as workloads: what its words mean that fio's do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from job_files import Convert

from hotband.base.errors import UserError
from hotband.data.jobs import vdbench_form
from hotband.data.jobs.loss import Fate

ONE = "sd=sd1,lun=/dev/sdb,openflags=o_direct\n"


def test_a_run_is_a_step_without_its_first_interval(convert: Convert) -> None:
    job = convert(
        f"{ONE}wd=wd1,sd=sd1,rdpct=75,xfersize=8k\nrd=rd1,wd=wd1,iorate=max,elapsed=60,interval=5\n", "a.parm"
    )
    assert job.stream == {"name": "wd1", "read_pct": 75, "random_pct": 100, "size": "8 KiB"}
    # Users Guide: threads, "default 8"; the first interval is in no average.
    assert job.closed() == {"threads": 8, "depth": 1}
    assert [one["duration"] for one in job.table["phases"]] == ["5 s", "55 s"]


def test_a_warm_up_comes_before_the_elapsed_time(convert: Convert) -> None:
    job = convert(f"{ONE}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max,elapsed=60,interval=5,warmup=30\n", "a.parm")
    assert [one["duration"] for one in job.table["phases"]] == ["30 s", "60 s"]


@pytest.mark.parametrize(
    ("text", "pct", "mode"),
    [
        ("20", 20, "run"),
        ("random", 100, None),
        ("rand", 100, None),
        ("seq", 0, None),
        ("0", 0, None),
        ("100", 100, None),
    ],
)
def test_seekpct_is_a_run_length(convert: Convert, text: str, pct: int, mode: str | None) -> None:
    stream = convert(f"{ONE}wd=wd1,sd=sd1,seekpct={text}\nrd=rd1,wd=wd1,iorate=max,elapsed=9\n", "a.parm").stream
    assert (stream["random_pct"], stream.get("random_mode")) == (pct, mode)


def test_seekpct_and_percentage_random_of_one_number_differ(convert: Convert) -> None:
    fio = convert("[a]\nfilename=/dev/sdx\nrw=randread\npercentage_random=20\nruntime=1\ntime_based\n").stream
    vdbench = convert(f"{ONE}wd=wd1,sd=sd1,seekpct=20\nrd=rd1,wd=wd1,iorate=max,elapsed=9\n", "a.parm").stream
    assert fio["random_pct"] == vdbench["random_pct"] == 20
    assert (fio["random_mode"], vdbench["random_mode"]) == ("coin", "run")


TWO = "sd=sd1,lun=/dev/sdb,openflags=directio\nsd=sd2,lun=/dev/sdc,openflags=directio,threads=3\nwd=wd1,sd=sd*\n"


def test_threads_are_of_each_storage_definition(convert: Convert) -> None:
    assert convert(f"{TWO}rd=rd1,wd=wd1,iorate=max,elapsed=9\n", "a.parm").closed()["threads"] == 8 + 3
    job = convert(f"{TWO}rd=rd1,wd=wd1,iorate=max,elapsed=9,threads=16\n", "a.parm")
    assert job.closed()["threads"] == 32
    fate, why = job.fate("threads=16")
    assert fate is Fate.APPROXIMATED
    assert "32 in total" in why


def test_forthreads_is_a_step_each(convert: Convert) -> None:
    job = convert(f"{TWO}rd=rd1,wd=wd1,iorate=max,elapsed=9,interval=1,forthreads=(1,4)\n", "a.parm")
    measured = [one for one in job.table["phases"] if one.get("measure")]
    assert [(one["name"], one["threads"]) for one in measured] == [("rd1 threads=1", 2), ("rd1 threads=4", 8)]


@pytest.mark.parametrize(
    ("loop", "said"),
    [
        ("forthreads=(1-6,d)", ["threads=1", "threads=2", "threads=4"]),
        ("forthreads=(1-5,2)", ["threads=1", "threads=3", "threads=5"]),
        ("forxfersize=(512-2k,d)", ["xfersize=512", "xfersize=1k", "xfersize=2k"]),
    ],
)
def test_a_series_is_a_step_for_each_of_its_values(convert: Convert, loop: str, said: list[str]) -> None:
    job = convert(f"{ONE}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max,elapsed=9,interval=1,{loop}\n", "a.parm")
    assert [one["name"] for one in job.table["phases"] if one.get("measure")] == [f"rd1 {one}" for one in said]


def test_rates_may_be_a_series(convert: Convert) -> None:
    job = convert(f"{ONE}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=(1000-3000,1000),elapsed=9,interval=1\n", "a.parm")
    rates = [one["load"]["open"]["rate_iops"] for one in job.table["streams"]]
    assert rates == [1000.0, 2000.0, 3000.0]


@pytest.mark.parametrize("series", ["(64-1,d)", "(0-4,d)", "(1-4,0)", "(1-99999,1)", "(1-x,d)"])
def test_a_series_without_values_is_refused(convert: Convert, series: str) -> None:
    with pytest.raises(UserError, match="expected"):
        convert(f"{ONE}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max,elapsed=9,interval=1,forthreads={series}\n", "a.parm")


def test_every_combination_of_loops_is_a_step(convert: Convert) -> None:
    text = (
        f"{ONE}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max,elapsed=9,interval=1,forxfersize=(4k,64k),forrdpct=(0,50,100)\n"
    )
    job = convert(text, "a.parm")
    assert len([one for one in job.table["phases"] if one.get("measure")]) == 6
    assert {(one["size"], one["read_pct"]) for one in job.table["streams"]} == {
        (size, read) for size in ("4 KiB", "64 KiB") for read in (0, 50, 100)
    }


def test_sizes_are_powers_of_1024(convert: Convert) -> None:
    job = convert(
        "sd=sd1,lun=/dev/sdb,size=2m\nwd=wd1,sd=sd1,xfersize=1m\nrd=rd1,wd=wd1,iorate=max,elapsed=9\n", "a.parm"
    )
    assert (job.stream["range"], job.stream["size"]) == (["0 B", "2 MiB"], "1 MiB")


def test_a_mix_of_sizes_and_a_row_of_sizes(convert: Convert) -> None:
    run = "rd=rd1,wd=wd1,iorate=max,elapsed=9\n"
    mix = convert(f"{ONE}wd=wd1,sd=sd1,xfersize=(4k,10,8k,90)\n{run}", "a.parm").stream["sizes"]
    row = convert(f"{ONE}wd=wd1,sd=sd1,xfersize=(4k,12k,4k)\n{run}", "a.parm").stream["sizes"]
    assert (mix, row) == ({"4 KiB": 10, "8 KiB": 90}, {"4 KiB": 1, "8 KiB": 1, "12 KiB": 1})


def test_parameters_that_vdbench_takes_and_no_model_needs(convert: Convert) -> None:
    general = "concatenatesds=yes\nreport_run_totals=yes\nformatsds=yes\nhd=h1,system=10.0.0.1\n"
    text = f"{general}sd=sd1,hd=h1,lun=/dev/sdb\nwd=wd1,sd=sd1,hd=h1\nrd=rd1,wd=wd1,iorate=max,elapsed=9\n"
    job = convert(text, "a.parm")
    assert job.closed() == {"threads": 8, "depth": 1}
    assert [one.fate for one in job.report.losses if one.option == "hd=h1"] == [Fate.UNUSED] * 3
    assert job.fate("concatenatesds")[0] is Fate.IGNORED


def test_sizes_may_be_fractions_of_a_unit(convert: Convert) -> None:
    run = "rd=rd1,wd=wd1,iorate=max,elapsed=9\n"
    mix = convert(f"{ONE}wd=wd1,sd=sd1,xfersize=(512,10,1.5k,10,0.5m,80)\n{run}", "a.parm").stream["sizes"]
    assert mix == {"512 B": 10, "1536 B": 10, "512 KiB": 80}
    with pytest.raises(UserError, match="1126 bytes is not an I/O size"):
        convert(f"{ONE}wd=wd1,sd=sd1,xfersize=1.1k\n{run}", "a.parm")


def test_a_fixed_rate_is_an_open_loop_with_exponential_gaps(convert: Convert) -> None:
    job = convert(f"{ONE}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=500,elapsed=9\n", "a.parm")
    assert job.table["load"] == {"open": {"rate_iops": 500, "arrival": "poisson", "outstanding": 8}}
    even = convert(f"{ONE}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=500,elapsed=9,distribution=deterministic\n", "a.parm")
    assert even.table["load"]["open"]["arrival"] == "fixed"


def test_rates_in_a_row_are_a_step_each(convert: Convert) -> None:
    job = convert(f"{ONE}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=(100,200),elapsed=9,interval=1\n", "a.parm")
    assert len([one for one in job.table["phases"] if one.get("measure")]) == 2
    rates = [
        (job.table.get("load") or {}).get("open"),
        *(one.get("load", {}).get("open") for one in job.table["streams"]),
    ]
    assert sorted(one["rate_iops"] for one in rates if one) == [100, 200]


def test_a_curve_is_the_run_at_the_maximum_and_says_so(convert: Convert) -> None:
    job = convert(
        f"{ONE}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=curve,curve=(10,50,90),elapsed=9,interval=1,threads=32\n", "a.parm"
    )
    assert job.closed()["threads"] == 32
    fate, why = job.fate("curve=")
    assert fate is Fate.APPROXIMATED
    assert "maximum" in why


def test_skew_is_a_share_and_the_rest_is_divided(convert: Convert) -> None:
    text = f"{ONE}wd=wd1,sd=sd1,skew=50\nwd=wd2,sd=sd1\nwd=wd3,sd=sd1,rdpct=0\nrd=rd1,wd=wd*,iorate=max,elapsed=9\n"
    assert [one["share_pct"] for one in convert(text, "a.parm").table["streams"]] == [50, 25, 25]


@pytest.mark.parametrize(
    ("asked", "others"),
    [
        ("max", {"closed": {"threads": 8, "depth": 1}}),
        ("300", {"open": {"rate_iops": 300, "arrival": "poisson", "outstanding": 8}}),
    ],
)
def test_a_workload_with_a_rate_of_its_own_keeps_it_beside_the_others(
    convert: Convert, asked: str, others: dict[str, object]
) -> None:
    # Users Guide, "Workload specific I/O rate": the other workloads go on as rd= and their skew say.
    works = "wd=wd1,sd=sd1,iorate=100\nwd=wd2,sd=sd1,skew=30\nwd=wd3,sd=sd1\n"
    job = convert(f"{ONE}{works}rd=rd1,wd=wd*,iorate={asked},elapsed=9,interval=1\n", "a.parm")
    streams = {one["name"]: one for one in job.table["streams"]}
    assert streams["wd1"]["load"] == {"open": {"rate_iops": 100, "arrival": "poisson", "outstanding": 8}}
    assert (job.table["load"], [streams[name]["share_pct"] for name in ("wd2", "wd3")]) == (others, [30, 70])


def test_workloads_that_all_have_a_rate_of_their_own_leave_that_of_the_run_without_effect(convert: Convert) -> None:
    works = "wd=wd1,sd=sd1,iorate=100,skew=50\nwd=wd2,sd=sd1,iorate=50\n"
    job = convert(f"{ONE}{works}rd=rd1,wd=wd*,iorate=(300,600),elapsed=9,interval=1\n", "a.parm")
    assert [one["load"]["open"]["rate_iops"] for one in job.table["streams"]] == [100, 50]
    assert job.fate("iorate=(300") == (Fate.IGNORED, "each workload of the run sets its own rate")
    assert job.fate("skew=") == (Fate.IGNORED, "iorate= sets its rate")


def test_a_hot_band_is_a_range_with_vdbenchs_own_table(convert: Convert) -> None:
    stream = convert(f"{ONE}wd=wd1,sd=sd1,hotband=(10,18)\nrd=rd1,wd=wd1,iorate=max,elapsed=9\n", "a.parm").stream
    assert (stream["range"], stream["offsets"]) == (["10 %", "18 %"], {"hotband": {"table_unit": "1 kB"}})


def test_random_workloads_on_devices_in_a_row_are_one_range(convert: Convert) -> None:
    assert "range" not in convert(f"{TWO}rd=rd1,wd=wd1,iorate=max,elapsed=9\n", "a.parm").stream
    streams = convert(
        f"{TWO.replace('sd=sd*', 'sd=sd*,seekpct=0')}rd=rd1,wd=wd1,iorate=max,elapsed=9\n", "a.parm"
    ).table["streams"]
    assert [one["range"] for one in streams] == [["0 %", "50 %"], ["50 %", "100 %"]]


def test_default_definitions_count_wildcards_and_short_keys(convert: Convert) -> None:
    text = (
        "* a remark\nsd=default,openflags=o_direct,th=2\nsd=disk,lun=/dev/d*,count=(1,3)\n"
        "wd=default,xf=64k,\n rdpct=0\nwd=wd1,sd=(disk1-disk2)\nrd=default,el=10,in=2\nrd=rd1,wd=wd1,io=max\n"
    )
    job = convert(text, "a.parm")
    assert (job.closed()["threads"], job.stream["size"], job.stream["read_pct"]) == (4, "64 KiB", 0)
    assert job.table["phases"][-1]["duration"] == "8 s"


def test_compratio_is_a_ratio(convert: Convert) -> None:
    job = convert(f"compratio=4\n{ONE}wd=wd1,sd=sd1,rdpct=0\nrd=rd1,wd=wd1,iorate=max,elapsed=9\n", "a.parm")
    assert job.stream["data"] == 0.25


def test_the_rdpct_of_a_run_counts_for_all_its_workloads(convert: Convert) -> None:
    text = f"{ONE}wd=wd1,sd=sd1,rdpct=100\nrd=rd1,wd=wd1,iorate=max,elapsed=9,forrdpct=60\n"
    job = convert(text, "a.parm")
    assert job.stream["read_pct"] == 60
    assert job.fate("rdpct=100")[0] is Fate.IGNORED


def test_included_definitions(convert: Convert, tmp_path: Path) -> None:
    (tmp_path / "disks").write_text(ONE)
    assert (
        convert("include=disks\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max,elapsed=9\n", "a.parm").stream["name"] == "wd1"
    )


def test_names_of_a_run_are_looked_up_once(convert: Convert, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    once = vdbench_form.named
    monkeypatch.setattr(vdbench_form, "named", lambda option, known: asked.append(option.key) or once(option, known))
    works = "".join(f"wd=w{number},sd=s\n" for number in range(60))
    convert(f"sd=s,lun=/dev/x\n{works}rd=r,wd=w*,iorate=max,elapsed=5,interval=1\n", "x.parm")
    assert asked.count("wd") == 1


def test_a_storage_definition_that_syncs_forces_the_writes_alone(convert: Convert) -> None:
    storage = "sd=sd1,lun=/dev/sdb,openflags=o_dsync\nwd=wd1,sd=sd1,rdpct={}\nrd=run,wd=wd1,iorate=max,elapsed=5\n"
    forced = {share: convert(storage.format(share), "a.parm").stream.get("fua") for share in (0, 50, 100)}
    assert forced == {0: True, 50: True, 100: None}


@pytest.mark.parametrize(
    ("storage", "work", "run", "fua"),
    [
        ("", ",openflags=o_dsync", "", True),
        ("", "", ",openflags=(o_direct,o_sync)", True),
        (",openflags=o_dsync", "", ",openflags=o_direct", None),
        (",openflags=o_dsync", ",openflags=o_direct", "", None),
    ],
)
def test_flags_of_a_run_precede_those_of_a_workload_and_these_those_of_storage(
    convert: Convert, storage: str, work: str, run: str, fua: bool | None
) -> None:
    text = f"sd=sd1,lun=/dev/sdb{storage}\nwd=wd1,sd=sd1,rdpct=0{work}\nrd=run,wd=wd1,iorate=max,elapsed=5{run}\n"
    assert convert(text, "a.parm").stream.get("fua") is fua


@pytest.mark.parametrize(
    ("storage", "runs", "noted"),
    [
        ("", [",openflags=o_direct"], []),
        ("", [",openflags=o_direct", ""], ["sd1"]),
        (",openflags=directio", [",openflags=o_direct", ""], []),
        (",openflags=directio", ["", ",openflags=fsync"], ["sd1"]),
        ("", [""], ["sd1"]),
    ],
)
def test_a_file_that_every_run_opens_without_the_page_cache_is_not_said_to_use_it(
    convert: Convert, storage: str, runs: list[str], noted: list[str]
) -> None:
    """The second file and its workload have flags of their own."""
    text = f"sd=sd1,lun=/data/f,size=1g{storage}\nsd=sd2,lun=/data/g,size=1g,openflags=directio\n"
    text += "wd=wd1,sd=sd1\nwd=wd2,sd=sd2,openflags=o_direct\nrd=other,wd=wd2,iorate=max,elapsed=5\n"
    text += "".join(f"rd=r{n},wd=wd1,iorate=max,elapsed=5{flags}\n" for n, flags in enumerate(runs))
    losses = convert(text, "a.parm").report.losses
    assert [loss.option for loss in losses if "without openflags" in loss.option] == [
        f"sd={name} without openflags=directio" for name in noted
    ]
