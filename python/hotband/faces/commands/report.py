"""`hotband report`: one page of records."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hotband.base.errors import UserError
from hotband.base.text.pipes import with_pipes
from hotband.base.text.write import expect_page
from hotband.data.record.incomplete import refusing_incomplete
from hotband.faces.commands.output import CacheOption, MediaOption, OnOption, show
from hotband.inference.audit.facts import of_options
from hotband.views.report.kept import expect_fit, kept_study, places_of, report_of


class ChartFormat(StrEnum):
    """Of a chart's file."""

    svg = "svg"
    png = "png"


def report(
    records: Annotated[
        list[Path],
        typer.Argument(
            metavar="RECORD...", help="Records, folders of them, results of other tools, or the folder of a study run."
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.html", help="The report: one file.")
    ] = None,
    charts: Annotated[
        Path | None, typer.Option("--charts", metavar="DIR", help="Folder for a file of every chart.")
    ] = None,
    chart_format: Annotated[ChartFormat | None, typer.Option(help="Of the charts; svg where not said.")] = None,
    title: Annotated[str | None, typer.Option(help="Its heading; what was run on what where not said.")] = None,
    audit: Annotated[bool, typer.Option("--audit", help="With what the auditor finds in them.")] = False,
    on: OnOption = None,
    media: MediaOption = None,
    cache: CacheOption = None,
) -> None:
    """Write one self-contained HTML report of records, and its charts as SVG or PNG.

    It says first which is faster and by how much; repeats (other seeds of the same) are taken together.
    """
    if output is None and charts is None:
        raise UserError("--output", "", "", "missing: expected -o FILE.html, --charts DIR or both")
    if chart_format is not None and charts is None:
        raise UserError("--chart-format", "", chart_format.value, "is of the files of charts: expected --charts DIR")
    machine = of_options(on, media, cache)
    expect_fit(records, title, audit, machine)
    is_study = kept_study(records) is not None
    given = records if is_study else [one for one in places_of(with_pipes(records)) if isinstance(one, Path)]
    if output is not None:
        expect_page("--output", output, [one for path in given for one in (path, path / "record.json")])
    with refusing_incomplete([] if is_study else given):
        found = report_of(given, title, audit=audit, machine=machine)
        if output is not None:
            show(f"Report: {found.save(output)}")
        if charts is not None:
            written = found.save_charts(charts, (chart_format or ChartFormat.svg).value)
            show(f"Charts: {len(written)} in {charts}")
