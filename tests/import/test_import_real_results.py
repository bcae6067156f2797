"""Do real results of other tools say what their tools printed? Skipped where they are not on this machine."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from hotband.data.importers import load, vdbench
from hotband.data.importers.fio import importer as fio


def test_all_croit_results_load_with_their_source(real_samples: Path) -> None:
    paths = sorted((real_samples / "croit-normal").glob("*.json"))
    assert len(paths) == 14
    for path in paths:
        [one] = load(path)
        asked = one.record["source"]["asked"]
        depth = int(path.stem.rsplit("-", 1)[1])
        assert (asked["concurrency"], asked["seed"], asked["block_bytes"]) == (depth, "fixed", 4096)
        direction = "read" if path.stem.startswith("read") else "write"
        side = one.record["streams"][0][direction]
        printed = json.loads(path.read_text())["jobs"][0][direction]["clat_ns"]["percentile"]
        assert {f"{q:.6f}": value for q, value in side["percentiles"]} == printed
        # fio 3.12 prints zero for latencies beyond a second: what is missing is told.
        whole = sum(share for _, share in side["latency_bins"]) > 99.5
        assert whole == (not any("the slowest are missing" in note for note in one.record["notes"]))
        assert whole == (path.stem not in ("read-normal-128", "read-normal-256", "write-normal-256"))


def test_vdbench_totals_are_its_own(real_samples: Path) -> None:
    found = vdbench.read([real_samples / "vdbench"])
    assert len(found) == 16
    summary = found[0].record["summary"]
    assert (summary["iops"], summary["read"]["latency_mean_ns"]) == (
        pytest.approx(1136.5254, rel=1e-6),
        pytest.approx(50.9921e6, rel=1e-6),
    )
    assert summary["queue_depth_mean"] == pytest.approx(31.9766, rel=1e-3)
    assert found[0].record["concurrency"] == 32
    # Reads of the histogram at or below 400 ms: 99.839 %.
    assert summary["read"]["latency_p99_ns"] == 400_000_000
    assert all(one.series is not None and len(one.series["time_ns"]) == 2 * 59 for one in found)


def test_vdbench_summary_agrees_with_its_flatfile(real_samples: Path, tmp_path: Path) -> None:
    shutil.copy(real_samples / "vdbench" / "exch_summary.html", tmp_path)
    flat = vdbench.read([real_samples / "vdbench" / "exch_flatfile.html"])
    for one, other in zip(vdbench.read([tmp_path]), flat, strict=True):
        assert one.record["summary"]["iops"] == pytest.approx(other.record["summary"]["iops"], rel=2e-3)
        assert one.record["duration_ns"] == other.record["duration_ns"] == 59 * 10**9


def test_diskspd_counts_are_its_own(real_samples: Path) -> None:
    path = real_samples / "diskspd" / "Results_DiskSpd.xml"
    [one] = load(path)
    root = ElementTree.parse(path).getroot()
    assert one.record["summary"]["count"] == int(root.findtext("./TimeSpan/Thread/Target/IOCount") or 0)
    assert one.record["summary"]["latency_mean_ns"] == pytest.approx(2.266e6, rel=1e-3)
    assert one.record["summary"]["latency_p99_ns"] == 19_270_000
    assert one.record["summary"]["queue_depth_mean"] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("name", "records", "count"), [("jHiccup-2.0.7S.logV2.hlog", 1, 48761), ("ycsb.logV1.hlog", 1, 300056)]
)
def test_hdr_logs_of_both_versions(real_samples: Path, name: str, records: int, count: int) -> None:
    # The counts are those of HdrHistogram's own tests (HistogramLogReaderWriterTest.java: jHiccup 48761, ycsb 300056).
    found = load(real_samples / "hdr" / name)
    assert len(found) == records
    assert found[0].record["summary"]["count"] == count


def test_tags_of_an_hdr_log(real_samples: Path) -> None:
    untagged, tagged = load(real_samples / "hdr" / "tagged-Log.logV2.hlog")
    assert tagged.record["source"]["target"] == "A"
    assert untagged.record["summary"]["latency_p99_ns"] == tagged.record["summary"]["latency_p99_ns"]


def test_fio_logs_agree_with_their_json(real_samples: Path, tmp_path: Path) -> None:
    for path in [*(real_samples / "fio").glob("oltp_*.log"), real_samples / "fio" / "fio-3.33_jsonplus_oltp.json"]:
        shutil.copy(path, tmp_path)
    [one] = fio.read([tmp_path])
    assert one.series is not None
    rows = list(zip(one.series["direction"], one.series["iops"], strict=True))
    reads = [rate for direction, rate in rows if direction == "read" and rate is not None]
    whole = one.record["summary"]["read"]["iops"]
    assert sum(reads) / len(reads) == pytest.approx(whole, rel=0.1)


def test_terse_output_of_fio(real_samples: Path) -> None:
    [one] = load(real_samples / "fio" / "fio_terse_v5.txt")
    assert one.record["summary"]["iops"] == 1638400.0
    assert one.record["summary"]["latency_mean_ns"] == pytest.approx(70.0, abs=0.1)
