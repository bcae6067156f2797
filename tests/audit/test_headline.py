"""Does the first line of a comparison say which side is faster, by the figure that moved, also of plain fio results?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from made_up import DISK, SSD, changed, result, series

import hotband as hb
from hotband.faces.ui.shown import of_compared
from hotband.inference.audit.audited import Side
from hotband.inference.audit.compare import Comparison, compare
from hotband.inference.audit.difference import FASTER, NONE, ONE_RUN, SLOWER, TOO_SHORT, Difference
from hotband.inference.audit.headline import UNKNOWN_SPREAD, headline

Hotband = Callable[..., "CompletedProcess[str]"]
SECONDS = 10
EQUAL_JOBS = {"disk1": 157_760, "shm1": 736_100}


def fio_json(folder: Path, name: str, ios: int, **options: str) -> Path:
    """A plain result of fio, as `--output-format=json` prints it: percentiles, no samples over time."""
    asked = {"rw": "randread", "bs": "4k", "iodepth": "4", "ioengine": "libaio", "direct": "1", "size": "1g", **options}
    mean = 4e9 * SECONDS / ios
    latency = {"min": round(mean / 4), "max": round(20 * mean), "mean": mean, "stddev": mean / 3, "N": ios}
    spread = {"50.000000": 0.9, "90.000000": 1.5, "99.000000": 3.0, "99.900000": 6.0}
    latency["percentile"] = {place: round(mean * factor) for place, factor in spread.items()}
    side = {"io_bytes": 4096 * ios, "total_ios": ios, "runtime": 1000 * SECONDS, "iops": ios / SECONDS}
    idle = {"io_bytes": 0, "total_ios": 0, "runtime": 0, "iops": 0.0}
    job = {"jobname": "j", "groupid": 0, "error": 0, "elapsed": SECONDS + 1, "job options": {**asked, "filename": name}}
    jobs = [{**job, "usr_cpu": 5.0, "sys_cpu": 20.0, "read": {**side, "clat_ns": latency}, "write": idle}]
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"fio version": "fio-3.33", "global options": {}, "jobs": jobs}), encoding="utf-8")
    return path


def side(name: str, *slower: float, **asked: Any) -> Side:
    """Runs of a disk without a series, each so much slower than the other one."""
    return Side(name, [result(f"{name}{n}", DISK, slower=one, **asked) for n, one in enumerate(slower)])


def test_a_plain_result_of_fio_is_4_7_times_faster(
    tmp_path: Path, hotband: Callable[..., CompletedProcess[str]]
) -> None:
    paths = [fio_json(tmp_path, name, ios) for name, ios in EQUAL_JOBS.items()]
    found = hb.compare(*paths)
    (lead,) = of_compared(found, {})["lead"]
    assert lead == f"shm1.json is 4.7 times faster than disk1.json (73,610 against 15,776 IOPS). {UNKNOWN_SPREAD}"
    for row in found.comparisons[0].differences:
        assert (row.verdict, row.low_pct, row.high_pct) == (FASTER, None, None)
        assert row.how.startswith(ONE_RUN)
    done = hotband("compare", *map(str, paths))
    assert (done.returncode, done.stderr) == (0, "")
    assert " ".join(done.stdout.splitlines()[:2]) == lead
    assert TOO_SHORT not in done.stdout
    assert NONE not in done.stdout


def row(metric: str, times: float, verdict: str) -> Difference:
    return Difference(metric, "", 100.0, 100.0 * times, 100 * (times - 1), None, None, "how", verdict)


@pytest.mark.parametrize(
    ("rate", "median", "metric"),
    [
        (row("IOPS", 14.4, FASTER), row("p50", 1.0, NONE), "IOPS"),
        (row("IOPS", 1.01, NONE), row("p50", 0.5, FASTER), "p50"),
        (row("IOPS", 1.2, FASTER), row("p50", 3.0, SLOWER), "p50"),
        (row("IOPS", 1.2, NONE), row("p50", 1.0, NONE), "p50"),
    ],
)
def test_the_headline_is_of_the_figure_that_moved(rate: Difference, median: Difference, metric: str) -> None:
    # Of an open loop, and of jobs whose concurrency is not known, the rate says nothing where it is equal.
    a, b = side("a", 1.0, rate_iops=50.0), side("b", 1.0, rate_iops=50.0)
    found = Comparison(a, b, [rate, median], "")
    assert found.deciding is not None
    assert found.deciding.metric == metric
    assert metric in headline(found)
    closed = Comparison(side("a", 1.0), side("b", 1.0), [rate, median], "")
    assert closed.deciding is (median if metric == "p50" and rate.change_pct == pytest.approx(1.0) else rate)


def test_what_runs_of_one_target_often_differ_by_is_no_difference() -> None:
    found = compare(side("a", 1.0), side("b", 1.09))
    assert found.verdict == NONE
    assert headline(found) == (
        "No difference in IOPS is shown between a and b (78.6 against 85.7 IOPS): "
        f"{ONE_RUN}; runs of one target often differ by 10 % "
        "(no series: Poisson distribution, I/Os assumed independent)."
    )
    assert compare(side("a", 1.0), side("b", 1.11)).verdict == SLOWER


def test_repeats_have_an_interval_in_the_headline() -> None:
    found = headline(compare(side("a", 1.0, 1.01, 0.99), side("b", 1.3, 1.31, 1.29)))
    assert found.startswith("b is 23.1 % slower than a (65.9 against 85.7 IOPS; 95 % interval -2")
    assert ONE_RUN not in found


def test_loads_that_differ_are_named() -> None:
    found = compare(side("a", 1.0), side("b", 3.0, size=8192), anyway=True)
    assert headline(found).endswith(" Not the same load: size of an I/O differs: 4096 and 8192.")


@pytest.mark.parametrize(("few", "verdict"), [(1.5, FASTER), (1.02, TOO_SHORT)])
def test_few_samples_are_enough_where_none_overlap(few: float, verdict: str) -> None:
    def run(name: str, rate: float, count: int) -> Side:
        over_time = series([rate], count, 9e4, 0.02, count)
        return Side(name, [changed(result(name, SSD, seconds=count, over_time=over_time), "summary", "iops", to=rate)])

    found = compare(run("a", 100.0, 300), run("b", 100.0 * few, 5))
    assert found.verdict == verdict
    assert ("Not enough data for a verdict" in headline(found)) == (verdict == TOO_SHORT)
    assert "b has 5 samples over time; 20 are needed" in headline(found) or verdict == FASTER
