"""What the published figures of the DuraWrite study say about themselves, and what the model says about them."""

from __future__ import annotations

from hotband.catalog.studies.durawrite import claims, printed, why
from hotband.catalog.studies.durawrite.answer import answer
from hotband.study.answer import figures_of
from hotband.study.runs import Results
from hotband.study.study import Conclusion


def conclude(results: Results) -> Conclusion:
    """Claims and findings of the study."""
    claimed, found = claims.all_of(results), [*printed.all_of(results), *why.all_of(results)]
    return Conclusion(claimed, found, answer=answer(figures_of(results, claimed)))
