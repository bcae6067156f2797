"""What `hotband audit` and `hotband compare` do, apart from printing it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hotband.audit.compare import compare
from hotband.audit.facts import of_options
from hotband.audit.finding import audit_data
from hotband.audit.load import load_pair, load_results
from hotband.audit.rules import findings
from hotband.audit.show import comparison_view, findings_view
from hotband.errors import UserError
from hotband.record.incomplete import refusing_incomplete

if TYPE_CHECKING:
    from hotband.audit.compare import ComparisonDoc
    from hotband.audit.finding import AuditDoc


def audit_results(
    paths: Sequence[Path], study: str | None, on: str | None, media: str | None, cache: str | None
) -> tuple[list[Any], AuditDoc, bool]:
    """Findings for the terminal and as data, and whether one is severe. Raises UserError."""
    wanted = list(paths)
    if study is not None:
        from hotband.study.file import PUBLISHED_FILE, load

        wanted.append(load(study).folder / PUBLISHED_FILE)
    if not wanted:
        raise UserError("RECORD|FILE...", "", "", "expected records, result files or tables (or --study NAME)")
    machine = of_options(on, media, cache)
    with refusing_incomplete(wanted):
        results = load_results(wanted)
        found = findings(results, machine)
        names = [one.name for one in results]
        return findings_view(names, found), audit_data(names, found), any(one.severity == "severe" for one in found)


def compare_results(a: Path, b: Path, seed: int, anyway: bool) -> tuple[list[Any], ComparisonDoc]:
    """The comparison for the terminal and as data. Raises UserError."""
    with refusing_incomplete([a, b]):
        found = compare(*load_pair(a, b), seed, anyway)
        return comparison_view(found), found.data()
