"""The command line: its commands put together. Tables go to stdout, progress to stderr; under --json stdout carries
data only."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import hotband._core as _core
from hotband.execution.runs.signals import notice_interrupts
from hotband.faces.commands.group import Commands
from hotband.faces.commands.on_demand import OnDemand
from hotband.faces.commands.output import print_version
from hotband.faces.questions import QUESTIONS


def question(name: str) -> dict[str, tuple[str, str]]:
    """The line of a question: its command is made of its declaration."""
    return {name: (f"hotband.faces.commands.question:{name}", QUESTIONS[name].summary)}


COMMANDS = {
    "osds": (
        "hotband.faces.commands.catalog:osds",
        "What object storage daemons the catalog holds, for replicated pools; with NAME every value of one.",
    ),
    "workloads": (
        "hotband.faces.commands.catalog:workloads",
        "What workloads the catalog holds; with NAME the text of one, to copy and change.",
    ),
    "studies": (
        "hotband.faces.commands.catalog:studies",
        "What studies the catalog holds; with NAME its configurations, loads and published figures.",
    ),
    "keys": (
        "hotband.faces.commands.keys:keys",
        "List every key that --set takes for a workload on a machine: its value today, what it takes, what it means.",
    ),
    "events": (
        "hotband.faces.commands.events:events",
        "What may happen in a run (failures, loss of power, changed values), and on what it is supported.",
    ),
    **question("review"),
    **question("reliability"),
    **question("why"),
    **question("run"),
    **question("sweep"),
    **question("find"),
    **question("advise"),
    "device": (
        "hotband.faces.commands.device:device",
        "Say what a drive is, what it counts, and what keeps it from being written. Nothing is written to it.",
    ),
    **question("fleet"),
    "serve": (
        "hotband.faces.commands.serve:serve",
        "Serve a modelled machine on the wall clock as a block device: NBD, a file, or a loop device.",
    ),
    "mount": (
        "hotband.faces.commands.serve:mount",
        "Mount a modelled machine: a file a volume, and with --loop block devices, as long as the command runs.",
    ),
    **question("expect"),
    **question("calibrate"),
    "program": (
        "hotband.faces.commands.program:program",
        "Run a real program on a machine that is served as block devices, or in a folder.",
    ),
    **question("pts"),
    **question("quick"),
    "query": (
        "hotband.faces.commands.store:query",
        "Ask a store in SQL. Nothing is written, and nothing else can be read.",
    ),
    "ui": (
        "hotband.faces.commands.ui:ui",
        "Open a page in the browser, on this computer alone: choose or drop drives, layouts and workloads; run, "
        "sweep, find, review, compare, studies; live charts, reports, and the command for each.",
    ),
    **question("steady"),
    **question("audit"),
    **question("compare"),
    "report": (
        "hotband.faces.commands.report:report",
        "Write one self-contained HTML report of records, and its charts as SVG or PNG.",
    ),
    **question("entropy"),
    "version": ("hotband.faces.commands.version:version", "Print the version."),
    "study": ("hotband.faces.commands.studies:study_app", "Published evaluations, predicted."),
    "import": ("hotband.faces.commands.results:import_app", "Results of other tools, as records."),
    "plot": ("hotband.faces.commands.results:plot_app", "Charts of records and of other tools' results."),
    "drives": (
        "hotband.faces.commands.drives:drives_app",
        "Drives: those of the catalog, and your own (docs/guides/answers.md).",
    ),
    "workload": ("hotband.faces.commands.workload:workload_app", "Workloads as files of ours and of other tools."),
    "trace": ("hotband.faces.commands.trace:trace_app", "Traces of I/Os, of ours and of other tools."),
    "store": (
        "hotband.faces.commands.store:store_app",
        "Results of many runs, as Parquet that other tools read as it is.",
    ),
}
"""Where each command is, or a group of them, and the first paragraph of what it says of itself: a list of the commands
needs no module of theirs."""


class Hotband(Commands):
    """The commands, each loaded when it is asked for."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = OnDemand(COMMANDS)  # type: ignore[assignment]


# The list of commands is plain text: the boxes that typer draws around it take longer to load than the rest to make.
app = typer.Typer(
    name="hotband",
    help="A storage evaluation lab: predict what a drive, a layout and a cache do for a workload.",
    no_args_is_help=True,
    cls=Hotband,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def version_option(wanted: bool) -> None:
    """Prints the version and ends."""
    if wanted:
        print_version()
        raise typer.Exit


@app.callback()
def hotband(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=version_option)
    ] = False,
) -> None:
    """A storage evaluation lab: predict what a drive, a layout and a cache do for a workload."""


def main() -> None:
    """Entry point; `hotband.faces.commands.group` says how a command ends."""
    # In this order: a handler of Python's that comes later takes the place of the engine's.
    notice_interrupts()
    _core.end_on_second_interrupt()
    typer.main.get_command(app)(prog_name="hotband")


if __name__ == "__main__":
    main()
