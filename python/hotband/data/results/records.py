"""Records of a file or a folder, whatever tool left them."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.data import importers
from hotband.data.importers import hdr
from hotband.data.importers.files import read_beginning
from hotband.data.record.files import RECORD_FILE, record_file
from hotband.data.record.load import load_record
from hotband.data.record.record import Record, record_of_import
from hotband.data.record.tables import of_folder


@public
def load_all(path: str | PathLike[str], *, unit: str | None = None) -> list[Record]:
    """Read every record of a file or folder, of any tool that is recognised. `unit` ("ns", "us", "ms", "s") is that of
    the values of an HdrHistogram log, which has no unit. Raises UserError if there is none."""
    where = Path(path)
    if unit is not None:
        if where.is_dir() or not hdr.recognises(read_beginning(where)):
            accepted = f"applies to the values of an HdrHistogram log, and {path} is not one: leave it out"
            raise UserError("unit", "", unit, accepted)
        return [record_of_import(imported) for imported in hdr.read([where], unit)]
    of_ours = where.is_file() and b'"hotband-record"' in read_beginning(where)[:4096]
    if of_ours or record_file(where).is_file() or where.name == RECORD_FILE:
        return [_read(where)]
    return [record_of_import(imported) for imported in importers.load(where)]


def _read(path: Path) -> Record:
    file = record_file(path) if path.is_dir() else path
    document = load_record(file).record
    return Record(document, of_folder(file, document))
