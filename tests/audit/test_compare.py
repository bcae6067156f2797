"""Does `compare` call what is faster so, and only that?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up import DISK, SSD, deep, result, series

from hotband.audit import Audited, resample
from hotband.audit.compare import FASTER, NONE, SLOWER, Comparison, compare, iops_difference, series_of
from hotband.errors import UserError
from hotband.report import loaded_run
from hotband.runs.run import RunSpec, execute


def model(drive: str, seed: int, *changed: tuple[str, str]) -> Audited:
    """A run of a model."""
    run = RunSpec(drive, drive, "fio-randread", (("qd", "16"), *changed), seed=seed, duration="100 s")
    loaded = loaded_run(execute([run])[0])
    return Audited(f"{drive} {seed} {changed}", loaded.record, loaded.series)


def verdicts(found: Comparison) -> dict[str, str]:
    """By figure."""
    return {one.metric: one.verdict for one in found.differences}


def test_a_run_and_its_repeat_show_no_difference() -> None:
    found = compare(model("ent-10k", 1), model("ent-10k", 2))
    assert set(verdicts(found)) == {"IOPS", "p50", "p90", "p99", "p99.9"}
    assert set(verdicts(found).values()) == {NONE}


def test_a_faster_disk_is_faster_in_all() -> None:
    found = compare(model("ent-10k", 1), model("exos-15e900-512n", 1))
    assert verdicts(found) == dict.fromkeys(("IOPS", "p50", "p90", "p99", "p99.9"), FASTER)
    assert found.verdict == FASTER
    back = compare(model("exos-15e900-512n", 1), model("ent-10k", 1))
    assert set(verdicts(back).values()) == {SLOWER}


def test_false_alarms_are_as_rare_as_promised() -> None:
    runs = [model("exos-15e900-512n", seed) for seed in range(1, 17)]
    pairs = [iops_difference([a], [b]) for a, b in zip(runs[::2], runs[1::2], strict=True)]
    # Eight pairs at 95 %: two or more false alarms in 6 % of such tests.
    assert sum(one is not None and one.verdict != NONE for one in pairs) <= 1


def test_the_interval_of_a_rate_is_as_wide_as_runs_differ() -> None:
    runs = [model("exos-15e900-512n", seed) for seed in range(1, 61)]
    rates = np.array([float(run.summary()["iops"]) for run in runs])
    random = np.random.default_rng(1)
    spreads = []
    for run in runs[:10]:
        values = series_of(run, "iops")
        assert values is not None
        spreads.append(float(np.std(resample.means(values, random))) / float(values.mean()))
    # 60 runs know their standard deviation to 9 %; three times that.
    ratio = float(rates.std(ddof=1) / rates.mean()) / float(np.sqrt(np.mean(np.square(spreads))))
    assert 0.73 <= ratio <= 1.27


def test_without_a_series_the_poisson_law_is_named() -> None:
    a, b = (result(name, DISK, slower=slower) for name, slower in (("a", 1.0), ("b", 1.1)))
    found = compare(a, b)
    rate = found.differences[0]
    assert rate.how == "no series: Poisson law, I/Os taken to be independent"
    # 25,716 against 23,379 I/Os: 1.96 x sqrt (1/n + 1/m) is 1.77 % of the ratio on either side.
    assert rate.change_pct == pytest.approx(-9.09, abs=0.05)
    assert (rate.low_pct, rate.high_pct) == pytest.approx((-10.7, -7.5), abs=0.1)
    assert rate.verdict == SLOWER
    assert all("no series: I/Os taken to be independent" in one.how for one in found.differences[1:])


def test_repeats_are_compared_by_their_spread() -> None:
    a = [result(f"a{n}", DISK, slower=1 + n / 100) for n in (-1, 0, 1)]
    b = [result(f"b{n}", DISK, target="/dev/sdc", slower=1.01 + n / 100) for n in (-1, 0, 1)]
    found = iops_difference(a, b)
    assert found is not None
    assert found.verdict == NONE
    # Welch: standard error sqrt (2 x 0.01^2 / 3) = 0.82 %, t of 4 degrees 2.776.
    assert found.high_pct - found.low_pct == pytest.approx(2 * 2.776 * 0.816, rel=0.03)


def test_percentiles_that_the_sample_does_not_support_are_left_out() -> None:
    a, b = (result(name, DISK, seconds=30, slower=slower) for name, slower in (("a", 1.0), ("b", 1.2)))
    found = compare(a, b)
    assert set(verdicts(found)) == {"IOPS", "p50", "p90", "p99"}
    assert found.unsupported == ["p99.9: a has 2,572 I/Os; 3,688 are needed"]


def wandering(name: str, levels: list[float], seed: int) -> Audited:
    """A result whose rate goes through levels."""
    return result(name, SSD, over_time=series(levels, 300, 9e4, 0.01, seed))


def test_a_series_that_wanders_widens_the_interval() -> None:
    wide, narrow = (
        compare(wandering("a", levels, 1), wandering("b", levels, 2))
        for levels in ([100.0, 110.0, 95.0, 105.0, 90.0], [100.0])
    )
    width = [one.differences[0].high_pct - one.differences[0].low_pct for one in (wide, narrow)]
    assert width[0] > 5 * width[1]


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"concurrency": 4}, "concurrency differs: 1 and 4"),
        ({"size": 8192}, "size of an I/O differs: 4096 and 8192"),
        ({"working_set_bytes": 10**9}, "working set, bytes differs: 1e+12 and 1e+09"),
        ({"pattern": "sequential"}, "pattern differs: random and sequential"),
    ],
)
def test_unlike_loads_are_refused(more: dict[str, Any], word: str) -> None:
    a = result("a", DISK, working_set_bytes=10**12)
    b = result("b", DISK, **({"working_set_bytes": 10**12} | more))
    with pytest.raises(UserError, match="expected equal loads") as refused:
        compare(a, b)
    assert word in str(refused.value)
    assert compare(a, b, anyway=True).unlike == [word]


def test_the_same_seed_gives_the_same_data() -> None:
    a, b = (
        result(n, deep(4), concurrency=4, over_time=series([100.0], 300, 1e7, 0.05, s)) for n, s in (("a", 1), ("b", 2))
    )
    one, two = (json.dumps(compare(a, b, seed=7).data()) for _ in range(2))
    assert one == two
    assert json.loads(one)["schema"] == "hotband-compare"


def test_the_command_refuses_two_results_in_one_file(tmp_path: Path, hotband: Any) -> None:
    words = "config,workload,metric,value,unit\n" + "".join(f"{n},8KB random 4 threads,IOPS,1,IOPS\n" for n in "ab")
    (tmp_path / "t.csv").write_text(words, encoding="utf-8")
    done = hotband("compare", "t.csv", "t.csv")
    assert done.returncode == 2
    assert done.stderr == "hotband: error: t.csv: holds 2 results; expected one\n"
