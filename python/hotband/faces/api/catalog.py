"""The catalog from Python: what it has as frames, a product with its values, and what settings a machine takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from os import PathLike, fspath
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.data.catalog import entries
from hotband.data.catalog.events import event_rows
from hotband.data.catalog.filters import select_drives
from hotband.data.catalog.products import CatalogDrive
from hotband.data.inputs.keys import set_keys
from hotband.data.inputs.specify import changes, settings_of
from hotband.questions.datasheet.own import describe, file_of
from hotband.questions.study import file

if TYPE_CHECKING:
    import polars as pl

    from hotband._core import CatalogEntry

EVENTS = ("event", "group", "on", "supported", "why")


@dataclass(frozen=True)
class Product:
    """A drive or a daemon of the catalog; `values` has a row a value: key, value (text with its unit), low and high of
    its range (null where it is exact), source, confidence, estimate (bool) and note."""

    name: str
    title: str
    model: str
    kind: str
    values: pl.DataFrame


@public
def drives(*words: str, min: str | None = None, max: str | None = None, sort: str | None = None) -> pl.DataFrame:
    """Return the drives of the catalog, a row per drive: capacity, interface, speed or flash, class, launch year, rated
    I/Os and rates, and the price of a terabyte of its class (null where the data sheet states nothing).

    `words` filter as on the command line (`"nvme"`, `"sata"`, `"hdd"`, `"smr"`, `"15k"`, `"enterprise"`, makers, years,
    names), `min` and `max` bound the capacity (`"3 TB"`), `sort` is a key such as `"read-iops"`, `"size"`, `"price"`.
    Raises UserError for an unknown word, size or key.
    """
    import polars as pl

    chosen = select_drives(words, least=min, most=max, sort=sort)
    kinds = {"int": pl.Int64, "float": pl.Float64, "bool": pl.Boolean, "str": pl.String}
    schema = {field.name: kinds[str(field.type).removesuffix(" | None")] for field in fields(CatalogDrive)}
    return pl.DataFrame([drive.to_dict() for drive in chosen.drives], schema=schema)


def osds() -> pl.DataFrame:
    """The object storage daemons of the catalog: a row each with name, title, model and kind."""
    return _listing(entries.osds(), ("name", "title", "model", "kind"))


def workloads() -> pl.DataFrame:
    """The workloads of the catalog: a row each with name, title and source."""
    return _listing(entries.workloads(), ("name", "title", "source"))


def studies() -> pl.DataFrame:
    """The studies of the catalog: a row each with name, title and question."""
    read = [file.load(name) for name in file.names()]
    rows = [{"name": one.name, "title": one.title, "question": one.question} for one in read]
    return _listing(rows, ("name", "title", "question"))


def layouts() -> list[str]:
    """Names of the layouts: `on="raid5:8xent-10k"` is eight drives in one of them."""
    return list(_core.LAYOUTS)


@public
def keys(workload: str, *, on: str, set: Mapping[str, object] | None = None) -> pl.DataFrame:
    """What settings a workload on a machine takes, by catalog names, short forms or paths: a row a key with `key`,
    `part` (whose it is), `value` (today's; null where it has none, or several), `accepted`, `meaning` and `fio` (what
    fio calls it). `set` is changed first. Raises UserError."""
    found = [set_key.data() for set_key in set_keys(workload, on, settings_of(changes(set, {})))]
    return _listing(found, ("key", "part", "value", "accepted", "meaning", "fio"))


def events() -> pl.DataFrame:
    """What may happen in a run, and on what it is supported (docs/guides/events.md): a row an event and part with
    `event`, `group` ("layout", "drive" or "with"), `on`, `supported` and `why` not (null where it is)."""
    import polars as pl

    kinds = {name: pl.Boolean if name == "supported" else pl.String for name in EVENTS}
    return pl.DataFrame(event_rows(), schema=kinds)


@public
def drive(name: str | PathLike[str]) -> Product:
    """A drive of the catalog, or of a file of your own, with all its values, each with its source. Raises UserError for
    an unknown name."""
    return _product(entries.drive(str(name)))


@public
def new_drive(
    name: str | PathLike[str],
    *,
    kind: str,
    title: str | None = None,
    source: str = "its data sheet",
    force: bool = False,
    **lines: object,
) -> Product:
    """Describes a drive from lines of its data sheet, in the file NAME.toml, which `on="./NAME.toml"` and `drive` take;
    `force` replaces one that is there. What the lines leave open follows by rules, with ranges.

    `kind` is "hdd", "ssd" (SATA or SAS) or "nvme"; `lines` are those that `hotband drives new --help` lists, with _ for
    -: `capacity="16 TB"`, `read_iops=98000`, `power_loss_protection=True`. `title` is what reports call it, `source`
    names the data sheet. Raises UserError for lines that are missing, unknown or make no drive.
    """
    path = file_of(fspath(name), force)
    given = {key.replace("_", "-"): text for key, text in settings_of(lines)}
    try:
        describe(path, kind, given, title=title, source=source)
    except UserError as error:
        if error.where != "question.lines" or not error.key:
            raise
        raise UserError(error.key.replace("-", "_"), "", "", error.accepted) from None
    return _product(entries.drive(f"{path.parent}/{path.name}"))


@public
def osd(name: str) -> Product:
    """An object storage daemon of the catalog with all its values. Raises UserError for an unknown name."""
    return _product(entries.osd(name))


def _product(product: CatalogEntry) -> Product:
    import polars as pl

    rows = [
        {**value, "low": (value["range"] or (None, None))[0], "high": (value["range"] or (None, None))[1]}
        for value in product["values"]
    ]
    columns = ("key", "value", "low", "high", "source", "confidence", "estimate", "note")
    kinds = {name: pl.Boolean if name == "estimate" else pl.String for name in columns}
    values = pl.DataFrame([{name: row[name] for name in columns} for row in rows], schema=kinds)
    return Product(product["name"], product["title"], product["model"], product["kind"], values)


def _listing(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame([pl.Series(name, [row[name] for row in rows], dtype=pl.String) for name in columns])
