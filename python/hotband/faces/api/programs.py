"""Programs for Python: `hb.programs` lists them."""

from __future__ import annotations

from hotband.base.heavy import pl
from hotband.execution.programs import all_programs, needs
from hotband.execution.programs.needs import how_to_get


def programs() -> pl.DataFrame:
    """Return the programs that can be run: one row each with name, title, load on the disk and missing requirements."""
    rows = [
        {
            "name": program.name,
            "title": program.title,
            "asks": program.asks,
            "missing": how_to_get(needs.missing(program)),
        }
        for program in all_programs()
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("name", "title", "asks", "missing"), pl.String))
