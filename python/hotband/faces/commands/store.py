"""`hotband store` and `hotband query`: the results of many runs in one folder of Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hotband.base.errors import UserError
from hotband.base.text.formats import PRINTED
from hotband.base.text.numbers import counted
from hotband.data.record.incomplete import refusing_incomplete
from hotband.data.record.written import record_text
from hotband.data.store.check import check
from hotband.data.store.compact import compact
from hotband.data.store.folders import add_all
from hotband.data.store.journal import left_behind
from hotband.data.store.lookup import record_of
from hotband.data.store.place import made, opened
from hotband.data.store.views import query as ask
from hotband.data.store.views import rows
from hotband.data.store.writer import writing
from hotband.faces.commands.group import Commands
from hotband.faces.commands.on_demand import with_epilog
from hotband.faces.commands.output import (
    JsonFlag,
    print_json,
    print_rows,
    print_text,
    say,
    show,
    show_lines,
    show_views,
)
from hotband.views.run import run_views
from hotband.views.store import Listed, listed, of_store, runs_table, table_of

if TYPE_CHECKING:
    from hotband.data.store.folders import Tick
    from hotband.data.store.place import Place

LISTED = 40
"""Runs that are listed where nothing else is said: what a screen or two has."""
MOST_ROWS = 200
"""Rows of a statement that a terminal gets; every other format gets all."""


class _Store(Commands):
    """Commands on a store; without one of their names, `list` is meant (`hotband store DIR`)."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        first = args[0] if args else "--help"
        if first not in self.list_commands(ctx) and first != "--help":
            args = ["list", *args]
        return super().parse_args(ctx, args)


store_app = typer.Typer(
    cls=_Store, no_args_is_help=True, help="Results of many runs, as Parquet that other tools read as it is."
)
DirArgument = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a store.")]
QUERY_EPILOG = """\
[bold]Views[/]

runs (a row a run: what ran, a column a factor, figures), summary, factors, histograms, records, and the tables over
time that runs left: series, caches, power, smart, operations. "show tables" lists them, "describe runs" their columns.

[bold]Examples[/]

hotband query "select target, qd, avg(iops) from runs group by all order by all" --from results

hotband query "from series where run = '1f03c5d0a7b2e4916d88'" --from results --format csv"""


@store_app.command("list")
def list_runs(
    path: DirArgument,
    where: Annotated[
        str, typer.Option(metavar="CONDITION", help="In SQL, such as 'qd >= 8 and latency_p99_ns < 20e6'.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=10**9, help="The last so many.")] = LISTED,
    as_json: JsonFlag = False,
) -> None:
    """List runs, those added last first: what ran, its factors, rate and latency. JSON has all columns."""
    place = opened(path)
    found = listed(place, where, limit)
    if as_json:
        return print_rows(found.documents())
    if found.rows:
        show(runs_table(found))
    more = f"; {len(found.rows):,} of {found.of:,} that were asked for are shown" if len(found.rows) < found.of else ""
    none = "no run meets the condition; " if where and not found.rows else ""
    show_lines([f"{none}{of_store(place)}{more}"])
    return tell_waiting(place)


def tell_waiting(place: Place) -> None:
    """Says what is in no part yet."""
    found = left_behind(place.journal)
    if found:
        what = counted(len(found), "journal")
        say(
            f"{what} with runs that are in no part yet, of writers at work or ended: hotband store compact {place.path}"
        )


@store_app.command("add")
def add(
    path: DirArgument,
    results: Annotated[
        list[Path],
        typer.Argument(metavar="RECORD|FILE...", help="Records, folders of them, sweeps, results of other tools."),
    ],
    small: Annotated[
        bool, typer.Option("--small", help="A new store without tables over time, and with buckets as fio has.")
    ] = False,
    experiment: Annotated[str, typer.Option(metavar="TEXT", help="What the runs belong to.")] = "",
    as_json: JsonFlag = False,
) -> None:
    """Add records to a store, which is made where it is not there. A run that is in it is not added again."""
    for result in results:
        if not result.exists():
            raise UserError(str(result), "", "", "no such file or folder; expected records, or results of another tool")
    place = made(path, True if small else None)
    with writing(place) as writer:
        done = add_all(writer, results, experiment, _progress())
    if as_json:
        return print_json({"added": done.new, "there": done.there}, "hotband-store-add")
    there = f"; {counted(done.there, 'run')} {'was' if done.there == 1 else 'were'} there already" if done.there else ""
    return show(f"Added: {counted(done.new, 'run')}{there}")


def _progress() -> Tick:
    """A line of progress every thousand."""

    def tick(done: int, of: int) -> None:
        if done and done < of and done % 1000 == 0:
            say(f"{done:,} of {of:,}")

    return tick


@store_app.command("show")
def show_one(
    path: DirArgument,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Its key, or the beginning of it.")],
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write its record there, too.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show a run: what its record says."""
    record = record_of(opened(path), run)
    if out is not None:
        record.save(out)
    if as_json:
        return print_text(record_text(record.document))
    with refusing_incomplete([path]):
        show_views(run_views(record.document, out))


@store_app.command("compact")
def compact_store(path: DirArgument, as_json: JsonFlag = False) -> None:
    """Merge many small parts into few large ones; take over what writers that were killed left."""
    from dataclasses import asdict

    place = opened(path)
    done = compact(place, say)
    if as_json:
        return print_json(asdict(done), "hotband-store-compact")
    return show(f"Parts: {done.before:,} before, {done.after:,} now; {of_store(place)}")


@store_app.command("check")
def check_store(path: DirArgument, as_json: JsonFlag = False) -> None:
    """Compare every file with its digest. Exit code 1 if one is damaged or missing."""
    from dataclasses import asdict

    place = opened(path)
    done = check(place)
    if as_json:
        print_json(asdict(done), "hotband-store-check")
    else:
        damaged = f"{len(done.damaged):,} damaged" if done.damaged else "all as they were written"
        show_lines([f"{counted(done.runs, 'run')} in {counted(done.files, 'file')}, {damaged}", *done.damaged])
        show_lines(f"in no part: {one}" for one in done.strange)
        tell_waiting(place)
    if done.damaged:
        raise typer.Exit(1)


@with_epilog(QUERY_EPILOG)
def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One statement that selects (DuckDB).")],
    from_: Annotated[
        Path, typer.Option("--from", metavar="DIR", help="The store; the current folder where not said.")
    ] = Path(),
    as_json: JsonFlag = False,
) -> None:
    """Ask a store in SQL. Nothing is written, and nothing else can be read."""
    names, found = ask(opened(from_), sql, rows)
    listed = Listed(names, found, len(found))
    if as_json:
        return print_rows(listed.documents())
    most = MOST_ROWS if PRINTED.form == "table" else len(found)
    show(table_of(Listed(names, found[:most], len(found))))
    if most < len(found):
        show_lines([f"{most:,} of {len(found):,} rows; --format csv has all"])
    return None
