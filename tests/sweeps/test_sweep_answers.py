"""Do the sentences say what the numbers are?"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import hotband as hb
from hotband.data.inputs.values import Value
from hotband.data.results.sweep_rows import NAMES, Row
from hotband.views.sweeps.screen import invalid_words
from hotband.views.sweeps.separated import Pooled, Seeds, Verdict, compare, pool

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
        "a has the most IOPS up to queue depth 2; b from 4 to 8.",
        "a has the lowest p99 latency at queue depth 1; a and b at queue depth 2; b from 4 to 8.",
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


def seeds(rates: Mapping[tuple[str, int], Sequence[float]]) -> hb.Sweep:
    """Return a sweep with these IOPS by machine and queue depth, one per seed."""
    points = [
        {"target": name, "workload": "w", "qd": qd, "seed": seed}
        for (name, qd), values in rates.items()
        for seed in range(1, len(values) + 1)
    ]
    rows = tuple(row(rate, 1.0) for values in rates.values() for rate in values)
    return hb.Sweep(tuple(points), (None,) * len(points), rows)


def test_machines_whose_seeds_overlap_are_not_alike_but_unresolved() -> None:
    # Far away from each other at depth 2.
    rates = {("a", 1): [100, 120], ("a", 2): [100, 101], ("b", 1): [110, 130], ("b", 2): [400, 401]}
    assert seeds(rates).answers[0] == (
        "a or b has the most IOPS at queue depth 1; b at queue depth 2. "
        '2 seeds do not separate lines joined by "or": repeat more.'
    )
    near = {at: values for at, values in rates.items() if at[1] == 1}
    assert seeds(near).answers[0] == "2 seeds do not separate b and a in IOPS: repeat more."
    both = {**near, ("a", 2): [200, 240], ("b", 2): [220, 260]}
    assert seeds(both).answers[0] == "2 seeds do not separate a and b in IOPS at any queue depth, 1 to 2: repeat more."


def test_two_seeds_separate_machines_that_differ_by_far_more_than_the_seeds() -> None:
    # Each pair alone has a t interval of 12.7 standard errors, which would make all of them equal.
    rates = {("a", 1): [211, 203], ("a", 8): [336, 344], ("b", 1): [141, 146], ("b", 8): [260, 268]}
    assert seeds(rates).answers[0].startswith("a has the most IOPS at every queue depth, 1 to 8, 1.29 to 1.44 times")


def test_seeds_prove_that_machines_are_alike() -> None:
    rates = {(name, qd): [100 * qd, 100.1 * qd, 100.2 * qd] for name in "ab" for qd in (1, 2)}
    rates["b", 1] = [100.3, 100.1, 100.1]
    assert seeds(rates).answers[0] == "a and b are alike in IOPS at every queue depth, 1 to 2."


def test_the_best_of_several_machines_is_named_with_those_like_it() -> None:
    rates = {("a", 1): [100.0, 101.0], ("b", 1): [99.0, 103.0], ("c", 1): [50.0, 51.0]}
    assert seeds(rates).answers[0] == (
        "b or a has the most IOPS, 101 IOPS; c has the fewest, 50.5 IOPS. "
        '2 seeds do not separate lines joined by "or": repeat more.'
    )


def test_equal_machines_are_rarely_separated() -> None:
    noise, separate = random.Random(7), 0
    for _ in range(400):
        points = [Seeds(tuple(noise.gauss(100, 3) for _ in range(2)), Pooled(0.0, 0)) for _ in range(4)]
        pooled = pool(point.values for point in points)
        one, other = (Seeds(point.values, pooled) for point in points[:2])
        separate += compare(one, other) is Verdict.SEPARATE
    # 5 % of 400 are 20; more than 33 happen once in a thousand times.
    assert separate <= 33


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
