"""Residuals that no study changes: intervals of the tests do not move when a model does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hotband.inference.interval import residuals
from hotband.inference.interval.conformal import ARRAYS
from hotband.inference.interval.figureclass import FigureClass
from hotband.inference.interval.residuals import Kept, ResidualFile, read_residuals
from hotband.questions.study.intervals import listing

ERRORS_PCT = (2.0, -3.0, 4.0, -5.0, 6.0, -8.0, 10.0, -12.0, 15.0, -20.0, 25.0, -30.0)


def made_up() -> ResidualFile:
    """Twelve figures of each of four classes, in three studies."""
    figures = [
        Kept(f"s{n % 3}", "m", f"{of}-{n}", str(of), ARRAYS, 100.0, 100.0 + error, error, None, None, (0.0, 0.0))
        for of in (FigureClass.RANDOM, FigureClass.TIME, FigureClass.P50, FigureClass.P99)
        for n, error in enumerate(ERRORS_PCT)
    ]
    return ResidualFile("0", "made up", figures)


@pytest.fixture(autouse=True)
def known_residuals(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The made-up residuals, read as those of the catalog are."""
    path = tmp_path_factory.mktemp("residuals") / "residuals.json"
    path.write_text(made_up().text(), encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8"))["command"] == "made up"
    residuals.model_term.cache_clear()
    monkeypatch.setattr(residuals, "RESIDUALS_FILE", path)
    monkeypatch.setattr(residuals, "read_residuals", lambda: read_residuals(path))
    monkeypatch.setattr(listing, "read_residuals", lambda: read_residuals(path))
    return path
