"""`hotband program`: real programs as workloads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hotband.base.errors import UserError
from hotband.base.text.table import Table, column, numeric
from hotband.data.catalog.named import EMULATED, is_real
from hotband.data.record.files import RECORD_FILE
from hotband.execution.experiment import expect_out, new_record
from hotband.execution.programs import PROGRAMS, all_programs, find_program, needs, run
from hotband.execution.programs.needs import how_to_get
from hotband.execution.programs.run import PROGRAM_FILE
from hotband.execution.programs.settings import accepted_by, parse_pairs
from hotband.faces.commands import names
from hotband.faces.commands.on_demand import with_epilog
from hotband.faces.commands.output import (
    FreshOverOption,
    JsonFlag,
    OutOption,
    print_json,
    print_listing,
    print_rows,
    say,
    show,
    show_lines,
)

if TYPE_CHECKING:
    from hotband.data.documents.program import ProgramDoc
    from hotband.execution.programs.program import Program

EPILOG = """\
[bold]Examples[/]

hotband program

hotband program pgbench

hotband program pgbench --on exos-15e900-512n --set clients=8 --set scale=50 --out pg

hotband program sysbench --on real:/mnt/disk --set total="1 GiB"
"""


def program_names() -> list[str]:
    """Of all programs."""
    return list(PROGRAMS)


def place(where: str, name: str) -> str:
    """A machine with its name completed; a folder of the host as it is."""
    return name if is_real(name) else names.machine_names(where, name.removeprefix(EMULATED))


def setting_keys(ctx: typer.Context, incomplete: str) -> Iterator[str]:
    """For the shell: settings of the program that the line names."""
    name = ctx.params.get("name") or (ctx.args[0] if ctx.args else "")
    known = find_program(name).settings if name in PROGRAMS else {}
    return (f"{key}=" for key in known if key.startswith(incomplete))


NAME: names.Completion = {
    "callback": names.callback(lambda where, name: names.completed(where, name, program_names())),
    "autocompletion": names.beginning(program_names),
}


@with_epilog(EPILOG)
def program(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A program; without it, all.", **NAME)] = None,
    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            metavar="MACHINE",
            help="A drive, LAYOUT:COUNTxDRIVE, a TOML file, or real:DIR, a folder of this host.",
            callback=names.callback(place),
            autocompletion=names.machines,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of the program, or a value of the drives.",
            autocompletion=setting_keys,
        ),
    ] = None,
    out: OutOption = None,
    fresh: FreshOverOption = False,
    as_json: JsonFlag = False,
) -> None:
    """Run a real program on a machine that is served as block devices, or in a folder.

    Without NAME it lists the programs, without --on the settings of one.
    """
    expect_out(fresh, out)
    if on is None and (settings or out is not None):
        raise UserError("--on", "", "", "missing: a machine, or real:DIR")
    if name is None:
        if on is not None:
            raise UserError("NAME", "", "", f"missing: expected one of {', '.join(program_names())}")
        return list_programs(as_json)
    if on is None:
        return describe(find_program(name), as_json)
    with new_record(out, "--out", fresh, (RECORD_FILE, PROGRAM_FILE)):
        done = run.run_program(name, on, parse_pairs(settings or []), out, say)
    if as_json:
        return print_json(done, "hotband-program")
    show(figures_table(done, on))
    show_lines(f"  note: {note}" for note in done["notes"])
    return None


def list_programs(as_json: bool) -> None:
    """Prints what there is, with what each needs and whether that is there."""
    rows = [(all_program, needs.missing(all_program)) for all_program in all_programs()]
    if as_json:
        return print_rows([{**outline(one), "missing": [need.command for need in lacking]} for one, lacking in rows])
    shown = [
        (
            one.name,
            one.title,
            ", ".join(need.command for need in one.needs),
            there(how_to_get(lacking)),
        )
        for one, lacking in rows
    ]
    return print_listing("Programs", shown, ("name", "program", "needs", "there"))


def there(how: str) -> str:
    """Whether all that a program needs is there, in words, by how what is missing is installed."""
    return f"no: {how}" if how else "yes"


def outline(one: Program) -> dict[str, object]:
    """A program as data."""
    settings = [
        {"key": key, "default": str(each.default), "accepted": accepted_by(each), "meaning": each.what}
        for key, each in one.settings.items()
    ]
    needs = [{"command": need.command, "package": need.package} for need in one.needs]
    words: dict[str, Any] = {"name": one.name, "title": one.title, "asks": one.asks}
    return {**words, "needs": needs, "volumes": list(one.volumes), "settings": settings}


def describe(one: Program, as_json: bool) -> None:
    """Prints what a program asks of the disk, and its settings."""
    if as_json:
        found = {**outline(one), "missing": [need.command for need in needs.missing(one)]}
        return print_json(found, "hotband-program-outline")
    rows = [(key, str(each.default), accepted_by(each), each.what) for key, each in one.settings.items()]
    print_listing(f"{one.name}: {one.title}", rows, ("key", "today", "takes", "meaning"))
    lines = [f"Asks of the disk: {one.asks}", f"Volumes, where the machine has them: {', '.join(one.volumes)}"]
    lacking = needs.missing(one)
    show_lines(lines + ([f"Not here yet; install with: {how_to_get(lacking)}"] if lacking else []))
    return None


def figures_table(done: ProgramDoc, on: str) -> Table:
    """The figures of a run."""
    title = f"{done['name']} on {on} ({done['version']})"
    columns = [column("figure"), numeric("value"), column("unit")]
    table = Table(title, columns, about={"program": done["name"], "on": on})
    for one in done["figures"]:
        table.add(one["name"], one["value"], one["unit"])
    return table
