"""Are targets found that were compared at unequal loads, on unequal data, or once?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_up import DISK, changed, deep, result, series

import hotband as hb
from hotband.inference.audit import Audited, comparability
from hotband.inference.audit.alike import unlike_words
from hotband.inference.audit.comparability import data_of
from hotband.inference.audit.compare import compare
from hotband.inference.audit.finding import Finding
from hotband.inference.audit.load import audited_record, load_sides


def found_of(rule: str, *runs: Audited) -> list[Finding]:
    return [one for one in comparability.check(runs) if one.rule == rule]


def at(name: str, target: str, depth: int, **more: Any) -> Audited:
    return result(name, deep(depth), target=target, concurrency=depth, **more)


def test_targets_without_a_depth_in_common_are_unequal() -> None:
    runs = [at("a1", "sda", 1), at("a4", "sda", 4), at("b8", "sdb", 8), at("b2", "sdb", 2)]
    (one,) = found_of("unequal-concurrency", *runs)
    assert one.title == "Targets are compared at unequal concurrency: sda at 1, 4, sdb at 2, 8"
    assert one.numbers == {"targets": 2, "least": 1, "most": 8}
    assert one.subject == ("a1", "a4", "b8", "b2")
    assert one.table is not None
    assert one.table.rows == [("sda", "1, 4"), ("sdb", "2, 8")]
    assert found_of("unequal-concurrency", *runs, at("b4", "sdb", 4)) == []
    assert found_of("unequal-concurrency", *runs[:2]) == [], "one target is compared with nothing"
    assert found_of("unequal-concurrency", runs[0], at("b8", "sdb", 8, read_pct=50.0)) == [], "another load"
    assert found_of("unequal-concurrency", runs[0], at("b8", "sdb", 8, rate=50.0)) == []


def test_what_is_not_known_of_a_load_is_not_compared() -> None:
    runs = [at("a1", "sda", 1, pattern=None), at("b8", "sdb", 8, pattern=None)]
    assert comparability.check(runs) == []
    cells = [changed(one, "target", "kind", to="published") for one in (at("a", "sda", 1), at("b", "sdb", 8))]
    assert comparability.check(cells) == []
    unknown = changed(at("b", "sdb", 8), "concurrency", to=None)
    unknown = changed(unknown, "source", "asked", "concurrency", to=None)
    assert found_of("unequal-concurrency", at("a", "sda", 1), unknown) == []


@pytest.mark.parametrize(
    ("sizes", "unequal"),
    [
        (([100], [95]), False),
        (([100], [94]), True),
        (([94], [100]), True),
        (([94, 100], [100]), False),
        (([100, 50], [100, 200]), False),
        (([50, 60], [100, 200]), True),
        (([100], [None]), False),
    ],
)
def test_targets_without_a_size_in_common_are_on_unequal_data(
    sizes: tuple[list[int | None], list[int | None]], unequal: bool
) -> None:
    runs = [
        at(f"{target}{n}", target, 1, working_set_bytes=None if size is None else size * 10**10)
        for target, own in zip(("sda", "sdb"), sizes, strict=True)
        for n, size in enumerate(own)
    ]
    assert bool(found_of("unequal-data", *runs)) is unequal


def test_unequal_data_are_named_with_their_sizes() -> None:
    runs = [at(name, target, 1, working_set_bytes=size) for name, target, size in
            (("a", "sda", 10**11), ("b", "sda", 2 * 10**11), ("c", "sdb", 10**12))]  # fmt: skip
    (one,) = found_of("unequal-data", *runs)
    title = "Targets are compared on unequal data (working set, bytes): sda 200 GB, sdb 1 TB"
    assert one.title == title
    assert one.numbers == {"what": "working set, bytes", "least": 10**11, "most": 10**12}


def test_data_are_the_same_by_size_entropy_and_options() -> None:
    one = result("a", DISK, working_set_bytes=10**12, spec={
        "global": {"buffer_compress_percentage": "50", "dedupe_percentage": "20"},
        "jobs": {"job": {"dedupe_percentage": "30"}},
    })  # fmt: skip
    known = {"working set, bytes": 10**12, "buffer_compress_percentage": 50.0, "dedupe_percentage": 30.0}
    assert data_of(one) == known
    assert data_of(changed(one, "data", to=[{"mean": 0.2}, {"mean": 0.6}])) == known | {"entropy": 0.4}
    assert data_of(changed(one, "data", to=[{"mean": 0.2}, {"mean": None}])) == known
    assert data_of(changed(one, "spec", to={"global": {"dedupe_percentage": "many"}})) == {"working set, bytes": 10**12}
    assert data_of(result("a", DISK, working_set_bytes=0, spec={})) == {}


def test_points_of_a_comparison_that_were_measured_once_are_counted() -> None:
    twice = [at("a1", "sda", 1), at("a2", "sda", 1, slower=1.01)]
    (one,) = found_of("one-repeat", *twice, at("b1", "sdb", 1), at("b4", "sdb", 4))
    assert one.subject == ("b1", "b4")
    assert one.numbers == {"points": 3, "points_measured_once": 2}
    assert one.title == "2 of 3 points were measured once: the spread between repeats is unknown"
    assert found_of("one-repeat", *twice) == []
    assert found_of("one-repeat", twice[0]) == [], "one point is no sweep"


def test_copies_of_one_measurement_are_one_repeat() -> None:
    copies = [at("a1", "sda", 1), at("a2", "sda", 1), at("b1", "sdb", 1)]
    (one,) = found_of("one-repeat", *copies)
    assert one.subject == ("a1", "b1")
    (copied,) = found_of("copied-result", *copies)
    assert copied.subject == ("a1", "a2")
    assert found_of("copied-result", at("a1", "sda", 1), at("a2", "sda", 1, slower=1.000_01)) == []


def test_points_of_a_sweep_have_one_pattern_and_size_of_an_io() -> None:
    assert found_of("one-repeat", at("a", "sda", 1), at("b", "sda", 4, size=8192)) == []
    assert found_of("one-repeat", at("a", "sda", 1), at("b", "sda", 1, pattern="sequential")) == []
    (one,) = found_of("one-repeat", at("a", "sda", 1), at("b", "sda", 1, read_pct=50.0))
    assert one.numbers["points"] == 2, "shares of reads are points of one sweep"
    (one,) = found_of("one-repeat", at("a", "sda", 1), at("b", "sda", 1, working_set_bytes=10**12))
    assert one.numbers["points"] == 2


def test_models_are_exact_and_measured_once() -> None:
    runs = [changed(one, "target", "kind", to="model") for one in (at("a", "sda", 1), at("b", "sda", 4))]
    assert found_of("one-repeat", *runs) == []


def sampled(name: str, target: str, depth: int, rate: float, seed: int) -> Audited:
    one = at(name, target, depth, over_time=series([rate], 300, 9e4, 0.05, seed))
    return changed(one, "summary", "iops", to=rate)


def test_a_difference_within_its_interval_is_told_at_each_depth() -> None:
    runs = [sampled("a1", "sda", 1, 100.0, 1), sampled("b1", "sdb", 1, 100.1, 2), sampled("a4", "sda", 4, 100.0, 3),
            sampled("b4", "sdb", 4, 150.0, 4), sampled("a8", "sda", 8, 100.0, 5)]  # fmt: skip
    (one,) = found_of("within-interval", *runs)
    assert one.subject == ("a1", "b1")
    change, low, high = (float(one.numbers[name]) for name in ("change_pct", "low_pct", "high_pct"))
    assert change == pytest.approx(0.1)
    assert low < 0 < change < high
    said = "IOPS differ by +0.1 %, within the 95 % interval of -0.689 to +0.891 %"
    assert one.title == f"a1, b1: {said}"


def test_of_three_targets_each_pair_is_compared() -> None:
    runs = [sampled(name, name, 1, 100.0, seed) for seed, name in enumerate(("sda", "sdb", "sdc"))]
    pairs = [one.subject for one in found_of("within-interval", *runs)]
    assert pairs == [("sda", "sdb"), ("sda", "sdc"), ("sdb", "sdc")]


def test_a_failure_on_one_side_is_no_quality_of_the_drives(tmp_path: Path) -> None:
    sides = []
    for name, events, seed in (("a", [], 1), ("b", ["d1@1 ms"], 1), ("c", ["d1@1 ms"], 2)):
        run = {"on": "raid5:4xent-15k", "duration": "1 s", "qd": 4, "seed": seed}
        hb.run("fio-randread", **run, fail=events, out=tmp_path / name)
        sides.append([tmp_path / name])
    assert compare(*load_sides(sides[:2])).unequal_state == ["events of the runs differ: A none; B fail d1@1 ms"]
    assert compare(*load_sides(sides[1:])).unequal_state == []


@pytest.mark.parametrize(
    ("span", "measured", "differs"),
    [
        (None, 2**28, "span differs: the whole target (900 GB) and 256 MiB"),
        (None, 900 * 10**9, None),
        (None, None, None),
        ("256 MiB", 2**28, None),
        ("10 %", 2**28, "span differs: 90.0 GB and 256 MiB"),
        ("10 %", 90 * 10**9, None),
    ],
)
def test_a_whole_drive_and_a_small_file_are_not_one_load(
    span: str | None, measured: int | None, differs: str | None
) -> None:
    """A tool that states no span may have touched the same."""
    settings = {} if span is None else {"span": span}
    record = hb.run("fio-randread", on="exos-15e900-512n", duration="0.1 s", set=settings)
    model, file = audited_record(record.to_dict(), None), result("file", DISK, working_set_bytes=measured)
    for pair in ((model, file), (file, model)):
        words = [sentence for sentence in unlike_words(*pair) if "span" in sentence]
        assert bool(words) is (differs is not None)
    assert unlike_words(model, file)[-1:] == [differs] or differs is None
