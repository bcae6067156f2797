"""What full-sata-ssd concludes: the answer to its question."""

from __future__ import annotations

from hotband.questions.study.answer import figures_of
from hotband.questions.study.studies.full_sata_ssd.answer import answer
from hotband.questions.study.study import Conclusion, Results


def conclude(results: Results) -> Conclusion:
    """The answer; its figures speak for themselves."""
    return Conclusion(answer=answer(figures_of(results, [])))
