"""Do vdbench's, DiskSpd's and Iometer's tables become the records their numbers say? Expectations are by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import result_documents as build

from hotband.base.errors import UserError
from hotband.data.importers import diskspd, iometer, vdbench
from hotband.data.importers.cells import Cells
from hotband.data.importers.record import binned
from hotband.data.record.imported import Imported


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def side(one: Imported, direction: str, stream: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = one.record["streams"][stream][direction]
    return found


def test_a_flatfile_has_the_measured_intervals_alone(tmp_path: Path) -> None:
    [one] = vdbench.read([written(tmp_path, "flatfile.html", build.flatfile(*build.run_rows()))])
    summary = one.record["summary"]
    assert one.record["duration_ns"] == 3 * 10**9
    assert (summary["count"], summary["iops"]) == (300, 100.0)
    assert summary["read"]["latency_mean_ns"] == 4_000_000
    assert summary["bandwidth_bytes_per_s"] == pytest.approx(100 * 8192, rel=1e-3)
    assert one.record["warm_up"] == {"interval_ns": 10**9, "iops": [50.0], "latency_mean_ns": [15_250_000]}
    assert one.series is not None
    assert one.series["time_ns"] == [0, 0, 10**9, 10**9, 2 * 10**9, 2 * 10**9]
    assert one.series["iops"] == [75.0, 25.0] * 3


def test_what_vdbench_was_asked(tmp_path: Path) -> None:
    [one] = vdbench.read([written(tmp_path, "flatfile.html", build.flatfile(*build.run_rows()))])
    asked = one.record["source"]["asked"]
    assert (asked["concurrency"], asked["block_bytes"], asked["read_pct"], asked["pattern"]) == (
        8,
        8192,
        75.0,
        "random",
    )
    assert (asked["working_set_bytes"], asked["ramp_ns"], asked["rate_iops"]) == (10 * 2**30, 10**9, None)
    assert one.record["concurrency"] == 8


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    rows = [*build.run_rows(), *build.run_rows(rate=200.0), *build.run_rows("rd2")]
    found = vdbench.read([written(tmp_path, "flatfile.html", build.flatfile(*rows))])
    assert [one.record["summary"]["iops"] for one in found] == [100.0, 200.0, 100.0]


def test_the_csv_of_parseflat_is_the_same_table(tmp_path: Path) -> None:
    html = written(tmp_path, "flatfile.html", build.flatfile(*build.run_rows()))
    lines = build.flatfile(*build.run_rows()).splitlines()[2:]
    text = "\n".join(",".join(f'"{cell}"' for cell in line.split()) for line in lines)
    csv = written(tmp_path, "flatfile.csv", text + "\n")
    [first], [second] = vdbench.read([html]), vdbench.read([csv])
    assert first.record["summary"] == second.record["summary"]


def test_a_run_that_was_stopped_has_what_is_there(tmp_path: Path) -> None:
    [one] = vdbench.read([written(tmp_path, "flatfile.html", build.flatfile(*build.run_rows()[:3]))])
    assert one.record["summary"]["count"] == 200
    assert any("was the run stopped" in note for note in one.record["notes"])


def test_a_folder_is_one_output(tmp_path: Path) -> None:
    written(tmp_path, "x_flatfile.html", build.flatfile(*build.run_rows()))
    written(tmp_path, "x_histogram.html", build.HISTOGRAM)
    written(tmp_path, "x_summary.html", build.SUMMARY)
    written(tmp_path, "x_parmfile.html", build.PARAMETERS)
    [one] = vdbench.read([tmp_path])
    assert side(one, "read")["histogram"] == {
        "kind": "bins",
        "buckets": [[2_000_000, 790], [10_000_000, 100], [90_000_000, 10]],
    }
    assert one.record["summary"]["read"]["latency_p99_ns"] == 90_000_000
    assert one.record["source"]["target"] == "/dev/sdb"
    # The stamps are a second apart, whatever elapsed=8 over four intervals says: a run may end before its time.
    assert one.record["duration_ns"] == 3 * 10**9
    assert one.record["source"]["asked"]["duration_ns"] == 8 * 10**9


def test_a_summary_alone(tmp_path: Path) -> None:
    [one] = vdbench.read([written(tmp_path, "summary.html", build.SUMMARY)])
    assert one.record["summary"]["iops"] == 100.0
    assert one.record["summary"]["read"]["latency_mean_ns"] == 4_000_000
    assert one.record["source"]["asked"]["concurrency"] == 8
    assert one.series is not None


def test_a_histogram_alone_has_no_means_and_no_sizes(tmp_path: Path) -> None:
    [one] = vdbench.read([written(tmp_path, "histogram.html", build.HISTOGRAM)])
    summary = one.record["summary"]
    assert (summary["count"], summary["latency_mean_ns"], summary["bandwidth_bytes_per_s"]) == (1200, None, None)


def test_totals_alone_know_how_long_an_interval_was(tmp_path: Path) -> None:
    lines = [line for line in build.SUMMARY.splitlines() if not line.startswith("Copyright")]
    rows = [line for line in lines if not line.startswith("10:00:0") or "avg_" in line]
    text = "\n".join(rows).replace("Vdbench summary report, created 10:00:00 Dec 01 2016 PST", "Run totals")
    [one] = vdbench.read([written(tmp_path, "totals.html", text)])
    assert (one.record["duration_ns"], one.record["summary"]["iops"], one.series) == (6 * 10**9, 100.0, None)


def test_a_cell_without_end_is_refused(tmp_path: Path) -> None:
    text = '"date","Run","Interval","reqrate","rate","resp"\n"' + "1" * 200_000 + '","a","1","1","1","1"\n'
    with pytest.raises(UserError, match="line 2"):
        vdbench.read([written(tmp_path, "flatfile.csv", text)])


def test_an_unknown_table_is_refused(tmp_path: Path) -> None:
    text = build.SUMMARY.replace("i/o   MB/sec   bytes", "ReqstdOps  a  b")
    with pytest.raises(UserError, match="an unknown table; accepted: a summary of vdbench"):
        vdbench.read([written(tmp_path, "summary.html", text)])


def test_diskspd_sums_its_threads(tmp_path: Path) -> None:
    [one] = diskspd.read([written(tmp_path, "x.xml", build.diskspd())])
    summary = one.record["summary"]
    assert (summary["count"], summary["iops"]) == (4000, 400.0)
    assert (summary["read"]["latency_mean_ns"], summary["latency_mean_ns"]) == (2_000_000, 2_500_000)
    assert (summary["latency_p50_ns"], summary["read"]["latency_p50_ns"]) == (2_100_000, 1_900_000)
    assert (summary["latency_p99_ns"], summary["latency_max_ns"]) == (None, 9_000_000)
    assert side(one, "read")["percentiles"] == [[50.0, 1_900_000]]
    assert summary["bandwidth_bytes_per_s"] == 1638400.0


def test_diskspd_says_what_was_asked(tmp_path: Path) -> None:
    [one] = diskspd.read([written(tmp_path, "x.xml", build.diskspd())])
    source = one.record["source"]
    asked = source["asked"]
    assert (source["tool"], source["version"], source["began"]) == ("diskspd", "2.0.21a", "2021-04-14T23:25:42Z")
    assert (asked["concurrency"], asked["jobs"], asked["read_pct"], asked["pattern"]) == (8, 2, 75.0, "random")
    assert (asked["seed"], asked["direct"], asked["ramp_ns"]) == ("fixed", True, 5 * 10**9)
    assert one.record["concurrency"] == 8


def test_diskspd_series_begins_at_zero(tmp_path: Path) -> None:
    [one] = diskspd.read([written(tmp_path, "x.xml", build.diskspd())])
    assert one.series is not None
    assert one.series["time_ns"] == [0, 0, 5 * 10**9, 5 * 10**9]
    assert one.series["iops"] == [320.0, 110.0, 280.0, 90.0]
    assert one.series["latency_mean_ns"] == [2_100_000, 4_000_000, None, None]
    assert one.record["series"]["interval_ns"] == 5 * 10**9


def test_a_rate_leaves_the_loop_open(tmp_path: Path) -> None:
    [one] = diskspd.read([written(tmp_path, "x.xml", build.diskspd(profile="<ThinkTime>1</ThinkTime>"))])
    assert one.record["concurrency"] is None
    assert one.record["source"]["asked"]["concurrency"] == 8


BOMB = '<!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa">{more}]><Results><TimeSpan>&z;</TimeSpan></Results>'


@pytest.mark.parametrize(
    "text",
    [
        BOMB.format(
            more="".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghiz", strict=True))
        ),
        '<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd"><Results><TimeSpan/></Results>',
        '<!DOCTYPE x [<!ENTITY z SYSTEM "file:///etc/passwd">]><Results><TimeSpan>&z;</TimeSpan></Results>',
    ],
    ids=["billion-laughs", "external-dtd", "external-entity"],
)
def test_document_types_and_entities_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UserError, match="document types and entities are refused"):
        diskspd.read([written(tmp_path, "x.xml", text)])


@pytest.mark.parametrize("text", ["", "<Results>", "<Other/>", "<Results/>", build.diskspd()[:900]])
def test_xml_that_is_no_result_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UserError):
        diskspd.read([written(tmp_path, "x.xml", text)])


def test_a_span_without_targets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no target"):
        diskspd.read([written(tmp_path, "x.xml", build.diskspd(targets=""))])


def test_iometer_workers_are_streams(tmp_path: Path) -> None:
    [one] = iometer.read([written(tmp_path, "r.csv", build.iometer(*build.iometer_test(300, 100)))])
    assert [stream["name"] for stream in one.record["streams"]] == ["Worker 1", "Worker 1#2"]
    summary = one.record["summary"]
    assert (summary["count"], summary["iops"], summary["errors"]) == (400, 40.0, 2)
    assert (summary["read"]["latency_mean_ns"], summary["latency_mean_ns"]) == (1_500_000, 1_750_000)
    assert summary["bandwidth_bytes_per_s"] == 40 * 4096
    assert side(one, "read")["histogram"]["kind"] == "none"
    assert any("hold reads and writes together" in note for note in one.record["notes"])


def test_iometer_bins_are_of_the_direction_that_did_io(tmp_path: Path) -> None:
    [one] = iometer.read([written(tmp_path, "r.csv", build.iometer(*build.iometer_test(300, 0)))])
    assert side(one, "read")["histogram"] == {
        "kind": "bins",
        "buckets": [[100_000, 75], [2_000_000, 74], [12_000_000_000, 1]],
    }


@pytest.mark.parametrize(
    ("largest", "edge"), [(90_000, 90_000), (100_000, 100_000), (40_000, 100_000), (200_000, 100_000), (None, 100_000)]
)
def test_the_last_bin_in_use_ends_at_the_largest_latency(largest: int | None, edge: int) -> None:
    """A p99.9 of 100 us is above a maximum of 90 us; a maximum in another bin is one of them that is wrong."""
    bins = [(50_000, 3), (100_000, 1), (200_000, 0), (None, 0)]
    assert binned(bins, largest)["buckets"] == [[50_000, 3], [edge, 1]]


def test_what_iometer_was_asked(tmp_path: Path) -> None:
    [one] = iometer.read([written(tmp_path, "r.csv", build.iometer(*build.iometer_test(300, 100)))])
    source = one.record["source"]
    asked = source["asked"]
    assert (source["version"], source["host"]) == ("1.1.0", "PC")
    assert (asked["concurrency"], asked["jobs"], asked["block_bytes"], asked["read_pct"]) == (8, 2, 4096, 75.0)
    assert (asked["pattern"], asked["working_set_bytes"], asked["offset_begin_bytes"]) == ("random", 2048 * 512, 4096)


def test_every_test_of_a_file_is_a_record(tmp_path: Path) -> None:
    rows = [*build.iometer_test(300, 100), *build.iometer_test(30, 10)]
    found = iometer.read([written(tmp_path, "r.csv", build.iometer(*rows))])
    assert [one.record["summary"]["count"] for one in found] == [400, 40]


def test_mbps_of_old_iometer_is_binary(tmp_path: Path) -> None:
    header = "'Target Type,Target Name,Access Specification Name,IOps,Read IOps,Write IOps,MBps,Read MBps,Write MBps,"
    header += "Average Read Response Time,Read I/Os,Write I/Os"
    text = f"'Test Type,Test Description\n0,\n'Results\n{header}\nALL,All,mix,100,100,0,2,2,0,1.0,1000,0\n"
    [one] = iometer.read([written(tmp_path, "r.csv", text)])
    assert one.record["summary"]["bytes"] == 2 * 2**20 * 10
    assert any("2^20" in note for note in one.record["notes"])


def test_decimals_behind_a_comma_are_no_thousands(tmp_path: Path) -> None:
    """Of a tool that ran where people write so: 0,532 ms would be read as 532 ms."""
    rows = [row.replace("4.0000", "0,532") for row in build.run_rows()]
    assert any("0,532" in row for row in rows)
    table = build.flatfile(*rows).split("\n", 2)[2]
    csv = "\n".join(",".join(f'"{cell}"' for cell in line.split()) for line in table.splitlines())
    with pytest.raises(UserError, match=r"'0,532': accepted: .* with a decimal point"):
        vdbench.read([written(tmp_path, "flatfile.csv", csv)])
    # vdbench groups no thousands in the table itself.
    [one] = vdbench.read([written(tmp_path, "flatfile.html", build.flatfile(*rows))])
    assert one.record["summary"]["read"]["latency_mean_ns"] == 532_000


@pytest.mark.parametrize(
    ("limit", "rate"),
    [
        ("<Throughput>0</Throughput>", None),
        ("<Throughput>4096</Throughput>", 2000.0),
        ('<Throughput unit="IOPS">300</Throughput>', 600.0),
    ],
)
def test_the_limit_of_diskspd_is_that_of_all_its_threads(tmp_path: Path, limit: str, rate: float | None) -> None:
    text = build.diskspd().replace("<Throughput>0</Throughput>", limit)
    [one] = diskspd.read([written(tmp_path, "x.xml", text)])
    assert one.record["source"]["asked"]["rate_iops"] == rate


@pytest.mark.parametrize(
    ("text", "step"),
    [("75.5", 0.1), ("150", 1.0), ("1.23457E+11", 1e6), ("1,234.50", 0.01), ("n/a", 0.0), ("0e999999", 2.0**64)],
)
def test_what_the_last_digit_of_a_cell_counts(text: str, step: float) -> None:
    assert Cells("a.csv", "line 1", {"IOps": text}).step("IOps") == pytest.approx(step)
