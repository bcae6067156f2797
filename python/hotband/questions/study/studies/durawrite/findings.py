"""What the published figures of the DuraWrite study say about themselves, and what the model says about them."""

from __future__ import annotations

from hotband.questions.study.answer import figures_of
from hotband.questions.study.runs import Results
from hotband.questions.study.studies.durawrite import claims, printed, why
from hotband.questions.study.studies.durawrite.answer import answer
from hotband.questions.study.study import Conclusion


def conclude(results: Results) -> Conclusion:
    """Claims and findings of the study."""
    claimed, found = claims.all_of(results), [*printed.all_of(results), *why.all_of(results)]
    return Conclusion(claimed, found, answer=answer(figures_of(results, claimed)))
