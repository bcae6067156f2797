"""Which values of a catalog's entry are drawn, together with which, and as what are they set?"""

from __future__ import annotations

from typing import Any, cast

import pytest

from hotband.data.documents.run import RunSpec
from hotband.execution.experiment.ranges import Range
from hotband.inference.interval.conformal import Kind, ModelTerm, Residual, Spread
from hotband.inference.interval.distribution import NOMINAL, distribution_of
from hotband.inference.interval.figureclass import FigureClass
from hotband.inference.interval.uncertain import Uncertain, group_of, of_product, of_run, of_value, with_values
from hotband.questions.study.intervals.listing import interval_of


def catalog(key: str, *ends: str, value: str = "5 ms", estimate: bool = False) -> Any:
    return cast(
        "Any",
        {"key": key, "value": value, "range": list(ends) or None, "source": "a source", "confidence": "low",
         "estimate": estimate},
    )  # fmt: skip


def test_a_value_with_a_range_is_uncertain() -> None:
    found = of_value("disk", catalog("head_skew", "4 ms", "6 ms"))
    assert found is not None
    assert (found.name, found.part, found.group) == ("disk: head_skew", "disk", "disk: skew")
    assert (found.source, found.confidence, found.tables) == ("a source", "low", ())
    assert (found.range.low, found.range.nominal, found.range.high) == ("4 ms", "5 ms", "6 ms")


@pytest.mark.parametrize(
    ("of", "drawn"),
    [
        (catalog("x"), False),
        (catalog("x", "5 ms", "5 ms"), False),
        (catalog("reference.rate", "4 ms", "6 ms"), False),
        (catalog("power_idle", "4 ms", "6 ms"), False),
        (catalog("the_power_idle", "4 ms", "6 ms"), True),
        (catalog("wce", "off", "on", value="on"), False),
        (catalog("wce", "off", "on", value="on", estimate=True), True),
        (catalog("dies", "32", "64", value="32"), True),
        (catalog("rows", "32", "64", value="32"), True),
    ],
)
def test_what_is_drawn_of_a_catalog(of: Any, drawn: bool) -> None:
    assert (of_value("disk", of) is not None) is drawn


def test_what_is_built_in_steps_is_a_choice() -> None:
    kinds = {key: of_value("disk", catalog(key, "32", "64", value="48")) for key in ("dies", "rows")}
    assert {key: one and one.distribution.kind for key, one in kinds.items()} == {
        "dies": "choice",
        "rows": "log-triangular",
    }


@pytest.mark.parametrize(
    ("key", "group"),
    [
        ("seek_read_track", "disk: seek"),
        ("seek_read_average", "disk: seek"),
        ("seek_write_full", "disk: seek"),
        ("track_skew", "disk: skew"),
        ("head_skew", "disk: skew"),
        ("seek_curve", "disk: seek_curve"),
    ],
)
def test_what_one_arm_does_is_drawn_together(key: str, group: str) -> None:
    assert group_of("disk", key) == group


def uncertain(low: Any, nominal: str, high: Any) -> Uncertain:
    of = Range("x", "x", low, high, nominal)
    distribution = distribution_of(of)
    assert distribution is not None
    return Uncertain(of, distribution, "p", "", "", "x")


def test_a_value_is_text_or_a_number_as_its_ends_are() -> None:
    assert uncertain("4 ms", "5 ms", "7 ms").at(1.0) == "7 ms"
    whole = uncertain(40, "50", 70).at(0.5)
    assert (whole, type(whole)) == (53, int)
    broken = uncertain(4.0, "5", 7).at(0.5)
    assert (round(broken, 4), type(broken)) == (round(7 - 3**0.5, 4), float)
    text = uncertain("40", "50", 70).at(0.5)
    assert (text, type(text)) == ("53", str)
    assert uncertain(1, "as many as there are", 2).at(0.99) == 2


def test_held_values_are_left_out() -> None:
    every = {one.range.key for one in of_product("ent-10k")}
    assert {one.range.key for one in of_product("ent-10k", {"head_skew"})} == every - {"head_skew"}


TWO = """
[drives.a]
product = "ent-10k"
count = 2
[drives.b]
product = "ent-15k"
set = { head_skew = "0.5 ms" }
[drives.c]
product = "ent-10k"
[layouts.data]
concat = { members = "*" }
"""


def values_of_two() -> dict[tuple[str, str], Uncertain]:
    spec = RunSpec("r", "two", "fio-randread", machine_text=TWO)
    return {(one.part, one.range.key): one for one in of_run(spec)}


def test_what_a_machine_sets_of_one_product_is_not_uncertain() -> None:
    found = values_of_two()
    assert ("ent-10k", "head_skew") in found
    assert ("ent-15k", "head_skew") not in found
    assert found["ent-10k", "head_skew"].tables == ("a", "c")
    assert found["ent-15k", "track_skew"].tables == ("b",)


def test_of_one_product_values_are_settings() -> None:
    text = '[drives.a]\nproduct = "ent-10k"\n[layouts.data]\nconcat = { members = "*" }\n'
    spec = RunSpec("r", "one", "fio-randread", machine_text=text)
    assert {one.tables for one in of_run(spec)} == {()}
    (skew,) = (one for one in of_run(spec) if one.range.key == "head_skew")
    changed = with_values(spec, [(skew, "0.7 ms")])
    assert changed.set == (("head_skew", "0.7 ms"),)
    assert changed.machine_text == text


def test_of_two_products_values_are_written_into_the_machine() -> None:
    import tomli

    spec = RunSpec("r", "two", "fio-randread", machine_text=TWO)
    found = values_of_two()
    chosen = [(found["ent-10k", "head_skew"], "0.7 ms"), (found["ent-15k", "zones"], "12"),
              (found["ent-15k", "track_skew"], NOMINAL)]  # fmt: skip
    drives = tomli.loads(with_values(spec, chosen).machine_text or "")["drives"]
    assert drives["a"]["set"] == drives["c"]["set"] == {"head_skew": "0.7 ms"}
    assert drives["b"]["set"] == {"head_skew": "0.5 ms", "zones": 12}, "a count is a number"
    assert with_values(spec, [(found["ent-15k", "zones"], NOMINAL)]) is spec


def test_an_interval_of_a_listed_figure_is_of_its_own_scale() -> None:
    # The other study has ten figures of two machines, all off by a factor of 1.5; its own, which is left out, by 9.
    term = ModelTerm(
        [Residual("t", f"m{n % 2}", f"{n}", Kind(FigureClass.RANDOM), 0.405) for n in range(10)]
        + [Residual("s", "m", f"{n}", Kind(FigureClass.RANDOM), 9.0) for n in range(9)]
    )
    study = cast("Any", type("Study", (), {"name": "s", "comparisons": (), "published": ()}))
    row = {"id": "f", "config": "m", "label": "random reads", "metric": "IOPS", "unit": "IOPS", "workload": None,
           "predicted": 100.0}  # fmt: skip
    found = interval_of(study, cast("Any", row), Spread(), term, {}, 80)
    assert found is not None
    assert (found["level"], round(found["low"], 1), round(found["high"], 1)) == (80, 66.7, 149.9)
    assert interval_of(study, cast("Any", row | {"predicted": None}), Spread(), term, {}) is None
    assert interval_of(study, cast("Any", row | {"predicted": -5.0}), Spread(), term, {}) is None
