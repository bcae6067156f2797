"""Results of other tools as records: one module a tool, each with `recognises` and `read` (docs/guides/import.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hotband.base.errors import UserError, reason_of
from hotband.data.importers.files import name_of, read_beginning
from hotband.data.importers.fio import importer
from hotband.data.record.files import RECORD_FILE
from hotband.data.record.imported import Imported

if TYPE_CHECKING:
    from hotband.data.record.load import LoadedRecord

__all__ = ["Imported", "Tool", "load", "loaded", "tools"]


class Tool(NamedTuple):
    """One importer: whether a file that begins so is its own, and the records of files."""

    recognises: Callable[[bytes], bool]
    read: Callable[[Sequence[Path]], list[Imported]]


def tools() -> dict[str, Tool]:
    """The importers by the name of the tool."""
    from hotband.data.importers import diskspd, hdr, iometer, vdbench

    return {
        "fio": Tool(importer.recognises, importer.read),
        "vdbench": Tool(vdbench.recognises, vdbench.read),
        "diskspd": Tool(diskspd.recognises, diskspd.read),
        "iometer": Tool(iometer.recognises, iometer.read),
        "hdr": Tool(hdr.recognises, hdr.read),
    }


def load(path: Path, also: str = "") -> list[Imported]:
    """The records in a result file, whatever tool wrote it. UserError where it is none that is known.

    `also` is what the caller takes besides, for the error.
    """
    if path.is_dir():
        return _load_folder(path)
    beginning = read_beginning(path)
    for tool in tools().values():
        if tool.recognises(beginning):
            return tool.read([path])
    what = "the file is empty" if not beginning.strip() else "not a result that is recognised"
    raise UserError(name_of(path), "", "", f"{what}; accepted: results of {', '.join(tools())}{also and f'; {also}'}")


def _load_folder(folder: Path) -> list[Imported]:
    """The results in a folder: vdbench's output and fio's files as one each, the files of the others one by one."""
    from hotband.data.importers import vdbench

    try:
        files = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise UserError(name_of(folder), "", "", f"cannot be read: {reason_of(error)}") from None
    own: dict[str, list[Path]] = {}
    for path in files:
        beginning = read_beginning(path)
        tool = next((name for name, one in tools().items() if one.recognises(beginning)), None)
        if tool is not None:
            own.setdefault(tool, []).append(path)
    found = vdbench.read([folder]) if vdbench.is_output(folder) else _one_by_one("vdbench", own)
    found += importer.read(own["fio"]) if "fio" in own else []
    found += [one for name in tools() if name not in ("vdbench", "fio") for one in _one_by_one(name, own)]
    if not found:
        raise UserError(name_of(folder), "", "", _nothing_in(folder))
    return found


def _one_by_one(name: str, files: dict[str, list[Path]]) -> list[Imported]:
    read = tools()[name].read
    return [one for path in files.get(name, []) for one in read([path])]


def _nothing_in(folder: Path) -> str:
    """Why a folder has nothing to import."""
    accepted = f"accepted: a folder whose files are results of {', '.join(tools())}"
    if any(folder.glob(f"**/{RECORD_FILE}")):
        return f"holds hotband's records, which need no import; {accepted}"
    return f"none of its files is a result that is recognised (folders in it are not looked into); {accepted}"


def loaded(imported: Imported) -> LoadedRecord:
    """As if it had been written and read back: what reports, charts and the auditor take."""
    from hotband.data.record.load import loaded_import

    return loaded_import(imported.record, imported.series)
