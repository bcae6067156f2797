"""Names of the catalog's entries."""

from __future__ import annotations

from collections.abc import Sequence

import hotband._core as _core
from hotband.base.errors import UserError, file_beside
from hotband.data import catalog


def drive_names() -> list[str]:
    """Return the names of the catalog's drives."""
    return catalog_names("drives")


def workload_names() -> list[str]:
    """Return the names of the catalog's workloads."""
    return catalog_names("workloads")


def daemon_names() -> list[str]:
    """Return the names of the catalog's daemons."""
    return catalog_names("osds")


def catalog_names(folder: str) -> list[str]:
    """Return the names of the entries in a folder of the catalog."""
    return _core.catalog_names(catalog.CATALOG_DIR, folder)


def without_ending(where: str, argument: str, name: str, endings: Sequence[str] = (".toml",)) -> UserError | None:
    """Return the error for the name of a file without its ending, where the catalog's name is expected; None if there
    is no such file. `name` is the part of the argument that names it."""
    file = file_beside(name, endings)
    if file is None:
        return None
    form = catalog.SHORT_FORM.match(argument)
    begin = argument.find(name, form.end() if form else 0)
    meant = f"{argument[:begin]}{file}{argument[begin + len(name) :]}"
    return UserError(where, "", argument, f"is not in the catalog; use {meant}")
