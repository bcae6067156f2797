"""Do inputs that people have (../shared/samples/wild) read as their expect.txt says? Skipped if they are absent."""

from __future__ import annotations

from pathlib import Path

import pytest

import hotband as hb
from hotband.data.importers import load, vdbench

WILD = Path("/work/shared/samples/wild")
pytestmark = pytest.mark.skipif(not WILD.is_dir(), reason="the samples are not part of the repository")


def test_a_title_before_the_report() -> None:
    [result] = vdbench.read([WILD / "01-vdbench-title-line"])
    summary = result.record["summary"]
    assert (summary["write"]["iops"], summary["bandwidth_bytes_per_s"]) == (24_000.0, 24_000.0 * 8192)


def test_a_histogram_of_one_direction() -> None:
    [result] = vdbench.read([WILD / "02-vdbench-one-direction-histogram"])
    for summary in (result.record["summary"], result.record["summary"]["write"]):
        assert (summary["latency_p50_ns"], summary["latency_p99_ns"]) == (400_000, 800_000)


def test_two_folders_of_a_run_each_are_compared() -> None:
    folder = WILD / "03-vdbench-real-folder"
    assert [len(vdbench.read([folder / side])) for side in "ab"] == [1, 1]
    compared = hb.compare(folder / "a", folder / "b")
    assert [comparison.b.name for comparison in compared.comparisons] == ["b"]


def test_a_list_of_sizes_has_no_finding() -> None:
    assert not hb.audit(WILD / "05-vdbench-size-list").findings


def test_sizes_with_a_fraction_convert() -> None:
    text = hb.convert(WILD / "06-vdbench-fraction-size" / "job.parm").text
    assert '"1536 B" = 10' in text


@pytest.mark.parametrize(("file", "tool"), [("fio.json", "fio"), ("iometer.csv", "iometer")])
def test_utf16_of_powershell(file: str, tool: str) -> None:
    [result] = load(WILD / "38-utf16-of-powershell" / file)
    assert result.record["target"]["kind"] == tool


@pytest.mark.parametrize(
    ("file", "columns", "reads", "writes"),
    [
        ("biosnoop.txt", None, 2, 3),
        ("etw.csv", None, 1, 1),
        ("perf.txt", None, 1, 1),
        ("readone.csv", {"time": "1:ms", "offset": "3", "size": "4", "op": "5:1"}, 2, 1),
        ("iso.csv", {"time": "timestamp", "offset": "sector:sectors", "size": "io_size", "op": "operation"}, 1, 2),
    ],
)
def test_traces_of_tools(file: str, columns: dict[str, str] | None, reads: int, writes: int) -> None:
    time = hb.show_trace(WILD / "31-traces" / file, columns=columns).properties.time
    assert (sum(time.reads), sum(time.writes)) == (reads, writes)
