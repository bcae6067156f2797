"""Whether records reached steady state (docs/guides/steady-state.md)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hotband.base.question import Question, Way, asks
from hotband.data.inputs.kinds import Records, paths_of
from hotband.data.record.rounds import judge
from hotband.data.record.steadiness import Steadiness


@dataclass(frozen=True, kw_only=True)
class SteadyQuestion(Question):
    """Report whether records reached steady state by the rule of the SNIA PTS, and whether they left it.

    Records, or their paths, that have a series are divided into rounds; one without a series is one round. The rounds
    keep the given order. The result has `verdicts`, `reached` and a `frame`. Raises UserError.
    """

    name = "steady"
    schema = ""
    answers = "hotband.data.record.steadiness:Steadiness"

    records: Records = asks(
        "record.json files or their folders.", metavar="RECORD...", positional=True, takes="at least one record"
    )
    round: str | None = asks('Length of a round; default: that of the run, or "60 s".', default=None, metavar="TIME")
    track: str | None = asks(
        "iops, latency or bandwidth; default: that of the run, or iops.", default=None, metavar="WHAT"
    )

    def files(self) -> list[Path]:
        """Return the paths of the records."""
        return paths_of(self.records)


def answer(question: SteadyQuestion, _: Way) -> Steadiness:
    """Return the verdict of the rule. Raises UserError."""
    return Steadiness(tuple(judge(question.records, question.round, question.track)))
