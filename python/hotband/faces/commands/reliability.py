"""How long an array keeps its data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hotband.faces.commands.output import JsonFlag, MachineArgument, SetOption, parse_set, print_json, show
from hotband.inference.reliability.asked import Asked
from hotband.inference.reliability.options import LEAST_ARRAYS, MOST_ARRAYS, MOST_SPARES, Distribution, Method, Rebuilds
from hotband.views.reliability import figures_table, notes, summary_lines


def reliability(
    on: MachineArgument,
    layout: Annotated[str | None, typer.Option(metavar="NAME", help="Of a machine with several layouts.")] = None,
    settings: SetOption = None,
    mtbf: Annotated[str | None, typer.Option(metavar="TIME", help='Mean life of a drive, as "1400000 h".')] = None,
    afr: Annotated[str | None, typer.Option(metavar="SHARE", help='Or drives failing a year, as "0.9 %".')] = None,
    rebuild_time: Annotated[str | None, typer.Option(metavar="TIME", help='Of a drive, as "6 h".')] = None,
    rebuild_rate: Annotated[
        str | None, typer.Option(metavar="RATE", help='Limit of a rebuild, as "50 MB/s"; else the media.')
    ] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="RECORD", help="Rebuild time from a record of hotband run --fail.")
    ] = None,
    spares: Annotated[int, typer.Option(min=0, max=MOST_SPARES, help="Spare drives that are there.")] = 0,
    replacement: Annotated[
        str | None,
        typer.Option(metavar="TIME", help='Until a drive ordered at a failure is there, as "24 h"; at once.'),
    ] = None,
    error_rate: Annotated[
        str | None, typer.Option(metavar="BITS", help='Bits read for one unrecoverable error, as "1e15", or none.')
    ] = None,
    one_rebuild: Annotated[bool, typer.Option("--one-rebuild", help="Drives are rebuilt one after the other.")] = False,
    distribution: Annotated[Distribution, typer.Option(help="Of drives' lives.")] = Distribution.exponential,
    shape: Annotated[float | None, typer.Option(help="Of Weibull lives: above 1 they wear out.")] = None,
    rebuild_distribution: Annotated[Rebuilds, typer.Option(help="Of rebuild times.")] = Rebuilds.exponential,
    years: Annotated[float, typer.Option(help="The mission.")] = 10.0,
    method: Annotated[Method, typer.Option(help="How the mean time is simulated.")] = Method.auto,
    arrays: Annotated[
        int, typer.Option(min=LEAST_ARRAYS, max=MOST_ARRAYS, help="Effort: cycles or arrays simulated.")
    ] = 200_000,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")] = 1,
    as_json: JsonFlag = False,
) -> None:
    """Say how long an array keeps its data: mean time to data loss and the chance of loss, beside the closed form."""
    from hotband.inference.reliability.assess import assess

    asked = Asked(
        on, layout, parse_set(settings or []), mtbf, afr, rebuild_time, rebuild_rate, record, spares, replacement,
        error_rate, one_rebuild, distribution.value, shape, rebuild_distribution.value, years, method.value, arrays,
        seed,
    )  # fmt: skip
    data = assess(asked)
    if as_json:
        return print_json(data, "hotband-reliability")
    return show(*summary_lines(data), figures_table(data), *notes(data))
