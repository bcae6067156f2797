"""What is said of values: an interval holds its value, and its ends are a range that a product may have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hotband.questions.calibrate.calibrated import Value
from hotband.questions.calibrate.fit import Fitted
from hotband.questions.calibrate.loads import candidates
from hotband.questions.calibrate.model import LEAST_SPAN, Product, part_of, scaled, why_refused
from hotband.questions.calibrate.posterior import Part, Posterior
from hotband.questions.calibrate.product_file import file_text
from hotband.questions.calibrate.unknowns import FARTHEST, number_of, unknowns_of
from hotband.questions.calibrate.values import values_of

LIKE = "s4500-960"
SSDS = ("s4500-960", "pm893-3840", "p4510-4tb", "980-pro-1tb")


def found(name: str, best: int, shares: list[float]) -> Value:
    """A choice of which the options have these probabilities, and the best fit has one of them."""
    unknowns = unknowns_of(LIKE, {})
    place = next(n for n, one in enumerate(unknowns.choices) if one.name == name)
    nothing = np.zeros(0)
    parts = tuple(Part((n,), share, nothing, np.zeros((0, 0))) for n, share in enumerate(shares))
    fitted = Fitted((), (place,), nothing, (best,), Posterior(parts), (), nothing, 1.0)
    return next(one for one in values_of(unknowns, fitted, {}) if one.key == name)


@pytest.mark.parametrize("best", [0, 1, 2])
@pytest.mark.parametrize("shares", [[0.96, 0.02, 0.02], [0.02, 0.96, 0.02], [0.3, 0.3, 0.4], [0.5, 0.01, 0.49]])
@pytest.mark.parametrize("name", ["dies", "gc_separation"])
def test_the_interval_of_a_choice_holds_its_value(name: str, best: int, shares: list[float], tmp_path: Path) -> None:
    value = found(name, best, shares)
    assert value.value in value.options
    if name == "dies":
        assert number_of(value.low) <= number_of(value.value) <= number_of(value.high)
    path = tmp_path / "mine.toml"
    path.write_text(file_text(LIKE, "mine", "a test", [value], [], path))
    assert why_refused(Product(str(path)), ()) is None


def test_what_is_unknown_stays_as_the_product_has_it() -> None:
    value = found("dies", 0, [0.7, 0.15, 0.15])
    assert (value.state, value.value) == ("unknown", value.prior)


@pytest.mark.parametrize("like", SSDS)
def test_a_solid_state_drive_is_simulated_at_a_scale_that_takes_every_choice(like: str) -> None:
    product = scaled(Product(like))
    assert int(dict(product.held)["scale"]) > 1
    choices = unknowns_of(like, {}).choices
    assert [why_refused(product, one.at(n)) for one in choices for n in range(len(one.options))] == [
        None for one in choices for _ in one.options
    ]


def test_a_part_of_a_drive_is_the_same_part_of_a_smaller_one() -> None:
    load = candidates("ssd", 32)[0]
    assert part_of(load, 256) == load
    half = replace(load, span_bytes=480_000_000_000)
    assert part_of(half, 256).span_bytes == 480_000_000_000 // 256
    assert part_of(replace(load, span_bytes=8 << 30), 256).span_bytes == LEAST_SPAN
    assert part_of(replace(load, span_bytes=1 << 20), 256).span_bytes == 1 << 20


def test_the_seeks_of_a_data_sheet_are_fitted_although_they_have_no_range() -> None:
    [seeks] = [number for number in unknowns_of("savvio-10k1", {}).numbers if "seek_read_average" in number.keys]
    assert seeks.keys == ("seek_read_average", "seek_write_average")
    for key, slow in (("seek_read_average", "5.2 ms"), ("seek_write_average", "5.6 ms")):
        coordinate = seeks.place_of(key, slow)
        assert abs(coordinate) < FARTHEST
        assert number_of(dict(seeks.at(coordinate))[key]) == pytest.approx(number_of(slow), rel=1e-3)
    assert unknowns_of("savvio-10k1", dict.fromkeys(seeks.keys, "4 ms")).numbers == tuple(
        number for number in unknowns_of("savvio-10k1", {}).numbers if number.name != seeks.name
    )
