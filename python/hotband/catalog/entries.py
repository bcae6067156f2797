"""What the catalog holds, as plain data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hotband import _core
from hotband.catalog import CATALOG_DIR
from hotband.errors import UserError
from hotband.runs.run import user_error
from hotband.text.nearest import unknown_name


def drives() -> list[dict[str, Any]]:
    """Name, title, model and kind of every drive."""
    return [_entry(drive(name)) for name in _core.catalog_names(CATALOG_DIR, "drives")]


def osds() -> list[dict[str, Any]]:
    """Name, title, model and kind of every object storage daemon."""
    return [_entry(osd(name)) for name in _core.catalog_names(CATALOG_DIR, "osds")]


def _entry(product: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in product.items() if key != "values"}


def drive(name: str) -> dict[str, Any]:
    """A drive and all its values. Raises UserError for an unknown name."""
    return _product(_core.drive, name)


def osd(name: str) -> dict[str, Any]:
    """An object storage daemon and all its values. Raises UserError for an unknown name."""
    return _product(_core.osd, name)


def product(name: str) -> dict[str, Any]:
    """What of the catalog a machine is built from, drive or daemon, by its name."""
    return osd(name) if name in _core.catalog_names(CATALOG_DIR, "osds") else drive(name)


def _product(read: Callable[[Path, str], _core.CatalogEntry], name: str) -> dict[str, Any]:
    try:
        return dict(read(CATALOG_DIR, name))
    except _core.SpecError as error:
        raise user_error(error) from None


def workloads() -> list[dict[str, Any]]:
    """Name, title and source of every workload."""
    return [
        {key: value for key, value in workload(name).items() if key not in ("text", "table")}
        for name in _core.catalog_names(CATALOG_DIR, "workloads")
    ]


def workload(name: str) -> dict[str, Any]:
    """A workload's title, source and text, and its tables as data. Raises UserError for an unknown name."""
    known = _core.catalog_names(CATALOG_DIR, "workloads")
    if name not in known:
        raise unknown_name("WORKLOAD", name, known)
    text = (CATALOG_DIR / "workloads" / f"{name}.toml").read_text(encoding="utf-8")
    told = _core.workload(text, name)
    return {"name": name, "title": told["title"], "source": told["source"], "text": text, "table": told["table"]}


def unknown(where: str, name: str, known: list[str]) -> UserError:
    """The error for a name that is not in the catalog, with the nearest match."""
    return unknown_name(where, name, known)
