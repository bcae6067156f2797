"""The report of records."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hotband.base.arguments import public
from hotband.base.errors import UserError
from hotband.data.inputs.specify import Spec, named
from hotband.data.record.incomplete import refusing_incomplete
from hotband.data.record.record import Record
from hotband.inference.audit.facts import of_options
from hotband.views.report.kept import expect_fit, places_of, report_of

if TYPE_CHECKING:
    from hotband.views.report.kept import Report

Result: TypeAlias = "Record | str | PathLike[str]"
"""A record, or the path of one or of a result of another tool."""


@public
def report(
    records: Result | Sequence[Result],
    *,
    title: str | None = None,
    audit: bool = False,
    on: Spec | None = None,
    media: str | None = None,
    cache: str | None = None,
) -> Report:
    """The report of records, or of paths of records, of results of other tools, or of one folder of a study's run:
    `.save("page.html")` writes the page, `.charts` has every chart of it by name (`.view` for altair,
    `.save("chart.svg")` or `.png`), `.save_charts("folder")` all of them. The page says first which record is faster
    and by how much; records that differ in their seed alone are repeats of one. Without a `title` it is what was run on
    what. With `audit` it says what the auditor finds, who is told of the target by `on`, `media` and `cache` as in
    `audit`. Raises UserError where there is no record."""
    found = [records] if isinstance(records, Record | str | PathLike) else list(records)
    if not found:
        raise UserError("records", "", "[]", "expected at least one record")
    given = [one.loaded() if isinstance(one, Record) else Path(one) for one in found]
    machine = of_options(None if on is None else named(on, "on"), media, cache)
    expect_fit(given, title, audit, machine)
    places = places_of(given)
    with refusing_incomplete([one for one in places if isinstance(one, Path)]):
        return report_of(places, title, audit=audit, machine=machine)
