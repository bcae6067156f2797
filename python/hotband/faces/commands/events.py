"""`hotband keys --events`: which events are supported on what."""

from __future__ import annotations

from itertools import groupby

import hotband._core as _core
from hotband.base.text.formats import as_rows
from hotband.data.catalog.events import event_rows
from hotband.faces.commands.output import JsonFlag, print_listing, print_rows, show

GROUPS = {
    "layout": "layout of the machine",
    "drive": "kind of drive",
    "with": "together with",
}
FORMS = (
    'at "60 s": fail DRIVE, power-off, osd-out POOL.NUMBER, set DRIVE.KEY=VALUE',
    "as --event 'at 60 s: fail d3' or as [[events]] of a workload or a machine",
)


def events(as_json: JsonFlag = False) -> None:
    """What may happen in a run (failures, loss of power, changed values), and on what it is supported."""
    cells = _core.event_table()
    if as_json:
        return print_rows(event_rows())
    if as_rows():
        rows = [
            (cell.event, GROUPS[cell.group], cell.on, "no" if cell.why else "yes", cell.why or "") for cell in cells
        ]
        return print_listing("Events", rows, ("event", "group", "on", "supported", "why not"))
    names = list(dict.fromkeys(cell.event for cell in cells))
    lines = [*FORMS, ""]
    for group, of_group in groupby(cells, lambda one: one.group):
        head = "".join(f"{name:>{len(name) + 2}}" for name in names)
        lines.append(f"{GROUPS[group]:<24}{head}")
        for row, of_row in groupby(of_group, lambda one: one.on):
            marks = "".join(f"{'no' if one.why else 'yes':>{len(one.event) + 2}}" for one in of_row)
            lines.append(f"  {row:<22}{marks}")
        lines.append("")
    lines.append("why not")
    for why in dict.fromkeys(cell.why for cell in cells if cell.why):
        of_why = [cell for cell in cells if cell.why == why]
        named = ", ".join(dict.fromkeys(one.event for one in of_why))
        on = ", ".join(dict.fromkeys(one.on for one in of_why))
        lines += _wrapped(f"{named} with {on}: {why}")
    return show(*lines)


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 78, initial_indent="  ", subsequent_indent="    ")
