"""A chunk of repetitions that another build left is not taken over."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hotband.questions.fleet.kept import Chunk, Kept
from hotband.questions.fleet.repetition import COLUMNS, TOTALS


@pytest.mark.parametrize(("totals", "is_there"), [(len(TOTALS), True), (len(TOTALS) - 2, False)])
def test_a_chunk_with_other_totals_is_made_anew(tmp_path: Path, totals: int, is_there: bool) -> None:
    kept = Kept(tmp_path, "key", "a fleet", 16, fresh=True)
    months = np.zeros((16, 24, len(COLUMNS)), dtype=np.float32)
    kept.keep(0, Chunk([months], [np.zeros((16, totals), dtype=np.float32)]))
    assert (kept.load(0, groups=1, count=16) is not None) == is_there
