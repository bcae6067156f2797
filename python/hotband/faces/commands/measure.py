"""`hotband measure`: what is measured on drives and data that the user has."""

from __future__ import annotations

from typing import Any

import typer

from hotband.faces.commands.declared import question
from hotband.faces.commands.group import Commands
from hotband.faces.commands.on_demand import OnDemand

MEASURE = {
    **question("quick"),
    **question("pts"),
    "device": (
        "hotband.faces.commands.device:device",
        "Say what a drive is, what it counts, and what keeps it from being written. Nothing is written to it.",
    ),
    **question("calibrate"),
    **question("entropy"),
}
"""Where each command is, and the first paragraph of its help."""


class Measure(Commands):
    """The commands of the group, each loaded when it is first used."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = OnDemand(MEASURE)  # type: ignore[assignment]


measure_app = typer.Typer(
    cls=Measure,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Measure your drive or data: quick test, SNIA test, identity and SMART data, calibration, entropy.",
)
