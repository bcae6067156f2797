"""The question `sweep`: loads and machines, the values of each setting, and the seeds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.question import Ending, Question, asks, duration, fresh, into, invalid_ending, jobs, out, rate, slo
from hotband.data.inputs.kinds import AlikeWorkloads, Axes, Machines, Rate, Seeds, Texts
from hotband.data.inputs.rate import rates_of
from hotband.data.inputs.specify import expect_interval
from hotband.data.results.sweep_journal import FRAME_FILE
from hotband.execution.runs.signals import INTERRUPTED
from hotband.execution.targets.fields import OnHardware, anyway, erase, hosts, keep, purge_by, size, yes
from hotband.inference.interval.fields import draws_of, level_of
from hotband.questions.slo import slo_of

if TYPE_CHECKING:
    from hotband.questions.sweeps.sweep import Sweep


@dataclass(frozen=True, kw_only=True)
class SweepQuestion(OnHardware, Question):
    """Run a workload at every combination of settings on one machine or several, models and hardware (real:PATH):
    curves, and the answer in words.

    A list, tuple or range is an axis (`qd=[1, 8, 32]`, `seed=range(5)`), and so is a text with a range or commas
    (`qd="1..256"` doubles, `qd="1..100/5"` steps, `bs="4KiB,64KiB"`), also of `rate`. `slo` ("p99 < 1 ms") is judged
    at every point, in columns of `Sweep.means` named by its conditions. With `interval` the first seed of every point
    has intervals. An interrupt returns the sweep with the finished runs; `Sweep.missing` lists the others,
    `Sweep.resume()` continues. Without `records` only the rows of the frame are stored, in a thousandth of the memory.
    `executor` may also be an `Executor` of `hotband.execution.experiment`. All runs are checked before the first
    begins. Raises UserError for a mistake in one, and for more than 100,000.
    """

    name = "sweep"
    schema = "hotband-sweep-answers"
    answers = "hotband.questions.sweeps.sweep:Sweep"
    runs = True
    has_page = True

    workload: AlikeWorkloads = asks(
        "A catalog name, a TOML file, a job file or an I/O log.", metavar="WORKLOAD", positional=True
    )
    on: Machines = asks("A machine, as for run. May be repeated.", metavar="MACHINE")
    settings: Axes = asks("Values of a key: one, a list or a range.", default=(), metavar="KEY=VALUES")
    rate: Rate | None = rate(
        "I/Os (of a script: transactions) per second, without waiting for others: one value or several."
    )
    slo: str | None = slo()
    repeat: int | None = asks("Seeds of every point; its mean and spread are shown.", default=None, metavar="COUNT")
    seed: Seeds = asks(
        "Seed of the random numbers; the first of several.",
        default=1,
        least=0,
        most=2**64 - 1,
        takes="a whole number from 0 to 2^64 - 1",
    )
    duration: str | None = duration()
    events: Texts = asks(
        "What happens in every run. May be repeated.", default=(), metavar="EVENT", called="event", timed=True
    )
    interval: float | None = level_of()
    draws: int | None = draws_of()
    jobs: int | None = jobs()
    out: Path | None = out()
    into: Path | None = into()
    fresh: bool = fresh()
    records: bool = asks("Keep the record of every run.", default=True, only_python=True)
    yes: bool = yes()
    erase: str | None = erase()
    size: str | None = size()
    keep: bool = keep()
    hosts: str | None = hosts()
    purge_by: str | None = purge_by()
    anyway: bool = anyway()

    def __post_init__(self) -> None:
        """Refuse sampling without intervals, too. Raises UserError."""
        super().__post_init__()
        expect_interval(self.interval, self.draws)
        if self.rate is not None:
            rates_of(self.rate, self.settings)
        if self.slo is not None:
            slo_of(self.slo)

    def written(self, result: Sweep, page: Path | None) -> list[str]:
        """Write the page if a run was finished; also name the frame in the folder."""
        shown = None if page is None or not len(result) else result.report(page)
        files = (("Page", shown), ("Frame", self.out and self.out / FRAME_FILE))
        return [f"{name}: {path}" for name, path in files if path]

    def ending(self, result: Sweep) -> Ending | None:
        """Return the exit code of an interruption, if runs are missing, or of invalid results."""
        if not result.missing:
            return invalid_ending(note for row in result.rows if row is not None for note in row.notes)
        total = len(result.points)
        where = f"; kept in {self.out}: the same command continues from there" if self.out is not None else ""
        return Ending(
            INTERRUPTED, f"interrupted; {total - len(result.missing):,} of {total:,} runs were finished{where}"
        )
