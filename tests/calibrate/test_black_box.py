"""A volume without a mechanism: what its measurements say directly, and that its file runs."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import pytest

import hotband as hb
from hotband.base.errors import UserError
from hotband.questions.calibrate.black_box import guesses, loads_for, product_of
from hotband.questions.calibrate.figures import Seen
from hotband.questions.calibrate.loads import BLACK_BOX, candidates, held_out
from hotband.questions.calibrate.measured import Measured

COUNTS = {"read": 10_000, "write": 10_000}


def measured() -> list[Measured]:
    """A volume of 400 us a command, 100 us for each 64 KiB of it, at most 5,000 I/Os a second."""
    found = []
    for load in candidates(BLACK_BOX, 0):
        size = next((int(text.split()[0]) for text in ("64 KiB", "256 KiB") if text in load.name), 4)
        p50 = math.log((400e3 + 100e3 * (size - 4) / 64) * (4 if load.depth > 8 else 1))
        logs = {(side, name): p50 + (0.2 * 2.326 if name == "p99" else 0.0)
                for side in COUNTS for name in ("mean", "p50", "p99")}  # fmt: skip
        found.append(Measured(load, (Seen(logs, COUNTS, min(5_000.0, load.depth * 2_000.0)),)))
    return found


def test_first_guesses_are_what_the_loads_show() -> None:
    found = guesses(measured())
    assert found["read_time"].value == pytest.approx(400.0)
    # 64 KiB in 100 us.
    assert found["write_rate"].value == pytest.approx(655.36)
    assert found["read_spread"].value == pytest.approx(20.0)
    limit = found["ios_limit"]
    assert limit.low < 5_000 < limit.high
    assert all(guess.low <= guess.value <= guess.high for guess in found.values())


def test_the_guesses_run_as_a_product(tmp_path: Path) -> None:
    product = product_of(measured(), 1 << 33, tmp_path)
    run = hb.run("fio-randread", on=product.name, qd=1, duration="1 s")
    assert run.read.p50 == pytest.approx(400e-6, rel=0.02)


def test_too_little_time_is_refused() -> None:
    with pytest.raises(UserError, match="is too short"):
        loads_for(60.0, None, reads=False)


def test_a_mixed_load_at_a_rate_has_a_clock_for_reads_and_one_for_writes() -> None:
    paced = held_out("ssd", 1000.0)[1]
    told = tomllib.loads(paced.text())
    assert "load" not in told
    rates = {one["name"]: (one["read_pct"], one["load"]["open"]["rate_iops"]) for one in told["streams"]}
    assert rates == {"reads": (100, 700), "writes": (0, 300)}
