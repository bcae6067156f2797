"""Is a figure found that others of the tool's own output contradict, and nothing in what is right?"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hotband.data.importers import load
from hotband.inference.audit import findings, littles_law, load_results, tools
from hotband.inference.audit.contradictions import check
from hotband.inference.audit.rules import severe_of

Change = Callable[[Any, Any], object]
N = 60_000
RIGHT: dict[str, Any] = {
    "jobname": "reads",
    "error": 0,
    "job options": {"rw": "randread", "bs": "4k", "iodepth": "1", "direct": "1", "ioengine": "libaio"},
    "read": {
        "io_bytes": 4096 * N,
        "io_kbytes": 4 * N,
        "bw_bytes": 4096 * N // 60,
        "bw": 4 * N // 60,
        "iops": N / 60,
        "runtime": 60_000,
        "total_ios": N,
        "bw_min": 3_800,
        "bw_max": 4_200,
        "bw_mean": 4_000.0,
        "bw_samples": 119,
        "slat_ns": {"min": 900, "max": 60_000, "mean": 1_800.0, "stddev": 500.0, "N": N},
        "clat_ns": {"min": 300_000, "max": 1_900_000, "mean": 990_000.0, "stddev": 150_000.0, "N": N}
        | {"percentile": {"50.000000": 970_000, "99.000000": 1_400_000, "99.900000": 1_600_000}},
        "lat_ns": {"min": 301_000, "max": 1_902_000, "mean": 991_800.0, "stddev": 150_000.0, "N": N},
    },
    "latency_us": {"500": 5.0, "750": 10.0, "1000": 45.0},
    "latency_ms": {"2": 40.0},
}
WRONG: dict[str, Change] = {
    "reads reads: bw": lambda job, read: read.update(bw=4),
    "reads reads: io_kbytes": lambda job, read: read.update(io_kbytes=240),
    "reads reads: bw_mean": lambda job, read: read.update(bw_max=400),
    "reads reads: slat samples": lambda job, read: read["clat_ns"].update(N=N // 2),
    "reads reads: latency samples": lambda job, read: [
        read[f"{q}_ns"].update(N=N // 2) for q in ("slat", "clat", "lat")
    ],
    "reads reads: mean slat": lambda job, read: read["slat_ns"].update(mean=90_000.0),
    "reads reads: mean lat": lambda job, read: read["lat_ns"].update(mean=1_500_000.0),
    "reads reads: max lat": lambda job, read: read["lat_ns"].update(max=1_500_000),
    "reads reads: min lat": lambda job, read: read["lat_ns"].update(min=300_500),
    "reads reads: p50 latency": lambda job, read: job.update(latency_us={"1000": 45.0}, latency_ms={"2": 55.0}),
    "reads reads: p99 latency": lambda job, read: read["clat_ns"]["percentile"].update({"99.000000": 980_000}),
    "reads reads: stddev of clat": lambda job, read: read["clat_ns"].update(stddev=1_400_000.0),
    "reads reads: stddev of lat": lambda job, read: read["lat_ns"].update(stddev=5_700_000.0),
    "reads: sum of its latency bins, percent": lambda job, read: job["latency_us"].update({"1000": 135.0}),
    "reads reads: mean latency": lambda job, read: job.update(latency_us={}, latency_ms={"4": 100.0}),
}
"""The figure that a change makes wrong, or the one that the changed figure makes so."""


def contradicted(path: Path) -> list[str]:
    """The figures of a result that others contradict."""
    rows = [finding.table for finding in check(load_results([path])) if finding.table is not None]
    return [str(row[0]) for table in rows for row in table.rows]


def of_fio(folder: Path, change: Change | None = None) -> list[str]:
    """The contradictions of a result of fio with one change."""
    job = json.loads(json.dumps(RIGHT))
    if change is not None:
        change(job, job["read"])
    file = folder / "result.json"
    file.write_text(json.dumps({"fio version": "fio-3.33", "jobs": [job]}))
    return contradicted(file)


def test_a_right_result_of_fio_contradicts_nothing(tmp_path: Path) -> None:
    assert of_fio(tmp_path) == []


@pytest.mark.parametrize("figure", WRONG)
def test_a_figure_of_fio_that_follows_from_others(figure: str, tmp_path: Path) -> None:
    assert figure in of_fio(tmp_path, WRONG[figure])


def of_normal(folder: Path, *latencies: str) -> list[str]:
    """The contradictions of fio's normal output with these lines of slat, clat and lat."""
    lines = ["q: (groupid=0, jobs=1): err= 0: pid=7: Sun Nov 29 00:57:35 2026"]
    lines += ["  read: IOPS=100, BW=400KiB/s (410kB/s)(3996KiB/9990msec)", *latencies]
    (folder / "fio.txt").write_text("\n".join([*lines, "     issued rwts: total=999,0,0,0 short=0,0,0,0", ""]))
    return contradicted(folder / "fio.txt")


USEC = ("slat (usec): min=11, max=125, avg=20.37, stdev=16.58", "clat (usec): min=42, max=4319, avg=177.77, stdev=9.56")
MSEC = (
    "slat (usec): min=1988, max=8200, avg=2207.73, stdev=521.99",
    "clat (msec): min=5, max=611, avg=240.29, stdev=9",
)
SHORTENED = (
    "slat (nsec): min=1864, max=11140k, avg=3380.87, stdev=9.5",
    "clat (usec): min=42, max=32574, avg=177, stdev=9",
)


@pytest.mark.parametrize(
    ("parts", "total", "found"),
    [
        (USEC, "lat (usec): min=54, max=4445, avg=198.13, stdev=9.71", []),
        (USEC, "lat (usec): min=49, max=4445, avg=198.13, stdev=9.71", ["q reads: min lat"]),
        (USEC, "lat (usec): min=54, max=4449, avg=198.13, stdev=9.71", ["q reads: max lat"]),
        (MSEC, "lat (msec): min=6, max=619, avg=242.50, stdev=9.13", []),
        (SHORTENED, "lat (usec): min=43, max=43716, avg=180.38, stdev=9", []),
        (SHORTENED, "lat (usec): min=43, max=43720, avg=180.38, stdev=9", ["q reads: max lat"]),
        (MSEC, "lat (msec): min=4, max=619, avg=242.50, stdev=9.13", ["q reads: min lat"]),
        (MSEC, "lat (msec): min=6, max=623, avg=242.50, stdev=9.13", ["q reads: max lat"]),
    ],
)
def test_normal_output_cuts_ends_to_its_units(
    parts: tuple[str, str], total: str, found: list[str], tmp_path: Path
) -> None:
    assert of_normal(tmp_path, *parts, total) == found


TEXT = """Input parameters:

        timespan:   1
        -------------
        duration: 30s
        path: 'a.dat'
                performing mix test (read/write ratio: 70/30)
                block size: 4096
                using random I/O (alignment: 4096)
                number of outstanding I/O operations: 1
                threads per file: 2

Results for timespan 1:
*******************************************************************************

actual test time:       30.00s
thread count:           2

Total IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
------------------------------------------------------------------------------------------------
     0 |        61440000 |        15000 |       1.95 |     500.00 |    1.700 |     0.900 | a.dat (1GiB)
     1 |        61440000 |        15000 |       1.95 |     500.00 |    1.700 |     0.900 | a.dat (1GiB)
------------------------------------------------------------------------------------------------
total:         122880000 |        30000 |       3.91 |    1000.00 |    1.700 |     0.900

Read IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
------------------------------------------------------------------------------------------------
     0 |        43008000 |        10500 |       1.37 |     350.00 |    1.400 |     0.500 | a.dat (1GiB)
     1 |        43008000 |        10500 |       1.37 |     350.00 |    1.400 |     0.500 | a.dat (1GiB)
------------------------------------------------------------------------------------------------
total:          86016000 |        21000 |       2.73 |     700.00 |    1.400 |     0.500

Write IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
------------------------------------------------------------------------------------------------
     0 |        18432000 |         4500 |       0.59 |     150.00 |    2.400 |     0.700 | a.dat (1GiB)
     1 |        18432000 |         4500 |       0.59 |     150.00 |    2.400 |     0.700 | a.dat (1GiB)
------------------------------------------------------------------------------------------------
total:          36864000 |         9000 |       1.17 |     300.00 |    2.400 |     0.700

total:
  %-ile |  Read (ms) | Write (ms) | Total (ms)
----------------------------------------------
    min |      0.300 |      0.900 |      0.300
   50th |      1.300 |      2.300 |      1.500
    max |      5.000 |      6.000 |      6.000
"""
XML = """<Results><System><ComputerName>m</ComputerName></System><TimeSpan><TestTimeSeconds>3.00</TestTimeSeconds>
<Latency><AverageReadMilliseconds>1.400</AverageReadMilliseconds><ReadLatencyStdev>0.500</ReadLatencyStdev>
<AverageTotalMilliseconds>1.400</AverageTotalMilliseconds><LatencyStdev>0.500</LatencyStdev>
<Bucket><Percentile>0</Percentile><ReadMilliseconds>0.3</ReadMilliseconds><TotalMilliseconds>0.3</TotalMilliseconds>
</Bucket><Bucket><Percentile>100</Percentile><ReadMilliseconds>5.0</ReadMilliseconds>
<TotalMilliseconds>5.0</TotalMilliseconds></Bucket></Latency><Iops>
<Bucket SampleMillisecond="1000" Read="2000" Write="0" Total="2000"/>
<Bucket SampleMillisecond="2000" Read="2000" Write="0" Total="2000"/>
<Bucket SampleMillisecond="3000" Read="2000" Write="0" Total="2000"/></Iops>
<Thread><Id>0</Id><Target><Path>a.dat</Path><BytesCount>24576000</BytesCount><IOCount>6000</IOCount>
<ReadBytes>24576000</ReadBytes><ReadCount>6000</ReadCount><WriteBytes>0</WriteBytes><WriteCount>0</WriteCount>
<AverageReadLatencyMilliseconds>1.400</AverageReadLatencyMilliseconds>
<AverageLatencyMilliseconds>1.400</AverageLatencyMilliseconds></Target></Thread></TimeSpan></Results>
"""


def of_diskspd(folder: Path, text: str, *change: str) -> list[str]:
    """The contradictions of an output of DiskSpd in which one text is replaced."""
    assert not change or text.count(change[0]) == 1
    file = folder / "result.txt"
    file.write_text(text.replace(*change) if change else text)
    return contradicted(file)


@pytest.mark.parametrize("text", [TEXT, XML])
def test_a_right_output_of_diskspd_contradicts_nothing(text: str, tmp_path: Path) -> None:
    assert of_diskspd(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "right", "wrong", "figure"),
    [
        (TEXT, "   1000.00 |", "   1400.00 |", "Total IO, total: I/O per s"),
        (TEXT, "3.91 |", "4.10 |", "Total IO, total: MiB/s"),
        (TEXT, "30000 |", "36000 |", "Total IO, total: I/Os"),
        (TEXT, "total:         122880000", "total:         128880000", "Total IO, total: bytes"),
        (TEXT, "1000.00 |    1.700", "1000.00 |  1700.000", "Total IO, total: AvgLat in ms"),
        (TEXT, "300.00 |    2.400 |     0.700", "300.00 |    2.400 |     5.700", "Write IO, total: deviation in ms"),
        (XML, "<ReadCount>6000", "<ReadCount>4000", "ReadCount"),
        (XML, "<IOCount>6000", "<IOCount>4000", "a.dat: I/Os"),
        (XML, "<BytesCount>24576000", "<BytesCount>14576000", "a.dat: bytes"),
        (XML, "<AverageLatencyMilliseconds>1.4", "<AverageLatencyMilliseconds>2.4", "a.dat: AvgLat in ms"),
        (XML, "<AverageTotalMilliseconds>1.4", "<AverageTotalMilliseconds>2.4", "Total: AvgLat in ms"),
        (XML, "<ReadLatencyStdev>0.5", "<ReadLatencyStdev>9.5", "Read: deviation in ms"),
        (XML, "<TestTimeSeconds>3.00", "<TestTimeSeconds>0.50", "TestTimeSeconds"),
    ],
)
def test_a_figure_of_diskspd_that_follows_from_others(
    text: str, right: str, wrong: str, figure: str, tmp_path: Path
) -> None:
    assert figure in of_diskspd(tmp_path, text, right, wrong)


@pytest.mark.parametrize("word", ["nan", "inf"])
def test_a_figure_of_diskspd_without_a_number_contradicts_nothing(word: str, tmp_path: Path) -> None:
    """A division by no I/Os is printed so."""
    right = "300.00 |    2.400 |     0.700"
    assert of_diskspd(tmp_path, TEXT, right, f"300.00 | {word:>8} | {word:>9}") == []
    assert of_diskspd(tmp_path, XML, "<AverageReadMilliseconds>1.400", f"<AverageReadMilliseconds>{word}") == []


def of_vdbench(
    folder: Path, changed: str = "", right: str = "", wrong: str = "", factors: Sequence[float] = (1.0,)
) -> list[str]:
    """The contradictions of an output folder of vdbench in which one average of a file is changed; its run
    definitions have one name, and their rates differ by `factors`."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "import"))
    import vdbench_folder

    rates = [100.0, 990.0, 1000.0, 1010.0]
    runs = [vdbench_folder.Definition("rd1", [factor * rate for rate in rates], read_pct=50.0) for factor in factors]
    written = vdbench_folder.write(folder / "out", *runs)
    if changed:
        file = written / changed
        text, times = re.subn(rf"(avg_2-4.*?){right}", rf"\g<1>{wrong}", file.read_text())
        assert times == 1
        file.write_text(text)
    return contradicted(written)


@pytest.mark.parametrize("factors", [[1.0], [1.0, 2.0], [2.0, 1.0, 3.0]])
def test_a_right_output_of_vdbench_contradicts_nothing(factors: list[float], tmp_path: Path) -> None:
    assert of_vdbench(tmp_path, factors=factors) == []
    rates = [result.summary()["iops"] for result in load_results([tmp_path / "out"])]
    assert rates == pytest.approx([1000 * factor for factor in factors])


@pytest.mark.parametrize(
    ("file", "right", "wrong", "figure"),
    [
        ("flatfile.html", r"\b1000\.0000", "1800.0000", "average: rate"),
        ("flatfile.html", r"\b7\.8125", "78.1250", "average: MB/sec"),
        ("summary.html", r"\b1000\.0", "1800.0", "average: rate in flatfile.html"),
        ("totals.html", r"\b1000\.0", "1800.0", "average: rate in flatfile.html"),
        ("totals.html", r"\b0\.300", "30.000", "average: read_resp in flatfile.html"),
        ("flatfile.html", r"\b0\.4000", "4.0000", "average: resp in ms"),
        ("flatfile.html", r"\b9\.5000", "0.1500", "average: resp in ms"),
    ],
)
def test_a_figure_of_vdbench_that_follows_from_others(
    file: str, right: str, wrong: str, figure: str, tmp_path: Path
) -> None:
    assert figure in of_vdbench(tmp_path, file, right, wrong)


def test_an_imported_result_keeps_its_contradictions(tmp_path: Path) -> None:
    job = json.loads(json.dumps(RIGHT))
    job["read"]["bw"] = 4
    (tmp_path / "a.json").write_text(json.dumps({"fio version": "fio-3.33", "jobs": [job]}))
    (record,) = load(tmp_path / "a.json")
    (tmp_path / "record.json").write_text(json.dumps(record.record))
    assert contradicted(tmp_path / "record.json") == ["reads reads: bw"]


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"time_based": ""}, "contradiction"),
        ({"time_based": "", "group_reporting": ""}, "mixed-jobs"),
        ({}, "mixed-jobs"),
    ],
)
def test_one_job_is_no_group(options: dict[str, str], rule: str, tmp_path: Path) -> None:
    job = json.loads(json.dumps(RIGHT))
    job["job options"] |= {"rw": "randwrite"} | options
    (tmp_path / "a.json").write_text(json.dumps({"fio version": "fio-3.33", "jobs": [job]}))
    (finding,) = [finding for finding in severe_of(*load_results([tmp_path / "a.json"]))]
    assert finding.rule == rule
    assert "60,000 reads of a job that should do none" in finding.title


@pytest.mark.parametrize("options", [{}, {"group_reporting": "1"}])
@pytest.mark.parametrize("kind", ["write", "read"])
def test_a_group_of_equal_jobs_is_right(options: dict[str, str], kind: str, tmp_path: Path) -> None:
    """Four sections of one kind, as older fio reports them: the sum of their means, and the ends of single jobs."""
    job = json.loads(json.dumps(RIGHT))
    job["job options"] |= {"rw": f"rand{kind}"} | options
    read = job["read"]
    read |= {key: 4 * read[key] for key in ("io_bytes", "io_kbytes", "bw_bytes", "bw", "iops", "total_ios", "bw_mean")}
    read |= {"iops_min": 950, "iops_max": 1050, "iops_mean": 4000.0, "iops_samples": 119}
    for quantity in ("slat_ns", "clat_ns", "lat_ns"):
        read[quantity]["N"] *= 4
    (tmp_path / "a.json").write_text(json.dumps({"fio version": "fio-3.12", "jobs": [job]}))
    (run,) = load_results([tmp_path / "a.json"])
    severe = [finding.rule for finding in severe_of(run)]
    assert severe == ([] if kind == "read" else ["mixed-jobs"])
    (group,) = [finding for finding in tools.check([run]) if finding.rule == "mixed-jobs"]
    assert group.severity == ("warning" if kind == "read" else "severe")
    assert "3.96 I/Os outstanding of 1 declared" in group.title


def rules_of(*paths: Path) -> tuple[int, set[str], list[str]]:
    """The number of results, the rules of the severe findings, and the sentences on what is skipped."""
    skipped: list[str] = []
    results = load_results(paths, skipped)
    return len(results), {found.rule for found in findings(results, None) if found.severity == "severe"}, skipped


def test_a_link_to_a_result_and_its_own_import_count_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    jobs = {"fio version": "fio-3.33", "jobs": [json.loads(json.dumps(RIGHT))]}
    runs = tmp_path / "runs"
    (runs / "older").mkdir(parents=True)
    raw = runs / "older" / "a.json"
    raw.write_text(json.dumps(jobs))
    (runs / "latest.json").symlink_to(raw)
    assert rules_of(runs) == (1, set(), ["Skipped 1 file: 1 a link to another result (latest.json)."])
    assert rules_of(runs / "latest.json", raw) == (1, set(), [f"{raw}: 1 result given twice, counted once."])
    imported = tmp_path / "imported"
    imported.mkdir()
    (record,) = load(Path("runs/older/a.json"))
    (imported / "record.json").write_text(json.dumps(record.record))
    assert rules_of(raw, imported) == (1, set(), [f"{imported}: 1 result given twice, counted once."])
    copy = tmp_path / "copy.json"
    copy.write_text(raw.read_text())
    assert rules_of(raw, copy) == (2, {"copied-result"}, [])
    # Since the import, the file has another result.
    jobs["jobs"][0]["read"]["io_bytes"] += 4096
    raw.write_text(json.dumps(jobs))
    assert rules_of(raw, imported)[0] == 2


def test_a_damaged_file_beside_an_output_of_vdbench_is_skipped_and_named(tmp_path: Path) -> None:
    of_vdbench(tmp_path)
    (tmp_path / "out" / "cut.json").write_text('{"fio version": "fio-3.33", "jobs": [')
    (tmp_path / "out" / "notes.txt").write_text("ten drives")
    skipped: list[str] = []
    assert len(load_results([tmp_path / "out"], skipped)) == 1
    assert "1 damaged (cut.json)" in skipped[0]
    assert "notes.txt" in skipped[0]


@pytest.mark.parametrize(
    ("depth", "used", "rules"), [(64, 17.0, ["idle-concurrency"]), (64, None, []), (64, 95.0, []), (32, 17.0, [])]
)
def test_the_stated_processor_time_bounds_that_of_the_host(
    depth: int, used: float | None, rules: list[str], tmp_path: Path
) -> None:
    """94,000 IOPS of 340 us are 32 in flight: 32 more would take 340 us each outside their latency."""
    job = json.loads(json.dumps(RIGHT))
    count = 94_000 * 60
    job["read"] = {
        "io_bytes": 4096 * count,
        "iops": 94_000.0,
        "runtime": 60_000,
        "total_ios": count,
        "clat_ns": {"min": 100_000, "max": 900_000, "mean": 340_000.0, "stddev": 80_000.0, "N": count},
    }
    job |= {"latency_us": {}, "latency_ms": {}} | ({} if used is None else {"usr_cpu": used, "sys_cpu": 0.0})
    job["job options"]["iodepth"] = str(depth)
    (tmp_path / "a.json").write_text(json.dumps({"fio version": "fio-3.33", "jobs": [job]}))
    found = [finding.rule for finding in littles_law.check(load_results([tmp_path / "a.json"]))]
    assert found == rules


IOMETER: dict[str, Callable[[str], str]] = {
    "ALL: IOps": lambda text: text.replace("ALL,All,4K,1,2,1,150.0", "ALL,All,4K,1,2,1,15000.0"),
    "ALL: Read I/Os": lambda text: text.replace("4096000,2048000,1000,500", "4096000,2048000,1001,500", 1),
    "ALL: Bytes Written": lambda text: text.replace("4096000,2048000,1000,500", "4096000,2048512,1000,500", 1),
    "worker Worker 1: IOps": lambda text: text.replace(
        "WORKER,Worker 1,4K,1,2,1,75.0", "WORKER,Worker 1,4K,1,2,1,95.0", 1
    ),
}
"""The figure that a change of an Iometer test contradicts."""


@pytest.mark.parametrize("figure", [None, *IOMETER])
def test_rows_of_iometer_add_up(figure: str | None, tmp_path: Path) -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "import"))
    import result_documents

    text = result_documents.iometer(*result_documents.iometer_test(1000, 500))
    changed = text if figure is None else IOMETER[figure](text)
    assert (changed == text) == (figure is None)
    (tmp_path / "a.csv").write_text(changed)
    found = contradicted(tmp_path / "a.csv")
    assert figure in found if figure else not [name for name in found if ":" in name and "latency" not in name], found


def saved_by_a_spreadsheet(text: str) -> str:
    """An Iometer test with byte counts of 6 digits, as a spreadsheet saves long ones."""
    for count in (30_140_817, 15_070_408, 60_281_634, 30_140_816):
        text = text.replace(f",{count * 4096},", f",{count * 4096:.5E},")
    return text


SAVED: dict[str, tuple[tuple[int, int], Callable[[str], str]]] = {
    "long counts": ((60_281_634, 30_140_816), saved_by_a_spreadsheet),
    "rates of one digit": (
        (30, 14),
        lambda text: text.replace(",4.4,3.0,1.4,", ",4,3,1,").replace(",2.2,1.5,0.7,", ",2,2,1,"),
    ),
    "a row of workers removed": ((1000, 500), lambda text: re.sub(r"WORKER,.*\n", "", text, count=1)),
}
"""Reads and writes of an Iometer test, and what a spreadsheet makes of its text."""


@pytest.mark.parametrize("what", SAVED)
def test_an_iometer_test_that_a_spreadsheet_saved(what: str, tmp_path: Path) -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "import"))
    import result_documents

    counts, change = SAVED[what]
    text = result_documents.iometer(*result_documents.iometer_test(*counts))
    assert change(text) != text
    (tmp_path / "a.csv").write_text(change(text))
    found = contradicted(tmp_path / "a.csv")
    assert not [name for name in found if ":" in name and "latency" not in name], found
    (result,) = load_results([tmp_path / "a.csv"])
    assert result.summary()["iops"] == pytest.approx(sum(counts) / 10, rel=0.1)
