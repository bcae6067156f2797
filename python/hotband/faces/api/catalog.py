"""Entries of the catalog from Python."""

from __future__ import annotations

from os import PathLike

from hotband.base.arguments import public
from hotband.data.catalog import entries
from hotband.data.catalog.entries import Product


@public
def drive(name: str | PathLike[str]) -> Product:
    """Return a drive of the catalog, or of a file of your own, with all its values, each with its source. Raises
    UserError for an unknown name."""
    return Product.of(entries.drive(str(name)))


@public
def osd(name: str) -> Product:
    """Return an object storage daemon of the catalog with all its values. Raises UserError for an unknown name."""
    return Product.of(entries.osd(name))


@public
def workload(name: str) -> str:
    """Return the TOML text of a workload of the catalog, to read or to change. Raises UserError for an unknown name."""
    return str(entries.workload(name)["text"])
