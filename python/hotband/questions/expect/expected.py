"""The result of `expect`: measured and predicted figures, a verdict, assumptions and possible explanations."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from hotband.base.heavy import pl
from hotband.base.text.numbers import number
from hotband.base.text.schema import to_object
from hotband.base.text.values import Json
from hotband.data.documents.expected import Verdict
from hotband.data.record.pools import machine_state_lines
from hotband.inference.audit.rules import troubles
from hotband.questions.expect.judge import Judged, row_verdict, whole_verdict
from hotband.questions.expect.nearest import NO_DRIVE, Ranking
from hotband.questions.expect.others import Others
from hotband.questions.expect.predict import Predicted
from hotband.questions.expect.results import Row

SCHEMA, SCHEMA_VERSION = "hotband-expect", 1


@dataclass
class Expected:
    """Measured and predicted figures. `machine` is None if drives were ranked (`ranking`) instead."""

    machine: str | None
    level: float
    rows: list[Row]
    predicted: list[Predicted] = field(default_factory=list)
    explanations: list[str] = field(default_factory=list)
    ranking: Ranking | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def troubles(self) -> list[str]:
        """Reports of tools about failed I/Os and other trouble, for each row that has any."""
        several = len(self.rows) > 1
        return [words for row in self.rows for words in troubles(row.record, row.name if several else "")]

    @property
    def state(self) -> list[str]:
        """The state of the caches of the machine's drives, and the values of its pools; empty if drives were ranked."""
        record = self.predicted[0].finished.record if self.predicted and self.machine else None
        return [] if record is None else machine_state_lines(record)

    @property
    def rests_on(self) -> list[str]:
        """The evidence of the intervals, each once."""
        return list(dict.fromkeys(prediction.rests_on for prediction in self.predicted if prediction.rests_on))

    def figures(self, row: Row) -> list[Judged]:
        """Return the figures of a row; none if its load could not be rebuilt."""
        return next((prediction.figures for prediction in self.predicted if prediction.row is row), [])

    def others(self, row: Row) -> list[Others]:
        """Return what others measured on the same model under the load of a row."""
        return next((prediction.others for prediction in self.predicted if prediction.row is row), [])

    def row_verdict(self, row: Row) -> Verdict | None:
        """Return the verdict of a row."""
        return row_verdict(self.figures(row))

    @property
    def verdict(self) -> str:
        """The verdict of all rows, in words."""
        if self.ranking is not None:
            return self._ranked()
        return whole_verdict([self.figures(row) for row in self.rows])

    def _ranked(self) -> str:
        drives = self.ranking.drives if self.ranking else ()
        if not drives:
            return "no figure could be compared"
        first = drives[0]
        off = (
            f"by a factor of {number(math.exp(first.distance))} in the root mean square of {len(first.figures)} figures"
        )
        if first.distance > NO_DRIVE:
            nearest = f"the nearest, {first.machine}, is off {off}"
            return f"no drive of the catalog is similar: {nearest}; it may be an array or a pool"
        return f"nearest is {first.machine}, off {off}"

    @property
    def assumed(self) -> list[str]:
        """The assumptions about all rows, each once."""
        return list(dict.fromkeys(text for row in self.rows if row.load for text in row.load.assumed))

    @property
    def frame(self) -> pl.DataFrame:
        """One row per figure: row, figure, measured, predicted, low, high, verdict (IOPS, bytes per second, ns)."""
        rows = [{"row": row.name, **figure.document()} for row in self.rows for figure in self.figures(row)]
        return pl.DataFrame(rows, infer_schema_length=None)

    def __repr__(self) -> str:
        on = f" on {self.machine}" if self.machine else ""
        return f"<Expected of {len(self.rows)} rows{on}: {self.verdict}>"

    def to_dict(self) -> dict[str, Json]:
        """Return the JSON document."""
        ranking = self.ranking
        return to_object(
            {
                "schema": SCHEMA,
                "schema_version": SCHEMA_VERSION,
                "machine": self.machine,
                "level": self.level,
                "verdict": self.verdict,
                "troubles": self.troubles,
                "rows": [self._row(row) for row in self.rows],
                "assumed": self.assumed,
                "explanations": self.explanations,
                "nearest": [drive.document() for drive in ranking.drives] if ranking else [],
                "left_out": ranking.left_out if ranking else {},
                "compared_rows": list(ranking.rows) if ranking else [],
                "rests_on": self.rests_on,
                "state": self.state,
                "notes": self.notes,
            }
        )

    def _row(self, row: Row) -> dict[str, Json]:
        return to_object(
            {
                "name": row.name,
                "file": row.file,
                "asks": row.load.asks if row.load else None,
                "verdict": self.row_verdict(row),
                "why_not": row.why_not,
                "figures": [figure.document() for figure in self.figures(row)],
                "others": [others.document() for others in self.others(row)],
                "workload": row.load.text if row.load else None,
                "set": row.load.settings if row.load else {},
            }
        )
