"""Is the theory of write amplification the one that physics states?"""

from __future__ import annotations

import math

import pytest

from hotband.inference.amplification import compressed, lambert, uniform

# Over-provisioning, the formula's value, and brute force with 256-page blocks (Xiang and Kurkoski; our own simulation).
TABLE = (
    (0.07, 7.82, 7.71), (0.10, 5.68, 5.62), (0.15, 4.02, 3.99), (0.20, 3.19, 3.17), (0.28, 2.48, 2.47),
    (0.40, 1.96, 1.95), (0.60, 1.56, 1.55), (1.0, 1.26, 1.25),
)  # fmt: skip


@pytest.mark.parametrize(("spare", "formula", "simulated"), TABLE)
def test_the_formula_and_brute_force(spare: float, formula: float, simulated: float) -> None:
    assert uniform(spare) == pytest.approx(formula, abs=0.0051)
    assert uniform(spare) == pytest.approx(simulated, rel=0.015)


@pytest.mark.parametrize("w", [-1.0, -0.999, -0.9, -0.5, -0.1, -1e-6, 0.0])
def test_lamberts_function_is_the_inverse_of_w_e_w(w: float) -> None:
    assert lambert(w * math.exp(w)) == pytest.approx(w, abs=1e-6)


def test_incompressible_data_is_that_of_any_drive() -> None:
    assert compressed(0.07, 1.0) == uniform(0.07)


def test_entropy_of_three_quarters_without_spare_is_a_third_of_spare() -> None:
    # a / e with no spare: 1 / 0.75 - 1 = 1/3 (the vendor's rule says 28 %, which leaves room for metadata).
    assert compressed(1e-9, 0.75) == pytest.approx(0.75 * uniform(1 / 3), rel=1e-6)


def test_very_compressible_data_costs_its_size() -> None:
    assert compressed(0.07, 0.0126) == pytest.approx(0.0126, rel=1e-3)


@pytest.mark.parametrize("spare", [0.0, -0.1])
def test_without_spare_capacity_there_is_no_theory(spare: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        uniform(spare)


@pytest.mark.parametrize("entropy", [0.0, -0.1, 1.1])
def test_an_entropy_is_a_share(entropy: float) -> None:
    with pytest.raises(ValueError, match="above 0, at most 1"):
        compressed(0.1, entropy)
