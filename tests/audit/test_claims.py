"""Does the arithmetic in a contradiction follow from its figures?"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from hotband.base.claim import Claim, equal
from hotband.data.importers.fio.series import _add_percentiles
from hotband.inference.audit.tools import _AVERAGED


def test_a_derived_figure_is_printed_without_its_tolerance() -> None:
    for stated in (2000.0, 2600.0):
        (claim,) = equal("IOPS", stated, "258,144 in 110.948 s", 258_144 / 110.948, share=0.01)
        assert not claim.holds
        assert claim.words == f"IOPS is {stated:,.0f}, but 258,144 in 110.948 s makes 2,326.71"


@pytest.mark.parametrize(("stated", "words"), [(1.0, "at least 5"), (20.0, "at most 10")])
def test_a_bound_is_called_one(stated: float, words: str) -> None:
    assert Claim("IOPS", stated, "a range", 5.0, 10.0).words.endswith(f"makes {words}")


def test_a_note_on_a_missing_series_is_no_averaged_percentile() -> None:
    axis: Any = SimpleNamespace(interval_ms=500, notes=[])
    _add_percentiles(axis, [cast("Any", "a log")], {}, None, 1000)
    (note,) = axis.notes
    assert "averages every 500 ms" in note
    assert _AVERAGED.search(note) is None
    assert _AVERAGED.search("p99 is averaged over jobs")
