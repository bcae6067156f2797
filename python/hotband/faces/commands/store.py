"""`hotband store show`: a run of a store as its record says it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hotband.data.record.incomplete import refusing_incomplete
from hotband.data.record.written import record_text
from hotband.data.store.lookup import record_of
from hotband.data.store.store_folder import opened
from hotband.faces.commands.output import JsonFlag, print_text, show_views
from hotband.views.run import run_views


def show(
    path: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a store.")],
    run: Annotated[str, typer.Argument(metavar="RUN", help="Its key, or the beginning of it.")],
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write its record there, too.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show a run of a store in full."""
    record = record_of(opened(path), run)
    if out is not None:
        record.save(out)
    if as_json:
        return print_text(record_text(record.document))
    with refusing_incomplete([path]):
        show_views(run_views(record.document, out))
