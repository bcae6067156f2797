"""Do the findings of the DuraWrite study follow from its figures, whatever the drives do?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hotband.inference.amplification import compressed, uniform
from hotband.questions.study.comparisons import rates_apart
from hotband.questions.study.definition import Study
from hotband.questions.study.file import load
from hotband.questions.study.measures import Reading
from hotband.questions.study.runs import Cell, Results
from hotband.questions.study.study import conclude, result_of, unmatched

GB = 10**9
# What the drives of these made-up runs amplify; the compressing one by its data.
AMPLIFIED = {"s4500": 3.0, "eco": 4.0, "plain": 5.0}
RATES = {"nytro": 1200.0, "s4500": 1000.0, "eco": 800.0, "plain": 900.0, "common": 1200.0}


@pytest.fixture(scope="module")
def study() -> Study:
    return load("durawrite")


def record(config: str, entropy: float) -> dict[str, Any]:
    """A run of 60 s in which the host read 30 GB and wrote 10."""
    rate, flash = RATES[config], 10.0 * AMPLIFIED.get(config, 2 * entropy)
    mean_ns = 32 / rate * 1e9
    sides = {"read": {"bytes": 30 * GB}, "write": {"bytes": 10 * GB}}
    operation = {"name": "read", "count": int(60 * rate), "ops_per_s": rate, "latency_mean_ns": mean_ns}
    ends = {"at_begin": (100, 200), "at_end": (110, 200 + flash)}
    smart = {name: {"host_bytes": host * GB, "flash_bytes": int(wrote * GB)} for name, (host, wrote) in ends.items()}
    return {
        "summary": {"iops": rate, "latency_mean_ns": mean_ns, "bandwidth_bytes_per_s": 1.0, **sides},
        "duration_ns": 60 * GB,
        "app": {"operations": [operation], "achieved_ops_per_s": rate, "requested_ops_per_s": None}
        | {"counters": {"operations": int(60 * rate), "service_time_ns": int(60 * rate * mean_ns)}},
        "scripts": [{"name": "transactions", "per_second": rate / 10}],
        "smart": [{"drive": "d0", **smart, "endurance_bytes": 64 * GB}],
        "parts": [],
    }


@pytest.fixture(scope="module")
def results(study: Study) -> Results:
    cells = {}
    for config, one in study.pairs():
        settings = dict((*one.set, *config.set))
        made = record(config.id, float(settings["data"]))
        made["spec"] = {"drives": {config.product: ""}}
        cells[config.id, one.id] = Cell(config, one, {0: Reading(made)})
    return Results(study, cells)


def finding(results: Results, name: str) -> dict[str, Any]:
    return next(one for one in conclude(results.study, results).findings if one["id"] == name)


def test_every_published_row_is_compared_given_or_under_a_claim(results: Results) -> None:
    result = result_of(results, conclude(results.study, results), 1)
    assert result["unmatched"] == []
    assert {row["id"] for row in result["inputs"]} >= {f"demartek_durawrite-{n:03d}" for n in (6, 8, *range(18, 28))}
    assert unmatched(replace(results.study, inputs={}), result["figures"], conclude(results.study, results)) == [
        f"demartek_durawrite-{n:03d}" for n in (6, 8, *range(18, 28))
    ]


def test_the_data_of_every_load_is_what_is_published(study: Study) -> None:
    rows = {row.workload: row.value for row in study.published if "data entropy" in row.metric}
    for name in ("ycsb", "vdi", "swbuild", "oltp", "jetstress"):
        one = study.load(name)
        assert float(dict(one.set)["data"]) == rows[one.published], name


def test_figures_stand_beside_the_published_ones(results: Results) -> None:
    figures = {row["id"]: row for row in result_of(results, conclude(results.study, results), 1)["figures"]}
    gain = figures["demartek_durawrite-001"]
    # 1200 over the mean of 1000 and 800; 1.333 for 1.47.
    assert gain["predicted"] == pytest.approx(100 / 3)
    assert gain["error_pct"] == pytest.approx((4 / 3 / 1.47 - 1) * 100)
    ratio = figures["demartek_durawrite-007"]
    assert ratio["predicted"] == pytest.approx(0.74 / 3.5)
    assert (ratio["published"], ratio["unit"]) == (0.33, "x")
    rates = [figures[f"demartek_durawrite-00{n}"] for n in (4, 5)]
    assert [(row["published"], row["predicted"]) for row in rates] == [(12554.0, 1200.0), (12840.0, 1000.0)]
    withheld = [row for row in figures.values() if row["published"] is None]
    assert {row["label"] for row in withheld} >= {"SPECsfs SWBUILD", "OLTP", "Exchange Jetstress"}
    assert all(row["error_pct"] is None for row in withheld)


def test_errors_are_summed_up_for_rates_ratios_and_gains(results: Results) -> None:
    scored = result_of(results, conclude(results.study, results), 1)["summary"]["scored"]
    compared = {(one["figure"], one["group"]): one["compared"] for one in scored if one["compared"]}
    # The three gains of YCSB are one measurement, and so are the two latencies of SWBUILD.
    ratios = {("ratios", "SPECsfs VDI"): 1, ("ratios", "SPECsfs SWBUILD"): 3, ("ratios", "OLTP"): 1}
    assert compared == {("op/s", "SPECsfs VDI"): 2, ("gains", "YCSB A"): 1} | ratios


def test_no_write_amplification_is_printed(results: Results) -> None:
    found = finding(results, "no-absolute-write-amplification")
    assert [row[0] for row in found["table"]["rows"]] == [f"demartek_durawrite-{n:03d}" for n in (7, 12, 14)]
    # 0.37 over 0.335 at least.
    assert "1.10 bytes" in found["text"]


def test_the_three_gains_of_ycsb_tell_the_others_apart(results: Results) -> None:
    found = finding(results, "ycsb-littles-law")
    assert "32.0 % less" in found["text"]
    assert "1.14 to 1.38 times as fast" in found["text"]


@pytest.mark.parametrize("faster", [1.0, 1.2, 1.5, 3.0])
def test_the_spread_of_two_drives_is_found_again(faster: float) -> None:
    ours, rates = 2.0, (1.0, faster)
    gain = (ours / (sum(rates) / 2) - 1) * 100
    reduction = (1 - (1 / ours) / (sum(1 / rate for rate in rates) / 2)) * 100
    assert rates_apart(gain, reduction) == pytest.approx(faster, rel=1e-6)


def test_no_two_drives_give_a_gain_without_its_reduction() -> None:
    assert rates_apart(47.0, 20.0) is None


def test_the_ratio_is_taken_apart(results: Results) -> None:
    found = finding(results, "ratios-against-entropy")
    row = next(row for row in found["table"]["rows"] if row[0] == "SPECsfs VDI")
    # 0.74 against a mean of 3.5: compression makes 5 into 0.74, without it 5 would stand against 3.5.
    assert row[1:6] == [0.37, 0.211, 0.148, 1.429, 0.211]
    assert row[-2:] == ["25 %", pytest.approx(10e3 / 60, abs=0.05)]
    assert "which is the same order" in found["text"]


def test_claims_follow_the_runs(results: Results) -> None:
    holds = {one["id"]: one["holds"] for one in conclude(results.study, results).claims}
    # 33 % more operations; 0.21 is more than a tenth from 0.33; 1200 op/s are more than 1000.
    assert holds == {"ycsb-gains": True, "vdi-ratio": False, "vdi-not-faster": False}


def test_points_stand_beside_the_theory_of_their_drive(results: Results) -> None:
    curve = result_of(results, conclude(results.study, results), 1)["entropy"]
    ours = {row["entropy"]: row for row in curve["points"] if row["variant"] == "Nytro 1351"}
    assert list(ours) == [0.05, 0.19, 0.37, 0.6, 0.79, 1.0]
    assert ours[0.37]["write_amplification"] == pytest.approx(0.74)
    # The catalog's 12 % of spare capacity.
    assert ours[0.37]["theory"] == pytest.approx(compressed(0.12, 0.37))
    assert ours[1.0]["theory"] == pytest.approx(uniform(0.12))
    assert {row["variant"] for row in curve["theory"]} == {"Nytro 1351", "S4500", "5200 ECO"}


def test_bars_are_of_the_published_loads_alone(results: Results) -> None:
    bars = result_of(results, conclude(results.study, results), 1)["bars"]
    assert {row["load"] for row in bars} == {"YCSB A", "SPECsfs VDI", "SPECsfs SWBUILD", "OLTP", "Jetstress"}
    rates = [row for row in bars if row["load"] == "SPECsfs VDI" and row["metric"] == "achieved op/s"]
    assert [row["published"] for row in rates if row["published"]] == [12554.0, 12840.0]
