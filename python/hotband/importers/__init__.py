"""Results of other tools as records: one module a tool, each with `recognises` and `read` (docs/guides/import.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hotband.errors import UserError
from hotband.importers.imported import Imported, loaded

__all__ = ["Imported", "Tool", "load", "loaded", "tools"]


class Tool(NamedTuple):
    """One importer: whether a file that begins so is its own, and the records of files."""

    recognises: Callable[[bytes], bool]
    read: Callable[[Sequence[Path]], list[Imported]]


def tools() -> dict[str, Tool]:
    """The importers by the name of the tool."""
    from hotband.importers import diskspd, fio, hdr, iometer, vdbench

    modules: dict[str, Any] = {"fio": fio, "vdbench": vdbench, "diskspd": diskspd, "iometer": iometer, "hdr": hdr}
    return {name: Tool(module.recognises, module.read) for name, module in modules.items()}


def load(path: Path, also: str = "") -> list[Imported]:
    """The records in a result file, whatever tool wrote it. UserError where it is none that is known.

    `also` is what the caller takes besides, for the error.
    """
    from hotband.importers.files import name_of, read_beginning

    if path.is_dir():
        return _load_folder(path)
    beginning = read_beginning(path)
    for tool in tools().values():
        if tool.recognises(beginning):
            return tool.read([path])
    what = "the file is empty" if not beginning.strip() else "not a result that is recognised"
    raise UserError(name_of(path), "", "", f"{what}; accepted: results of {', '.join(tools())}{also and f'; {also}'}")


def _load_folder(folder: Path) -> list[Imported]:
    """A folder of one run of fio, or vdbench's output."""
    from hotband.importers import fio, vdbench

    return vdbench.read([folder]) if vdbench.is_output(folder) else fio.read([folder])
