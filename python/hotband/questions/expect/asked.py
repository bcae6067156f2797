"""The question `expect`: results, the machine, and options of the predictions."""

from __future__ import annotations

from dataclasses import dataclass

from hotband.base.question import Question, asks, jobs, seed
from hotband.data.inputs.kinds import Machine, Results, Settings, Workload
from hotband.inference.interval import DRAWS_OF_MANY
from hotband.inference.interval.fields import draws, level


@dataclass(frozen=True, kw_only=True)
class ExpectQuestion(Question):
    """Check whether a result is as good as the model predicts for its load on a machine.

    `result` is a file, a folder, or several. `duration` is the measured time of a prediction, by default 100,000 I/Os.

    The result has `verdict` (in words), `rows`, `figures(row)` (measured, predicted, low, high, verdict; IOPS, bytes
    per second, ns), `assumed`, `explanations`, `ranking`, a `frame` with one row per figure, and `to_dict()`. Raises
    UserError for a mistake, KeyboardInterrupt if it is stopped.
    """

    name = "expect"
    schema = "hotband-expect"
    answers = "hotband.questions.expect.expected:Expected"
    runs = True

    result: Results = asks(
        "Results of fio, vdbench, DiskSpd or Iometer.",
        metavar="RESULT...",
        positional=True,
        takes="a result of fio, vdbench, DiskSpd or Iometer",
    )
    on: Machine | None = asks(
        "The target: a drive, LAYOUT:COUNTxDRIVE, or a TOML file.", default=None, metavar="MACHINE"
    )
    workload: Workload | None = asks(
        "Workload of the result, if it does not state it.", default=None, metavar="WORKLOAD", short="-w"
    )
    settings: Settings = asks("Change a value.", default=(), metavar="KEY=VALUE")
    interval: float = level()
    draws: int = draws(DRAWS_OF_MANY)
    duration: str | None = asks(
        'Measured time of a prediction, such as "60 s".', default=None, metavar="TIME", unit="s"
    )
    seed: int = seed()
    jobs: int | None = jobs()
