"""What is asked of `expect`: results, the machine, and how predictions are run."""

from __future__ import annotations

from dataclasses import dataclass

from hotband.base.question import Question, asks, jobs, seed
from hotband.data.inputs.kinds import Machine, Results, Settings, Workload
from hotband.inference.interval import DRAWS_OF_MANY
from hotband.inference.interval.fields import draws, level


@dataclass(frozen=True, kw_only=True)
class ExpectQuestion(Question):
    """Say whether a result is as good as the model expects: its load is rebuilt and run on a machine.

    `result` is of fio, vdbench, DiskSpd or Iometer: a file, a folder, or several. Without `on` the drives of the
    catalog are ranked by how near they come. `duration` is the measured time of a prediction, else 100,000 I/Os.

    The result has `verdict` (in words), `rows`, `figures(row)` (measured, predicted, low, high, verdict; IOPS, bytes a
    second, ns), `assumed`, `explanations`, `ranking`, a `frame` with a row a figure, and `to_dict()`. Raises UserError
    for a mistake, KeyboardInterrupt where it is stopped.
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
        "What was run, if the result does not say.", default=None, metavar="WORKLOAD", short="-w"
    )
    settings: Settings = asks("Change a value.", default=(), metavar="KEY=VALUE")
    interval: float = level(text="Level of the intervals, 1 to 99.")
    draws: int = draws(DRAWS_OF_MANY)
    duration: str | None = asks('Measured time of a prediction, such as "60 s".', default=None, metavar="TIME")
    seed: int = seed()
    jobs: int | None = jobs()
