"""`hotband measure device`: what is plugged in here, what keeps it from being written, what it counts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hotband.base.text.formats import as_rows
from hotband.data.catalog.named import REAL
from hotband.execution.targets.found import found, listed, listed_doc
from hotband.faces.commands.on_demand import with_epilog
from hotband.faces.commands.output import JsonFlag, print_json, print_rows, say, show, show_lines
from hotband.views import devices
from hotband.views.devices import table_of

EPILOG = """\
[bold]Examples[/]

hotband measure device

hotband measure device /dev/nvme0n1

hotband measure device disk.img --json
"""


@with_epilog(EPILOG)
def device(
    path: Annotated[
        Path | None, typer.Argument(metavar="PATH", help="A block device or a file; all devices without it.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show a drive's identity, SMART data and what protects it from being overwritten. Nothing is written.

    As root, tools such as smartctl and nvme tell more, and what holds data is seen.
    """
    import os

    if path is None:
        rows = listed()
        if as_json:
            return print_rows([listed_doc(row) for row in rows])
        show(table_of(rows))
        if os.geteuid() != 0 and not as_rows():
            say("not run as root: what devices hold cannot be read, so all are taken to be in use")
        return None
    one = found(str(path).removeprefix(REAL))
    return print_json(one.to_dict(), "hotband-device") if as_json else show_lines(devices.lines_of(one))
