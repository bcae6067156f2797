"""`hotband audit` and `hotband compare` as a user runs them: output, exit codes, mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

Hotband = Callable[..., "CompletedProcess[str]"]


def fio_document(timestamp: int) -> dict[str, Any]:
    """What fio prints of a second of random reads at depth 1, 1 ms each."""
    latency = {"min": 900_000, "max": 1_100_000, "mean": 1e6, "stddev": 0.0}
    shares = {"50.000000": 1_000_000, "99.000000": 1_050_000, "99.900000": 1_090_000}
    reads: dict[str, Any] = {
        "io_bytes": 999 * 4096,
        "io_kbytes": 3996,
        "bw": 3996,
        "iops": 999.0,
        "runtime": 1000,
        "total_ios": 999,
    }
    reads |= {"lat_ns": latency, "clat_ns": {**latency, "percentile": shares}}
    options = {
        "ioengine": "libaio",
        "filename": "/dev/x",
        "rw": "randread",
        "direct": "1",
        "iodepth": "1",
        "runtime": "1",
    }
    idle = {"io_bytes": 0, "io_kbytes": 0, "iops": 0.0, "runtime": 0, "total_ios": 0}
    job = {"jobname": "a", "groupid": 0, "error": 0, "job options": options, "read": reads, "write": idle}
    return {"fio version": "fio-3.33", "timestamp": timestamp, "jobs": [job]}


@pytest.fixture
def two_fio_files(tmp_path: Path) -> list[str]:
    """Two random runs of fio on one device with its default seed, the second after the first."""
    names = []
    for number in (1, 2):
        name = tmp_path / f"run-{number}.json"
        name.write_text(json.dumps(fio_document(1_600_000_000 + 60 * number)), encoding="utf-8")
        names.append(str(name))
    return names


def test_findings_as_data(hotband: Hotband, two_fio_files: list[str]) -> None:
    done = hotband("audit", *two_fio_files, "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert (data["schema"], data["schema_version"]) == ("hotband-audit", 1)
    assert data["subjects"] == ["run-1.json", "run-2.json"]
    assert data["counts"] == {"severe": 0, "warning": 3, "note": 0}
    assert {(one["rule"], one["group"]) for one in data["findings"]} == {
        ("replayed-offsets", 4),
        ("percentile-support", 5),
    }
    assert all(one["advice"] and one["subject"] and one["numbers"] for one in data["findings"])


def test_severe_findings_make_exit_code_1(hotband: Hotband, two_fio_files: list[str]) -> None:
    done = hotband("audit", *two_fio_files, "--media", "7200rpm")
    assert done.returncode == 1
    assert "\nSEVERE   run-1.json: 99.9 % of the random reads completed within 1.09 ms" in done.stdout
    assert "Traceback" not in done.stderr


def test_a_study_by_name_and_its_file_say_the_same(hotband: Hotband) -> None:
    from hotband.questions.study.file import load

    by_name = hotband("audit", "--study", "content-hdd", "--json")
    by_file = hotband("audit", str(load("content-hdd").folder / "published.csv"), "--json")
    assert by_name.returncode == by_file.returncode == 1
    assert by_name.stdout == by_file.stdout
    assert {one["rule"] for one in json.loads(by_name.stdout)["findings"]} == {
        "latency-unit",
        "idle-concurrency",
        "bandwidth-unit",
    }


def test_a_run_its_audit_its_report_and_a_comparison(hotband: Hotband, tmp_path: Path) -> None:
    for name, drive in (("a", "ent-10k"), ("b", "exos-15e900-512n")):
        done = hotband("run", "fio-randread", "--on", drive, "--set", "qd=8", "--duration", "60 s", "--out", name)
        assert done.returncode == 0, done.stderr
    done = hotband("audit", "a")
    assert (done.returncode, done.stdout.strip()) == (
        0,
        "1 result: no finding.\n\nNext: hotband report a --output report.html",
    )
    done = hotband("compare", "a", "b")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("b is ")
    assert "faster than a (" in done.stdout.splitlines()[0]
    [data] = json.loads(hotband("compare", "a", "b", "--json").stdout)["comparisons"]
    assert data["verdict"] == "faster"
    assert [row["metric"] for row in data["differences"]] == ["IOPS", "p50", "p90", "p99", "p99.9"]
    done = hotband("report", "a", "b", "--audit", "--cache", "100 GB", "-o", "r.html")
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert '<section id="audit">' in html
    assert "found nothing" in html


def test_findings_are_a_section_of_the_report(hotband: Hotband, two_fio_files: list[str], tmp_path: Path) -> None:
    done = hotband("import", "fio", two_fio_files[0], "--out", "one")
    assert done.returncode == 0, done.stderr
    assert hotband("import", "fio", two_fio_files[1], "--out", "two").returncode == 0
    records = [str(path.parent) for path in tmp_path.glob("*/*/record.json")]
    assert len(records) == 2
    by_folder = hotband("audit", ".", "--json")
    assert json.loads(by_folder.stdout)["subjects"] == ["run-1.json", "run-2.json"]
    done = hotband("report", *records, "--audit", "--media", "hdd", "-o", "r.html")
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    section = html[html.index('<section id="audit">') : html.index('<section id="reproduction"')]
    for words in ("Severe", "cache-served", "replayed-offsets", "cache_served_pct = 99", "run-1.json, run-2.json"):
        assert words in section
    assert hotband("report", *records, "--media", "hdd", "-o", "r.html").returncode == 2
    assert '<section id="audit">' not in _plain_report(hotband, records, tmp_path)


def _plain_report(hotband: Hotband, records: list[str], folder: Path) -> str:
    assert hotband("report", *records, "-o", "plain.html").returncode == 0
    return (folder / "plain.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "expected records, result files or tables"),
        (["missing.json"], "missing.json: cannot be read"),
        (["--study", "nosuch"], "nosuch"),
        (["empty"], "accepted: results of"),
        (["text"], "accepted: results of"),
        (["record.json"], "schema"),
        (["text", "--media", "tape"], "--media"),
        (["text", "--on", "nosuch"], "nosuch"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    hotband: Hotband, tmp_path: Path, arguments: list[str], words: str
) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_bytes(b"hello\xff\x00")
    (tmp_path / "record.json").write_text('{"schema": "other"}', encoding="utf-8")
    done = hotband("audit", *arguments)
    assert done.returncode == 2, done.stdout
    assert done.stderr.startswith("hotband: error: ")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
