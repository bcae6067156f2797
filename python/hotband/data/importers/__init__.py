"""Results of other tools as records: one module per tool, each with `recognises` and `read` (docs/guides/import.md)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hotband.base.errors import UserError, reason_of_input
from hotband.data.importers.files import name_of, read_beginning
from hotband.data.importers.fio import importer
from hotband.data.importers.unread import unread
from hotband.data.record.files import RECORD_FILE
from hotband.data.record.imported import Imported

if TYPE_CHECKING:
    from hotband.data.record.load import LoadedRecord

__all__ = ["Imported", "Tool", "load", "loaded", "tools"]


class Tool(NamedTuple):
    """One importer: a test for the beginning of a file, and a reader of files."""

    recognises: Callable[[bytes], bool]
    read: Callable[[Sequence[Path]], list[Imported]]


def tools() -> dict[str, Tool]:
    """Return the importers by the name of the tool."""
    from hotband.data.importers import diskspd, hdr, iometer, vdbench

    return {
        "fio": Tool(importer.recognises, importer.read),
        "vdbench": Tool(vdbench.recognises, vdbench.read),
        "diskspd": Tool(diskspd.recognises, diskspd.read),
        "iometer": Tool(iometer.recognises, iometer.read),
        "hdr": Tool(hdr.recognises, hdr.read),
    }


def load(path: Path, also: str = "") -> list[Imported]:
    """Return the records in a result file of any tool. Raises UserError if no importer recognises it.

    `also` names other files that the caller accepts, for the error.
    """
    if path.is_dir():
        return _load_folder(path)
    beginning = read_beginning(path)
    for tool in tools().values():
        if tool.recognises(beginning):
            return tool.read([path])
    other = unread(beginning.decode("utf-8", "replace"))
    what = other or ("the file is empty" if not beginning.strip() else "not a result that Hotband recognises")
    raise UserError(name_of(path), "", "", f"{what}; accepted: results of {', '.join(tools())}{also and f'; {also}'}")


def _load_folder(folder: Path) -> list[Imported]:
    """Read a folder's results: files of vdbench and of fio together, files of other tools one by one."""
    from hotband.data.importers import vdbench

    try:
        files = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise UserError(name_of(folder), "", "", f"cannot be read: {reason_of_input(error)}") from None
    by_tool: dict[str, list[Path]] = {}
    for path in files:
        beginning = read_beginning(path)
        tool = next((name for name, tool_ in tools().items() if tool_.recognises(beginning)), None)
        if tool is not None:
            by_tool.setdefault(tool, []).append(path)
    records = vdbench.read([folder]) if vdbench.is_output(folder) else _one_by_one("vdbench", by_tool)
    records += importer.read(by_tool["fio"]) if "fio" in by_tool else []
    records += [record for name in tools() if name not in ("vdbench", "fio") for record in _one_by_one(name, by_tool)]
    if not records:
        raise UserError(name_of(folder), "", "", _nothing_in(folder))
    return records


def _one_by_one(name: str, files: dict[str, list[Path]]) -> list[Imported]:
    read = tools()[name].read
    return [record for path in files.get(name, []) for record in read([path])]


def _nothing_in(folder: Path) -> str:
    """Return why a folder has nothing to import."""
    accepted = f"accepted: a folder whose files are results of {', '.join(tools())}"
    # Folders that cannot be listed have none; those of /proc may go meanwhile.
    if any(RECORD_FILE in names for _, _, names in os.walk(folder)):
        return f"contains Hotband records, which need no import; {accepted}"
    return f"none of its files is a result that Hotband recognises; {accepted}"


def loaded(imported: Imported) -> LoadedRecord:
    """Return a record as if it had been written and read back, for reports, charts and the auditor."""
    from hotband.data.record.load import loaded_import

    return loaded_import(imported.record, imported.series)
