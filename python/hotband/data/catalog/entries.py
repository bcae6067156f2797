"""Catalog entries as plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import hotband._core as _core
from hotband.base.engine import mistakes_of, user_error
from hotband.base.errors import UserError
from hotband.base.heavy import pl
from hotband.base.text.nearest import unknown_name
from hotband.data.catalog import CATALOG_DIR, is_file
from hotband.data.catalog.names import without_ending
from hotband.data.documents.workload import WorkloadTable


class ProductOutline(TypedDict):
    """A drive or daemon in a list of the catalog; `kind` is its mechanism."""

    name: str
    title: str
    model: str
    kind: str


class WorkloadOutline(TypedDict):
    """A workload in a list of the catalog."""

    name: str
    title: str
    source: str


class WorkloadEntry(WorkloadOutline):
    """A workload with its text, and the same as tables."""

    text: str
    table: WorkloadTable


VALUES = ("key", "value", "low", "high", "source", "confidence", "estimate", "note")


@dataclass(frozen=True)
class Product:
    """A drive or a daemon, of the catalog or of a file, whose path is then the `name`; `values` has one row per value:
    key, value (text with its unit), low and high of its range (null if it is exact), source, confidence, estimate
    (bool) and note. A drive can be given as a machine: `on=hb.drive("ent-10k")`."""

    name: str
    title: str
    model: str
    kind: str
    values: pl.DataFrame

    @classmethod
    def of(cls, entry: _core.CatalogEntry) -> Product:
        """Return an entry with a frame of its values."""
        rows = [
            {**value, "low": (value["range"] or (None, None))[0], "high": (value["range"] or (None, None))[1]}
            for value in entry["values"]
        ]
        kinds = {name: pl.Boolean if name == "estimate" else pl.String for name in VALUES}
        values = pl.DataFrame([{name: row[name] for name in VALUES} for row in rows], schema=kinds)
        return cls(entry["name"], entry["title"], entry["model"], entry["kind"], values)

    def __fspath__(self) -> str:
        """Return the path of the file that describes it."""
        folders = [kind for kind in ("drives", "osds") if self.name in _core.catalog_names(CATALOG_DIR, kind)]
        return str(CATALOG_DIR / folders[0] / f"{self.name}.toml") if folders else self.name


def drives() -> list[ProductOutline]:
    """Return name, title, model and kind of every drive."""
    return [_outline(drive(name)) for name in _core.catalog_names(CATALOG_DIR, "drives")]


def osds() -> list[ProductOutline]:
    """Return name, title, model and kind of every object storage daemon."""
    return [_outline(osd(name)) for name in _core.catalog_names(CATALOG_DIR, "osds")]


def _outline(entry: _core.CatalogEntry) -> ProductOutline:
    return {"name": entry["name"], "title": entry["title"], "model": entry["model"], "kind": entry["kind"]}


def drive(name: str) -> _core.CatalogEntry:
    """Return a drive and all its values. Raises UserError for an unknown name."""
    return _product(_core.drive, name)


def osd(name: str) -> _core.CatalogEntry:
    """Return an object storage daemon and all its values. Raises UserError for an unknown name."""
    return _product(_core.osd, name)


def product(name: str) -> _core.CatalogEntry:
    """Return the catalog entry of a drive or daemon by its name."""
    return osd(name) if name in _core.catalog_names(CATALOG_DIR, "osds") else drive(name)


def _product(read: Callable[[Path, str], _core.CatalogEntry], name: str) -> _core.CatalogEntry:
    try:
        return read(CATALOG_DIR, name)
    except _core.SpecError as error:
        without = None if is_file(name) else without_ending("question.name", name, name)
        raise without or user_error(error) from None


def workloads() -> list[WorkloadOutline]:
    """Return name, title and source of every workload."""
    entries = (workload(name) for name in _core.catalog_names(CATALOG_DIR, "workloads"))
    return [{"name": entry["name"], "title": entry["title"], "source": entry["source"]} for entry in entries]


def workload(name: str) -> WorkloadEntry:
    """Return a workload's title, source and text, and its tables as data. Raises UserError for an unknown name."""
    known = _core.catalog_names(CATALOG_DIR, "workloads")
    if name not in known:
        raise unknown_name("question.workload", name, known)
    text = _core.workload_text(CATALOG_DIR, name)
    described = _core.workload(text, name)
    return {
        "name": name,
        "title": described["title"],
        "source": described["source"],
        "text": text,
        "table": described["table"],
    }


def whole_workload(file: str, text: str) -> str:
    """Return the text of a workload's file, including what a variant takes from its base. Raises UserError."""
    if "variant_of" not in text:
        return text
    with mistakes_of(file):
        return _core.workload_text(CATALOG_DIR, file, text)


def unknown(where: str, name: str, known: list[str]) -> UserError:
    """Return the error for a name that is not in the catalog, with the nearest match."""
    return unknown_name(where, name, known)
