"""What `hotband audit` and `hotband compare` do, apart from printing it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hotband.base.errors import UserError
from hotband.base.text.formats import PRINTED
from hotband.base.text.pipes import with_pipes
from hotband.data.record.incomplete import refusing_incomplete
from hotband.inference.audit.compare import compare, comparisons_data
from hotband.inference.audit.facts import of_options
from hotband.inference.audit.load import load_sides
from hotband.questions.audit import audit_of
from hotband.views.audit import comparison_view, findings_view, overview_table

if TYPE_CHECKING:
    from hotband.inference.audit.compare import ComparisonsDoc
    from hotband.inference.audit.finding import AuditDoc

BETWEEN = "vs"
"""The word between the repeats of one side and those of the next; a file of this name is `./vs`."""


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
        found = [compare(first, other, seed, anyway) for other in others]
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
