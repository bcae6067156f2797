"""Jobs that fio accepts, however odd: each option is kept, approximated or ignored with a reason."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from job_files import Convert, Refused

import hotband as hb
from hotband import _core
from hotband.data.documents.run import RunSpec
from hotband.data.jobs.job_file import converted
from hotband.data.jobs.loss import Fate
from hotband.execution.runs.run import prepare

RUN = "[global]\nioengine=libaio\ndirect=1\nnorandommap\nruntime=5\ntime_based\n"
DIRECT = f"{RUN}filename=/dev/sdx\n"


@pytest.mark.parametrize(
    ("text", "random_pct"),
    [("0,10,0", 10), (",11,", 11), ("50", 50), ("30,", 100), ("30,20", 20), ("5,,7", 100)],
)
def test_a_job_that_writes_takes_the_second_value(convert: Convert, text: str, random_pct: int) -> None:
    job = convert(f"{DIRECT}[w]\nrw=randwrite\npercentage_random={text}\n")
    assert job.stream["random_pct"] == random_pct


@pytest.mark.parametrize(
    ("options", "part", "why"),
    [
        ("size=0\n", None, "the whole target is used: zero is as good as no size, as in fio"),
        ("size=200%\n", None, ""),
        ("size=(1g+512m)\n", ["0 B", "1536 MiB"], ""),
        ("size=10z\nzonesize=64m\n", ["0 B", "640 MiB"], ""),
        ("size=10z\n", ["0 B", "2560 MiB"], "a zone has 256 MiB; zonesize= sets another size"),
        ("size=1g-2g\n", ["0 B", "2 GiB"], "every file has size 2g"),
        ("offset=1g\nsize=80%\n", ["1 GiB", "1 GiB + 80 %"], ""),
        ("offset=10%\nsize=1g\n", ["10 %", "1 GiB + 10 %"], ""),
        ("offset=1g\noffset_increment=20%\nsize=100%\n", ["1 GiB", "100 %"], ""),
    ],
)
def test_sizes_that_fio_accepts(convert: Convert, options: str, part: list[str] | None, why: str) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randread\n{options}")
    assert job.stream.get("range") == part
    if why:
        assert job.fate("size")[1].startswith(why)


def test_clones_lie_at_an_offset_in_bytes_and_increments_in_percent(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nnumjobs=2\noffset=1g\noffset_increment=20%\nsize=10%\n")
    parts = [stream["range"] for stream in job.table["streams"]]
    assert parts == [["1 GiB", "1 GiB + 10 %"], ["1 GiB + 20 %", "1 GiB + 30 %"]]


def test_files_of_clones_lie_behind_each_other_at_an_offset_in_percent(convert: Convert) -> None:
    job = convert("[a]\ndirect=1\nioengine=libaio\nrw=read\nnumjobs=2\noffset=10%\nsize=1g\n")
    parts = [stream["range"] for stream in job.table["streams"]]
    assert parts == [["10 %", "1 GiB + 10 %"], ["1 GiB + 10 %", "2 GiB + 10 %"]]


def test_a_listed_sequence_of_blocks_is_their_part_of_the_target(convert: Convert) -> None:
    text = f"{DIRECT}[a]\nrw=randread\nbs=8k\nrandom_distribution=sequence:2,1,5\n"
    job = convert(text)
    assert (job.stream["range"], job.stream["random_pct"]) == (["8 KiB", "48 KiB"], 100)
    why = "offsets are uniform from the first listed block to the last"
    assert job.fate("random_distribution") == (Fate.APPROXIMATED, why)
    assert "range" not in convert(f"{text}random_sequence_stride=1\n").stream


def test_a_job_without_a_target_uses_all_of_it(convert: Convert) -> None:
    job = convert(f"{RUN}[a]\nrw=randread\n[b]\nstonewall\nrw=write\n[c]\nstonewall\nfilename=${{DEVICE}}\n")
    assert [stream.get("range") for stream in job.table["streams"][:2]] == [["0 %", "50 %"], ["0 %", "50 %"]]
    alone = convert(f"{RUN}[a]\nrw=randread\n[b]\nstonewall\nrw=write\n")
    assert [stream.get("range") for stream in alone.table["streams"]] == [None, None]
    why = "approximated: {}:{}: size (not set): the whole target is used, as with filename= of a device"
    assert [str(loss) for loss in alone.report.losses if loss.option == "size (not set)"] == [
        why.format(alone.report.file, line) for line in (7, 9)
    ]


def test_options_without_a_job_are_those_of_one(convert: Convert) -> None:
    assert convert(f"{DIRECT}rw=write\nbs=256k\n").stream == {
        "name": "job",
        "read_pct": 0,
        "random_pct": 0,
        "size": "256 KiB",
    }


def test_a_volume_of_the_engine_is_the_target_of_all_jobs(convert: Convert) -> None:
    job = convert(f"{RUN}ioengine=rbd\npool=p\nrbdname=r\nsize=1g\n[a]\nrw=read\n[b]\nrw=write\n")
    assert [stream["range"] for stream in job.table["streams"]] == [["0 B", "1 GiB"]] * 2


def test_a_time_of_zero_is_no_time(convert: Convert) -> None:
    job = convert("[a]\nfilename=/dev/sdx\nruntime=0\ntime_based=0\n")
    assert job.table["phases"][0]["duration"] == "60 s"


def test_a_large_trim_goes_to_the_drive_in_pieces(convert: Convert) -> None:
    job = convert(f"{DIRECT}[t]\nrw=trim\nbs=2g\nthinktime=8000\nthinktime_blocks=3\n")
    assert job.stream["size"] == "64 MiB"
    step = job.table["scripts"][0]["steps"][0]
    assert (step["ios"], step["depth"]) == (96, 32)
    assert job.fate("bs")[1] == "I/Os of more than 64 MiB go to the drive in equal pieces, together"


def test_pieces_of_random_trims_are_runs_and_count_to_rates_and_numbers(convert: Convert) -> None:
    job = convert(f"{DIRECT}[t]\nrw=randtrim\nbs=256m\nrate_iops=,,10\n")
    assert (job.stream["random_pct"], job.stream["random_mode"]) == (25, "run")
    assert job.table["load"]["open"]["rate_iops"] == 40
    counted = convert("[t]\nfilename=/dev/sdx\ndirect=1\nrw=trim\nbs=2300m\nnumber_ios=2\n")
    assert (counted.stream["size"], counted.table["phases"][0]["ios"]) == ("58880 KiB", 80)


def test_a_mix_of_sizes_keeps_its_ratio_in_pieces(convert: Convert) -> None:
    job = convert(f"{DIRECT}[t]\nrw=trim\nbssplit=,,32m/75:128m/25\n")
    assert job.stream["sizes"] == {"32 MiB": 75, "64 MiB": 50}


def test_the_page_cache_writes_whole_pages(convert: Convert) -> None:
    job = convert("[etcd]\nrw=write\nioengine=sync\nfdatasync=1\ndirectory=d\nsize=23000\nbs=2300\n")
    assert set(job.stream["sizes"]) == {"4 KiB", "8 KiB"}
    assert job.table["phases"][0]["ios"] == 20
    assert job.fate("bs")[1] == "the page cache reads and writes whole pages of 4 KiB"
    assert convert(f"{DIRECT}[a]\nbs=4KiB\n").stream["size"] == "4 KiB", "4KiB is 4000 bytes in fio"


@pytest.mark.parametrize(
    ("rw", "keys"),
    [
        ("read:4k", {"random_pct": 100, "offsets": {"stride": "8 KiB"}}),
        ("read:-8k", {"random_pct": 100, "offsets": {"stride": "-4 KiB"}}),
        ("read:-4k", {"random_pct": 0}),
        ("rw:8", {"random_pct": 100, "offsets": {"stride": "4608 B"}}),
        ("randread:0", {"random_pct": 100}),
    ],
)
def test_numbers_behind_rw(convert: Convert, rw: str, keys: dict[str, object]) -> None:
    stream = convert(f"{DIRECT}[a]\nrw={rw}\nbs=4k\n").table["streams"][0]
    assert {key: stream.get(key) for key in ("random_pct", "offsets")} == {"offsets": None} | keys


def test_reserved_words_have_the_values_of_this_computer(convert: Convert, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ncpus", "6")
    monkeypatch.setenv("mb_memory", "100")
    job = convert(f"{DIRECT}[a]\nrw=randread\nnumjobs=2*$ncpus\nsize=10*1024*$mb_memory\n")
    assert job.closed()["threads"] == 12
    assert job.stream["range"] == ["0 B", "1000 KiB"]
    assert job.fate("numjobs")[1].startswith("$ncpus is 6 on this computer; an environment variable of that name")


@pytest.mark.parametrize(
    ("options", "key", "why"),
    [
        ("fdp=1\n", "fdp", "newer than fio 3.33: drives have a single write stream"),
        ("verify_write_sequence=0\n", "verify_write_sequence", "newer than fio 3.33: data is not verified"),
        ("num_range=8\n", "num_range", "newer than fio 3.33: every trim is of one range"),
        ("nfs_url=nfs://h/x\n", "nfs_url", "the run sets the target"),
        ("cpuload=50\n", "cpuload", "belongs to an engine without block I/O"),
        ("ioengine=./mine.so\ngflags=--x\n", "gflags", "belongs to ioengine=./mine.so"),
        ("pool=${POOL}\n", "pool", "the run sets the target"),
    ],
)
def test_options_of_later_versions_and_other_engines(convert: Convert, options: str, key: str, why: str) -> None:
    fate, said = convert(f"{DIRECT}[a]\n{options}").fate(key)
    assert fate is Fate.IGNORED
    assert said.startswith(why)


def test_a_job_of_another_engine_is_left_out(convert: Convert, refused: Refused) -> None:
    job = convert(f"{DIRECT}[burn]\nioengine=cpuio\ncpuload=90\n[a]\nrw=read\n")
    assert job.stream["name"] == "a"
    assert job.fate("[burn]") == (Fate.IGNORED, "ioengine=cpuio is not block I/O: the job is left out")
    assert refused("[net]\nioengine=rdma\nhostname=[host]\nport=[port]\n").startswith(
        "a.fio:2: ioengine = 'rdma': is not a block I/O engine"
    )


def test_a_part_beside_a_file_of_unknown_size_is_approximated(convert: Convert) -> None:
    job = convert(f"{RUN}[a]\nfilename=/dev/sdx\nrw=read\n[b]\nfilename=/dev/sdy\nsize=1g\nrw=read\n")
    assert [stream["range"] for stream in job.table["streams"]] == [["0 %", "50 %"], ["50 %", "100 %"]]
    assert job.fate("size=1g")[1].startswith("the size of another file of the job is not known")


def test_a_range_shrinks_with_the_drive_that_it_is_on(tmp_path: Path) -> None:
    path = tmp_path / "a.fio"
    path.write_text(f"{DIRECT}[a]\nsize=100g\n")
    for scale in ("512", "32", "1"):
        prepare(RunSpec("t", "7450-pro-3840", str(path), (("scale", scale),), 1, "1 ms"))


def test_thousands_of_jobs_are_a_job_file(convert: Convert) -> None:
    steps = "".join(f"[s{n}]\nstonewall\nrw=randread\nrate_iops={n + 1}\n" for n in range(1500))
    assert len(convert(DIRECT + steps).table["phases"]) == 1500


def test_jobs_of_the_wild_are_workloads(samples: Path) -> None:
    jobs = sorted((samples / "wild").rglob("*.fio"))
    if not jobs:
        pytest.skip("the wild samples are not on this machine")
    for path in jobs:
        text, report = converted(path)
        _core.workload(text, path.name)
        assert report.losses


def test_a_distribution_of_a_job_that_is_never_random_is_dropped(tmp_path: Path) -> None:
    job = tmp_path / "a.fio"
    job.write_text("[a]\nrw=randread\nbs=4k\nsize=1g\npercentage_random=0\nrandom_distribution=zipf:1.1\n")
    (stream,) = tomllib.loads(hb.convert(job).text)["streams"]
    assert float(str(stream["random_pct"]).strip(" %")) == 0
    assert "offsets" not in stream


def test_jobs_delayed_until_others_have_ended_are_steps(convert: Convert) -> None:
    timed = "[global]\ndirect=1\nnorandommap\nfilename=/dev/sdx\nrw=randread\nruntime=30\ntime_based\n"
    job = convert(f"{timed}[a]\n[b]\n[c]\nstartdelay=35\n[d]\nstartdelay=35\n[e]\nstartdelay=70s\n")
    assert [phase["streams"] for phase in job.table["phases"]] == [["a", "b"], ["c", "d"], ["e"]]


@pytest.mark.parametrize("delay", ["2", "29", "10-40"])
def test_jobs_delayed_within_others_begin_with_them(convert: Convert, delay: str) -> None:
    timed = "[global]\ndirect=1\nnorandommap\nfilename=/dev/sdx\nrw=randread\nruntime=30\ntime_based\n"
    job = convert(f"{timed}[a]\n[b]\nstartdelay={delay}\n")
    assert len(job.table["phases"]) == 1
    assert job.fate("startdelay") == (Fate.IGNORED, "all jobs of a step begin together")


def test_a_delay_behind_jobs_of_unknown_length_is_no_step(convert: Convert) -> None:
    text = "[global]\ndirect=1\nfilename=/dev/sdx\nrw=read\nsize=1g\n[a]\n[b]\nstartdelay=35\n"
    assert len(convert(text).table["phases"]) == 1


def test_pauses_after_a_time_are_refused(refused: Refused) -> None:
    assert "not after a time" in refused(f"{DIRECT}[a]\nrw=randread\nthinktime=1s\nthinktime_iotime=9s\n")


@pytest.mark.parametrize("more", ["thinktime_blocks=64\n", "rate_iops=100\n"])
def test_pauses_after_a_time_that_have_no_effect_are_ignored(convert: Convert, more: str) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randread\nthinktime=1s\nthinktime_iotime=9s\n{more}")
    assert job.fate("thinktime_iotime")[0] is Fate.IGNORED


@pytest.mark.parametrize(
    ("sizes", "rate"),
    [("bs=64k", 1000), ("bsrange=4k-12k", 500), ("bssplit=4k/50:12k/50", 1000)],
)
def test_a_limit_of_a_range_of_sizes_counts_the_smallest(convert: Convert, sizes: str, rate: float) -> None:
    """Tried: with bsrange=4k-64k and rate_iops=1000 fio 3.33 does 121 I/Os per second. Later versions count the I/Os of
    bssplit=."""
    job = convert(f"{DIRECT}[a]\nrw=randread\nrate_iops=1000\n{sizes}\n")
    assert job.table["load"]["open"]["rate_iops"] == rate


@pytest.mark.parametrize(
    ("zones", "stride"),
    [
        ("zonesize=1m\nzoneskip=7m", "7232 KiB"),
        ("zonemode=strided\nzonesize=1m\nzonerange=2m\nzoneskip=6m", "7232 KiB"),
        ("zonesize=1m", None),
        ("zonemode=zbd\nzonesize=1m\nzoneskip=7m", None),
        ("zonemode=none", None),
    ],
)
def test_strided_zones_are_runs_with_a_stride(convert: Convert, zones: str, stride: str | None) -> None:
    """Tried: with 64 KiB fio 3.33 reads blocks 0 to 15, 128 to 143, and so on."""
    stream = convert(f"{DIRECT}[a]\nrw=read\nbs=64k\n{zones}\n").stream
    assert stream.get("offsets") == (stride and {"stride": stride})
    assert stream["random_pct"] == (6.25 if stride else 0)


def test_zones_of_random_offsets_are_named_as_left_out(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randread\nzonesize=1m\nzoneskip=7m\n")
    assert job.fate("zonesize")[0] is Fate.IGNORED
    assert "offsets" not in job.stream


@pytest.mark.parametrize(
    ("flows", "shares"), [(("3", "1"), [75, 25]), (("-8", "2"), [20, 80]), (("8", "-2"), [20, 80])]
)
def test_flows_below_zero_are_those_of_old_versions(
    convert: Convert, flows: tuple[str, str], shares: list[int]
) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randread\nflow={flows[0]}\n[b]\nrw=randwrite\nflow={flows[1]}\n")
    assert [stream["share_pct"] for stream in job.table["streams"]] == shares


def test_three_flows_of_which_one_is_below_zero_are_refused(refused: Refused) -> None:
    text = f"{DIRECT}rw=randread\n[a]\nflow=-8\n[b]\nflow=1\n[c]\nflow=1\n"
    assert "flow = '-8': expected weights above zero" in refused(text)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [("512:1k", ["512 B", "1 KiB"]), ("512/25:1k:25:2k:25", ["512 B", "1 KiB"])],
)
def test_a_range_with_a_colon(convert: Convert, text: str, sizes: list[str]) -> None:
    assert list(convert(f"{DIRECT}[a]\nrw=read\nbsrange={text}\n").stream["sizes"]) == sizes


@pytest.mark.parametrize("engine", ["libcufile", "libhipfile", "gfapi"])
def test_engines_that_wait_for_every_io(convert: Convert, engine: str) -> None:
    """Their flag is FIO_SYNCIO (engines/libcufile.c, glusterfs_sync.c)."""
    text = f"[a]\nioengine={engine}\nfilename=f\nsize=1g\nrw=randread\niodepth=16\ndirect=1\n"
    assert convert(text).closed() == {"threads": 1, "depth": 1}


@pytest.mark.parametrize("engine", ["spdk", "spdk_bdev"])
def test_engines_of_spdk_with_their_options(convert: Convert, engine: str) -> None:
    options = "spdk_json_conf=b.json\nthread=1\ndirect=1\nfilename=Nvme0n1\nrw=randread\niodepth=16\n"
    assert convert(f"[a]\nioengine={engine}\n{options}").closed() == {"threads": 1, "depth": 16}


@pytest.mark.parametrize("option", ["spr_op=0.15", "spr_cs=1m", "rocm_io=hipfile", "verifysort=1", "flow_watermark=9"])
def test_options_of_other_versions_are_known(convert: Convert, option: str) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randwrite\n{option}\n")
    assert job.fate(option)[0] in (Fate.IGNORED, Fate.UNUSED)


def test_a_share_of_a_file_that_is_not_named_is_one_of_the_target(convert: Convert) -> None:
    """A file that fio makes has no size to take a share of: the target is left to fio's command line."""
    job = convert("[global]\nsize=50%\nruntime=1\ntime_based\ndirect=1\n[a]\nrw=read\n[b]\nrw=write\n")
    assert [stream["range"] for stream in job.table["streams"]] == [["0 %", "50 %"]] * 2


def test_clones_at_increments_end_with_their_file(convert: Convert) -> None:
    text = "[a]\nfilesize=10g\nnumjobs=3\noffset_increment=2g\nrw=write\nruntime=1\ntime_based\ndirect=1\n"
    parts = [stream["range"] for stream in convert(text).table["streams"]]
    assert parts == [["0 B", "10 GiB"], ["2 GiB", "10 GiB"], ["4 GiB", "10 GiB"]]


@pytest.mark.parametrize(("rw", "size"), [("randread", "4 KiB"), ("read", "128 KiB")])
def test_sizes_of_sequential_and_random_ios(convert: Convert, rw: str, size: str) -> None:
    job = convert(f"{DIRECT}[a]\nrw={rw}\nbs=128k,4k\nbs_is_seq_rand=1\n")
    assert job.stream["size"] == size


@pytest.mark.parametrize(
    ("said", "ios", "end"),
    [
        ("size=16m", 256, "64 MiB"),
        ("size=16m\nloops=2", 512, "64 MiB"),
        ("size=128m", 1024, "64 MiB"),
        ("size=25%", 256, "16 MiB"),
        ("size=16m\nnrfiles=4", 256, "256 MiB"),
    ],
)
def test_a_size_next_to_that_of_the_file_is_how_much_is_read(convert: Convert, said: str, ios: int, end: str) -> None:
    """Tried: with filesize=64m and size=16m fio 3.33 reads 16 MiB, anywhere in the file."""
    job = convert(f"[a]\nfilename=f\nfilesize=64m\nbs=64k\nrw=randread\ndirect=1\n{said}\n")
    assert (job.table["phases"][0]["ios"], job.stream["range"]) == (ios, ["0 B", end])


@pytest.mark.parametrize(
    ("option", "key", "read"),
    [
        ("bs=131072/92:8192/4", "size", "128 KiB"),
        ("bs=,4k/15:1024k:85,", "size", "4 KiB"),
        ("bssplit=4k/20:36k-60k/80", "sizes", {"4 KiB": 20.0, "36 KiB": 80.0}),
        ("bssplit=4k:20k-128/40,8k", "sizes", {"4 KiB": 60.0, "20 KiB": 40.0}),
    ],
)
def test_what_follows_a_number_is_left_out_and_named(convert: Convert, option: str, key: str, read: object) -> None:
    # fio 3.33 reads the same (tried with an I/O log).
    job = convert(f"{DIRECT}[a]\nrw={'randwrite' if '=,' in option else 'randread'}\n{option}\n")
    assert job.stream[key] == read
    assert job.fate(option.partition("=")[0])[1].startswith("fio reads ")


def test_a_depth_with_a_question_mark_is_the_number(convert: Convert) -> None:
    job = convert(f"{DIRECT}[a]\nrw=randread\niodepth=60?\n")
    assert job.closed()["depth"] == 60
    assert job.fate("iodepth") == (Fate.APPROXIMATED, "fio reads 60")


@pytest.mark.parametrize(("text", "read"), [("4 k", 4), ("1.5k", 1)])
def test_a_size_of_which_fio_reads_the_first_number_is_refused(refused: Refused, text: str, read: int) -> None:
    assert f"fio 3.33 reads {text} as {read}" in refused(f"{DIRECT}[a]\nbs={text}\n")


@pytest.mark.parametrize("engine", ["sheepdog", "fusion-aw-sync", "sgunmap"])
def test_engines_of_old_versions_are_known(convert: Convert, engine: str) -> None:
    job = convert(
        f"[a]\nioengine={engine}\nrw=randread\nsize=1g\ntarget=tcp:localhost:7000:vdi\niodepth_mode=stepped\n"
    )
    assert job.fate("iodepth_mode")[0] is Fate.IGNORED


def test_an_engine_that_only_touches_memory_is_no_block_io(refused: Refused) -> None:
    assert "not a block I/O engine" in refused("[a]\nioengine=page_fault\nsize=1g\n")
