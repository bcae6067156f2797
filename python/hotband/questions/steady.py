"""Whether records reached steady state (docs/guides/steady-state.md)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hotband.base.question import Question, Way, asks
from hotband.data.importers import load, loaded
from hotband.data.inputs.kinds import Records, paths_of
from hotband.data.record.files import record_file
from hotband.data.record.load import LoadedRecord, records_in
from hotband.data.record.rounds import judge
from hotband.data.record.steadiness import Steadiness
from hotband.data.results.walk import is_foreign, is_output, is_walked, walk


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
        "Records, results of other tools, or folders of them.",
        metavar="RECORD...",
        positional=True,
        takes="at least one record",
    )
    round: str | None = asks(
        'Length of a round; default: that of the run, or "60 s".', default=None, metavar="TIME", unit="s"
    )
    track: str | None = asks(
        "iops, latency or bandwidth; default: that of the run, or iops.", default=None, metavar="WHAT"
    )

    def files(self) -> list[Path]:
        """Return the paths of the records."""
        return paths_of(self.records)


def answer(question: SteadyQuestion, _: Way) -> Steadiness:
    """Return the verdict of the rule. Raises UserError."""
    given = [loaded for item in question.records for loaded in (_results(item) if isinstance(item, Path) else [item])]
    return Steadiness(tuple(judge(given, question.round, question.track)))


def _results(path: Path) -> list[Path | LoadedRecord]:
    """Return a record's path unchanged, records below a folder, and what importers read of other files. Raises
    UserError."""
    if record_file(path).exists() or not (path.is_dir() or is_foreign(path)):
        return [path]
    if path.is_dir() and not is_output(path) and not is_walked(path):
        return list(records_in(path))
    if path.is_dir() and is_walked(path):
        return [result.record for result in walk(path).results]
    return [loaded(imported) for imported in load(path)]
