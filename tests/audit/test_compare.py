"""Does `compare` call what is faster so, and only that?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from made_up import DISK, SSD, changed, deep, result, series

from hotband.base.errors import UserError
from hotband.data.documents.record import known
from hotband.data.documents.run import RunSpec
from hotband.execution.experiment.experiment import execute
from hotband.inference.audit import Audited
from hotband.inference.audit.audited import Side
from hotband.inference.audit.compare import Comparison, comparisons_data
from hotband.inference.audit.compare import compare as compare_sides
from hotband.inference.audit.correlated import mean_law
from hotband.inference.audit.difference import FASTER, NONE, ONE_RUN, SLOWER, TOO_SHORT, iops_difference, series_of
from hotband.views.report import loaded_run


def model(drive: str, seed: int, *changed: tuple[str, str]) -> Audited:
    """A run of a model."""
    run = RunSpec(drive, drive, "fio-randread", (("qd", "16"), *changed), seed=seed, duration="100 s")
    loaded = loaded_run(execute([run])[0])
    return Audited(f"{drive} {seed} {changed}", loaded.record, loaded.series)


def compare(a: Audited, b: Audited, seed: int = 1, anyway: bool = False) -> Comparison:
    """Of one run each."""
    return compare_sides(Side(a.name, [a]), Side(b.name, [b]), seed, anyway)


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


@pytest.mark.long
def test_the_interval_of_a_rate_is_as_wide_as_runs_differ() -> None:
    runs = [model("exos-15e900-512n", seed) for seed in range(1, 61)]
    rates = np.array([float(run.summary()["iops"]) for run in runs])
    spreads = []
    for run in runs[:10]:
        values = series_of(run, "iops")
        assert values is not None
        law = mean_law(values)
        assert law is not None
        spreads.append(float(law.spread) / float(values.mean()))
    # 60 runs know their standard deviation to 9 %; three times that.
    ratio = float(rates.std(ddof=1) / rates.mean()) / float(np.sqrt(np.mean(np.square(spreads))))
    assert 0.73 <= ratio <= 1.27


def test_without_a_series_the_poisson_law_is_the_least() -> None:
    a, b, c = (result(name, DISK, slower=slower) for name, slower in (("a", 1.0), ("b", 1.2), ("c", 1.01)))
    equal = compare(a, c).differences[0]
    assert equal.how == "no series: Poisson distribution, I/Os assumed independent"
    # 25,716 against 25,461 I/Os: 1.96 x sqrt (1/n + 1/m) is 1.73 % of the ratio on either side.
    assert equal.change_pct == pytest.approx(-0.99, abs=0.05)
    assert (equal.low_pct, equal.high_pct) == pytest.approx((-2.7, 0.7), abs=0.1)
    assert equal.verdict == NONE
    apart = compare(a, b)
    assert set(verdicts(apart).values()) == {SLOWER}
    assert {one.low_pct for one in apart.differences} == {one.high_pct for one in apart.differences} == {None}
    assert all(one.how.startswith(ONE_RUN) for one in apart.differences)


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
        ({"working_set_bytes": 10**9}, "working set, bytes differs: 1 TB and 1 GB"),
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
    one, two = (json.dumps(comparisons_data([compare(a, b, seed=7)])) for _ in range(2))
    assert one == two
    assert (json.loads(one)["schema"], json.loads(one)["schema_version"]) == ("hotband-compare", 2)


def test_the_command_refuses_two_results_in_one_file(tmp_path: Path, hotband: Any) -> None:
    words = "config,workload,metric,value,unit\n" + "".join(f"{n},8KB random 4 threads,IOPS,1,IOPS\n" for n in "ab")
    (tmp_path / "t.csv").write_text(words, encoding="utf-8")
    done = hotband("compare", "t.csv", "t.csv")
    assert done.returncode == 2
    said = "t.csv: holds 2 results: expected one; hotband import writes each to a separate folder"
    assert done.stderr == f"hotband: error: {said}\n"


def sampled(name: str, rate: float, seconds: int, seed: int, noise: float = 0.03) -> Audited:
    """A run of so many samples of a second; its summary says the rate that its samples have."""
    one = result(name, SSD, seconds=seconds, over_time=series([rate], seconds, 9e4, noise, seed))
    return changed(one, "summary", "iops", to=rate)


def test_twelve_per_cent_on_few_samples_are_too_short_to_say() -> None:
    few, many = sampled("few", 112.0, 19, 1), sampled("many", 100.0, 300, 2)
    for found in (compare(many, few), compare(few, many)):
        assert set(verdicts(found).values()) == {TOO_SHORT}
        assert {(one.low_pct, one.high_pct) for one in found.differences} == {(None, None)}
        assert "few has 19 samples over time; 20 are needed" in found.differences[0].how
    data = comparisons_data([compare(many, few)])["comparisons"][0]["differences"][0]
    assert (data["change_pct"], data["low_pct"], data["high_pct"]) == (pytest.approx(12), None, None)
    enough = compare(many, sampled("enough", 112.0, 20, 1)).differences[0]
    assert enough.verdict == FASTER
    assert enough.low_pct is not None
    assert enough.low_pct < 12 < known(enough.high_pct)


def test_the_interval_is_no_narrower_than_the_series_makes_it() -> None:
    one, other = (sampled(name, 100.0, 25, seed, 0.06) for name, seed in (("a", 1), ("b", 2)))
    found = compare(one, other).differences[0]
    # Two means of 25 independent samples of 6 %: 1.96 x 6 % x sqrt (2/25) is 3.3 % on either side.
    assert known(found.high_pct) - known(found.low_pct) > 2 * 3.3


def nulled(one: Audited, *places: int, column: str = "iops") -> Audited:
    """With nulls in some rows of its series."""
    assert one.series is not None
    rows = one.series.to_dicts()
    for place in places:
        rows[place][column] = None
    return replace(one, series=pl.DataFrame(rows, schema=one.series.schema))


def test_nulls_are_not_zeros() -> None:
    whole = sampled("a", 100.0, 40, 1)
    values = series_of(nulled(whole, 3, 17), "iops")
    assert values is not None
    assert len(values) == 38
    assert values.min() > 80
    latencies = series_of(nulled(whole, 5, column="latency_mean_ns"), "latency_mean_ns")
    assert latencies is not None
    assert len(latencies) == 39
    assert latencies.min() > 8e4


def test_an_interval_without_a_row_between_others_is_a_stall() -> None:
    whole = sampled("a", 100.0, 40, 1)
    assert whole.series is not None
    values = series_of(replace(whole, series=whole.series.slice(2).filter(pl.col("time_ns") != 9e9)), "iops")
    assert values is not None
    assert len(values) == 38, "nothing is known of what was before the first row"
    assert (values == 0).sum() == 1


def test_repeats_count_more_than_their_samples() -> None:
    """Each run has samples within 1 %, but runs differ by 5 %."""
    a = Side("a", [sampled(f"a{n}", 100.0 + 5 * n, 300, n, 0.01) for n in (1, 2, 3)])
    b = Side("b", [sampled(f"b{n}", 102.0 + 5 * n, 300, 9 + n, 0.01) for n in (1, 2, 3)])
    assert compare(a.runs[0], b.runs[0]).differences[0].verdict == FASTER
    found = compare_sides(a, b)
    assert found.differences[0].verdict == NONE
    assert {one.how for one in found.differences} == {"repeats: 3 and 3 runs, Welch's t"}
    assert [one.metric for one in found.differences] == ["IOPS", "p50", "p90", "p99", "p99.9"]


def test_one_run_is_taken_to_spread_as_the_repeats_of_the_other_side() -> None:
    a = [result(f"a{n}", DISK, slower=1 + n / 100) for n in (-1, 0, 1)]
    found = iops_difference(a, [result("b", DISK, slower=1.1)])
    assert found is not None
    assert "one run assumed to vary like the others" in found.how
    # Student: 1 % x sqrt (1/3 + 1) with t of 2 degrees, 4.303, around 1/1.1.
    assert known(found.high_pct) - known(found.low_pct) == pytest.approx(2 * 4.303 * 1.155 / 1.1, rel=0.03)
    assert found.verdict == SLOWER


def test_repeats_that_were_not_asked_the_same_are_refused() -> None:
    a = Side("a", [result("a1", DISK), result("a2", deep(4), concurrency=4)])
    with pytest.raises(UserError, match=r"a1, a2.*concurrency differs: 1 and 4"):
        compare_sides(a, Side("b", [result("b", DISK)]))


def test_how_is_a_line_where_all_rows_share_it_and_a_column_where_they_do_not() -> None:
    from hotband.base.text.table import Table
    from hotband.views.audit import comparison_view

    found = compare(sampled("a", 1000, 60, 1), sampled("b", 1200, 60, 2))
    rows = found.differences
    assert len(rows) > 1

    def shown(hows: list[str]) -> tuple[list[str], list[str]]:
        view = comparison_view(
            replace(found, differences=[replace(row, how=how) for row, how in zip(rows, hows, strict=True)])
        )
        table = next(part for part in view if isinstance(part, Table))
        return [column.name for column in table.columns], [part for part in view if str(part).startswith("how: ")]

    alike, unlike = ["samples"] * len(rows), ["samples", *["repeats"] * (len(rows) - 1)]
    headers, lines = shown(alike)
    assert ("how" in headers, lines) == (False, ["how: samples"])
    headers, lines = shown(unlike)
    assert ("how" in headers, lines) == (True, [])
