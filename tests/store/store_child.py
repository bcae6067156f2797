"""A writer in a process of its own, for tests that end it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path


def add(folder: str, record: str, log: str, first: int, count: int) -> None:
    """Adds `record` under so many seeds, in parts of seven; writes each seed to `log` when it was added."""
    from hotband.data.store import writer
    from hotband.data.store.journal import Entry
    from hotband.data.store.store_folder import made

    writer.RUNS_OF_PART = 7
    document = json.loads(Path(record).read_text())
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with writer.writing(made(Path(folder), None)) as store:
        for seed in range(first, first + count):
            document["seed"] = str(seed)
            store.add(Entry(time.time_ns() // 1000, "", {}, json.dumps(document)))
            os.write(file, b"%d\n" % seed)
