"""Do the commands read, write and draw what they say, and end as they should?"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import fio_documents as fio_build
import pytest
import result_documents as build

from hotband.base.errors import UserError
from hotband.data.record.load import load_record
from hotband.views.draw.charts import MOST_LINES, natural_order
from hotband.views.report.latency import labelled, latency_chart, load_any

Hotband = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    counts = {1000 * n: 50 for n in range(1, 101)}
    (folder / "a-16.json").write_bytes(fio_build.text(fio_build.job(read=fio_build.reads(counts, ios=5000))))
    (folder / "a-2.json").write_bytes(fio_build.text(fio_build.job(read=fio_build.reads(None, ios=50_000))))
    (folder / "flatfile.html").write_text(build.flatfile(*build.run_rows()))
    (folder / "x.hlog").write_bytes(build.hlog(f"0.0,1.0,0.1,{build.histogram([100] * 100 + [900] * 20)}"))
    return folder


def test_every_command_writes_records(results: Path, tmp_path: Path, hotband: Hotband) -> None:
    pairs = [("fio", "a-2.json"), ("vdbench", "flatfile.html"), ("hdr", "x.hlog"), ("auto", "x.hlog")]
    for number, (tool, name) in enumerate(pairs):
        out = tmp_path / f"out{number}"
        ended = hotband("import", tool, str(results / name), "--out", str(out), "--json")
        assert ended.returncode == 0, ended.stderr
        [record] = json.loads(ended.stdout)
        [file] = out.glob("*/record.json")
        assert load_record(file).record == record


def test_a_mistake_is_one_line_and_code_2(results: Path, hotband: Hotband) -> None:
    for arguments in (
        ("import", "diskspd", str(results / "x.hlog")),
        ("import", "hdr", str(results / "x.hlog"), "--unit", "h"),
        ("import", "auto", str(results / "missing")),
        ("report", "--latency", str(results / "x.hlog"), "--out", "chart.gif"),
        ("report", "--latency", str(results / "x.hlog"), "--out", "chart.png", "--op", "trim"),
        ("report", "--latency", str(results / "flatfile.html"), "--out", "chart.png"),
    ):
        ended = hotband(*arguments)
        assert ended.returncode == 2, arguments
        assert len(ended.stderr.splitlines()) == 1
        assert ended.stderr.startswith("hotband: error: ")


@pytest.mark.parametrize(("name", "begin"), [("c.png", b"\x89PNG"), ("c.svg", b"<svg"), ("c.html", b"<!DOCTYPE html")])
def test_a_chart_of_records_and_results(
    results: Path, tmp_path: Path, hotband: Hotband, name: str, begin: bytes
) -> None:
    ended = hotband("import", "fio", str(results / "a-16.json"), "--out", str(tmp_path / "out"))
    assert ended.returncode == 0, ended.stderr
    [record] = (tmp_path / "out").glob("*/record.json")
    out = tmp_path / "charts" / name
    ended = hotband("report", "--latency", str(record.parent), str(results / "a-2.json"), "--out", str(out))
    assert ended.returncode == 0, ended.stderr
    data = out.read_bytes()
    assert data.lstrip()[: len(begin)].lower() == begin.lower()
    if name.endswith(".html"):
        assert b'src="http' not in data


def test_runs_of_one_name_are_told_by_their_files(results: Path) -> None:
    records = [one for name in ("a-16.json", "a-2.json") for one in load_any(results / name)]
    assert list(labelled(records)) == ["a-16", "a-2"]


def test_the_legend_is_in_natural_order(results: Path) -> None:
    assert natural_order(["qd 16", "qd 2", "qd 1", "qd 2"]) == ["qd 1", "qd 2", "qd 16"]
    records = [one for name in ("a-16.json", "a-2.json") for one in load_any(results / name)]
    color = latency_chart(records, "t", None).to_dict()["layer"][0]["encoding"]["color"]
    assert color["sort"] == ["a-2", "a-16"]


def test_too_many_lines_are_refused(results: Path) -> None:
    records = load_any(results / "a-16.json") * (MOST_LINES + 1)
    with pytest.raises(UserError, match=f"up to {MOST_LINES}"):
        latency_chart(records, "t", None)


def test_a_direction_alone_is_drawn(results: Path) -> None:
    with pytest.raises(UserError, match="no latencies of writes"):
        latency_chart(load_any(results / "a-16.json"), "t", "write")
    assert latency_chart(load_any(results / "a-16.json"), "t", "read").to_dict()["layer"]
