"""What `expect` leaves: rows of measured beside predicted, a verdict, what was assumed, what could explain it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from hotband.base.heavy import pl
from hotband.base.text.numbers import number
from hotband.base.text.schema import to_object
from hotband.base.text.values import Json
from hotband.data.documents.expected import Verdict
from hotband.data.record.states import state_lines, states_of
from hotband.questions.expect.judge import Judged, row_verdict, whole_verdict
from hotband.questions.expect.nearest import NO_DRIVE, Ranking
from hotband.questions.expect.predict import Predicted
from hotband.questions.expect.results import Row

SCHEMA, SCHEMA_VERSION = "hotband-expect", 1


@dataclass
class Expected:
    """Measured beside predicted. `machine` is None where drives were ranked (`ranking`) instead."""

    machine: str | None
    level: float
    rows: list[Row]
    predicted: list[Predicted] = field(default_factory=list)
    explanations: list[str] = field(default_factory=list)
    ranking: Ranking | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def state(self) -> list[str]:
        """The caches of the machine's drives as they were run; none where drives were ranked."""
        return state_lines(states_of(self.predicted[0].finished.record)) if self.predicted and self.machine else []

    def figures(self, row: Row) -> list[Judged]:
        """The figures of a row; none of one that could not be rebuilt."""
        return next((prediction.figures for prediction in self.predicted if prediction.row is row), [])

    def row_verdict(self, row: Row) -> Verdict | None:
        """The verdict of a row."""
        return row_verdict(self.figures(row))

    @property
    def verdict(self) -> str:
        """One verdict of all rows, in words."""
        if self.ranking is not None:
            return self._ranked()
        return whole_verdict([self.figures(row) for row in self.rows])

    def _ranked(self) -> str:
        drives = self.ranking.drives if self.ranking else ()
        if not drives:
            return "nothing could be compared"
        first = drives[0]
        off = (
            f"by a factor of {number(math.exp(first.distance))} in the root mean square of {len(first.figures)} figures"
        )
        if first.distance > NO_DRIVE:
            return f"no drive of the catalog is near: {first.machine}, the nearest, is off {off}; an array or a pool?"
        return f"nearest is {first.machine}, off {off}"

    @property
    def assumed(self) -> list[str]:
        """What was assumed of any row; each once."""
        return list(dict.fromkeys(text for row in self.rows if row.load for text in row.load.assumed))

    @property
    def frame(self) -> pl.DataFrame:
        """A row a figure: row, figure, measured, predicted, low, high, verdict (IOPS, bytes a second, ns)."""
        rows = [{"row": row.name, **figure.document()} for row in self.rows for figure in self.figures(row)]
        return pl.DataFrame(rows, infer_schema_length=None)

    def __repr__(self) -> str:
        on = f" on {self.machine}" if self.machine else ""
        return f"<Expected of {len(self.rows)} rows{on}: {self.verdict}>"

    def to_dict(self) -> dict[str, Json]:
        """The JSON document."""
        ranking = self.ranking
        return to_object(
            {
                "schema": SCHEMA,
                "schema_version": SCHEMA_VERSION,
                "machine": self.machine,
                "level": self.level,
                "verdict": self.verdict,
                "rows": [self._row(row) for row in self.rows],
                "assumed": self.assumed,
                "explanations": self.explanations,
                "nearest": [drive.document() for drive in ranking.drives] if ranking else [],
                "left_out": ranking.left_out if ranking else {},
                "compared_rows": list(ranking.rows) if ranking else [],
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
                "workload": row.load.text if row.load else None,
                "set": row.load.settings if row.load else {},
            }
        )
