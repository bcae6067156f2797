"""Results of runs, on one target or on a model and the emulated drive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from hotband.data.record.overload import missed_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hotband.data.record.finished import Finished
    from hotband.data.record.record import Record
    from hotband.execution.targets.emulated import Emulated
    from hotband.questions.find.figures import Figure
    from hotband.questions.find.question import Condition
    from hotband.questions.slo import Judged


@dataclass
class Ran:
    """Finished runs, the page of those on hardware, and whether they have the requested intervals."""

    finished: list[Finished]
    io_log: Path | None = None
    report: Path | None = None
    is_whole: bool = True

    @property
    def notes(self) -> list[str]:
        """The notes of all runs."""
        return [note for run in self.finished for note in run.record.get("notes") or ()]

    @property
    def records(self) -> list[Record]:
        """The record of each run."""
        from hotband.data.record.record import record_of

        return [record_of(run) for run in self.finished]

    def json_text(self) -> str:
        """Return the record as it was written; for several runs, a list of them."""
        texts = [run.text for run in self.finished]
        return texts[0] if len(texts) == 1 else "[" + ",\n".join(texts) + "]"


def judged_run(slo: Sequence[Condition], finished: Finished) -> tuple[Judged, ...]:
    """Return whether a run meets an objective, by the intervals of its figures if it has them."""
    from hotband.data.record.record import record_of
    from hotband.questions.slo import judge, with_rate

    record = record_of(finished)
    known = {interval["figure"]: interval for interval in finished.record.get("intervals", {}).get("figures", [])}

    def ends(figure: Figure) -> tuple[float, float] | None:
        interval, scale = known.get(figure.document_name), figure.document_scale
        if interval is None or figure.is_of_commits(record):
            return None
        return interval["low"] * scale, interval["high"] * scale

    judged = judge(slo, lambda figure: figure.of(record), ends, lambda figure: figure.name_in(record))
    return with_rate(judged, missed_rate(finished.record))


@dataclass(frozen=True)
class Emulation:
    """A workload on a model and on the emulated drive, and the page of both."""

    schema: ClassVar[str] = "hotband-emulated"

    found: Emulated
    report: Path | None = None
    is_whole: bool = True

    @property
    def notes(self) -> list[str]:
        """The notes of the run on the emulated drive."""
        return self.found.fio.record.get("notes") or []

    def to_dict(self) -> Mapping[str, object]:
        """Output of `hotband run --on emulated:MACHINE --json`."""
        from hotband.inference.beside import beside_data

        return beside_data(self.found)
