"""Does a record say what fio was asked, as fio itself reads its options?"""

from __future__ import annotations

from typing import Any

import fio_documents as build
import pytest

from hotband.data.importers.fio.documents import read_fio
from hotband.data.importers.fio.source import duration_of, size_of


def asked(*jobs: dict[str, str], **extra: Any) -> dict[str, Any]:
    entries = [build.job(f"j{n}", build.reads(None), **{"job options": options}) for n, options in enumerate(jobs)]
    [record] = read_fio(build.text(*entries, **extra), "x.json")
    return dict(record["source"]["asked"])


def one(**options: str) -> dict[str, Any]:
    return asked(build.options(**{"rw": "randread", **options}))


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("4k", 4096),
        ("4K", 4096),
        ("4kb", 4096),
        ("4ki", 4000),
        ("1.5m", 1572864),
        ("512", 512),
        ("10%", None),
        ("k", None),
    ],
)
def test_sizes_are_fios(text: str, bytes_: int | None) -> None:
    assert size_of(text) == bytes_


def test_prefixes_change_meaning_with_kb_base() -> None:
    assert (size_of("4k", "1000"), size_of("4ki", "1000")) == (4000, 4096)


@pytest.mark.parametrize(
    ("text", "ns"), [("900", 900 * 10**9), ("30s", 30 * 10**9), ("2m", 120 * 10**9), ("5ms", 5 * 10**6), ("x", None)]
)
def test_times_are_fios(text: str, ns: int | None) -> None:
    assert duration_of(text) == ns


def test_offsets_repeat_unless_told_otherwise() -> None:
    assert one()["seed"] == "fixed"
    assert one(randrepeat="0")["seed"] == "fresh"
    assert one(randrepeat="0", allrandrepeat="1")["seed"] == "fixed"
    found = one(randrepeat="0", randseed="7")
    assert (found["seed"], found["seed_text"]) == ("fixed", "7")


def test_rates_and_files_of_jobs_printed_apart_are_counted_once() -> None:
    options = {"rw": "randread", "rate_iops": "300", "numjobs": "3", "size": "16m"}
    entries = [build.job(name, read=build.reads(None)) | {"job options": options} for name in ("a", "a", "a")]
    (record,) = read_fio(build.text(*entries), "nj.json")
    asked = record["source"]["asked"]
    assert (asked["rate_iops"], asked["working_set_bytes"], asked["jobs"]) == (900.0, 3 * 16 * 2**20, 3)


def test_rates_of_jobs_one_after_the_other_do_not_add_up() -> None:
    """Tried: of two jobs with rate_iops=300, the second behind a wall, fio does 300 I/Os per second."""
    limited = {"rw": "randread", "rate_iops": "300", "runtime": "1"}
    entries = [
        build.job(name, read=build.reads(None), **{"job options": limited | wall, "groupid": group})
        for group, (name, wall) in enumerate([("a", {}), ("b", {"stonewall": ""})])
    ]
    (record,) = read_fio(build.text(*entries), "two.json")
    assert record["source"]["asked"]["rate_iops"] is None


def test_concurrency_is_declared_even_where_the_loop_is_open() -> None:
    assert one(iodepth="8", numjobs="2", rate_iops="100")["concurrency"] == 16
    assert one(iodepth="8", numjobs="2", rate_iops="100")["rate_iops"] == 200.0


def test_what_fio_does_not_print_is_not_known() -> None:
    found = one()
    assert [found[key] for key in ("direct", "time_based", "group_reporting", "working_set_bytes")] == [None] * 4
    found = one(direct="0", time_based="1")
    assert (found["direct"], found["time_based"]) == (False, True)


def test_jobs_on_one_file_share_their_working_set() -> None:
    first, second = build.options(rw="randread", size="1g"), build.options(rw="randread", size="1g", offset="512m")
    found = asked(first, second)
    assert (found["offset_begin_bytes"], found["working_set_bytes"]) == (0, 3 << 29)


@pytest.mark.parametrize(
    "place", [{"uri": "nbd+unix:///d0?socket=/s"}, {"rbdname": "image"}, {"libblkio_path": "/dev/vdb"}]
)
def test_processes_on_one_export_or_image_share_their_working_set(place: dict[str, str]) -> None:
    options = {"ioengine": "nbd", "rw": "randread", "size": "1g", "numjobs": "2", **place}
    assert asked(options, options)["working_set_bytes"] == 1 << 30


def test_processes_with_files_of_their_own_add_up() -> None:
    found = asked({"ioengine": "libaio", "directory": "/d", "rw": "randwrite", "size": "1m", "numjobs": "3"})
    assert found["working_set_bytes"] == 3 << 20


def test_a_mix_of_patterns_and_sizes_has_no_single_one() -> None:
    found = asked(build.options(rw="read", bs="64k"), build.options(rw="randread", bs="4k"))
    assert (found["pattern"], found["block_bytes"], found["read_pct"]) == ("mixed", None, 100.0)
    assert one(bssplit="4k/50:8k/50")["block_bytes"] is None


def test_bins_are_of_the_direction_that_did_io() -> None:
    tables = {"latency_us": {"500": 25.0, "750": 0.0}, "latency_ms": {"2": 74.0, ">=2000": 1.0}}
    [record] = read_fio(build.text(build.job(read=build.reads(None)) | tables), "x.json")
    assert record["streams"][0]["read"]["latency_bins"] == [[500_000, 25.0], [2_000_000, 74.0], [4000, 1.0]]
    both = build.job(read=build.reads(None), write=build.reads(None)) | tables
    [record] = read_fio(build.text(both), "x.json")
    assert record["streams"][0]["read"].get("latency_bins") is None


def test_bins_that_do_not_hold_everything_are_told() -> None:
    def notes(share: float) -> list[str]:
        job = build.job(read=build.reads(None)) | {"latency_us": {"500": share}}
        [record] = read_fio(build.text(job), "x.json")
        return [note for note in record["notes"] if "the slowest are missing" in note]

    assert notes(97.0)
    assert not notes(99.9)


def test_percentiles_are_kept_as_printed() -> None:
    [record] = read_fio(build.text(build.job(read=build.reads(None))), "x.json")
    assert record["streams"][0]["read"]["percentiles"] == [[50.0, 1992], [99.0, 3984], [99.9, 3984]]


def test_the_end_is_when_fio_wrote() -> None:
    [record] = read_fio(build.text(build.job(read=build.reads(None)), timestamp=1578309532), "x.json")
    assert (record["source"]["began"], record["source"]["ended"]) == (None, "2020-01-06T11:18:52Z")


@pytest.mark.parametrize(
    ("rw", "text", "pattern"),
    [("randwrite", "0,10,0", "mixed"), ("randwrite", "10,0", "sequential"), ("randwrite", "10,", "random"),
     ("randread", "0,10,0", "sequential"), ("randrw", "100,0", "mixed"), ("randrw", "0,0", "sequential"),
     ("randtrim", "0,10,100", "random")],
)  # fmt: skip
def test_a_list_of_shares_is_for_reads_writes_and_trims(rw: str, text: str, pattern: str) -> None:
    assert one(rw=rw, percentage_random=text)["pattern"] == pattern


def test_lists_of_sizes_and_limits_are_for_reads_writes_and_trims() -> None:
    assert one(rw="randwrite", bs=",8k")["block_bytes"] == 8192
    assert one(rw="randread", bs=",8k")["block_bytes"] == 4096
    assert one(rw="randtrim", bs="4k,8k,64k")["block_bytes"] == 65536
    assert one(rw="randtrim", rate_iops="100,200,300")["rate_iops"] == 300.0
    assert one(rw="randwrite", rate_iops="100,")["rate_iops"] is None
    assert one(rw="trimwrite", rate_iops="100,200,300")["rate_iops"] == 400.0
    assert one(rw="randrw", rate_iops="100,200")["rate_iops"] == 300.0
