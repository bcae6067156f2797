"""fio's output as records: its JSON documents (see `hotband.fio`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from hotband.fio import read_fio
from hotband.importers.files import name_of, read_bytes
from hotband.importers.imported import Imported

ACCEPTED = "a fio result"


def recognises(beginning: bytes) -> bool:
    """Whether a file that begins so is fio's."""
    return re.search(rb'"fio version"\s*:', beginning) is not None


def read(paths: Sequence[Path]) -> list[Imported]:
    """The records of fio results, in the order of the files. UserError names what is wrong."""
    found: list[Imported] = []
    for path in paths:
        found += [Imported(record, None) for record in read_fio(read_bytes(path, ACCEPTED), name_of(path))]
    return found
