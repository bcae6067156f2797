"""Lists and entries of the catalog on the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from hotband.base.foreign import console, marked
from hotband.base.text.formats import as_rows
from hotband.base.text.numbers import counted
from hotband.base.text.table import View, Whole, listing
from hotband.data.catalog.filters import DriveSelection
from hotband.data.catalog.layouts import LAYOUTS
from hotband.data.catalog.products import NOT_VERIFIED, catalog_drives
from hotband.views.corpus import beside_table
from hotband.views.drives import MOST_ROWS, all_values, facts, listing_views
from hotband.views.text.lists import entry_lines
from hotband.views.text.tables import keys_heading, keys_meaning, keys_table, values_table

if TYPE_CHECKING:
    from hotband.base.question import Question
    from hotband.questions.catalog import (
        DrivesQuestion,
        Events,
        EventsQuestion,
        KeysQuestion,
        Layouts,
        LayoutsQuestion,
        Listing,
        SetKeys,
        ShownProduct,
        ShownWorkload,
        WorkloadsQuestion,
    )
    from hotband.questions.datasheet.new import NewDrive, NewDriveQuestion
    from hotband.questions.study.listed import ShownStudy, StudiesQuestion

MOST_LOADS = 8
"""Most loads of others on the page of a drive; `corpus show` has all."""
UNREAD = "data sheet *"
"""Mark on a terminal instead of `NOT_VERIFIED`, explained once below the table."""
LISTED_BY = {"osds": "drives --kind osd", "workloads show": "workloads"}
"""Words of the command of a list, by the question, where they are not its name."""
LAYOUT_COLUMNS = ("name", "example", "drives", "usable", "survives", "also called")
EVENT_GROUPS = {
    "layout": "layout of the machine",
    "drive": "kind of drive",
    "with": "together with",
}
EVENT_FORMS = (
    'at "60 s": fail DRIVE, power-off, osd-out POOL.NUMBER, set DRIVE.KEY=VALUE',
    "as --event 'at 60 s: fail d3' or as [[events]] of a workload or a machine",
)


def entries(shown_list: Listing, question: Question) -> list[View]:
    """Return a list for programs as a table, else a line per entry: its name and title, which end with a narrow
    terminal."""
    rows = [[str(row[key]) for key in shown_list.headings] for row in shown_list.rows]
    if as_rows():
        return [listing(shown_list.title, shown_list.headings.values(), rows)]
    first = f"{shown_list.title}: {len(rows)} (hotband {LISTED_BY.get(question.name, question.name)} NAME: details)"
    return [Whole(first), *entry_lines([row[:2] for row in rows])]


def drives(selection: DriveSelection, question: DrivesQuestion) -> list[View]:
    """Return a sentence and a table of drives, as many as a terminal shows; all values for programs."""
    if as_rows():
        return [all_values(selection)]
    out = console()
    rows = MOST_ROWS if out.is_terminal and not question.whole else None
    more = rows is not None and len(selection.drives) > rows
    views = [Whole(view) if isinstance(view, str) else view for view in listing_views(selection, out.width, rows)]
    return [*views, *([Whole(f"and {len(selection.drives) - (rows or 0)} more: --all")] if more else [])]


def measured_views(product: ShownProduct) -> list[View]:
    """Return measurements of others on a drive next to predictions, and the command that prints all of them; nothing
    if there are none."""
    rows = [row for row in product.measured if row.predicted is not None]
    rates = [row for row in rows if row.example.metric in ("iops", "mb_s") and row.load.rate is None]
    if not product.measured:
        return []
    results = counted(sum(row.results for row in product.measured), "figure")
    fitted = any(value["key"] == "reference.fitted_to" for value in product.entry["values"])
    resting = [*(["values"] if fitted else []), *(["intervals"] if any(row.interval for row in rates) else [])]
    rest = f"; its {' and '.join(resting)} rest on them, too" if resting else ""
    head = f"Others measured its family: {results}{rest}. All: hotband corpus show {product.entry['name']}"
    return [head, *([beside_table(rates, MOST_LOADS)] if rates else []), ""]


def product(shown: ShownProduct, _: Question) -> list[View]:
    """Return every value of a drive or a daemon, below lines about a drive of the catalog."""
    entry, is_short = shown.entry, not as_rows()
    about = [line for drive in catalog_drives() if drive.name == entry["name"] for line in facts(drive)]
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
        for v in entry["values"]
    ]
    model = f" ({entry['model']})" if entry["model"] else ""
    title = f"{entry['name']}: {entry['title']}{model}"
    head = [title, *about, *(measured_views(shown) or [""])] if is_short and about else []
    table = values_table("" if head else title, values)
    if any(source.startswith(UNREAD) for _, _, _, source, *_ in values):
        table.caption = f"* {NOT_VERIFIED}"
    warnings = "; ".join(entry["warnings"])
    return [*head, table, *([marked("[yellow]warning[/]: {text}", text=warnings)] if warnings else [])]


def new_drive(_: NewDrive, __: NewDriveQuestion) -> Sequence[View]:
    """Return no views: the answer names the file and its use."""
    return ()


def workload(_: ShownWorkload, __: WorkloadsQuestion) -> Sequence[View]:
    """Return no views: only the text of the workload is printed."""
    return ()


def study(shown: ShownStudy, _: StudiesQuestion) -> list[View]:
    """Return the configurations, loads and published figures of a study."""
    study = shown.study
    configs = [(config.id, config.label, config.machine or config.product) for config in study.configs]
    loads = [(load.id, load.label, load.workload) for load in study.loads]
    published = [
        (row.id, row.config, row.workload, row.metric, f"{row.text} {row.unit}", row.caveat) for row in study.published
    ]
    return [
        marked("[bold]{name}[/]: {title}", name=study.name, title=study.title),
        Whole(study.question),
        "",
        listing("Configurations", ("id", "as published", "machine"), configs),
        listing("Loads", ("id", "as published", "workload"), loads),
        listing("Published", ("id", "configuration", "load", "metric", "value", "caveat"), published),
    ]


def layouts(_: Layouts, __: LayoutsQuestion) -> list[View]:
    """Return the table of all layouts."""
    head = f"{len(LAYOUTS)} layouts. md needs a machine file; so do pools with other copies or hosts."
    return [head, listing("", LAYOUT_COLUMNS, LAYOUTS)]


def keys(result: SetKeys, _: KeysQuestion) -> list[View]:
    """Return the keys of each part: for programs as tables, else a line per key."""
    parts = {part: [key for key in result.keys if key.part == part] for part in (key.part for key in result.keys)}
    if as_rows():
        return [keys_table(part, of_part) for part, of_part in parts.items()]
    views: list[View] = [f"{counted(len(result.keys), 'key')} that --set accepts, with the current values."]
    for part, of_part in parts.items():
        rows = [(key.key, key.value or "–", f"{keys_meaning(key)}; {key.accepted}") for key in of_part]
        views += ["", marked("[bold]{part}[/]", part=keys_heading(part)), *entry_lines(rows)]
    return views


def events(result: Events, _: EventsQuestion) -> list[View]:
    """Return the supported events of each part, and why others are not supported."""
    if as_rows():
        rows = [
            (row["event"], EVENT_GROUPS[row["group"]], row["on"], "yes" if row["supported"] else "no", row["why"] or "")
            for row in result.rows
        ]
        return [listing("Events", ("event", "group", "on", "supported", "why not"), rows)]
    names = list(dict.fromkeys(row["event"] for row in result.rows))
    lines = [*EVENT_FORMS, ""]
    for group, of_group in groupby(result.rows, lambda row: row["group"]):
        head = "".join(f"{name:>{len(name) + 2}}" for name in names)
        lines.append(f"{EVENT_GROUPS[group]:<24}{head}")
        for on, of_row in groupby(of_group, lambda row: row["on"]):
            marks = "".join(f"{'yes' if row['supported'] else 'no':>{len(row['event']) + 2}}" for row in of_row)
            lines.append(f"  {on:<22}{marks}")
        lines.append("")
    lines.append("why not")
    for why in dict.fromkeys(row["why"] for row in result.rows if row["why"]):
        of_why = [row for row in result.rows if row["why"] == why]
        named = ", ".join(dict.fromkeys(row["event"] for row in of_why))
        on = ", ".join(dict.fromkeys(row["on"] for row in of_why))
        lines += textwrap.wrap(f"{named} with {on}: {why}", 78, initial_indent="  ", subsequent_indent="    ")
    return [Whole(line) for line in lines]
