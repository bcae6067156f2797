"""Do fio's logs, terse output and repeated results, and HdrHistogram logs, become what they say?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fio_documents as fio_build
import pytest
import result_documents as build

import hotband as hb
from hotband.base.errors import UserError
from hotband.data.importers import hdr
from hotband.data.importers.fio import importer as fio
from hotband.data.importers.fio.jobs import PLAT_NR, bucket_value
from hotband.data.record.files import save_imported
from hotband.data.record.imported import Imported
from hotband.data.record.load import load_record
from hotband.inference.audit import findings, load_results
from hotband.inference.audit.compare import compare
from hotband.inference.audit.load import load_sides
from hotband.views.report.page import render
from hotband.views.report.record_page import record_page
from hotband.views.text.tables import summary_table

EPOCH_MS = 1_700_000_000_000


def log(folder: Path, name: str, *rows: tuple[int, ...]) -> Path:
    path = folder / name
    path.write_text("".join(", ".join(map(str, row)) + "\n" for row in rows))
    return path


def result(folder: Path, *jobs: dict[str, Any], name: str = "run.json", **extra: Any) -> Path:
    path = folder / name
    path.write_bytes(fio_build.text(*jobs, **extra))
    return path


def columns(one: Imported, *names: str) -> list[tuple[Any, ...]]:
    assert one.series is not None
    return list(zip(*(one.series[name] for name in names), strict=True))


def test_a_log_of_every_io_is_a_record(tmp_path: Path) -> None:
    rows = [(0, 100, 0, 4096, 0), (400, 300, 0, 4096, 8192), (900, 50, 1, 512, 4096), (1999, 200, 0, 4096, 0)]
    [one] = fio.read([log(tmp_path, "a_clat.1.log", *rows)])
    read = one.record["streams"][0]["read"]
    assert (read["count"], read["bytes"], read["latency_sum_ns"]) == (3, 12288, "600")
    assert (read["latency_min_ns"], read["latency_max_ns"]) == (100, 300)
    assert read["histogram"] == {"kind": "fio", "buckets": [[100, 1], [201, 1], [302, 1]]}
    assert one.record["summary"]["write"]["count"] == 1
    assert columns(one, "time_ns", "direction", "iops", "latency_mean_ns", "latency_p99_ns") == [
        (0, "read", 2.0, 200.0, 302),
        (0, "write", 1.0, 50.0, 50),
        (10**9, "read", 1.0, 200.0, 201),
    ]


def test_columns_of_all_versions_are_read(tmp_path: Path) -> None:
    rows = [
        "5, 100, 0, 4096\n",
        "6, 100, 0, 4096, 8192\n",
        "7, 100, 0, 4096, 8192, 0x0004\n",
        "8, 100, 0, 4096, 0x0001\n",
    ]
    path = tmp_path / "a_lat.log"
    path.write_text("".join(rows) + "9, 100, 0, 4096, 8192, 1, 123456\r\n")
    [one] = fio.read([path])
    assert one.record["summary"]["count"] == 5


def test_logs_belong_to_the_json_beside_them(tmp_path: Path) -> None:
    result(tmp_path, fio_build.job(read=fio_build.reads(None)))
    log(tmp_path, "a_clat.1.log", *((n * 100, 1000 * (n + 1), 0, 4096, 0) for n in range(4)))
    [one] = fio.read([tmp_path])
    assert one.record["source"]["file"].endswith("run.json")
    assert one.record["streams"][0]["read"]["histogram"]["kind"] == "fio"
    assert one.record["summary"]["latency_p50_ns"] == 1992  # fio's own stays
    assert one.record["series"] == {"interval_ns": 10**9, "file": "series.parquet"}


def test_json_plus_keeps_its_bins(tmp_path: Path) -> None:
    result(tmp_path, fio_build.job(read=fio_build.reads({1000: 4})))
    log(tmp_path, "a_clat.1.log", (1, 9000, 0, 4096, 0))
    [one] = fio.read([tmp_path])
    assert one.record["streams"][0]["read"]["histogram"]["buckets"] == [[1000, 4]]


def test_averaged_logs_stand_at_the_begin_of_their_window(tmp_path: Path) -> None:
    result(tmp_path, fio_build.job(read=fio_build.reads({1000: 4})))
    for name, values in (("iops", (10, 20)), ("bw", (40, 80)), ("clat", (5000, 7000))):
        log(tmp_path, f"a_{name}.1.log", *((500 * (n + 1), value, 0, 0, 0) for n, value in enumerate(values)))
    [one] = fio.read([tmp_path])
    found = columns(one, "time_ns", "iops", "bandwidth_bytes_per_s", "latency_mean_ns")
    assert found == [(0, 10.0, 40960.0, 5000.0), (500_000_000, 20.0, 81920.0, 7000.0)]
    assert one.record["series"]["interval_ns"] == 500_000_000


def test_times_of_the_calendar_say_when_it_began(tmp_path: Path) -> None:
    log(tmp_path, "a_iops.1.log", *((EPOCH_MS + 1000 * n, 7, 0, 0, 0) for n in range(3)))
    log(tmp_path, "a_clat.1.log", *((EPOCH_MS + 1000 * n + 15, 900, 0, 0, 0) for n in range(3)))
    [one] = fio.read([tmp_path])
    assert columns(one, "time_ns", "iops", "latency_mean_ns") == [(n * 10**9, 7.0, 900.0) for n in range(3)]
    assert one.record["source"]["began"] == "2023-11-14T22:13:19Z"  # a window before the first sample
    assert (one.record["duration_ns"], one.record["summary"]["count"]) == (3 * 10**9, 21)


def test_processes_add_up_and_p99_is_then_not_known(tmp_path: Path) -> None:
    result(tmp_path, fio_build.job(read=fio_build.reads({1000: 4})))
    log(tmp_path, "a_clat.1.log", (100, 1000, 0, 4096, 0), (200, 1000, 0, 4096, 0))
    log(tmp_path, "a_clat.2.log", (100, 4000, 0, 4096, 0), (999, 4000, 0, 4096, 0))
    [one] = fio.read([tmp_path])
    assert columns(one, "iops", "latency_mean_ns", "latency_p99_ns") == [(4.0, 2500.0, None)]


def test_a_window_that_one_of_two_processes_did_not_log_is_left_out(tmp_path: Path) -> None:
    log(tmp_path, "a_iops.1.log", (1000, 100, 0, 0, 0), (2000, 102, 0, 0, 0))
    log(tmp_path, "a_iops.2.log", (1000, 100, 0, 0, 0), (2000, 98, 0, 0, 0), (3000, 99, 0, 0, 0))
    result(tmp_path, fio_build.job(read=fio_build.reads(None)))
    [one] = fio.read(sorted(tmp_path.iterdir()))
    assert columns(one, "time_ns", "iops") == [(0, 200.0), (10**9, 200.0)]
    assert "a: the last window is left out of the series: not every process logged it" in one.record["notes"]


def test_a_file_of_all_jobs_has_their_sum(tmp_path: Path) -> None:
    """As per_job_logs=0 of fio 3.33 writes it: one process after the other."""
    rows = [(1000, 100, 0, 0, 0), (2000, 102, 0, 0, 0), (1001, 300, 0, 0, 0), (2001, 298, 0, 0, 0)]
    log(tmp_path, "a_iops.log", *rows)
    result(tmp_path, fio_build.job("a", read=fio_build.reads(None)), fio_build.job("b", read=fio_build.reads(None)))
    [one] = fio.read(sorted(tmp_path.iterdir()))
    assert columns(one, "time_ns", "stream", "iops") == [(0, "all jobs", 400.0), (10**9, "all jobs", 400.0)]
    assert any("per_job_logs=0" in note for note in one.record["notes"])


def test_each_job_has_the_log_of_its_number(tmp_path: Path) -> None:
    jobs = [fio_build.job(name, read=fio_build.reads({9: 4})) for name in ("a", "b")]
    for entry in jobs:
        entry["job options"]["write_lat_log"] = "x"
    result(tmp_path, *jobs)
    log(tmp_path, "x_lat.1.log", (999, 1000, 0, 4096, 0))
    log(tmp_path, "x_lat.2.log", (999, 3000, 0, 4096, 0))
    [one] = fio.read([tmp_path])
    assert columns(one, "stream", "latency_mean_ns") == [("a", 1000.0), ("b", 3000.0)]


def test_histograms_over_time_give_percentiles(tmp_path: Path) -> None:
    result(tmp_path, fio_build.job(read=fio_build.reads(None, printed=True)))

    def counts(**of: int) -> tuple[int, ...]:
        return tuple(of.get(f"b{n}", 0) for n in range(PLAT_NR))

    rows = [(1000, 0, 4096, *counts(b200=3)), (2000, 0, 4096, *counts(b300=1))]
    log(tmp_path, "a_clat_hist.1.log", *rows)
    [one] = fio.read([tmp_path])
    low, high = bucket_value(200), bucket_value(300)
    assert one.record["streams"][0]["read"]["histogram"] == {"kind": "fio", "buckets": [[low, 3], [high, 1]]}
    assert columns(one, "time_ns", "iops", "latency_p99_ns") == [(0, 3.0, low), (10**9, 1.0, high)]


def test_coarse_histograms_are_bins(tmp_path: Path) -> None:
    counts = [0] * (PLAT_NR >> 2)
    counts[3] = 5  # fio's buckets 12 to 15: 12 ns to 15 ns
    [one] = fio.read([log(tmp_path, "a_clat_hist.1.log", (1000, 1, 4096, *counts))])
    assert one.record["streams"][0]["write"]["histogram"] == {"kind": "bins", "buckets": [[15, 5]]}


def test_a_cut_last_line_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a_lat.1.log"
    path.write_text("1, 100, 0, 4096, 0\n2, 10")
    [one] = fio.read([path])
    assert one.record["summary"]["count"] == 1
    assert any("the last line is cut o" in note for note in one.record["notes"])


@pytest.mark.parametrize(("kind", "bandwidth"), [("clat", None), ("lat", None), ("slat", None), ("bw", 61440.0)])
def test_averaged_logs_alone_have_no_counts(tmp_path: Path, kind: str, bandwidth: float | None) -> None:
    [one] = fio.read([log(tmp_path, f"a_{kind}.1.log", (500, 40, 0, 0, 0), (1000, 80, 0, 0, 0))])
    summary = one.record["summary"]
    for block in (summary, summary["read"]):
        assert (block["count"], block["iops"], block["queue_depth_mean"]) == (None, None, None)
        assert (block["latency_mean_ns"], block["bandwidth_bytes_per_s"]) == (None, bandwidth)
    assert one.record["streams"][0]["read"]["count"] is None
    assert (summary["write"]["count"], summary["write"]["iops"]) == (0, 0.0)
    assert any("an averaged log has no counts" in note for note in one.record["notes"])
    assert ("guesses" in one.record["source"]) == (kind in ("lat", "clat"))
    assert any("(slat)" in note for note in one.record["notes"]) == (kind == "slat")


def test_what_has_no_counts_is_a_record_all_the_same(tmp_path: Path) -> None:
    imported = fio.read([log(tmp_path, "a_bw.1.log", *((500 * n, 40 + n, 0, 0, 0) for n in range(1, 60)))])
    saved = save_imported(tmp_path / "out", imported)
    assert findings(load_results(saved), None) == []
    other = save_imported(tmp_path / "other", imported)
    assert compare(*load_sides([[saved[0]], [other[0]]])).differences == []
    assert "–" in str(summary_table(imported[0].record).texts())
    assert load_record(saved[0]).record == imported[0].record
    assert render(record_page([load_record(saved[0])], "Rates", audit=True))


def test_logs_of_rates_say_nothing_of_latencies(tmp_path: Path) -> None:
    [one] = fio.read([log(tmp_path, "a_iops.1.log", (500, 40, 0, 0, 0), (1000, 80, 0, 0, 0))])
    assert (one.record["summary"]["count"], one.record["summary"]["iops"]) == (60, 60.0)
    assert "guesses" not in one.record["source"]
    assert not any("no counts" in note for note in one.record["notes"])


@pytest.mark.parametrize(
    "line", ["1, x, 0, 4096", "1, 2, 77, 4096", "1, -5, 0, 4096", "1,2,0", "1, 2, 0, 3, 4, 5, 6, 7, 8"]
)
def test_a_line_that_is_no_sample_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a_lat.1.log"
    path.write_text(f"1, 100, 0, 4096, 0\n{line}\n3, 100, 0, 4096, 0\n")
    with pytest.raises(UserError, match="line 2"):
        fio.read([path])


def test_a_log_of_unknown_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not state what is logged"):
        fio.read([log(tmp_path, "x.log", (1, 2, 0, 4096, 0))])


def test_logs_beside_several_results_need_a_name(tmp_path: Path) -> None:
    named = fio_build.job(read=fio_build.reads({9: 4}))
    named["job options"] = {"write_lat_log": "/x/a", "rw": "read"}
    result(tmp_path, named, name="one.json")
    result(tmp_path, fio_build.job(read=fio_build.reads({9: 4})), name="two.json")
    log(tmp_path, "a_lat.1.log", (1, 2, 0, 4096, 0))
    assert [one.series is not None for one in fio.read([tmp_path])] == [True, False]
    log(tmp_path, "b_lat.1.log", (1, 2, 0, 4096, 0))
    with pytest.raises(UserError, match="may belong to any of 2 results"):
        fio.read([tmp_path])


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"rw": "read"}, "its options write no log named L"),
        ({"rw": "read", "write_lat_log": "/x/other"}, "they are named L, and its options name other"),
        ({"rw": "read", "write_lat_log": "/x/L"}, None),
        ({}, None),
    ],
)
def test_logs_that_the_options_do_not_name_are_of_another_run(
    tmp_path: Path, options: dict[str, str], why: str | None
) -> None:
    entry = fio_build.job(read=fio_build.reads(None, ios=2))
    entry["job options"] = options
    result(tmp_path, entry)
    log(tmp_path, "L_clat.1.log", (0, 5000, 0, 4096), (1000, 6000, 0, 4096))
    (one,) = fio.read([tmp_path])
    assert (one.series is None) == (why is not None)
    left_out = [note for note in one.record["notes"] if note.startswith("warning of import: ")]
    assert left_out == ([] if why is None else [f"warning of import: left out 1 log: {why}"])


def test_results_printed_again_are_one_run(tmp_path: Path) -> None:
    texts = []
    for number in (1, 2, 3):
        read = fio_build.reads({1000: 4 * number}, ios=4 * number, runtime_ms=1000 * number)
        texts.append(json.dumps(fio_build.document(fio_build.job(read=read), timestamp=1000 + number), indent=1))
    path = tmp_path / "run.json"
    path.write_text("\n".join(texts))
    [one] = fio.read([path])
    assert one.record["summary"]["count"] == 12
    assert columns(one, "time_ns", "iops")[::2] == [(0, 4.0), (10**9, 4.0), (2 * 10**9, 4.0)]


def test_runs_one_after_another_stay_apart(tmp_path: Path) -> None:
    texts = []
    for number in (1, 2):
        read = fio_build.reads({1000: 4}, runtime_ms=1000 * number)
        texts.append(json.dumps(fio_build.document(fio_build.job(read=read), timestamp=1000 + 3 * number), indent=1))
    path = tmp_path / "run.json"
    path.write_text("\n".join(texts))
    assert len(fio.read([path])) == 2


@pytest.mark.parametrize("version", [3, 4, 5])
def test_terse_output_is_read(tmp_path: Path, version: int) -> None:
    path = tmp_path / "t.txt"
    path.write_text("fio: a warning\n" + build.terse(version))
    [one] = fio.read([path])
    summary = one.record["summary"]
    assert (summary["count"], summary["iops"], summary["bytes"]) == (100, 10.0, 400 * 1024)
    assert (summary["latency_mean_ns"], summary["latency_p50_ns"], summary["latency_p99_ns"]) == (100500, 90000, 190000)
    assert one.record["concurrency"] is None
    assert one.record["source"]["asked"]["concurrency"] is None


def test_terse_output_is_not_said_to_be_buffered(tmp_path: Path) -> None:
    path = tmp_path / "terse.txt"
    path.write_text(build.terse())
    traps = [one.numbers.get("trap") for one in findings(load_results([path]), None)]
    assert "buffered" not in traps


@pytest.mark.parametrize(
    "text", [build.terse()[:200], build.terse().replace("5;fio", "9;fio"), build.terse().replace(";10;", ";x;", 1)]
)
def test_terse_output_that_is_not_whole_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.txt"
    path.write_text(text)
    with pytest.raises(UserError, match="line 1"):
        fio.read([path])


@pytest.mark.parametrize("version", [1, 2])
def test_both_encodings_of_hdr_are_decoded(tmp_path: Path, version: int) -> None:
    path = tmp_path / "x.hlog"
    lines = [f"0.000,1.000,0.1,{build.histogram([100] * 98 + [200, 1500], version)}"]
    lines.append(f"1.000,1.000,0.1,{build.histogram([300], version)}")
    path.write_bytes(build.hlog(*lines))
    [one] = hdr.read([path])
    side = one.record["streams"][0]["read"]
    assert side["histogram"] == {
        "kind": "hdr",
        "buckets": [[100, 98], [200, 1], [300, 1], [1500, 1]],
        "significant_digits": 3,
    }
    assert (side["latency_sum_ns"], side["latency_max_ns"]) == ("11800", 1500)
    assert one.record["summary"]["bandwidth_bytes_per_s"] is None
    assert columns(one, "time_ns", "iops", "latency_p99_ns") == [(0, 100.0, 200), (10**9, 1.0, 300)]
    assert one.record["source"]["began"] == "2017-07-14T02:40:00Z"


def test_every_tag_is_a_record(tmp_path: Path) -> None:
    path = tmp_path / "x.hlog"
    lines = [
        f"{tag}0.0,1.0,0.1,{build.histogram([number])}" for number, tag in enumerate(("", "Tag=A,", "Tag=WRITE,"), 1)
    ]
    path.write_bytes(build.hlog(*lines))
    found = hdr.read([path], "us")
    assert [one.record["source"]["target"] for one in found] == [None, "A", "WRITE"]
    assert [one.record["summary"]["latency_max_ns"] for one in found] == [1000, 2000, 3000]
    assert found[2].record["summary"]["write"]["count"] == 1


def test_the_unit_of_a_log_is_said_from_python(tmp_path: Path) -> None:
    path = tmp_path / "x.hlog"
    path.write_bytes(build.hlog(f"0.0,1.0,0.1,{build.histogram([7])}"))
    assert [hb.load(path, unit=unit).to_dict()["summary"]["latency_max_ns"] for unit in (None, "us")] == [7, 7000]
    with pytest.raises(UserError, match=r"^unit = 'h': accepted: ns, us, ms, s$"):
        hb.load_all(path, unit="h")
    for other in (tmp_path, Path(__file__)):
        with pytest.raises(UserError, match="applies to the values of an HdrHistogram log"):
            hb.load(other, unit="us")


def test_ycsb_logs_microseconds(tmp_path: Path) -> None:
    path = tmp_path / "x.hlog"
    path.write_bytes(b"#[Logging for: UPDATE]\n" + build.hlog(f"0.0,1.0,0.1,{build.histogram([7])}"))
    [one] = hdr.read([path])
    assert one.record["summary"]["write"]["latency_max_ns"] == 7000


def bomb() -> str:
    import base64
    import struct
    import zlib

    packed = zlib.compress(bytes(100_000_000), 9)
    return base64.b64encode(struct.pack(">II", build.V2_COMPRESSED | 0x10, len(packed)) + packed).decode()


@pytest.mark.parametrize(
    "text",
    ["HISTFAAA", "AAAA", "!!!!", build.histogram([5])[:-8], build.histogram([5], digits=9), "HISTgg" + "A" * 40],
)
def test_a_broken_histogram_names_its_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.hlog"
    path.write_bytes(build.hlog(f"0.0,1.0,0.1,{text}"))
    with pytest.raises(UserError, match="line 4"):
        hdr.read([path])


def test_a_histogram_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.hlog"
    path.write_bytes(build.hlog(f"0.0,1.0,0.1,{bomb()}"))
    with pytest.raises(UserError, match="larger than any"):
        hdr.read([path])


def test_a_unit_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"question\.unit"):
        hdr.read([tmp_path / "x"], "hours")
