"""`hotband import` and `hotband report --latency`: results of other tools, as records and as charts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hotband.base.errors import UserError
from hotband.base.text.numbers import counted
from hotband.base.text.pipes import with_pipes
from hotband.data import importers
from hotband.data.importers import diskspd, hdr, iometer, vdbench
from hotband.data.importers.fio import importer
from hotband.data.record.files import folder_name, save_imported
from hotband.data.record.incomplete import refusing_incomplete
from hotband.data.record.states import said_of
from hotband.data.record.writable import check_writable
from hotband.data.results.walk import Walk, is_walked, walk
from hotband.faces.commands.group import Commands
from hotband.faces.commands.output import JsonFlag, OutOption, print_rows, show, show_answer, show_lines
from hotband.views.report.latency import check_out, latency_chart, load_any, write_chart
from hotband.views.report.matrix import Matrix
from hotband.views.report.matrix_screen import matrix_screen
from hotband.views.text.screen import command
from hotband.views.text.tables import summary_table

if TYPE_CHECKING:
    from hotband.data.importers import Imported


class ImportCommands(Commands):
    """The importers by tool; a path in place of a tool is of a tool that is recognised."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Insert `auto` before a path."""
        if args and args[0] not in self.list_commands(ctx) and Path(args[0]).exists():
            args = ["auto", *args]
        return super().resolve_command(ctx, args)


import_app = typer.Typer(cls=ImportCommands, no_args_is_help=True, help="Results of other tools, as records.")
plot_app = typer.Typer(cls=Commands, no_args_is_help=True, help="Charts of records and of other tools' results.")


def import_with(
    read: Callable[[Sequence[Path]], list[Imported]], files: list[Path], out: Path | None, as_json: bool
) -> None:
    """Reads, saves where `out` says, and prints."""
    if out is not None:
        check_writable(out)
    imported = read(with_pipes(files))
    saved = [] if out is None else save_imported(out, imported)
    if as_json:
        return print_rows([record for record, _ in imported])
    for record, _ in imported:
        show(summary_table(record))
        show_lines(said_of(record))
        show_lines(f"  note: {note}" for note in record["notes"])
    return show(*(f"Record: {path}" for path in saved))


def import_folders(paths: Sequence[Path], out: Path | None, as_json: bool) -> None:
    """Import every result in folders, each into SERIES/TEST of `out` if there are several series; print the matrix."""
    if out is not None:
        check_writable(out)
    walks = [walk(path) for path in paths if path.is_dir()]
    found = Walk.merged(walks)
    records = [result for result in found.results if result.imported is not None]
    further = [one for path in paths if not path.is_dir() for one in importers.load(path)]
    saved = [] if out is None else save_imported(out, further)
    several = len(found.series) > 1
    for series in found.series if out is not None else []:
        inside = [one for one in records if one.series == series]
        place = Path(out or "") / folder_name(series) if several else Path(out or "")
        saved += save_imported(place, [one.imported for one in inside if one.imported], [one.test for one in inside])
    if as_json:
        return print_rows([one.record.record for one in records] + [record for record, _ in further])
    left = len(found.results) - len(records)
    written = f"{counted(len(saved), 'record')} written to {out}." if out is not None else ""
    next_command = command("report", out, output="report.html") if out is not None else ""
    screen = matrix_screen(Matrix(found), written, next_command)
    remarks = [*screen.remarks, *([f"{counted(left, 'record')} of Hotband not copied."] if left else [])]
    return show_answer(replace(screen, remarks=remarks), details=False)


ResultFiles = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Files or folders that the tool wrote; - is what comes in."),
]


@import_app.command("auto")
def import_auto(files: ResultFiles, out: OutOption = None, as_json: JsonFlag = False) -> None:
    """Recognise by content which tool wrote each file, and turn it into records."""
    given = with_pipes(files)
    if not any(is_walked(path) for path in given):
        return import_with(lambda paths: [one for path in paths for one in importers.load(path)], given, out, as_json)
    return import_folders(given, out, as_json)


@import_app.command("fio")
def import_fio(files: ResultFiles, out: OutOption = None, as_json: JsonFlag = False) -> None:
    """Turn fio's output (JSON, JSON+, terse, logs) into records; logs beside their JSON become its series."""
    import_with(importer.read, files, out, as_json)


@import_app.command("vdbench")
def import_vdbench(files: ResultFiles, out: OutOption = None, as_json: JsonFlag = False) -> None:
    """Turn vdbench's flatfile, summary, totals and histogram into records, one a run definition."""
    import_with(vdbench.read, files, out, as_json)


@import_app.command("diskspd")
def import_diskspd(files: ResultFiles, out: OutOption = None, as_json: JsonFlag = False) -> None:
    """Turn DiskSpd's XML (-Rxml) into records, one a time span."""
    import_with(diskspd.read, files, out, as_json)


@import_app.command("iometer")
def import_iometer(files: ResultFiles, out: OutOption = None, as_json: JsonFlag = False) -> None:
    """Turn Iometer's results CSV into records, one a test."""
    import_with(iometer.read, files, out, as_json)


@import_app.command("hdr")
def import_hdr(
    files: ResultFiles,
    out: OutOption = None,
    unit: Annotated[str | None, typer.Option(metavar="UNIT", help="Of the values: ns, us, ms or s.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Turn HdrHistogram logs (.hlog) into records, one a tag."""
    import_with(lambda paths: hdr.read(paths, unit), files, out, as_json)


@plot_app.command("latency")
def plot_latency(
    files: Annotated[list[Path], typer.Argument(metavar="RECORD|FILE...", help="Records, or results of other tools.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The chart: .html, .png or .svg.")],
    op: Annotated[str | None, typer.Option(metavar="OP", help="read or write. Default: both.")] = None,
    title: Annotated[str, typer.Option(help="Its heading.")] = "Latency by percentile",
) -> None:
    """Draw the latency of several runs by percentile, as far out as their samples support."""
    if op not in (None, "read", "write"):
        raise UserError("--op", "", op, "accepted: read, write")
    check_out(out)
    with refusing_incomplete(files):
        records = [one for path in with_pipes(files) for one in load_any(path)]
        write_chart(latency_chart(records, title, op), out)
    show(f"Chart: {out}")
