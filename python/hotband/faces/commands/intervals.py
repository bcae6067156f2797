"""The level of intervals, of commands that are no declared questions."""

from __future__ import annotations

from typing import Annotated

import typer

from hotband.inference.interval.fields import HOLDS

LevelOption = Annotated[float, typer.Option("--interval", min=1, max=99, metavar="PERCENT", help=HOLDS)]
