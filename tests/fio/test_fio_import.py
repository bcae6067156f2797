"""Does a fio document become the record its numbers say? Expectations are computed by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fio_documents as build
import pytest

import hotband
from hotband.base.errors import UserError
from hotband.data.importers.fio import importer as fio_importer
from hotband.data.importers.fio.documents import read_fio
from hotband.data.importers.fio.jobs import bucket_value


def test_the_own_sample_of_two_documents(own_samples: Path) -> None:
    assert len(fio_importer.read([own_samples / "two-documents.json"])) == 2


def test_several_documents_are_several_records() -> None:
    whole = build.text(build.job(read=build.reads(None)))
    found = read_fio(b"note: x\n" + whole + b"\nbetween\n" + whole, "x.json")
    assert [one["summary"]["count"] for one in found] == [4, 4]
    assert noted(found[0], "text before the JSON was skipped: note: x")
    assert noted(found[0], "text after the JSON was skipped: between")


def record(*jobs: dict[str, Any], **extra: Any) -> dict[str, Any]:
    [only] = read_fio(build.text(*jobs, **extra), "x.json")
    return only


def noted(found: dict[str, Any], words: str) -> bool:
    return any(words in note for note in found["notes"])


def test_record_has_the_keys_of_the_contract() -> None:
    found = record(build.job(read=build.reads(None)))
    assert (found["schema"], found["schema_version"]) == ("hotband-record", 1)
    assert found["versions"] == {"hotband": hotband.__version__, "fio": "3.33"}
    assert found["target"] == {"kind": "fio", "machine": "/dev/x"}
    assert found["series"] is None
    assert set(found) == {
        *("schema", "schema_version", "versions", "name", "target", "seed", "spec", "duration_ns"),
        *("concurrency", "summary", "streams", "parts", "series", "notes", "source"),
    }


def test_rates_are_counts_over_runtime() -> None:
    summary = record(build.job(read=build.reads(None, ios=6, runtime_ms=1500)))["summary"]
    assert (summary["iops"], summary["bandwidth_bytes_per_s"]) == (4.0, 4.0 * 4096)


def test_mean_and_histogram_are_both_completion_latency() -> None:
    found = record(build.job(read=build.reads({1000: 3, 5000: 1})))
    side = found["streams"][0]["read"]
    assert side["latency_sum_ns"] == "8000"  # 4 x clat 2000, not lat 3000
    assert side["histogram"] == {"kind": "fio", "buckets": [[1000, 3], [5000, 1]]}
    assert noted(found, "completion latency (clat)")


def test_total_latency_is_taken_where_it_carries_the_percentiles() -> None:
    read = build.reads({1000: 4})
    read["lat_ns"] |= {"percentile": build.percentiles(3024, 4960, 4960), "bins": {"3024": 4}}
    found = record(build.job(read=read))
    assert found["summary"]["latency_mean_ns"] == 3000.0
    assert found["summary"]["latency_p50_ns"] == 3024
    assert noted(found, "total latency (lat")


def test_without_any_percentiles_latency_is_total() -> None:
    summary = record(build.job(read=build.reads(None, printed=False)))["summary"]
    assert (summary["latency_mean_ns"], summary["latency_p99_ns"]) == (3000.0, None)


def test_jobs_with_different_percentiles_are_read_in_one_quantity() -> None:
    other = build.reads({1000: 4})
    other["lat_ns"]["bins"] = {"3024": 4}
    found = record(build.job("a", read=build.reads({1000: 4})), build.job("b", read=other))
    assert found["summary"]["latency_mean_ns"] == 2000.0
    assert found["summary"]["latency_p50_ns"] == 1000


def test_one_job_without_bins_keeps_its_printed_percentiles() -> None:
    found = record(build.job(read=build.reads(None)))
    assert found["summary"]["latency_p99_ns"] == 3984
    assert found["streams"][0]["read"]["histogram"] == {"kind": "none", "buckets": []}


def test_two_jobs_with_bins_merge_counts() -> None:
    found = record(build.job("a", read=build.reads({1000: 4})), build.job("b", read=build.reads({5000: 1}, ios=1)))
    # ranks of 5: p50 is the third (1000), p99 the fifth (5000)
    assert (found["summary"]["latency_p50_ns"], found["summary"]["latency_p99_ns"]) == (1000, 5000)
    assert [stream["name"] for stream in found["streams"]] == ["a", "b"]


def test_two_jobs_of_which_one_lacks_bins_have_no_percentiles() -> None:
    found = record(build.job("a", read=build.reads({1000: 4})), build.job("b", read=build.reads(None)))
    assert found["summary"]["read"]["latency_p50_ns"] is None
    assert noted(found, "no buckets for b reads")


def test_reads_and_writes_without_bins_keep_their_own_percentiles_only() -> None:
    summary = record(build.job(read=build.reads(None), write=build.reads(None)))["summary"]
    assert summary["latency_p50_ns"] is None
    assert (summary["read"]["latency_p50_ns"], summary["write"]["latency_p50_ns"]) == (1992, 1992)


def test_an_idle_job_without_bins_does_not_spoil_the_percentiles() -> None:
    found = record(build.job("a", read=build.reads({1000: 4})), build.job("idle"))
    assert found["summary"]["latency_p50_ns"] == 1992  # as printed by the only job with I/O


def test_a_percentile_fio_did_not_print_comes_from_the_bins() -> None:
    read = build.reads({1000: 3, 5000: 1})
    read["clat_ns"]["percentile"] = {"50.000000": 1000}
    assert record(build.job(read=read))["summary"]["latency_p99_ns"] == 5000


def test_printed_percentile_that_contradicts_the_bins_is_noted() -> None:
    assert noted(record(build.job(read=build.reads({1000: 4}))), "fio printed p50 = 1992 ns, its buckets make 1000")


def test_old_fio_is_in_microseconds_and_kibibytes(own_samples: Path) -> None:
    [(found, _)] = fio_importer.read([own_samples / "fio-2.1-usec.json"])
    summary = found["summary"]
    assert found["versions"]["fio"] == "2.1.11"
    assert summary["bytes"] == 400 * 4096
    assert (summary["iops"], summary["latency_mean_ns"]) == (200.0, 4_900_000.0)
    assert (summary["latency_min_ns"], summary["latency_p99_ns"]) == (3_000_000, 9_024_000)


def test_oldest_fio_without_total_ios_counts_by_rate() -> None:
    read = build.reads(None, ios=400, runtime_ms=2000)
    del read["total_ios"], read["io_kbytes"]
    found = record(build.job(read=read))
    assert found["summary"]["count"] == 400
    assert noted(found, "no total_ios")


def test_bins_named_by_bucket_number_get_the_buckets_value() -> None:
    read = build.reads(None)
    read["clat"] = read.pop("clat_ns")
    read["clat"]["bins"] = {"FIO_IO_U_PLAT_BITS": 6, "FIO_IO_U_PLAT_VAL": 64, "0": 0, "100": 1, "128": 3}
    found = record(build.job(read=read))
    # microseconds: bucket 100 holds 100, bucket 128 holds 128 and 129 (middle 129)
    assert found["streams"][0]["read"]["histogram"]["buckets"] == [[100_000, 1], [129_000, 3]]


def test_bucket_values_are_those_of_fio() -> None:
    # printed by fio 3.33: 1688 is bucket 41 of the 64 between 1024 and 2047
    assert [bucket_value(i) for i in (0, 127, 128, 5 * 64 + 41)] == [0, 127, 129, 1688]


def test_jobs_of_one_name_get_names_of_their_own() -> None:
    found = record(*[build.job("a", read=build.reads({1000: 4})) for _ in range(3)])
    assert [stream["name"] for stream in found["streams"]] == ["a", "a#2", "a#3"]


def test_clients_are_merged_without_their_total(own_samples: Path) -> None:
    [(found, _)] = fio_importer.read([own_samples / "client-two-hosts.json"])
    assert [stream["name"] for stream in found["streams"]] == ["one@alpha", "one@beta"]
    assert found["summary"]["count"] == 8
    assert found["concurrency"] == 8
    assert noted(found, "'All clients' entry was dropped")


def test_latency_that_was_not_measured_is_null() -> None:
    zero = build.latency(0.0, 0, 0, 0)
    found = record(build.job(read=build.side(4, 4096, 1000, zero, zero)))
    assert found["streams"][0]["read"]["latency_sum_ns"] is None
    assert (found["summary"]["latency_mean_ns"], found["summary"]["queue_depth_mean"]) == (None, None)
    assert noted(found, "measured no latency")


def test_syncs_without_latencies_are_counted_in_a_note() -> None:
    found = record(build.job(read=build.reads(None), sync={"total_ios": 63}))
    assert noted(found, "not carried over: 63 syncs")
    assert found["summary"]["count"] == 4
    assert "flush" not in found["summary"]


def test_trims_have_figures_of_their_own() -> None:
    slow = build.latency(3_000_000.0, 2_900_000, 3_100_000, 7)
    trim = build.side(7, 4096, 1000, slow, slow)
    found = record(build.job(read=build.reads(None), trim=trim))
    trims = found["summary"]["trim"]
    assert (found["summary"]["count"], trims["count"], trims["latency_mean_ns"]) == (4, 7, 3_000_000)
    assert found["streams"][0]["trim"]["bytes"] == 7 * 4096
    assert not noted(found, "trims")
    (alone,) = [record(build.job(trim=trim))]
    assert (alone["duration_ns"], alone["summary"]["trim"]["iops"]) == (10**9, 7)


def test_bins_of_reads_and_trims_together_are_not_those_of_reads() -> None:
    slow = build.latency(3e6, 2_900_000, 3_100_000, 7)
    trim = build.side(7, 4096, 1000, slow, slow)
    bins = {"latency_us": {"50": 36.0}, "latency_ms": {"4": 64.0}}
    found = record({**build.job(read=build.reads(None), trim=trim), **bins})
    assert found["streams"][0]["read"]["latency_bins"] is None


def test_syncs_are_flushes() -> None:
    sync = {"total_ios": 63, "lat_ns": build.latency(1000.0, 900, 5000, 63)}
    found = record(build.job(write=build.reads(None), sync=sync))
    flush = found["summary"]["flush"]
    assert (flush["count"], flush["latency_mean_ns"], flush["latency_max_ns"]) == (63, 1000.0, 5000)
    assert found["streams"][0]["flush"]["count"] == 63
    assert found["summary"]["count"] == 4, "flushes are no reads and writes"
    assert not noted(found, "not carried over: 63 syncs")


def test_errors_go_to_the_only_direction_with_io() -> None:
    found = record(build.job(write=build.reads(None), error=28, total_err=3, first_error=28))
    assert (found["summary"]["errors"], found["streams"][0]["write"]["errors"]) == (3, 3)
    assert noted(found, "error 28 (ENOSPC)")


def test_errors_of_a_mixed_job_are_in_the_total_only() -> None:
    found = record(build.job(read=build.reads(None), write=build.reads(None), error=5))
    assert (found["summary"]["errors"], found["summary"]["read"]["errors"]) == (1, 0)


def test_unified_reporting_of_a_pure_read_job_is_read() -> None:
    entry = build.job(mixed=build.reads({1000: 4}))
    del entry["read"], entry["write"]
    assert record(entry)["summary"]["read"]["count"] == 4


def test_unified_reporting_of_a_mixed_job_is_refused() -> None:
    entry = build.job(mixed=build.reads({1000: 4}))
    del entry["read"], entry["write"]
    entry["job options"]["rw"] = "randrw"
    with pytest.raises(UserError, match="unified_rw_reporting=mixed"):
        record(entry)


def test_printed_iops_that_contradict_the_counts_are_noted() -> None:
    read = build.reads(None, ios=1000)
    read["iops"] = 900.0
    assert noted(record(build.job(read=read)), "fio printed 900 IOPS")


def test_text_around_the_json_is_noted(own_samples: Path) -> None:
    [(found, _)] = fio_importer.read([own_samples / "warning-before.json"])
    assert found["notes"][0].startswith("text before the JSON was skipped: note: both iodepth >= 1")
    before = build.text(build.job(read=build.reads(None)))
    [found] = read_fio(before + b"\na: (groupid=0, jobs=1): err= 0\n", "x.json")
    assert found["notes"][0] == "text after the JSON was skipped: a: (groupid=0, jobs=1): err= 0"


def test_text_and_bytes_give_the_same_record() -> None:
    data = build.text(build.job(read=build.reads(None)))
    assert read_fio(data, "x") == read_fio(data.decode(), "x") == read_fio(b"\xef\xbb\xbf" + data, "x")


def test_global_options_hold_for_every_job() -> None:
    entry = build.job(read=build.reads(None))
    entry["job options"] = {"rw": "randread"}
    shared = {"ioengine": "rbd", "pool": "p", "rbdname": "image", "iodepth": "4", "randseed": "7"}
    found = record(entry, **{"global options": shared})
    assert (found["target"]["machine"], found["concurrency"], found["seed"]) == ("p/image", 4, "7")
    assert found["spec"] == {"global": shared, "jobs": {"a": {"rw": "randread"}}}


def test_a_record_is_plain_json() -> None:
    found = record(build.job("\ud800", read=build.reads({1000: 4})))
    assert json.loads(json.dumps(found, ensure_ascii=False).encode()) == found


def test_an_unreadable_file_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"missing\.json: cannot be read"):
        fio_importer.read([tmp_path / "missing.json"])


@pytest.mark.parametrize(
    "prefix",
    [
        "> ",
        "> > ",
        ">> ",
        "Nov 30 05:00:01 host fio[123]: ",
        "2026-11-30T05:00:01+0000 host fio[123]: ",
        "2026-11-30T05:00:00.1Z stdout F ",
        "2026-11-30T05:00:00.1Z ",
        "fio_1 | ",
    ],
)
@pytest.mark.parametrize("before", ["", "On Mon, X wrote:\n"])
def test_what_logs_and_mails_add_to_each_line_is_skipped(prefix: str, before: str) -> None:
    text = build.text(build.job(read=build.reads(None)))
    plain = json.dumps(json.loads(text), indent=1)
    (found,) = read_fio(before + "".join(f"{prefix}{line}\n" for line in plain.splitlines()), "x.txt")
    assert found["summary"]["count"] == 4
    assert noted(found, f"each line begins with {prefix.strip()!r} or the like")


def test_what_looks_like_a_prefix_within_a_line_stays() -> None:
    plain = json.dumps(json.loads(build.text(build.job("a > b | c", read=build.reads(None)))), indent=1)
    lines = [line if "jobname" in line else f"> {line}" for line in plain.splitlines()]
    (found,) = read_fio("\n".join(lines), "x.txt")
    assert "a > b | c" in json.dumps(found)
