"""`hotband steady`: whether runs reached steady state."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hotband.base.text.formats import as_rows
from hotband.data.record.incomplete import refusing_incomplete
from hotband.data.record.rounds import judge_files
from hotband.faces.commands.output import JsonFlag, print_rows, show, show_lines
from hotband.views.text.tables import steady_lines, steady_table


def steady(
    records: Annotated[list[Path], typer.Argument(metavar="RECORD...", help="record.json files or their folders.")],
    round_: Annotated[
        str | None, typer.Option("--round", metavar="TIME", help='Length of a round; "60 s", or as the run had it.')
    ] = None,
    track: Annotated[
        str | None, typer.Option(metavar="WHAT", help="iops, latency or bandwidth; iops, or as the run had it.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Say whether records reached steady state by the rule of the SNIA PTS, and whether they left it.

    Records without a series, such as most of fio's, are one round each, in the order given.
    """
    with refusing_incomplete(records):
        verdicts = judge_files(records, round_, track)
        lines = [line for verdict in verdicts for line in steady_lines(verdict)]
    if as_json:
        return print_rows(verdicts)
    return show(steady_table(verdicts)) if as_rows() else show_lines(lines)
