"""`hotband audit` and `hotband compare`: what results prove, and which is faster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hotband.base.errors import UserError
from hotband.base.text.formats import PRINTED
from hotband.base.text.pipes import with_pipes
from hotband.data.record.incomplete import refusing_incomplete
from hotband.faces.commands.output import CacheOption, JsonFlag, MediaOption, OnOption, print_json, show
from hotband.inference.audit import compare as sides
from hotband.inference.audit.compare import comparisons_data
from hotband.inference.audit.facts import of_options
from hotband.inference.audit.load import load_sides
from hotband.questions.audit import audit_of
from hotband.views.audit import comparison_view, findings_view, overview_table

if TYPE_CHECKING:
    from hotband.inference.audit.compare import ComparisonsDoc
    from hotband.inference.audit.finding import AuditDoc

BETWEEN = "vs"
"""The word between the repeats of one side and those of the next; a file of this name is `./vs`."""


def audit(
    results: Annotated[
        list[Path] | None, typer.Argument(metavar="RECORD|FILE...", help="Records, results of other tools, CSV tables.")
    ] = None,
    study: Annotated[str | None, typer.Option(metavar="NAME", help="The published table of a study.")] = None,
    on: OnOption = None,
    media: MediaOption = None,
    cache: CacheOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Say what results prove: rules of physics, arithmetic and statistics on yours or published ones.

    Exit code 1 if a finding is severe, so that it works in CI.
    """
    views, data, severe = audit_results(list(results or []), study, on, media, cache)
    if as_json:
        print_json(data, "hotband-audit")
    else:
        show(*views)
    if severe:
        raise typer.Exit(1)


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


def audit_results(
    paths: Sequence[Path], study: str | None, on: str | None, media: str | None, cache: str | None
) -> tuple[list[Any], AuditDoc, bool]:
    """Findings for the terminal and as data, and whether one is severe. Raises UserError."""
    found = audit_of(with_pipes(paths), study, of_options(on, media, cache))
    return findings_view(found.subjects, found.findings), found.to_dict(), found.is_severe


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
