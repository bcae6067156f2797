"""What the catalog holds: drives, daemons, workloads, studies."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hotband.base.foreign import marked
from hotband.base.text.formats import as_rows
from hotband.base.text.table import listing
from hotband.data.catalog import entries
from hotband.data.catalog.layouts import LAYOUTS
from hotband.data.catalog.products import NOT_VERIFIED
from hotband.faces.commands import names
from hotband.faces.commands.output import JsonFlag, print_json, print_listing, print_rows, show, show_lines
from hotband.views.text.tables import values_table

UNREAD = "data sheet *"
"""In place of `NOT_VERIFIED` on a terminal, which says it once below the table."""

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hotband._core import CatalogEntry
    from hotband.data.catalog.entries import ProductOutline


def entry(of: names.Completion) -> Any:
    """The argument that names one entry of the catalog."""
    return typer.Argument(metavar="[NAME]", help="One entry in detail.", **of)


def osds(name: Annotated[str | None, entry(names.DAEMON)] = None, as_json: JsonFlag = False) -> None:
    """List object storage daemons of the catalog, for replicated pools; with NAME show all values of one."""
    if name is None:
        return print_products("Object storage daemons", "daemon", entries.osds(), as_json)
    return print_product(entries.osd(name), "hotband-osd", as_json)


def print_products(title: str, what: str, entries: list[ProductOutline], as_json: bool) -> None:
    """Prints what the catalog holds of a kind."""
    if as_json:
        return print_rows(entries)
    rows = [(entry["name"], entry["title"], entry["model"], entry["kind"]) for entry in entries]
    return print_listing(title, rows, ("name", what, "model", "kind"))


def print_product(product: CatalogEntry, schema: str, as_json: bool, about: Sequence[str] = ()) -> None:
    """Print every value of a drive or a daemon, below the lines `about` it."""
    if as_json:
        return print_json(product, schema)
    is_short = not as_rows()
    values = [
        (
            v["key"],
            v["value"],
            v["range"],
            UNREAD if is_short and v["source"] == NOT_VERIFIED else v["source"],
            v["confidence"],
            v["estimate"],
            v["note"],
        )
        for v in product["values"]
    ]
    model = f" ({product['model']})" if product["model"] else ""
    title = f"{product['name']}: {product['title']}{model}"
    if is_short and about:
        show_lines([title, *about, ""])
    table = values_table("" if is_short and about else title, values)
    if any(source.startswith(UNREAD) for _, _, _, source, *_ in values):
        table.caption = f"* {NOT_VERIFIED}"
    show(table)
    if warnings := product["warnings"]:
        show(marked("[yellow]warning[/]: {text}", text="; ".join(warnings)))


def workloads(name: Annotated[str | None, entry(names.WORKLOAD)] = None, as_json: JsonFlag = False) -> None:
    """List workloads of the catalog; with NAME print the text of one, to copy and change."""
    if name is None:
        listed = entries.workloads()
        if as_json:
            return print_rows(listed)
        rows = [(one["name"], one["title"], one["source"]) for one in listed]
        return print_listing("Workloads", rows, ("name", "workload", "source"))
    workload = entries.workload(name)
    if as_json:
        return print_json(workload, "hotband-workload")
    sys.stdout.write(workload["text"])


def studies(name: Annotated[str | None, entry(names.STUDY)] = None, as_json: JsonFlag = False) -> None:
    """List studies of the catalog; with NAME show its machines, loads and published figures."""
    from hotband.questions.study import file

    if name is None:
        entries = [file.describe(known) for known in file.names()]
        if as_json:
            return print_rows(entries)
        rows = [(entry["name"], entry["title"], entry["source"]) for entry in entries]
        return print_listing("Studies", rows, ("name", "study", "source"))
    study = file.load(name)
    if as_json:
        return print_json(file.describe(name), "hotband-study-outline")
    show(marked("[bold]{name}[/]: {title}", name=study.name, title=study.title), study.question, "")
    rows = [(config.id, config.label, config.machine or config.product) for config in study.configs]
    print_listing("Configurations", rows, ("id", "as published", "machine"))
    loads = [(load.id, load.label, load.workload) for load in study.loads]
    print_listing("Loads", loads, ("id", "as published", "workload"))
    published = [
        (row.id, row.config, row.workload, row.metric, f"{row.text} {row.unit}", row.caveat) for row in study.published
    ]
    return print_listing("Published", published, ("id", "configuration", "load", "metric", "value", "caveat"))


LAYOUT_COLUMNS = ("name", "example", "drives", "usable", "survives", "also called")


def layouts(as_json: JsonFlag = False) -> None:
    """List the layouts of drives (RAID, mirrors, pools), how each is written, and what it survives."""
    if as_json:
        return print_rows([one._asdict() for one in LAYOUTS])
    head = f"{len(LAYOUTS)} layouts. Those without an example need a machine file."
    return show(head, listing("", LAYOUT_COLUMNS, LAYOUTS))
