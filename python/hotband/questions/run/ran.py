"""What runs left, on one target or on a model and the emulated drive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from hotband.data.record.finished import Finished
    from hotband.data.record.record import Record
    from hotband.execution.targets.emulated import Emulated


@dataclass
class Ran:
    """Runs that are done, the page of those on hardware, and whether they have the intervals that were asked for."""

    finished: list[Finished]
    io_log: Path | None = None
    report: Path | None = None
    is_whole: bool = True

    @property
    def records(self) -> list[Record]:
        """The record of each run."""
        from hotband.data.record.record import record_of

        return [record_of(one) for one in self.finished]

    def json_text(self) -> str:
        """Return the record as it was written; of several runs a list of them."""
        texts = [one.text for one in self.finished]
        return texts[0] if len(texts) == 1 else "[" + ",\n".join(texts) + "]"


@dataclass(frozen=True)
class Emulation:
    """A workload on a model and on the emulated drive, and the page of both."""

    schema: ClassVar[str] = "hotband-emulated"

    found: Emulated
    report: Path | None = None
    is_whole: bool = True

    def to_dict(self) -> Mapping[str, object]:
        """What `hotband run --on emulated:MACHINE --json` prints."""
        from hotband.inference.beside import beside_data

        return beside_data(self.found)
