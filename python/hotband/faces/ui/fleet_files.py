"""A fleet's file that was dropped: what it names has to be of the catalog or dropped, too."""

from __future__ import annotations

import re
from pathlib import Path

import tomli

from hotband.base.errors import UserError
from hotband.base.text.regular import text_in
from hotband.data.catalog import is_file

NAMES_A_FILE = ("machine", "workload", "lifetimes", "rebuild_record")
"""Keys of a group of a fleet that may name a file."""


def expect_no_other_files(path: Path) -> None:
    """Raises UserError for a fleet that names a file which was not dropped: the page reads no others."""
    try:
        groups = tomli.loads(text_in(path, "fleet")).get("group", [])
    except UserError as error:
        raise UserError("fleet", "", path.name, f"is not valid TOML: {error.accepted}") from None
    except (tomli.TOMLDecodeError, RecursionError) as error:
        raise UserError("fleet", "", path.name, f"is not valid TOML: {error}") from None
    for number, group in enumerate(groups if isinstance(groups, list) else []):
        for key in NAMES_A_FILE:
            value = group.get(key) if isinstance(group, dict) else None
            if isinstance(value, str) and _is_elsewhere(key, value, path.parent):
                accepted = f"group[{number}].{key}: names a file that was not dropped: expected its name alone, dropped"
                raise UserError("fleet", "", value, accepted)


def _is_elsewhere(key: str, value: str, folder: Path) -> bool:
    """Whether a value names a file that does not lie in the folder."""
    if re.search(r"[/\\\n]", value):
        return True
    may_be_none = key in ("machine", "workload") and not is_file(value)
    return not may_be_none and not (folder / value).is_file()
