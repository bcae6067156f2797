"""The command line, composed of its commands. Tables go to stdout, progress to stderr; under --json stdout carries only
data."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import hotband._core as _core
from hotband.execution.runs.signals import notice_interrupts
from hotband.faces.commands.declared import group, question
from hotband.faces.commands.front import LISTED, screen
from hotband.faces.commands.group import Commands
from hotband.faces.commands.on_demand import OnDemand, loaded
from hotband.faces.renamed import current, selected

COMMANDS = {
    **question("osds", "drives --kind osd"),
    **question("studies"),
    **question("keys"),
    **question("events", "keys --events"),
    **question("review"),
    **question("reliability"),
    **question("why", "run --explain"),
    **question("run"),
    **question("sweep"),
    **question("find"),
    **question("advise"),
    **question("fleet"),
    **question("serve"),
    **question("mount", "serve --mount"),
    **question("expect"),
    **question("program"),
    "ui": (
        "hotband.faces.commands.ui:ui",
        "Open a page in the browser, on this computer alone: choose or drop drives, layouts and workloads; run, "
        "sweep, find, review, compare, studies; live charts, reports, and the command for each.",
    ),
    **question("steady", "audit --steady"),
    **question("audit"),
    **question("compare"),
    **question("report"),
    "version": ("hotband.faces.commands.version:print_version", "Print the version."),
    **group("study"),
    **group("import"),
    **question("plot", "report --latency"),
    **group("drives"),
    "help": (
        "hotband.faces.commands.help:help_",
        "List all commands, show the help of a command, or explain a topic such as machines or units.",
    ),
    "measure": (
        "hotband.faces.commands.measure:measure_app",
        "Test a drive that you have: quick test, SNIA test, SMART data, self-test, calibration, compressibility.",
    ),
    **question("layouts"),
    **group("workloads"),
    **group("trace"),
    **group("store"),
    **group("corpus"),
}
"""Module of each command or group, and the first paragraph of its help, so that a list of commands loads none of these
modules. A name with an option (`run --explain`) is a command that the option selects."""


class Hotband(Commands):
    """The commands, each loaded on first use. Old names still work, and print the new one."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = OnDemand(COMMANDS)  # type: ignore[assignment]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, selected(current(args, not ctx.resilient_parsing), COMMANDS))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names that the first screen shows; old names and selecting options are hidden."""
        return [name for name in COMMANDS if name in LISTED]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the first screen instead of a list of options."""
        formatter.write(screen())


# The list of commands is plain text: typer's boxes take longer to load than the list takes to make.
app = typer.Typer(
    name="hotband",
    help="A storage evaluation lab: predict what a drive, a layout and a cache do for a workload.",
    no_args_is_help=True,
    cls=Hotband,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def version_option(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        loaded(COMMANDS["version"][0])()
        raise typer.Exit


@app.callback()
def hotband(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=version_option)
    ] = False,
) -> None:
    """A storage evaluation lab: predict what a drive, a layout and a cache do for a workload."""


def main() -> None:
    """Entry point; `hotband.faces.commands.group` defines how a command ends."""
    # In this order: a later handler of Python would replace that of the engine.
    notice_interrupts()
    _core.end_on_second_interrupt()
    typer.main.get_command(app)(prog_name="hotband")


if __name__ == "__main__":
    main()
