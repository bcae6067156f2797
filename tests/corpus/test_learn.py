"""Does what is learned of the corpus rest on what was just learned, and where is it written?"""

from __future__ import annotations

import sys
from pathlib import Path
from unittest.mock import Mock, call

import pytest

from hotband.base.errors import UserError
from hotband.questions.datasheet.learned import SHIPPED_EVIDENCE
from hotband.views.accuracy.page import rewritable

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import corpus_learn


def test_products_follow_the_evidence_and_precede_their_predictions(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = Mock()
    steps.write_residuals.return_value = steps.write_catalog_predictions.return_value = 0
    names = (
        "write_file", "write_products", "predicted", "write_residuals", "likenesses_of", "write_likenesses",
        "predicted", "write_catalog_predictions", "write_page",
    )  # fmt: skip
    for name in {*names}:
        monkeypatch.setattr(corpus_learn, name, getattr(steps, name))
    monkeypatch.setattr(corpus_learn, "evidence_of", lambda *_: ())
    corpus_learn.main(["out"])
    assert [name for name, _, _ in steps.mock_calls] == list(names)
    assert steps.mock_calls[0] == call.write_file(SHIPPED_EVIDENCE, "[\n\n]\n")


def test_a_page_without_a_place_for_the_table_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{corpus_learn.MARKS[0]}\nold\n")
    with pytest.raises(UserError, match=r"has no place for the errors: expected a line .* corpus: begin"):
        rewritable(page, corpus_learn.MARKS)
