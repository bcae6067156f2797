"""Are the folders read that vdbench 5.04.06 and 5.04.07 leave? Expectations are by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import vdbench_folder as build
from vdbench_folder import Definition

from hotband.base.errors import UserError
from hotband.data.importers import vdbench
from hotband.data.record.imported import Imported
from hotband.data.results.walk import walk
from hotband.inference.audit.trouble import troubles

Hotband = Callable[..., "CompletedProcess[str]"]
RATES = (500.0, 1000.0, 1000.0, 1000.0)


def only(folder: Path, *runs: Definition) -> Imported:
    [result] = vdbench.read([build.write(folder, *runs)])
    return result


@pytest.mark.parametrize("title_line", [True, False])
def test_a_folder_of_a_run_is_one_result(tmp_path: Path, title_line: bool) -> None:
    [result] = vdbench.read([build.write(tmp_path / "out", Definition("rd1", RATES), title_line=title_line)])
    summary = result.record["summary"]
    assert (summary["iops"], summary["bandwidth_bytes_per_s"]) == (1000.0, 8_192_000.0)
    assert (summary["read"]["latency_p50_ns"], summary["latency_p999_ns"]) == (400_000, 400_000)
    assert summary["read"]["latency_max_ns"] == 9_500_000
    assert (result.record["name"], result.record["source"]["target"]) == ("rd1", "/dev/sdb")


def test_failed_ios_of_the_error_log_are_trouble(tmp_path: Path) -> None:
    folder = build.write(tmp_path / "out", Definition("rd1", RATES))
    (folder / "errorlog.html").write_text("<pre>\nVdbench error log\n")
    [result] = vdbench.read([folder])
    assert troubles(result.record) == []
    line = "12:07:18.012 hd1-0: op: write lun: /dev/sdb lba: 2097152 0x00200000 xfer: 65536 errno: 5: I/O error\n"
    (folder / "errorlog.html").write_text("<pre>\n" + 3 * line)
    [result] = vdbench.read([folder])
    [trouble] = troubles(result.record)
    assert trouble.startswith("vdbench reports trouble: errorlog.html lists 3 failed I/Os, such as: 12:07:18")


@pytest.mark.parametrize("file", ["flatfile", "summary", "totals", "histogram"])
def test_every_report_is_read_alone(tmp_path: Path, file: str) -> None:
    folder = build.write(tmp_path / "out", Definition("rd1", RATES))
    [result] = vdbench.read([folder / f"{file}.html"])
    expected = 25_000.0 if file == "histogram" else 1000.0
    assert result.record["summary"]["iops"] == pytest.approx(expected)


@pytest.mark.parametrize(("read_pct", "direction"), [(0.0, "write"), (100.0, "read")])
def test_a_histogram_of_one_direction_is_that_of_all(tmp_path: Path, read_pct: float, direction: str) -> None:
    summary = only(tmp_path / "out", Definition("rd1", RATES, read_pct=read_pct)).record["summary"]
    assert summary["latency_p50_ns"] == summary[direction]["latency_p50_ns"] == 400_000


def test_side_histograms_alone_are_read_when_named(tmp_path: Path) -> None:
    folder = build.write(tmp_path / "out", Definition("rd1", RATES))
    [result] = vdbench.read([folder / "sd1.histogram.html"])
    assert result.record["summary"]["count"] == 100_000


def test_collected_files_with_a_full_stop_are_whole(tmp_path: Path) -> None:
    folder = build.write(tmp_path / "out", Definition("rd1", RATES))
    for name in ("flatfile.html", "histogram.html"):
        (tmp_path / f"monday.{name}").write_text((folder / name).read_text())
    [result] = vdbench.read([tmp_path])
    assert result.record["summary"]["latency_p50_ns"] == 400_000


def test_messages_between_the_rows_are_no_rows(tmp_path: Path) -> None:
    messages = {
        1: "All sequential workloads on all slaves are done.",
        2: "Reached maxdata=300g. rd=rd1 shutting down after next interval.",
        3: "14 slaves did not respond",
    }
    folder = build.write(tmp_path / "out", Definition("rd1", RATES, messages=messages))
    (folder / "flatfile.html").unlink()
    [result] = vdbench.read([folder])
    assert result.record["summary"]["count"] == 3000
    assert result.record["notes"][-1].startswith("percentiles are upper edges")


def test_an_average_fills_its_column(tmp_path: Path) -> None:
    folder = build.write(
        tmp_path / "out", Definition("rd1", [100.0] * 30 + [1000.0] * 120, warm=30, elapsed="120 warmup=30")
    )
    assert "avg_31-150 " in (folder / "summary.html").read_text()
    (folder / "flatfile.html").unlink()
    [result] = vdbench.read([folder])
    assert (result.record["summary"]["iops"], result.record["duration_ns"]) == (1000.0, 120 * 10**9)


def test_loops_and_curves_are_results_of_their_own(tmp_path: Path) -> None:
    runs = [Definition("rd1", RATES, f"threads={n}", threads=n) for n in (1, 2, 4)]
    runs += [Definition(f"rd2{end}", RATES) for end in ("", "_(10%)", "_(50%)")]
    folder = build.write(tmp_path / "out", *runs)
    names = ["rd1 threads=1", "rd1 threads=2", "rd1 threads=4", "rd2", "rd2_(10%)", "rd2_(50%)"]
    assert [result.record["name"] for result in vdbench.read([folder])] == names
    # A flatfile has the loops in its columns.
    results = vdbench.read([folder / "flatfile.html"])
    assert [result.record["name"] for result in results] == names
    assert [result.record["source"]["asked"]["concurrency"] for result in results][:3] == [1, 2, 4]
    assert walk(folder).tests == ["rd1 threads=1", "rd1 threads=2", "rd1 threads=4", "rd2", "rd2_(10%)", "rd2_(50%)"]
    assert walk(folder).skipped_words == ""


def test_intervals_are_as_long_as_the_clock_says(tmp_path: Path) -> None:
    """Warm-up is no part of elapsed=, and `maxdata=` ends a run before it."""
    warm = only(tmp_path / "a", Definition("rd1", [100.0] * 72, warm=12, step_s=5, elapsed="300 warmup=60"))
    ended = only(tmp_path / "b", Definition("rd1", RATES, elapsed="600"))
    assert (warm.record["duration_ns"], ended.record["duration_ns"]) == (300 * 10**9, 3 * 10**9)
    [totals] = vdbench.read([tmp_path / "b" / "totals.html"])
    assert totals.record["duration_ns"] == 3 * 10**9


def test_a_run_of_one_interval_has_an_average_of_none(tmp_path: Path) -> None:
    result = only(tmp_path / "out", Definition("rd1", [320.0]))
    assert (result.record["summary"]["iops"], result.record["duration_ns"]) == (320.0, 10**9)


def test_seconds_without_an_io_are_named(tmp_path: Path) -> None:
    result = only(tmp_path / "out", Definition("rd1", [500.0, 900.0, 0.0, 0.0, 900.0, 0.0, 900.0]))
    assert "no I/O completed in 3 intervals: the target hung from 2 to 4 s, 5 to 6 s" in result.record["notes"]


def test_a_list_of_sizes_is_no_size(tmp_path: Path) -> None:
    mixed = only(tmp_path / "out", Definition("rd1", RATES, size=512, mean_size=7750))
    assert mixed.record["source"]["asked"]["block_bytes"] is None
    assert mixed.record["summary"]["bandwidth_bytes_per_s"] == pytest.approx(7_750_000, rel=1e-3)


def test_reads_and_writes_of_a_file_system_are_a_result(tmp_path: Path) -> None:
    runs = [Definition("format_for_rd1", [50.0] * 3, read_pct=0, of_files=True)]
    runs.append(Definition("rd1", RATES, read_pct=60, of_files=True, opens=20.0))
    folder = build.write(tmp_path / "out", *runs)
    by_table, by_summary = vdbench.read([folder]), vdbench.read([folder / "summary.html"])
    for [result] in (by_table, by_summary):
        summary = result.record["summary"]
        assert (summary["read"]["iops"], summary["write"]["iops"]) == (600.0, 400.0)
        assert summary["read"]["bandwidth_bytes_per_s"] == pytest.approx(600 * 8192, rel=0.01)
        assert summary["write"]["latency_mean_ns"] == 500_000
        assert summary["latency_p50_ns"] is None
        notes = result.record["notes"]
        assert "not a result: format_for_rd1, which prepared the target" in notes
        words = (
            "a file system workload: the figures are those of its reads and writes; in no figure: open 20/s, close 20/s"
        )
        assert words in notes
    assert by_table[0].record["source"]["target"] == "/mnt/x"


def test_a_histogram_of_reads_and_writes_together_has_their_percentiles(tmp_path: Path) -> None:
    summary = only(tmp_path / "out", Definition("rd1", RATES, of_files=True)).record["summary"]
    assert (summary["latency_p50_ns"], summary["read"]["latency_p50_ns"]) == (400_000, None)


def test_a_file_system_without_reads_and_writes_is_refused(tmp_path: Path) -> None:
    folder = build.write(tmp_path / "out", Definition("rd1", [0.0] * 3, of_files=True, opens=50.0))
    with pytest.raises(
        UserError, match="rd1: a file system workload that neither reads nor writes; accepted: runs with"
    ):
        vdbench.read([folder])


def test_decimal_commas_of_other_countries_are_points(tmp_path: Path) -> None:
    folder = build.write(tmp_path / "out", Definition("rd1", RATES))
    for name in ("flatfile.html", "summary.html", "histogram.html"):
        text = (folder / name).read_text()
        swap = str.maketrans(",.", ".,") if name == "histogram.html" else str.maketrans(".", ",")
        lines = text.splitlines()
        rows = [line.translate(swap) if line[:1].isdigit() or " <  " in line else line for line in lines]
        # Times of day have a point everywhere.
        rows = [line.replace(",", ".", 1) if line[2:3] == ":" else line for line in rows]
        (folder / name).write_text("\n".join(rows) + "\n")
    results = vdbench.read([folder])
    assert results[0].record["summary"]["iops"] == 1000.0
    assert results[0].record["summary"]["read"]["latency_p50_ns"] == 400_000


def test_a_summary_that_cannot_be_read_leaves_the_flatfile(tmp_path: Path) -> None:
    folder = build.write(tmp_path / "out", Definition("rd1", RATES))
    text = (folder / "summary.html").read_text()
    (folder / "summary.html").write_text(
        text.replace(f"{build.clock(1)}         1 ", f"{build.clock(1)}         1 7.0 ")
    )
    [result] = vdbench.read([folder])
    assert result.record["summary"]["iops"] == 1000.0
    with pytest.raises(UserError, match="columns under a header of 15; accepted: a whole summary"):
        vdbench.read([folder / "summary.html"])


def test_two_folders_are_compared(hotband: Hotband, tmp_path: Path) -> None:
    a = build.write(tmp_path / "a", Definition("rd1", RATES))
    b = build.write(tmp_path / "b", Definition("rd1", [2 * rate for rate in RATES]))
    done = hotband("compare", str(a), str(b))
    assert done.returncode in (0, 1), done.stderr
    assert "1,000 against 2,000 IOPS" in done.stdout or "2,000 against 1,000 IOPS" in done.stdout


def test_run_definitions_are_results_of_one_series(hotband: Hotband, tmp_path: Path) -> None:
    for name, factor in (("a", 1), ("b", 2)):
        runs = [Definition(f"rd{n}", [factor * n * rate for rate in RATES], size=4096 * n) for n in (1, 2, 3)]
        build.write(tmp_path / "all" / name, *runs)
    done = hotband("compare", str(tmp_path / "all" / "a"), str(tmp_path / "all" / "b"))
    assert done.returncode in (0, 1), done.stderr
    assert all(f"rd{n}" in done.stdout for n in (1, 2, 3))
    done = hotband("report", str(tmp_path / "all"), "-o", str(tmp_path / "page.html"))
    assert done.stdout.splitlines()[0].startswith("6 vdbench results, 2 drives (folders), 3 tests each.")


def test_a_folder_of_one_run_and_of_several_is_reported(hotband: Hotband, tmp_path: Path) -> None:
    build.write(tmp_path / "one", Definition("rd1", RATES))
    build.write(tmp_path / "two", Definition("rd1", RATES), Definition("rd2", RATES))
    for name in ("one", "two"):
        page = tmp_path / f"{name}.html"
        done = hotband("report", str(tmp_path / name), "-o", str(page))
        assert done.returncode == 0, done.stderr
        assert "rd1" in page.read_text()
    assert done.stdout.splitlines()[0].startswith("2 vdbench results")


@pytest.mark.parametrize("cut", range(2, 700, 97))
def test_a_folder_of_a_run_that_was_stopped_is_read(tmp_path: Path, cut: int) -> None:
    """Each file ends within a line, as when the disk is full or the host was switched off."""
    folder = build.write(tmp_path / "out", Definition("rd1", [1000.0] * 5))
    for name in ("flatfile.html", "summary.html", "totals.html", "histogram.html"):
        text = (folder / name).read_text()
        (folder / name).write_text(text[: len(text) - cut])
    [result] = vdbench.read([folder])
    assert result.record["summary"]["iops"] == pytest.approx(1000)
    assert result.record["summary"]["latency_p50_ns"] in (400_000, None)


def test_a_histogram_that_is_cut_short_has_no_percentiles(tmp_path: Path) -> None:
    folder = build.write(tmp_path / "out", Definition("rd1", [1000.0] * 5, read_pct=100))
    text = (folder / "histogram.html").read_text()
    (folder / "histogram.html").write_text(text[: text.index(" 0.200 <")])
    [result] = vdbench.read([folder])
    assert result.record["summary"]["latency_p50_ns"] is None
    assert any("histogram of rd1 is cut short" in note for note in result.record["notes"])


def test_a_folder_with_an_empty_histogram_is_read(tmp_path: Path) -> None:
    folder = build.write(tmp_path / "out", Definition("rd1", RATES))
    (folder / "histogram.html").write_text("")
    [result] = vdbench.read([folder])
    assert any("histogram.html: not a result of vdbench" in note for note in result.record["notes"])


def test_a_line_cut_short_within_a_file_is_refused(tmp_path: Path) -> None:
    folder = build.write(tmp_path / "out", Definition("rd1", RATES))
    lines = (folder / "flatfile.html").read_text().splitlines()
    lines[7] = lines[7][:80]
    (folder / "flatfile.html").write_text("\n".join(lines))
    with pytest.raises(UserError, match="columns under a header of"):
        vdbench.read([folder / "flatfile.html"])


def test_megabytes_of_a_flatfile_are_those_of_its_sizes(tmp_path: Path) -> None:
    """Report.setDecimal in vdbench's source: the flatfile calls both units MB."""
    folder = build.write(tmp_path / "a", Definition("r", [100, 1000, 1000]))
    rows = (folder / "flatfile.html").read_text().replace("7.8125", "8.1920")
    (tmp_path / "flatfile.html").write_text(rows)
    (result,) = vdbench.read([tmp_path / "flatfile.html"])
    assert result.record["summary"]["bandwidth_bytes_per_s"] == pytest.approx(1000 * 8192, rel=1e-4)


def test_further_columns_of_a_summary_have_no_average(tmp_path: Path) -> None:
    """AuxReport in vdbench's source adds columns after the others, in the rows of intervals."""
    folder = build.write(tmp_path / "a", Definition("r", [100, 1000, 1000]))
    lines = []
    for line in (folder / "summary.html").read_text().split("\n"):
        head = {"MB/sec": "  paging", "1024**2": "  in"}
        further = next((text for name, text in head.items() if name in line), "")
        lines.append(line + (further or ("  12.5" if line[:3] == "10:" and "avg" not in line else "")))
    (tmp_path / "summary.html").write_text("\n".join(lines))
    (result,) = vdbench.read([tmp_path / "summary.html"])
    assert result.record["summary"]["iops"] == 1000


def test_an_audit_takes_what_else_is_in_a_folder_of_vdbench(hotband: Hotband, tmp_path: Path) -> None:
    folder = build.write(tmp_path / "out", Definition("rd1", RATES))
    (folder / "cut.json").write_text('{"fio version" : "fio-3.33", "jobs": [')
    done = hotband("audit", str(folder))
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout.startswith("1 result: ")
    assert "! Skipped 1 file: 1 damaged (cut.json)." in done.stdout
