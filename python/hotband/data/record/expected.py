"""The section `expected` of a record in words: the verdict on a drive next to the prediction for it."""

from __future__ import annotations

from hotband.data.documents.record import ExpectedHereDoc


def sentence_of(expected: ExpectedHereDoc) -> str:
    """Return the verdict in a sentence without its end, for terminal and page."""
    if not expected.get("is_near", True):
        return f"Not judged: {expected['verdict']}"
    return f"Expected of {expected['machine']} ({expected['chosen']}): {expected['verdict']}"
