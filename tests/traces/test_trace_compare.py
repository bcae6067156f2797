"""Are two traces compared I/O by I/O where they hold the same, and only their distributions where not?"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import hotband as hb

VALIDATE = "{op} word {sector} 8 {us} 100\n"
HEADER = "number,submit_ns,stream,direction,offset_bytes,size_bytes,latency_ns,error,measured,fua,volume\n"


def validate(path: Path, latencies_us: list[int], *, sectors: list[int] | None = None, op: str = "R") -> Path:
    """A trace of DiskSim's validation: 4 KiB far from one another, or at `sectors`."""
    places = sectors or [100_000 * (number + 1) for number in range(len(latencies_us))]
    lines = (VALIDATE.format(op=op, sector=at, us=us) for at, us in zip(places, latencies_us, strict=True))
    path.write_text("".join(lines), encoding="utf-8")
    return path


def log(path: Path, rows: list[tuple[int, str, int, int]], volume: str = "v") -> Path:
    """An I/O log as CSV: time of issue and latency in ns, direction, offset."""
    lines = (
        f"{number},{issue},main,{direction},{offset},4096,{latency},,true,false,{volume}\n"
        for number, (issue, direction, offset, latency) in enumerate(rows)
    )
    path.write_text(HEADER + "".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """The same three I/Os in two formats; sorted, latencies are 1, 2, 3 ms beside 2, 2, 5."""
    measured = validate(tmp_path / "a.trace", [3000, 1000, 2000])
    offsets = [512 * 100_000 * number for number in (1, 2, 3)]
    rows = [(at * 10**7, "read", offset, ns) for at, (offset, ns) in enumerate(zip(offsets, (2, 5, 2), strict=True))]
    return measured, log(tmp_path / "b.csv", [(at, name, place, ns * 10**6) for at, name, place, ns in rows])


def test_the_same_ios_are_compared_one_by_one_whatever_the_format(two: tuple[Path, Path]) -> None:
    found = hb.compare_traces(*two)
    assert found.same_ios
    # Differences of -1, 4 and 0 ms one by one; of 1, 0 and 2 ms rank by rank; means of 2 and 3 ms.
    assert found.rms_ns == pytest.approx(1e6 * math.sqrt(17 / 3), rel=1e-9)
    assert found.demerit_pct == pytest.approx(50 * math.sqrt(5 / 3), rel=1e-3)
    assert found.mean_error_pct == pytest.approx(50)
    assert found.frame.select("direction", "distance", "ios").rows() == [("all", "all", 3), ("read", "far", 3)]


def test_other_ios_are_compared_as_distributions_and_the_first_is_named(
    two: tuple[Path, Path], tmp_path: Path, hotband: Any
) -> None:
    other = validate(tmp_path / "c.trace", [1000, 2000, 3000, 1000, 2000, 3000], sectors=[8 * n for n in range(1, 7)])
    done = hotband("trace", "compare", str(two[0]), str(other))
    assert done.returncode == 0, done.stderr
    assert "I/O 1 is a read of 4,096 B at 51,200,000 in A" in " ".join(done.stdout.split())
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if str(tmp_path) not in line)
    found = json.loads(hotband("trace", "compare", str(two[0]), str(other), "--json").stdout)
    # As many of each latency, shares apart: no distance.
    assert (found["same_ios"], found["rms_ns"], found["demerit_pct"]) == (False, None, 0.0)
    assert (found["ios"], found["ios_replayed"]) == (3, 6)
    assert found["first_difference"]["io"] == 1


def test_a_trace_that_ends_early_is_not_the_same(two: tuple[Path, Path], tmp_path: Path) -> None:
    short = validate(tmp_path / "short.trace", [3000, 1000])
    difference = hb.compare_traces(two[0], short).document["first_difference"]
    assert difference is not None
    assert (difference["io"], difference["replayed"]) == (3, None)


def test_keys_are_those_of_a_record(two: tuple[Path, Path], hotband: Any) -> None:
    record = hb.run(two[0], on="ent-15k", set={"issue": "after-completion"}).comparison
    assert record is not None
    found = json.loads(hotband("trace", "compare", *map(str, two), "--json").stdout)
    assert set(record) <= set(found)
    assert {"demerit_pct", "mean_error_pct", "rms_ns"} <= set(record)


def test_a_run_compared_with_its_trace_is_the_comparison_of_its_record(tmp_path: Path, hotband: Any) -> None:
    sectors = [(number * 7919 % 5000) * 1000 for number in range(400)]
    measured = validate(tmp_path / "m.trace", [500 + number * 37 % 9000 for number in range(400)], sectors=sectors)
    out = tmp_path / "m.parquet"
    done = hotband(
        *("run", str(measured), "--on", "ent-15k", "--set", "issue=after-completion"),
        *("--io-log", str(out), "--json"),
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)["comparison"]
    found = hb.compare_traces(measured, out).to_dict()
    assert found["same_ios"]
    assert {key: found[key] for key in record} == record


def test_distances_are_those_of_each_volume(tmp_path: Path) -> None:
    rows = [(0, "write", 0, 1000), (10**4, "write", 4096, 1000), (2 * 10**4, "write", 12_288, 1000)]
    one = log(tmp_path / "one.csv", [*rows, (3 * 10**4, "write", 10**9, 1000)])
    classes = {name["distance"]: name["ios"] for name in hb.compare_traces(one, one).document["classes"]}
    assert classes == {"continuing": 2, "near": 1, "far": 1}


def test_the_page_has_both_distributions(two: tuple[Path, Path], tmp_path: Path, hotband: Any) -> None:
    done = hotband("trace", "compare", *map(str, two), "-o", str(tmp_path / "page.html"))
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "How far is b.csv from a.trace?" in text
    found = hb.compare_traces(*two)
    (chart,) = found.report.charts.values()
    assert {"A", "B"} <= set(json.dumps(chart.view.to_dict()).replace('"', " ").split())
    assert "a.trace" in found._repr_html_()


def test_the_page_of_a_record_has_the_comparison(two: tuple[Path, Path], tmp_path: Path) -> None:
    record = hb.run(two[0], on="ent-15k", set={"issue": "after-completion"})
    report = hb.report(record)
    assert "latencies-measured-and-replayed" in report.charts
    report.save(tmp_path / "page.html")
    assert "Measured and replayed" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("second", "part"),
    [
        ("0,8,4096,R,0.1\n0,16,4096,R,0.2\n", "has no latencies"),
        ("nothing of a trace\n", "is not a trace of a known format"),
        ("", "is not a trace of a known format"),
        (None, "is not there"),
        ("R word 8 8 1000 10\n" * 3 + "R word 8 8\n", "line 4"),
    ],
)
def test_what_cannot_be_compared_is_said(
    two: tuple[Path, Path], tmp_path: Path, hotband: Any, second: str | None, part: str
) -> None:
    path = tmp_path / "second"
    if second is not None:
        path.write_text(second, encoding="utf-8")
    done = hotband("trace", "compare", str(two[0]), str(path))
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert part in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
