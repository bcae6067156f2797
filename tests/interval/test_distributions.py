"""How does a range become a distribution, and which values are uncertain?"""

from __future__ import annotations

import math

import numpy as np
import pytest

from hotband.data.documents.run import RunSpec
from hotband.execution.experiment.ranges import Range
from hotband.execution.runs.run import prepare
from hotband.inference.interval.distribution import NOMINAL, Distribution, distribution_of
from hotband.inference.interval.sampler import Sampler
from hotband.inference.interval.uncertain import of_product, of_run, with_values


def distribution(low: object, nominal: str, high: object, **more: bool) -> Distribution:
    found = distribution_of(Range("x", "x", low, high, nominal), **more)
    assert found is not None
    return found


def test_a_triangle_has_its_quantiles() -> None:
    of = distribution("2 ms", "3 ms", "6 ms")
    assert of.kind == "log-triangular", "a factor of three"
    of = distribution("4 ms", "5 ms", "7 ms")
    # Below the peak lies a third of it: F(x) = (x - 4)^2 / 3, above 1 - F(x) = (7 - x)^2 / 6.
    assert of.at(0.0) == "4 ms"
    assert of.at(1 / 3) == "5 ms"
    assert of.at(1 / 12) == "4.5 ms"
    assert of.at(1 - 1 / 6) == "6 ms"
    assert of.at(1.0) == "7 ms"


def test_a_wide_range_is_a_triangle_of_the_logarithm() -> None:
    of = distribution("0.05 ms", "0.1 ms", "0.2 ms")
    shares = np.linspace(0, 1, 1001)
    logs = [math.log(float(of.at(share).split()[0]) / 0.1) for share in shares]
    assert np.mean(logs) == pytest.approx(0.0, abs=1e-3), "half is as likely as double"
    assert min(logs) == pytest.approx(-math.log(2), rel=1e-4)


def test_places_are_minus_one_zero_and_one_at_the_ends_and_the_nominal_value() -> None:
    for of in (distribution("4 ms", "5 ms", "7 ms"), distribution("1 MB", "2 MB", "16 MB")):
        peak = (math.log(2) / math.log(16)) if of.kind == "log-triangular" else 1 / 3
        assert [round(of.place(share), 9) for share in (0.0, peak, 1.0)] == [-1.0, 0.0, 1.0]


def test_a_nominal_value_at_an_end_has_one_side() -> None:
    of = distribution("300 MB/s", "300 MB/s", "315 MB/s")
    assert min(of.place(share) for share in np.linspace(0, 1, 101)) == 0.0


def test_units_of_the_ends_may_differ() -> None:
    of = distribution("500 ms", "1 s", "2 s")
    assert (of.at(0.0), of.at(1.0)) == ("0.5 s", "2 s")


def test_sizes_are_whole_sectors_and_counts_whole() -> None:
    size = distribution("1 MB", "2 MB", "16 MB").at(0.37)
    assert size.endswith(" B")
    assert int(size.split()[0]) % 512 == 0
    assert distribution("16", "32", "64").at(0.37) == str(int(distribution("16", "32", "64").at(0.37)))


def test_a_choice_is_nominal_in_two_of_three_cases() -> None:
    of = distribution("none", "relocated", "hot-cold")
    drawn = [of.at((number + 0.5) / 600) for number in range(600)]
    assert (drawn.count("none"), drawn.count(NOMINAL), drawn.count("hot-cold")) == (100, 400, 100)
    of = distribution("off", "on", "on")
    drawn = [of.at((number + 0.5) / 600) for number in range(600)]
    assert (drawn.count("off"), drawn.count(NOMINAL)) == (200, 400)


def test_words_for_a_nominal_value_make_a_choice_of_numbers() -> None:
    assert distribution("8", "16 extents", "32").kind == "choice"
    assert distribution("16", "32", "64", is_choice=True).kind == "choice"
    assert distribution("8 KiB", "16 KiB", "64 KiB").kind == "choice", "pages are made in powers of two"
    assert distribution("8 KiB", "17 KiB", "64 KiB").kind == "log-triangular"


def test_a_range_without_width_is_none() -> None:
    assert distribution_of(Range("x", "x", "16 KiB", "16 KiB", "16 KiB")) is None


def test_what_is_uncertain_of_a_drive() -> None:
    found = {one.range.key: one for one in of_product("exos-15e900-512n")}
    assert "seek_read_average" in found
    assert "wce" not in found, "a switch that the catalog does not call an estimate is the buyer's"
    assert not any(key.startswith(("power_", "reference.")) for key in found)
    assert found["seek_read_average"].group == found["seek_read_full"].group != found["head_skew"].group


def test_what_is_set_is_not_uncertain() -> None:
    spec = RunSpec("r", "exos-15e900-512n", "fio-randread", (("zones", "20"),))
    keys = [one.range.key for one in of_run(spec)]
    assert "zones" not in keys
    assert "head_skew" in keys


def test_what_a_workloads_author_does_not_know_is_uncertain() -> None:
    names = [one.name for one in of_run(RunSpec("r", "exos-15e900-512n", "desktop-boot"))]
    assert "desktop-boot: span" in names


TWO_KINDS = """
[drives.a]
product = "ent-10k"
[drives.b]
product = "ent-15k"
[layouts.data]
raid1 = { members = "a, b" }
"""


def test_of_two_products_each_has_its_own_value() -> None:
    spec = RunSpec("r", "two", "fio-randread", machine_text=TWO_KINDS)
    values = [one for one in of_run(spec) if one.range.key == "head_skew"]
    assert [one.tables for one in values] == [("a",), ("b",)]
    changed = with_values(spec, [(values[0], "0.55 ms")])
    assert str(changed.machine_text).count("0.55 ms") == 1
    prepare(changed)


def test_the_same_seed_draws_the_same_and_groups_move_together() -> None:
    values = of_product("exos-15e900-512n")
    one, again, other = (Sampler(values, seed).shares(8) for seed in (7, 7, 8))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    column = {value.range.key: number for number, value in enumerate(values)}
    assert np.array_equal(one[:, column["seek_read_average"]], one[:, column["seek_read_full"]])
    assert not np.array_equal(one[:, column["seek_read_average"]], one[:, column["zones"]])


def test_draws_fill_the_space_evenly() -> None:
    shares = Sampler(of_product("exos-15e900-512n"), 1).shares(64)
    for column in shares.T:
        assert set(np.floor(column * 8).astype(int)) == set(range(8)), "each eighth of every value is drawn"
