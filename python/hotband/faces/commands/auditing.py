"""`hotband compare`: which of several results is faster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hotband.base.errors import UserError
from hotband.base.text.formats import PRINTED
from hotband.base.text.pipes import with_pipes
from hotband.data.record.incomplete import refusing_incomplete
from hotband.faces.commands.output import JsonFlag, print_json, show
from hotband.inference.audit import compare as sides
from hotband.inference.audit.compare import comparisons_data
from hotband.inference.audit.load import load_sides
from hotband.views.audit import comparison_view, overview_table

if TYPE_CHECKING:
    from hotband.inference.audit.compare import ComparisonsDoc

BETWEEN = "vs"
"""The word between the repeats of one side and those of the next; a file of this name is `./vs`."""


def compare(
    results: Annotated[
        list[Path],
        typer.Argument(metavar="A... [vs] B...", help="Records or results of other tools; vs between repeats."),
    ],
    anyway: Annotated[bool, typer.Option("--anyway", help="Even if they were not asked the same.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of the resampling.")] = 1,
    as_json: JsonFlag = False,
) -> None:
    """Say whether B is faster than A, slower, or shows no difference: IOPS and percentiles with 95 % intervals.

    Every further result is compared with the first. Repeats of a side: A1 A2 A3 vs B1 B2 B3, or a folder of records.
    """
    views, data = compare_results(results, seed, anyway)
    return print_json(data, "hotband-compare") if as_json else show(*views)


def compare_results(arguments: Sequence[Path], seed: int, anyway: bool) -> tuple[list[Any], ComparisonsDoc]:
    """Every side against the first, for the terminal and as data. Raises UserError."""
    groups = sides_of(with_pipes(arguments))
    with refusing_incomplete([path for paths in groups for path in paths]):
        first, *others = load_sides(groups)
        found = [sides.compare(first, other, seed, anyway) for other in others]
        # CSV has every comparison in one table of its own shape.
        overview = [overview_table(found), ""] if len(found) > 1 and PRINTED.form != "csv" else []
        return [*overview, *(view for one in found for view in comparison_view(one))], comparisons_data(found)


def sides_of(arguments: Sequence[Path]) -> list[list[Path]]:
    """The paths of each side: those between the words `vs`, where there are any, else one a side."""
    words = [str(path) for path in arguments]
    if BETWEEN not in words:
        groups = [[path] for path in arguments]
    else:
        groups = [[]]
        for path in arguments:
            if str(path) == BETWEEN:
                groups.append([])
            else:
                groups[-1].append(path)
    if len(groups) < 2 or not all(groups):
        raise UserError(
            "compare", "", " ".join(words), f"expected results of two sides or more: A B, or A A2 {BETWEEN} B B2"
        )
    return groups
