"""Does the importer agree with real fio results? They lie outside the repository; skipped without them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hotband.base.errors import UserError
from hotband.base.text.regular import utf8
from hotband.data.documents.sides import Histogram
from hotband.data.importers.fio.documents import read_fio
from hotband.data.record.stats import DIRECTIONS

FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "samples"
RESULTS = sorted([*FOLDER.glob("fio/*.json"), *FOLDER.glob("croit-normal/*.json")])
# A fixture of its origin (microsoft/VirtualClient), edited by hand: its counts, rates and times disagree.
EDITED = "Results_FIO_virtualclient.json"
GENUINE = [path for path in RESULTS if path.name != EDITED]

# Where the files are missing, parametrize makes each test below one skipped test.
results = pytest.mark.parametrize("path", GENUINE, ids=lambda path: path.name)


def both(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    [record] = read_fio(path.read_bytes(), path.name)
    document: dict[str, Any] = json.loads(path.read_text())
    return record, document


@results
def test_iops_are_those_printed(path: Path) -> None:
    record, document = both(path)
    for direction in DIRECTIONS:
        printed = document["jobs"][0][direction]["iops"]
        assert record["summary"][direction]["iops"] == pytest.approx(printed, abs=1e-6)


@results
def test_bandwidth_is_that_printed(path: Path) -> None:
    record, document = both(path)
    for direction in DIRECTIONS:
        printed = document["jobs"][0][direction]["bw"]  # KiB/s, cut to a whole number
        assert int(record["summary"][direction]["bandwidth_bytes_per_s"] / 1024) == printed


@results
def test_mean_latency_is_that_printed_beside_the_percentiles(path: Path) -> None:
    record, document = both(path)
    for direction in DIRECTIONS:
        side = document["jobs"][0][direction]
        if side["total_ios"]:
            mean = record["summary"][direction]["latency_mean_ns"]
            assert mean == pytest.approx(side["clat_ns"]["mean"], rel=1e-6)


@results
def test_littles_law_holds_for_closed_loops(path: Path) -> None:
    # The queue is full but for start and end, and clat leaves out submission: 2 % covers all 14 closed loops.
    record, _ = both(path)
    if record["concurrency"] is None:
        pytest.skip("an open loop")
    summary = record["summary"]
    assert summary["queue_depth_mean"] == pytest.approx(record["concurrency"], rel=0.02)
    assert summary["iops"] * summary["latency_mean_ns"] / 1e9 == pytest.approx(summary["queue_depth_mean"])


def fio_percentile(histogram: Histogram, q: float) -> int:
    """stat.c, calc_clat_percentiles: the first bucket where the sum reaches q/100 x samples, q in binary."""
    wanted = Fraction(q) / 100 * sum(count for _, count in histogram["buckets"])
    seen = 0
    for value, count in histogram["buckets"]:
        seen += count
        if seen >= wanted:
            return value
    raise AssertionError("q is at most 100")


@pytest.mark.parametrize("name", ["fio-3.33_jsonplus_oltp.json", "fio-3.33_steadystate.json"])
def test_bins_give_all_printed_percentiles(real_samples: Path, name: str) -> None:
    record, document = both(real_samples / "fio" / name)
    for direction in DIRECTIONS:
        printed = document["jobs"][0][direction]["clat_ns"].get("percentile", {})
        histogram = record["streams"][0][direction]["histogram"]
        for q, value in printed.items():
            assert fio_percentile(histogram, float(q)) == value, (direction, q)


@pytest.mark.parametrize("name", ["fio-3.33_jsonplus_oltp.json", "fio-3.33_steadystate.json"])
def test_summary_percentiles_are_those_printed(real_samples: Path, name: str) -> None:
    record, document = both(real_samples / "fio" / name)
    printed = document["jobs"][0]["read"]["clat_ns"]["percentile"]
    summary = record["summary"]["read"]
    assert summary["latency_p50_ns"] == printed["50.000000"]
    assert summary["latency_p99_ns"] == printed["99.000000"]
    assert summary["latency_p999_ns"] == printed["99.900000"]


def test_fiosynth_result_imports(real_samples: Path) -> None:
    record, _ = both(real_samples / "fio" / "fiosynth_sample_1_run1.json")
    assert record["versions"]["fio"] == "3.1"
    assert record["target"]["machine"] == "/dev/sdc"
    assert record["concurrency"] is None  # rate=100k
    assert record["summary"]["latency_p99_ns"] == 110_624_768


def test_an_edited_result_is_told_by_its_notes(real_samples: Path) -> None:
    record, _ = both(real_samples / "fio" / EDITED)
    assert any("fio printed 2160.56 IOPS" in note for note in record["notes"])
    assert any("latency was measured on 272144 of 258144" in note for note in record["notes"])


def is_fio(path: Path) -> bool:
    return path.suffix == ".json" and b'"fio version"' in utf8(path.read_bytes())


def test_what_was_asked_is_in_the_source(real_samples: Path) -> None:
    record, _ = both(real_samples / "croit-normal" / "read-normal-2.json")
    source = record["source"]
    assert (source["tool"], source["version"], source["ended"]) == ("fio", "3.12", "2020-01-06T11:18:52Z")
    assert (source["target"], source["asked"]["duration_ns"]) == ("test-normal-hdd/test", 900_000_000_000)
    assert (source["asked"]["concurrency"], source["asked"]["seed"]) == (2, "fixed")
    side = record["streams"][0]["read"]
    assert [50.0, 7_438_336] in side["percentiles"]
    assert side["latency_bins"][0] == [500_000, 2.645833]


def test_files_of_other_kinds_are_refused(real_samples: Path) -> None:
    others = [path for path in real_samples.rglob("*") if path.is_file() and not is_fio(path)]
    assert others
    for path in others:
        with pytest.raises(UserError):
            read_fio(path.read_bytes(), path.name)
