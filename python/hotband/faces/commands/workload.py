"""`hotband workload convert`: job files as workloads, and the other way round."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hotband.base.text.write import expect_other_file, write_file
from hotband.data.inputs.convert import convert_workload
from hotband.faces.commands.group import Commands
from hotband.faces.commands.output import WorkloadArgument, say, show_lines

workload_app = typer.Typer(cls=Commands, no_args_is_help=True, help="Workloads as files of ours and of other tools.")


@workload_app.callback()
def workload() -> None:
    """Workloads as files of ours and of other tools."""


@workload_app.command()
def convert(
    workload: WorkloadArgument,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="OUT.toml, .fio or .parm; TOML to stdout if not said."),
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="PATH", help="The device or file that a written job runs on.")
    ] = None,
) -> None:
    """Turn a workload or a job file into another, and say what is kept, approximated and ignored.

    Reads the catalog, TOML, and job files of fio, vdbench, Iometer and DiskSpd; writes TOML, fio and vdbench.
    """
    if output is not None:
        expect_other_file("--output", output, [Path(workload)])
    done = convert_workload(workload, output, target)
    if output is None:
        typer.echo(done.text, nl=False)
        for line in done.lines():
            say(line)
        return
    write_file(output, done.text)
    show_lines(done.lines())
    show_lines([f"Workload: {output}"])
