"""Folders of results: sub-folders are drives, files are tests (`report`, `audit`, `compare`, `expect`, `import`)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from hotband.base.errors import UserError
from hotband.data.results.walk import is_walked, walk

Hotband = Callable[..., "CompletedProcess[str]"]
SAMPLES = Path("/work/shared/samples")


def fio_result(reads_per_s: int, block: int = 4096, depth: int = 1, **options: str) -> dict[str, Any]:
    """A fio document of random reads over 10 s."""
    ios = reads_per_s * 10
    mean = 1e9 * depth / reads_per_s
    latency = {"min": round(mean / 2), "max": round(mean * 3), "mean": mean, "stddev": 0.0, "N": ios}
    percentiles = {"50.000000": round(mean), "99.000000": round(2 * mean), "99.900000": round(2.5 * mean)}
    side = {
        "io_bytes": ios * block, "io_kbytes": ios * block // 1024, "bw_bytes": reads_per_s * block,
        "bw": reads_per_s * block // 1024, "iops": float(reads_per_s), "runtime": 10_000, "total_ios": ios,
        "short_ios": 0, "drop_ios": 0, "slat_ns": {**latency, "mean": 0.0, "min": 0, "max": 0},
        "clat_ns": {**latency, "percentile": percentiles}, "lat_ns": latency,
    }  # fmt: skip
    idle = {**side, "io_bytes": 0, "io_kbytes": 0, "bw_bytes": 0, "bw": 0, "iops": 0.0, "runtime": 0, "total_ios": 0}
    asked = {"ioengine": "libaio", "direct": "1", "rw": "randread", "bs": str(block), "iodepth": str(depth), **options}
    job = {"jobname": "j", "groupid": 0, "error": 0, "elapsed": 11, "job options": asked, "read": side, "write": idle,
           "trim": idle}  # fmt: skip
    return {"fio version": "fio-3.33", "timestamp": 1700000000, "jobs": [job]}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Three drives with three tests each, a job file and a result that is damaged."""
    folder = tmp_path / "results"
    for drive, speed, limit in (("driveA", 8000, {}), ("driveB", 1000, {"rate_iops": "1000"}), ("driveC", 400, {})):
        (folder / drive).mkdir(parents=True)
        for test, block, depth in (("4k-qd1", 4096, 1), ("4k-qd16", 4096, 16), ("128k-qd16", 131072, 16)):
            text = json.dumps(fio_result(speed * (1 if depth == 1 else 2), block, depth, **limit))
            (folder / drive / f"{test}.json").write_text(text)
    (folder / "notes.txt").write_text("made on a Monday")
    (folder / "driveC" / "cut.json").write_text('{"fio version" : "fio-3.33", "jobs": [')
    return folder


def test_sub_folders_are_series_and_files_are_tests(results: Path) -> None:
    found = walk(results)
    assert (found.series, found.tests) == (["driveA", "driveB", "driveC"], ["4k-qd1", "4k-qd16", "128k-qd16"])
    assert found.skipped_words == "Skipped 2 files: 1 not a result (notes.txt), 1 damaged (driveC/cut.json)."


def test_folders_below_a_series_are_part_of_the_test(tmp_path: Path) -> None:
    (tmp_path / "results" / "driveA" / "qd1").mkdir(parents=True)
    (tmp_path / "results" / "driveA" / "qd1" / "read.json").write_text(json.dumps(fio_result(100)))
    (tmp_path / "results" / "read.json").write_text(json.dumps(fio_result(100)))
    assert [one.name for one in walk(tmp_path / "results").results] == ["driveA/qd1/read", "results/read"]


@pytest.mark.parametrize("names", [("a_run1", "a_run2"), ("run 1/a", "run 2/a"), ("a", "a (2)"), ("a-3", "a-07")])
def test_runs_of_one_test_are_its_repeats(hotband: Hotband, tmp_path: Path, names: tuple[str, str]) -> None:
    for drive, speed in (("driveA", 8000), ("driveB", 4000)):
        for place, name in enumerate(names):
            path = tmp_path / "results" / drive / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(fio_result(speed + 200 * place)))
    (tmp_path / "results" / "driveB" / "b_run1.json").write_text(json.dumps(fio_result(4000, depth=8)))
    found = walk(tmp_path / "results")
    assert (found.tests, len(found.results)) == (["a", "b_run1"], 5)
    lines = hotband("report", "results", "--output", "page.html").stdout.splitlines()
    assert lines[0].startswith("5 fio results, 2 drives (folders), 1 to 2 tests each, up to 2 runs of a test.")
    assert [line.split() for line in lines if line.startswith("a ")] == [["a", "8,100", "█" * 8, "4,100", "████"]]
    compared = hotband("compare", "results").stdout
    assert compared.startswith("driveB is slower than driveA in 1 of 1 test.\n")
    assert "One run each" not in compared


def test_files_with_numbers_and_other_loads_are_tests(tmp_path: Path) -> None:
    for depth in (1, 2):
        (tmp_path / f"qd{depth}.json").write_text(json.dumps(fio_result(4000, depth=depth)))
    assert walk(tmp_path).tests == ["qd1", "qd2"]


def test_files_with_numbers_and_other_targets_or_unknown_loads_are_tests(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"a-{number}.json").write_text(json.dumps(fio_result(4000, filename=f"/dev/md{number}")))
        bare = fio_result(4000)
        bare["jobs"][0]["job options"] = {}
        (tmp_path / f"b-{number}.json").write_text(json.dumps(bare))
        (tmp_path / f"c{number}.json").write_text(json.dumps(fio_result(4000)))
    assert walk(tmp_path).tests == ["a-1", "a-2", "b-1", "b-2", "c1", "c2"]


def test_a_folder_without_a_result_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("nothing")
    assert not is_walked(tmp_path)
    with pytest.raises(UserError, match=r"contains no result: 1 not a result \(a.txt\); expected results of fio, vd"):
        walk(tmp_path)


@pytest.mark.parametrize("command", ["audit", "expect", "import"])
def test_every_command_refuses_a_folder_without_a_result(hotband: Hotband, tmp_path: Path, command: str) -> None:
    (tmp_path / "a.txt").write_text("nothing")
    done = hotband(command, str(tmp_path))
    assert done.returncode == 2, done.stdout
    assert "record.json" not in done.stderr


def test_a_report_prints_the_matrix_and_names_limited_drives(hotband: Hotband, results: Path) -> None:
    page = results.parent / "d.html"
    done = hotband("report", str(results), "-o", str(page))
    assert done.returncode == 0, done.stderr
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert lines[0].startswith("9 fio results, 3 drives (folders), 3 tests each.")
    assert f"{page} written." in " ".join(" ".join(lines[:3]).split())
    assert any(line.split() == ["4k-qd1", "8,000", "████████", "1,000", "█", "400", "▍"] for line in lines)
    assert any(line.split()[:4] == ["128k-qd16", "2,097", "MB/s", "████████"] for line in lines)
    assert "! driveB was rate limited (rate_iops): not comparable with driveA, driveC" in lines
    assert "! Skipped 2 files: 1 not a result (notes.txt), 1 damaged (driveC/cut.json)." in lines
    assert len(lines) <= 24
    text = page.read_text()
    assert "<h1>Which of 3 drives is fastest?</h1>" in text
    assert '<p class="lead">driveA is fastest in 3 of 3 tests.</p>' in text
    assert "Latency of driveC by percentile" in text
    assert "measured" not in text.partition("<main>")[2].partition("<footer>")[0].partition('id="audit"')[0]


def test_the_page_has_each_kind_of_finding_once(hotband: Hotband, results: Path) -> None:
    page = results.parent / "d.html"
    hotband("report", str(results), "-o", str(page))
    section = page.read_text().partition('<section id="audit"')[2].partition("</section>")[0]
    assert "What do these results prove?" in section
    rules = re.findall(r">([^<>]+)(?:</td>|<span class=\"under\">)", section)
    assert "interference" in rules or "percentile-support" in rules or "replayed-offsets" in rules
    for rule in ("interference", "percentile-support", "replayed-offsets"):
        assert rules.count(rule) <= 1


def test_imported_folders_make_the_same_matrix(hotband: Hotband, results: Path) -> None:
    out = results.parent / "imported"
    done = hotband("import", str(results), "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "9 records written to" in done.stdout
    assert (out / "driveB" / "128k-qd16" / "record.json").is_file()
    again = hotband("report", str(out), "-o", str(results.parent / "again.html"))
    assert again.stdout.splitlines()[0].startswith("9 fio results, 3 drives (folders), 3 tests each.")


def test_an_audit_takes_all_results_of_a_folder(hotband: Hotband, results: Path) -> None:
    done = hotband("audit", str(results))
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout.startswith("9 results: ")
    assert "! Skipped 2 files: 1 not a result (notes.txt), 1 damaged (driveC/cut.json)." in done.stdout


def test_folders_are_compared_test_by_test(hotband: Hotband, results: Path) -> None:
    (results / "driveC" / "alone.json").write_text(json.dumps(fio_result(50)))
    done = hotband("compare", str(results / "driveA"), str(results / "driveC"))
    assert done.returncode == 0, done.stderr
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert lines[0] == "driveC is slower than driveA in 3 of 3 tests."
    assert any(
        line.split() == ["4k-qd1", "8,000", "400", "-95", "%", "+1,900", "%", "▼", "slower"] for line in lines
    ), done.stdout
    assert "! 1 test of driveC not in every folder: alone." in lines


def test_folders_without_a_common_test_are_refused(hotband: Hotband, results: Path) -> None:
    other = results.parent / "other"
    other.mkdir()
    (other / "x.json").write_text(json.dumps(fio_result(50)))
    done = hotband("compare", str(results / "driveA"), str(other))
    assert done.returncode == 2
    assert "no test has the same name in all folders" in done.stderr


def test_files_of_one_load_in_both_folders_are_repeats(hotband: Hotband, tmp_path: Path) -> None:
    for folder, speed in (("a", 1000), ("b", 2000)):
        (tmp_path / folder).mkdir()
        for run in range(3):
            (tmp_path / folder / f"run{run}.json").write_text(json.dumps(fio_result(speed + run)))
    done = hotband("compare", str(tmp_path / "a"), str(tmp_path / "b"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("b is 99.9 % faster than a (2,001 against 1,001 IOPS; 95 % interval")


def test_expect_judges_every_result_of_a_folder(hotband: Hotband, results: Path) -> None:
    for drive in ("driveB", "driveC"):
        for path in (results / drive).glob("*.json"):
            path.unlink()
    done = hotband("expect", str(results), "--on", "7450-pro-3840", "--draws", "8", "--duration", "0.01 s", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [row["name"] for row in document["rows"]] == ["4k-qd1", "4k-qd16", "128k-qd16"]
    assert all(row["verdict"] for row in document["rows"])
    assert document["notes"][-1] == "Skipped 1 file: 1 not a result (notes.txt)."


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples of other tools are not here")
def test_real_results_of_every_tool_are_collected() -> None:
    found = walk(SAMPLES)
    tools = {one.record.record["source"]["tool"] for one in found.results if one.imported is not None}
    assert {"fio", "vdbench", "diskspd"} <= tools
    assert set(found.skipped) == {"not a result", "empty", "damaged"}
