"""Results of a served machine after it ended."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hotband.base.text.values import Json
from hotband.data.documents.serving import Serving
from hotband.data.record.finished import Finished


@dataclass(frozen=True)
class ServedLeft:
    """The record of a served machine, what clients got, and the exit code of the command that ran beside it."""

    finished: Finished
    serving: Serving
    code: int

    def to_dict(self) -> dict[str, Json]:
        """Return the record."""
        document: dict[str, Json] = json.loads(self.finished.text)
        return document
