"""Repetitions stored in a folder, so that an interrupted fleet continues from there.

    DIR/fleet.json               the fleet's key and name, and the version of Hotband
    DIR/repetitions/000000.npz   a chunk: [repetitions, months, columns] and [repetitions, totals] of each group

A chunk is complete or absent. The runs of the model are stored in `DIR/runs` (`hotband.execution.experiment`).
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hotband.base.engine import version
from hotband.base.errors import UserError
from hotband.base.text.values import read_json
from hotband.base.text.write import make_folder, write_file
from hotband.questions.fleet.repetition import TOTALS

MANIFEST, FOLDER = "fleet.json", "repetitions"
SCHEMA = "hotband-fleet-repetitions"


@dataclass
class Chunk:
    """Consecutive repetitions of each group, by its position: [repetitions, months, columns] and [repetitions,
    totals]."""

    months: list[npt.NDArray[np.float32]]
    totals: list[npt.NDArray[np.float32]]


def key_of(question: str, answers: str) -> str:
    """Return the key of a fleet: a digest of its question, its files and runs, and the version of Hotband."""
    return hashlib.sha256(json.dumps([version(), question, answers]).encode()).hexdigest()


def held_in(folder: Path) -> tuple[str, int] | None:
    """Return the key of the fleet in a folder and the size of its chunks; None without one. Raises UserError for a
    damaged manifest."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return None
    table = read_json(manifest) or {}
    key, size = table.get("key"), table.get("chunk")
    if table.get("schema") != SCHEMA or not isinstance(key, str) or not isinstance(size, int):
        accepted = "is damaged: expected the file as hotband wrote it, another folder, or question.fresh to start over"
        raise UserError(str(manifest), "", "", accepted)
    return key, size


class Kept:
    """The chunks of one fleet in a folder to which only this process writes."""

    def __init__(self, folder: Path, key: str, name: str, size: int, fresh: bool) -> None:
        """Open the folder. Raises UserError for a folder with another fleet, or with a damaged manifest."""
        self.folder = folder / FOLDER
        manifest = folder / MANIFEST
        held = None if fresh else held_in(folder)
        if held is not None and held != (key, size):
            accepted = "holds another fleet: expected another folder, or question.fresh to start over"
            raise UserError("question.out", "", str(folder), accepted)
        make_folder(self.folder)
        if fresh or not manifest.is_file():
            for path in self.folder.glob("*.npz"):
                path.unlink(missing_ok=True)
            table = {"schema": SCHEMA, "key": key, "chunk": size, "hotband": version(), "fleet": name}
            write_file(manifest, json.dumps(table, indent=1, ensure_ascii=False) + "\n")

    def path(self, number: int) -> Path:
        """Return the file of a chunk."""
        return self.folder / f"{number:06}.npz"

    def load(self, number: int, groups: int, count: int) -> Chunk | None:
        """Load a complete stored chunk; None without one."""
        try:
            with np.load(self.path(number), allow_pickle=False) as arrays:
                months = [arrays[f"months{index}"] for index in range(groups)]
                totals = [arrays[f"totals{index}"] for index in range(groups)]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        if any(len(month) < count for month in months) or any(total.shape[1:] != (len(TOTALS),) for total in totals):
            return None
        return Chunk([month[:count] for month in months], [total[:count] for total in totals])

    def keep(self, number: int, chunk: Chunk) -> None:
        """Write a chunk; from any thread. Raises OSError."""
        buffer = io.BytesIO()
        columns = {f"months{index}": array for index, array in enumerate(chunk.months)}
        columns |= {f"totals{index}": array for index, array in enumerate(chunk.totals)}
        np.savez(buffer, **columns)  # type: ignore[arg-type]
        write_file(self.path(number), buffer.getvalue())
