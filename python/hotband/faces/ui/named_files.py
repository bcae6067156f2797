"""Files that dropped texts may name: those of the catalog and dropped ones, and no others of this computer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import tomli

from hotband.base.errors import UserError
from hotband.base.text.regular import text_in
from hotband.data.catalog import is_file

NAMES_A_FILE = (
    *("machine", "workload", "lifetimes", "rebuild_record"),
    *("product", "variant_of", "file"),
)
"""Keys of fleets, machines, drives and workloads that name a file, or an entry of the catalog."""
IN_CATALOG = ("machine", "workload", "product", "variant_of")
"""Keys whose value may be a name of the catalog."""
PROSE = ("title", "note", "notes", "model", "source", "reference", "values")
"""Keys whose values never name a file: prose, and values of drives with their sources."""
QUANTITY = re.compile(r"\d(?!.*(^|/)\.{1,2}(/|$))")
"""A rate or a share, such as `500 MB/s` or `1/1000`: it begins with a digit and leads to no folder above."""


def expect_no_other_files(path: Path, what: str) -> None:
    """Raise UserError for a dropped text that names a file which was not dropped."""
    try:
        table = tomli.loads(text_in(path, what))
    except UserError as error:
        raise UserError(what, "", path.name, f"is not valid TOML: {error.accepted}") from None
    except (tomli.TOMLDecodeError, RecursionError) as error:
        raise UserError(what, "", path.name, f"is not valid TOML: {error}") from None
    _expect_here(what, table, path.parent)


def expect_none_in(document: object, folder: Path) -> None:
    """Raise UserError for a dropped record whose texts of a machine or a workload name a file that was not dropped."""
    for _, _, text in _texts(document):
        if "\n" in text:
            try:
                table = tomli.loads(text)
            except (tomli.TOMLDecodeError, RecursionError):
                continue
            _expect_here("result", table, folder)


def expect_no_paths(path: Path) -> None:
    """Raise UserError for a dropped table of prices whose drives are files: only names of the catalog are accepted."""
    for cell in re.split(r"[,;\t\r\n]", text_in(path, "table of prices")):
        if names_a_path(cell.strip(" \"'")):
            raise UserError("prices", "", cell.strip(), "names a file: expected a drive of the catalog")


def names_a_path(value: str) -> bool:
    """Return whether a value is a path, not a name or a quantity."""
    return re.search(r"[/\\\n]", value) is not None and QUANTITY.match(value) is None


def _expect_here(what: str, table: object, folder: Path) -> None:
    for where, key, value in _texts(table):
        if _is_elsewhere(key, value, folder):
            accepted = f"{where}: names a file that was not dropped: drop it, and give its name without a folder"
            raise UserError(what, "", value, accepted)


def _texts(value: object, where: str = "", key: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield each text in a document with its path and its key, except prose."""
    if isinstance(value, str):
        yield where, key, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if name not in PROSE:
                yield from _texts(inner, f"{where}.{name}" if where else str(name), str(name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{where}[{number}]", key)


def _is_elsewhere(key: str, value: str, folder: Path) -> bool:
    """Return whether a value names a file outside the folder."""
    if key not in NAMES_A_FILE:
        return names_a_path(value) or (is_file(value) and not re.search(r"[/\\]", value) and not _is_in(value, folder))
    if re.search(r"[/\\\n]", value):
        return True
    return not (key in IN_CATALOG and not is_file(value)) and not _is_in(value, folder)


def _is_in(name: str, folder: Path) -> bool:
    return "\0" not in name and (folder / name).is_file()
