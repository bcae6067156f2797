"""Keys that `set` accepts for a workload on a machine, as the engine lists them."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import hotband._core as _core
from hotband.base.engine import mistakes_of
from hotband.data.catalog import CATALOG_DIR
from hotband.data.inputs.texts import text_of
from hotband.data.inputs.words import FIO_WORDS


@dataclass(frozen=True)
class SetKey:
    """A key: its owner (`part`: workload, app, drive NAME, daemon NAME), its current value (None if it has none, or
    several in different streams), its allowed values, its meaning, and its name in fio."""

    key: str
    part: str
    value: str | None
    accepted: str
    meaning: str
    fio: str | None

    def data(self) -> dict[str, str | None]:
        """Return the key as plain data."""
        return asdict(self)


def set_keys(workload: str, machine: str, set: tuple[tuple[str, str], ...] = ()) -> list[SetKey]:
    """Return every key that `set` accepts for a workload on a machine. Raises UserError."""
    words = {ours: fio for fio, ours in FIO_WORDS.items()}
    with mistakes_of(machine):
        rows = _core.set_keys(
            CATALOG_DIR,
            workload,
            machine,
            workload_text=text_of(workload, "workload"),
            machine_text=text_of(machine, "machine"),
            set=list(set),
        )
    return [SetKey(**row, fio=words.get(row["key"]) if row["part"] == "workload" else None) for row in rows]
