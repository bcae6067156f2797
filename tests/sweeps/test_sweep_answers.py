"""Do the sentences say what the numbers are?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import hotband as hb
from hotband.data.inputs.values import Value
from hotband.data.results.sweep_rows import NAMES, Row
from hotband.views.sweeps.screen import invalid_words

DEPTHS = (1, 2, 4, 8)


def row(iops: float, p99_ms: float) -> Row:
    """A run of which only these figures matter."""
    return Row({**dict.fromkeys(NAMES), "iops": iops, "latency_p99_ns": p99_ms * 1e6})


def sweep(rows: Mapping[tuple[Value, ...], tuple[float, float]], names: Sequence[str] = ("target", "qd")) -> hb.Sweep:
    """A sweep of these coordinates, with IOPS and p99 latency (ms)."""
    points = [{"workload": "w", "seed": 1, **dict(zip(names, at, strict=True))} for at in rows]
    return hb.Sweep(tuple(points), (None,) * len(rows), tuple(row(*of) for of in rows.values()))


def lines(**of: Sequence[tuple[float, float]]) -> hb.Sweep:
    """Machines along the queue depth."""
    rows = {(name, depth): one for name, pairs in of.items() for depth, one in zip(DEPTHS, pairs, strict=True)}
    return sweep(rows)


def test_results_that_are_not_the_drives_come_first() -> None:
    made = lines(a=[(100, 1.0), (150, 2.0), (152, 4.0), (151, 8.0)])
    assert invalid_words(made) == ""
    late = replace(row(90, 9.0), notes=("state of d0", "INVALID: the host is too busy"))
    made = replace(made, rows=(*made.rows[:-1], late))
    assert invalid_words(made) == "1 of 4 results: INVALID: the host is too busy."


def test_curves_that_cross_and_saturate() -> None:
    a = [(100, 1.0), (190, 2.0), (200, 4.0), (200, 8.0)]
    b = [(80, 2.0), (160, 2.0), (300, 3.0), (500, 5.0)]
    assert lines(a=a, b=b).answers == [
        "The most IOPS: a up to queue depth 2; b from 4 to 8.",
        "The lowest p99 latency: a at queue depth 1; a and b at queue depth 2; b from 4 to 8.",
        "90 % of its highest rate is reached at queue depth 2 by a (200 IOPS at most); b still rises at 8.",
    ]


def test_one_machine_that_is_best_throughout() -> None:
    a = [(100, 1.0), (200, 1.0), (400, 1.0), (800, 1.0)]
    b = [(50, 2.0), (100, 2.0), (200, 4.0), (200, 8.0)]
    assert lines(a=a, b=b).answers == [
        "a has the most IOPS at every queue depth, 1 to 8, 2 to 4 times as many as the next.",
        "a has the lowest p99 latency at every queue depth, 1 to 8; that of the next is 2 to 8 times as long.",
        "90 % of its highest rate is reached at queue depth 4 by b (200 IOPS at most); a still rises at 8.",
    ]


def test_one_machine_alone() -> None:
    assert lines(a=[(100, 1.0), (150, 2.0), (152, 4.0), (151, 8.0)]).answers == [
        "The rate rises from 100 IOPS at queue depth 1 to 151 IOPS at 8.",
        "p99 latency rises from 1 ms at queue depth 1 to 8 ms at 8.",
        "90 % of the highest rate is reached at queue depth 2 (152 IOPS at most).",
    ]


def test_machines_that_differ_by_less_than_a_percent_are_alike() -> None:
    a, b = [(100, 1.0)] * 4, [(100.5, 1.001)] * 4
    first, second, *_ = lines(a=a, b=b).answers
    assert first == "a and b are alike in IOPS at every queue depth, 1 to 8."
    assert second == "a and b are alike in p99 latency at every queue depth, 1 to 8."


def test_machines_whose_seeds_overlap_are_alike() -> None:
    points = [
        {"target": name, "workload": "w", "qd": qd, "seed": seed} for name in "ab" for qd in (1, 2) for seed in (1, 2)
    ]
    # a: 100 and 120; b: 110 and 130 at depth 1, far away at depth 2.
    rates = [100, 120, 100, 101, 110, 130, 400, 401]
    rows = tuple(row(rate, 1.0) for rate in rates)
    found = hb.Sweep(tuple(points), (None,) * 8, rows).answers[0]
    assert found == "The most IOPS: a and b at queue depth 1; b at queue depth 2."


def test_two_parameters_name_the_best_of_all_and_count() -> None:
    rows = {}
    for bs, factor in (("4 KiB", 1.0), ("64 KiB", 0.5)):
        for n, depth in enumerate(DEPTHS):
            rows["a", depth, bs] = (100 * factor, 1.0)
            rows["b", depth, bs] = ((60 + 60 * n) * factor, 2.0)
    first, second = sweep(rows, ("target", "qd", "bs")).answers
    assert first == (
        "The most IOPS of all: 240 IOPS, b at queue depth 8, bs 4 KiB. "
        "b has the most IOPS at 6 of 8 points, a at 2 (queue depth 1)."
    )
    assert second.endswith("a has the lowest p99 latency at all 8 points.")


def test_without_numbers_there_is_a_best_and_a_worst() -> None:
    rows = {("a", "on"): (100.0, 1.0), ("a", "off"): (50.0, 4.0)}
    assert sweep(rows, ("target", "wce")).answers == [
        "wce on has the most IOPS, 100 IOPS; wce off has the fewest, 50 IOPS.",
        "wce on has the lowest p99 latency, 1 ms; wce off has the highest, 4 ms.",
    ]


def test_a_sweep_of_which_nothing_ended_says_nothing() -> None:
    assert hb.Sweep(({"target": "a", "workload": "w", "qd": 1, "seed": 1},), (None,)).answers == []
