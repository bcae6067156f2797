"""`hb.load` and `hb.load_all`: records, and results of other tools, from Python (docs/guides/python.md)."""

from __future__ import annotations

from os import PathLike

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.data.record.record import Record
from hotband.data.results.records import load_all


@public
def load(path: str | PathLike[str], *, unit: str | None = None) -> Record:
    """Read one record: a folder with a `record.json`, such a file, or a result of fio, vdbench, DiskSpd, Iometer or
    HdrHistogram that holds one; `unit` is as in `load_all`. Raises UserError for anything else; `load_all` reads
    results that hold several records."""
    records = load_all(path, unit=unit)
    if len(records) != 1:
        raise UserError(str(path), "", "", f"holds {len(records)} records; read them with load_all")
    return records[0]
