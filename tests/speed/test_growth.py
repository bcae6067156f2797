"""Does `make growth` find exponents, knees and quantities that grow faster than recorded?"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def growth(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """The script, with its table and picture in a folder of the test."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import growth

    monkeypatch.setattr(growth, "TABLE", tmp_path / "growth.csv")
    monkeypatch.setattr(growth, "ROOT", tmp_path)
    monkeypatch.setattr(growth, "PICTURE", tmp_path / "out" / "growth.svg")
    return growth


def test_the_cost_of_every_run_is_left_out_of_an_exponent(growth) -> None:
    assert growth.exponents((10, 20, 40), (110.0, 120.0, 140.0), 100.0) == pytest.approx([1.0, 1.0])
    assert growth.exponents((1, 10, 100), (5.0, 5.0, 500.0), 0.0) == pytest.approx([0.0, 2.0])


def test_a_knee_is_where_cost_begins_to_grow_faster(growth) -> None:
    assert growth.knee((16, 64, 256, 1024), (0.9, 1.0, 1.8)) == 256
    assert growth.knee((16, 64, 256, 1024), (0.9, 1.0, 1.2)) is None


@pytest.mark.parametrize(("power", "code"), [(1, 0), (2, 1)])
def test_what_grows_faster_than_recorded_is_named(
    growth, power: int, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    growth.TABLE.write_text("quantity,exponent\nthings,1.00\n")
    axis = growth.Axis("things", (10, 100), lambda size, _: 7.0 + float(size) ** power, 0)
    monkeypatch.setattr(growth, "AXES", (axis,))
    monkeypatch.setattr(sys, "argv", ["growth.py"])
    assert growth.main() == code
    first = capsys.readouterr().out.splitlines()[0]
    assert first == ("things: exponent 1.00" if code == 0 else "things: exponent 2.00, over 1.10")
    assert "<svg" in growth.PICTURE.read_text()


def test_an_unknown_quantity_is_refused_with_those_there_are(
    growth, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["growth.py", "--only", "moons"])
    with pytest.raises(SystemExit, match="2"):
        growth.main()
    assert "--only moons: expected a word of one of I/Os, depth" in capsys.readouterr().err
