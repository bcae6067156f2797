"""Is what drives draw drawn, tabled and printed as the record has it, and missed by nobody where it is not known?"""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
import synthetic
from test_variants import Page

from hotband.base.text.numbers import energy as energy_text
from hotband.views.record.energy import energy_lines, joules
from hotband.views.report import LoadedRecord, energy, record_page
from hotband.views.report.page import render

ENERGY = {
    "energy_j": 1200.0, "energy_low_j": 1080.0, "energy_high_j": 1320.0, "mean_w": 20.0, "idle_w": 10.0,
    "joules_per_io": 0.0123, "joules_per_io_low": 0.011, "joules_per_io_high": 0.0136, "drives": 2, "drives_unknown": 0,
}  # fmt: skip


def drawing(seconds: int = 60) -> LoadedRecord:
    """Two drives of 8 W and 12 W, a tenth to either side; the last interval is half as long, and 6 W more."""
    rows = [(second, drive, watts) for second in range(seconds) for drive, watts in (("d0", 8.0), ("d1", 12.0))]
    last = seconds - 1
    power = pl.DataFrame(
        {
            "time_ns": [second * 1e9 for second, _, _ in rows],
            "length_ns": [5e8 if second == last else 1e9 for second, _, _ in rows],
            "drive": [drive for _, drive, _ in rows],
            "power_w": [watts + 3.0 * (second == last) for second, _, watts in rows],
        }
    )
    power = power.with_columns(low_w=pl.col("power_w") * 0.9, high_w=pl.col("power_w") * 1.1)
    one = synthetic.loaded()
    return replace(one, record=one.record | {"energy": ENERGY}, power=power)


def test_drives_are_summed_over_time() -> None:
    frame = energy.power_frame({"run": drawing()})
    assert frame["power_w"].to_list() == pytest.approx([20.0] * 59 + [26.0])
    assert frame["low_w"][0] == pytest.approx(18.0)
    assert frame["high_w"][-1] == pytest.approx(28.6)
    assert frame["time_s"].to_list() == pytest.approx([float(second) for second in range(60)])


def test_a_long_run_keeps_its_energy() -> None:
    one = drawing(5000)
    frame = energy.power_frame({"run": one})
    assert frame.height <= energy.POINTS
    lengths = frame["time_s"].diff().shift(-1).fill_null(4999.5 - frame["time_s"][-1])
    whole = (one.power["power_w"] * one.power["length_ns"]).sum() / 1e9
    assert (frame["power_w"] * lengths).sum() == pytest.approx(whole, rel=1e-9)


def test_the_page_has_the_chart_and_the_table() -> None:
    text = render(record_page([drawing()], "t"))
    assert "Power over time" in text
    for words in ("1,080 J", "1,320 J", "12.3 mJ", "20 W"):
        assert words in text
    assert "power" in Page(text).sections


def test_a_record_without_power_has_neither() -> None:
    text = render(record_page([synthetic.loaded()], "t"))
    assert "Power over time" not in text
    assert "Energy of the measured time" not in text


def test_one_interval_is_no_curve() -> None:
    assert energy.power_block({"run": drawing(1)}) is None


@pytest.mark.parametrize(
    ("value", "text"), [(1500.0, "1.5 kJ"), (276.0, "276 J"), (0.107, "107 mJ"), (54e-6, "54 µJ"), (2.5e6, "2,500 kJ")]
)
def test_joules_are_printed_in_the_unit_that_fits(value: float, text: str) -> None:
    assert energy_text(value) == text


def test_a_range_has_its_unit_where_it_changes() -> None:
    assert joules(1.0, 0.9, 1.1) == "1 J (900 mJ to 1.1 J)"
    assert joules(1.0, 1.0, 1.1) == "1 J (1 to 1.1 J)"


def test_the_line_of_the_terminal() -> None:
    record = {"energy": ENERGY, "duration_ns": 60e9}
    (line,) = energy_lines(record)
    assert line.startswith("Energy of 2 drives: 20 W on average (18 to 22 W by the ranges of its values; 10 W")
    assert line.endswith(" at rest), 1.2 kJ (1.08 to 1.32 kJ), 12.3 mJ per I/O (11 to 13.6 mJ)")
    per_io = dict.fromkeys(("joules_per_io", "joules_per_io_low", "joules_per_io_high"))
    exact = ENERGY | {"energy_low_j": 1200.0, "energy_high_j": 1200.0, "drives_unknown": 1, **per_io}
    (line,) = energy_lines({"energy": exact, "duration_ns": 60e9})
    assert line.startswith("Energy of 2 drives; 1 of unknown power left out: 20 W on average (10 W at rest), 1.2 kJ")
    assert " to " not in line
    assert "an I/O" not in line
    (line,) = energy_lines({"energy": exact | dict.fromkeys(per_io, 0.0123), "duration_ns": 60e9})
    assert line.endswith("1.2 kJ, 12.3 mJ per I/O")
    assert energy_lines({"duration_ns": 60e9}) == []
