"""The question of `why`: a run, and the figure whose interval is explained."""

from __future__ import annotations

from dataclasses import dataclass

from hotband.base.question import Question, asks, duration, jobs, seed
from hotband.data.inputs.kinds import Machine, Settings, Workload
from hotband.inference.interval import DRAWS
from hotband.inference.interval.fields import draws, level


@dataclass(frozen=True, kw_only=True)
class WhyQuestion(Question):
    """Show the sources of a prediction's uncertainty, value by value, and the measurement that would reduce it.

    `figure` is of a workload that reads and writes also "read.p99" and so on. Everything else as in `run`.

    The result has the interval (`predicted`, `low`, `high`), shares of its squared width (`of_values`, `of_seed`,
    `of_model`), `advice` in words and a `frame` with one row per value. Raises UserError, KeyboardInterrupt if it is
    stopped before there are draws enough.
    """

    name = "why"
    schema = "hotband-why"
    answers = "hotband.inference.interval.explained:Why"
    runs = True

    workload: Workload = asks(
        "A catalog name, a TOML file, a job file or an I/O log.", metavar="WORKLOAD", positional=True
    )
    on: Machine = asks("A drive, LAYOUT:COUNTxDRIVE, or a TOML file.", metavar="MACHINE")
    settings: Settings = asks("Change a value.", default=(), metavar="KEY=VALUE")
    figure: str = asks(
        "iops, bandwidth, mean, p50, p99 or p999; read.p99 if there are reads and writes.",
        default="iops",
        metavar="FIGURE",
    )
    interval: float = level()
    draws: int = draws(DRAWS)
    seed: int = seed()
    duration: str | None = duration()
    jobs: int | None = jobs()
