"""A finished run from its folder, as it was in memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hotband.record.files import (
    CACHES_FILE,
    DIRECTIONS,
    OPERATIONS_FILE,
    POWER_FILE,
    RECORD_FILE,
    SERIES_FILE,
    SMART_FILE,
)
from hotband.runs.run import Finished, RunSpec

Columns = dict[str, list[Any]]


def load_finished(spec: RunSpec, folder: Path, streams: list[str], ios: int) -> Finished:
    """The run that `folder` holds. Raises OSError, ValueError, KeyError."""
    text = (folder / RECORD_FILE).read_text(encoding="utf-8").removesuffix("\n")
    record = json.loads(text)
    series = columns(folder / SERIES_FILE)
    series |= {"stream": places(series["stream"], streams), "direction": places(series["direction"], DIRECTIONS)}
    operations = columns(folder / OPERATIONS_FILE)
    if "operation" in operations:
        names = [one["name"] for one in record["app"]["operations"]]
        operations["operation"] = places(operations["operation"], names)
    caches, smart, power = (columns(folder / name) for name in (CACHES_FILE, SMART_FILE, POWER_FILE))
    return Finished(spec, record, text, series, caches, streams, ios, smart, operations, power)


def columns(path: Path) -> Columns:
    """Columns of a table; where there is no such file, of an empty one."""
    import pyarrow.parquet as pq

    if not path.is_file():
        return {"time_ns": []}
    found: Columns = pq.read_table(path).to_pydict()
    return found


def places(names: Sequence[str], known: Sequence[str]) -> list[int]:
    """Names as their places among those known."""
    place = {name: index for index, name in enumerate(known)}
    return [place[name] for name in names]
