"""The question `find`: its text, the load and the machines, and the precision of the answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hotband.base.question import Question, asks, jobs, seed
from hotband.data.inputs.kinds import Machines, Settings, Workload
from hotband.data.inputs.specify import expect_interval
from hotband.inference.interval.fields import draws_of, level_of

WITHIN = 2.0
"""Percent of the value within which an answer brackets the crossing."""


@dataclass(frozen=True, kw_only=True)
class FindQuestion(Question):
    """Find the rate, queue depth, number of drives or value that meets a condition, in at most 12 runs per machine.

    `question` is text: "IOPS at p99 < 10 ms" (the highest rate of an open loop with `arrival` "poisson" or "fixed"),
    "drives for 50000 IOPS at p99 < 2 ms" (`on="raid10:{n}xDRIVE"`), "queue depth for 90 % of the most", "bs for 500
    MB/s". A store receives the run of each answer, with the answer as a factor.

    The result has one `Answer` per machine (`found.answers`, `found["MACHINE"]`): `status`, `text`, `value` (I/Os per
    second, bytes, seconds or a count), `figures` (I/Os and bytes per second, seconds), `interval`, `trials`, `record`;
    a `frame` with one row per trial, and `to_dict()`. If no value meets the condition, the answer's status says so;
    that is not an error. Raises UserError for a mistake, KeyboardInterrupt if it is stopped.
    """

    name = "find"
    schema = "hotband-find"
    answers = "hotband.questions.find.found:Found"
    runs = True

    question: str = asks('Such as "IOPS at p99 < 10 ms".', metavar="QUESTION", positional=True)
    workload: Workload = asks(
        "A catalog name, a TOML file, a job file or an I/O log.", metavar="WORKLOAD", short="-w", ordered=True
    )
    on: Machines = asks(
        "A drive, LAYOUT:COUNTxDRIVE, LAYOUT:{n}xDRIVE or a TOML file. May be repeated.", metavar="MACHINE"
    )
    settings: Settings = asks("Change a value.", default=(), metavar="KEY=VALUE")
    range: str | None = asks("Range of the varied value, such as 1..64.", default=None, metavar="LOW..HIGH")
    within: float = asks("Precision of the answer.", default=WITHIN, metavar="PERCENT")
    arrival: str = asks("Arrivals of an open loop: poisson or fixed.", default="poisson", metavar="KIND")
    ios: int | None = asks("Measured I/Os per trial. Default: 60,000 to 300,000.", default=None, metavar="COUNT")
    duration: str | None = asks(
        'Measured time of a trial instead, such as "60 s".', default=None, metavar="TIME", unit="s"
    )
    seed: int = seed()
    interval: float | None = level_of()
    draws: int | None = draws_of()
    jobs: int | None = jobs()
    into: Path | None = asks("Add the answers' runs to this store (hotband store).", default=None, metavar="DIR")

    def __post_init__(self) -> None:
        """Refuse sampling without intervals, too. Raises UserError."""
        super().__post_init__()
        expect_interval(self.interval, self.draws)
