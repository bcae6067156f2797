"""Iometer's configurations and DiskSpd's profiles as workloads."""

from __future__ import annotations

import pytest
from job_files import Convert

from hotband.data.jobs.loss import Fate


def icf(specifications: str, workers: str, setup: str = "") -> str:
    """A configuration as Iometer 1.1 writes it."""
    return (
        "Version 1.1.0\n'TEST SETUP ====\n'Run Time\n'\thours      minutes    seconds\n\t0          1          30\n"
        f"'Ramp Up Time (s)\n\t5\n{setup}'END test setup\n'ACCESS SPECIFICATIONS ====\n{specifications}"
        "'END access specifications\n'MANAGER LIST ====\n'Manager ID, manager name\n\t1,HOST\n"
        f"{workers}'END manager list\n"
    )


def spec(name: str, *lines: str) -> str:
    rows = "".join(f"\t{line}\n" for line in lines)
    head = "'size,% of size,% reads,% random,delay,burst,align,reply\n"
    return f"'Access specification name,default assignment\n\t{name},NONE\n{head}{rows}"


def worker(*specifications: str, outstanding: int = 1, disk: str = "0,0", targets: tuple[str, ...] = ("E:",)) -> str:
    return (
        "'Worker\n\tWorker 1\n'Worker type\n\tDISK\n'Number of outstanding IOs,test connection rate,transactions per "
        f"connection,use fixed seed,fixed seed value\n\t{outstanding},DISABLED,1,DISABLED,0\n"
        f"'Disk maximum size,starting sector,Data pattern\n\t{disk},0\n'Assigned access specs\n"
        + "".join(f"\t{name}\n" for name in specifications)
        + "'End assigned access specs\n"
        + "".join(f"'Target\n\t{target}\n'Target type\n\tDISK\n'End target\n" for target in targets)
        + "'End worker\n"
    )


def test_a_worker_is_a_loop_and_its_random_share_a_coin(convert: Convert) -> None:
    job = convert(icf(spec("mix", "8192,100,67,30,0,1,4096,0"), worker("mix", outstanding=16)), "a.icf")
    assert job.closed() == {"threads": 1, "depth": 16}
    wanted = {"read_pct": 67, "random_pct": 30, "random_mode": "coin", "size": "8 KiB", "align": "4 KiB"}
    assert job.stream == {"name": "mix", **wanted}
    assert [one["duration"] for one in job.table["phases"]] == ["5 s", "90 s"]


def test_an_alignment_of_zero_is_the_sector(convert: Convert) -> None:
    job = convert(icf(spec("a", "4096,100,100,100,0,1,0,0"), worker("a")), "a.icf")
    assert job.stream["align"] == "512 B"


def test_lines_are_streams_by_their_share(convert: Convert) -> None:
    job = convert(icf(spec("a", "512,10,80,100,0,1,0,0", "4096,90,80,100,0,1,0,0"), worker("a")), "a.icf")
    assert [(one["share_pct"], one["size"]) for one in job.table["streams"]] == [(10, "512 B"), (90, "4 KiB")]


def test_each_worker_runs_its_specifications_in_order(convert: Convert) -> None:
    both = spec("a", "4096,100,100,100,0,1,0,0") + spec("b", "65536,100,0,0,0,1,0,0")
    job = convert(icf(both, worker("a", "b")), "a.icf")
    measured = [one for one in job.table["phases"] if one.get("measure")]
    assert [(one["name"], one["streams"]) for one in measured] == [("a", ["a"]), ("b", ["b"])]


def test_equal_random_workers_are_threads_and_targets_have_their_own_outstanding(convert: Convert) -> None:
    text = spec("a", "4096,100,100,100,0,1,0,0")
    assert convert(icf(text, worker("a", outstanding=4) * 3), "a.icf").closed() == {"threads": 3, "depth": 4}
    job = convert(icf(text, worker("a", outstanding=4, targets=("E:", "F:"))), "a.icf")
    assert job.closed() == {"threads": 2, "depth": 4}
    assert [one["range"] for one in job.table["streams"]] == [["0 %", "50 %"], ["50 %", "100 %"]]


def test_sizes_of_disks_count_sectors(convert: Convert) -> None:
    job = convert(icf(spec("a", "4096,100,100,100,0,1,0,0"), worker("a", disk="2048,8")), "a.icf")
    assert job.stream["range"] == ["4 KiB", "1028 KiB"]


def test_a_delay_is_a_pause_and_with_a_burst_a_script(convert: Convert) -> None:
    one = convert(icf(spec("a", "4096,100,100,100,10,1,0,0"), worker("a")), "a.icf")
    assert one.closed() == {"threads": 1, "depth": 1, "think": "10 ms"}
    burst = convert(icf(spec("a", "4096,100,100,100,10,8,0,0"), worker("a")), "a.icf").table["scripts"][0]
    assert (burst["think"], burst["steps"][0]["ios"], burst["steps"][0]["depth"]) == ("10 ms", 8, 1)


def test_outstanding_ios_that_cycle_are_steps(convert: Convert) -> None:
    setup = (
        "'Queue Depth Cycling\n'\tstart      end        step       step type\n"
        "\t1          8          2          EXPONENTIAL\n"
        "'Test Type\n\tCYCLE_OUTSTANDING_IOS\n"
    )
    job = convert(icf(spec("a", "4096,100,100,100,0,1,0,0"), worker("a"), setup), "a.icf")
    assert [one["threads"] for one in job.table["phases"] if one.get("measure")] == [1, 2, 4, 8]


def test_old_files_have_one_specification_without_a_name(convert: Convert) -> None:
    text = icf("'size, % of size, % reads, % random, delay, burst\n2048 100 67 100 0 1\n", worker("2 KiB random"))
    job = convert(text.replace("1.1.0", "1998.02.01"), "a.icf")
    assert (job.stream["size"], job.stream["read_pct"]) == ("2 KiB", 67)


def profile(target: str, span: str = "<Duration>10</Duration><Warmup>2</Warmup>") -> str:
    body = f"<TimeSpan>{span}<Targets><Target><Path>C:\\io.dat</Path>{target}</Target></Targets></TimeSpan>"
    return f"<Profile><TimeSpans>\n{body}\n</TimeSpans></Profile>"


UNCACHED = "<DisableOSCache>true</DisableOSCache><FileSize>1073741824</FileSize>"


def test_outstanding_requests_are_of_each_thread(convert: Convert) -> None:
    text = "<BlockSize>8192</BlockSize><Random>8192</Random><RequestCount>4</RequestCount>"
    text += "<ThreadsPerFile>3</ThreadsPerFile>"
    job = convert(profile(f"{UNCACHED}{text}<WriteRatio>30</WriteRatio>"), "a.xml")
    assert job.closed() == {"threads": 3, "depth": 4}
    wanted = {"read_pct": 70, "random_pct": 100, "size": "8 KiB", "range": ["0 B", "1 GiB"]}
    assert job.stream == {"name": "io.dat", **wanted}
    assert [one["duration"] for one in job.table["phases"]] == ["2 s", "10 s"]


def test_rs_is_a_coin_and_random_an_alignment(convert: Convert) -> None:
    text = "<BlockSize>8192</BlockSize><Random>4096</Random><RandomRatio>25</RandomRatio>"
    stream = convert(profile(UNCACHED + text), "a.xml").stream
    assert (stream["random_pct"], stream["random_mode"], stream["align"]) == (25, "coin", "4 KiB")


def test_defaults_are_those_of_the_program(convert: Convert) -> None:
    job = convert(profile(UNCACHED), "a.xml")
    assert (job.stream["size"], job.stream["random_pct"], job.closed()) == ("64 KiB", 0, {"threads": 1, "depth": 2})


def test_a_stride_is_from_begin_to_begin(convert: Convert) -> None:
    text = "<BlockSize>4096</BlockSize><StrideSize>65536</StrideSize>"
    assert convert(profile(UNCACHED + text), "a.xml").stream["offsets"] == {"stride": "64 KiB"}


def test_threads_go_through_the_file_from_their_own_begin_or_together(convert: Convert) -> None:
    text = f"{UNCACHED}<ThreadsPerFile>2</ThreadsPerFile><ThreadStride>536870912</ThreadStride>"
    apart = convert(profile(text), "a.xml").table["streams"]
    assert [one["range"] for one in apart] == [["0 B", "1 GiB"], ["512 MiB", "1 GiB"]]
    together = convert(profile(f"{text}<InterlockedSequential>true</InterlockedSequential>"), "a.xml")
    assert together.closed() == {"threads": 2, "depth": 2}


def test_think_time_comes_after_a_burst(convert: Convert) -> None:
    text = "<Random>65536</Random><RequestCount>1</RequestCount><ThinkTime>5</ThinkTime><BurstSize>20</BurstSize>"
    (script,) = convert(profile(UNCACHED + text), "a.xml").table["scripts"]
    assert (script["think"], script["steps"][0]["ios"]) == ("5 ms", 20)


def test_throughput_is_bytes_a_millisecond_and_thread(convert: Convert) -> None:
    text = "<BlockSize>4096</BlockSize><Random>4096</Random><Throughput>4096</Throughput>"
    text += "<ThreadsPerFile>2</ThreadsPerFile>"
    job = convert(profile(UNCACHED + text), "a.xml")
    assert job.table["load"]["open"] == {"rate_iops": 2000, "arrival": "fixed", "outstanding": 4}
    assert job.fate("Throughput")[0] is Fate.KEPT


def test_write_through_forces_writes(convert: Convert) -> None:
    text = "<WriteThrough>true</WriteThrough><WriteRatio>100</WriteRatio>"
    assert convert(profile(UNCACHED + text), "a.xml").stream["fua"] is True


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_the_profile_within_a_result_in_any_encoding(tmp_path_factory: pytest.TempPathFactory, encoding: str) -> None:
    from job_files import job_of

    path = tmp_path_factory.mktemp("xml") / "result.xml"
    inner = profile(UNCACHED).removeprefix("<?xml?>")
    path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?><Results>{inner}</Results>'.encode(encoding))
    assert job_of(path).stream["size"] == "64 KiB"


@pytest.mark.parametrize(("targets", "depth"), [(1, 8), (2, 4)])
def test_requests_of_threads_that_share_targets(convert: Convert, targets: int, depth: int) -> None:
    span = "<Duration>10</Duration><ThreadCount>4</ThreadCount><RequestCount>8</RequestCount>"
    random = f"{UNCACHED}<Random>4096</Random>"
    more = f"<Target><Path>D:\\b</Path>{random}</Target>" * (targets - 1)
    job = convert(profile(random, span).replace("</Targets>", f"{more}</Targets>"), "a.xml")
    loads = [stream["load"]["closed"] for stream in job.table["streams"] if "load" in stream]
    assert (loads or [job.closed()]) == [{"threads": 4, "depth": depth}] * targets
