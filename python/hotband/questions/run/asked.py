"""The question `run`: a workload and a machine, events during it, and runs after it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.question import (
    Ending,
    Question,
    asks,
    duration,
    fresh,
    into,
    invalid_ending,
    out,
    precision,
    rate,
    seed,
    slo,
)
from hotband.data.documents.run import MOST_SPARES
from hotband.data.inputs.kinds import Machine, Rate, Settings, Texts, Workload, Workloads
from hotband.data.inputs.specify import expect_interval
from hotband.execution.runs.signals import INTERRUPTED
from hotband.execution.targets.fields import OnHardware, anyway, erase, expect, hosts, keep, power, purge_by, size, yes
from hotband.inference.interval.fields import draws_of, level_of
from hotband.questions.run.ran import Emulation, Ran

if TYPE_CHECKING:
    from hotband.data.record.record import Record


@dataclass(frozen=True, kw_only=True)
class RunQuestion(OnHardware, Question):
    """Run a workload on a machine in virtual time, or on hardware (--on real:PATH) through fio; with --then several,
    one after the other on the same machine.

    The same arguments give the same record, bit for bit. `settings` are keys of the workload or of the drives (`qd=32`,
    `bs="8 KiB"`, `wce=True`); keys that are not Python names (`app.cache`) go into `set`. An I/O log as `workload` is
    replayed (`issue="after-completion"`, `speed=2`: docs/guides/traces.md). `slo` ("p99 < 1 ms") is judged in
    `Record.document["slo"]`; `interval` (a percentage) gives `Record.intervals`. `power_loss` ("30 s") and `fail`
    ("d3@60 s") are short forms of `events` ("at 60 s: fail d3"). Threads that call this use all cores.

    `progress=True` shows a bar, False none; None shows one after a second in a notebook or on a terminal. A function is
    called with a `Progress` about ten times a second; if it raises KeyboardInterrupt the run is stopped.

    `on="emulated:MACHINE"` serves the machine on the wall clock, and fio runs the workload on it; `emulate` also has
    the model's record. `on="real:PATH"` is hardware (docs/guides/measure.md), written without confirmation;
    `Record.document["expected"]` has the prediction of the nearest model, or of that of `expect`.

    Raises UserError for a mistake or if the workload can never end, KeyboardInterrupt if it is stopped (no record is
    stored), OSError if the disk fails.
    """

    name = "run"
    schema = ""
    answers = "hotband.data.record.record:Record"
    runs = True
    shown = ("hotband.questions.run.ran:Ran", "hotband.questions.run.ran:Emulation")

    workload: Workload = asks(
        "A catalog name, a TOML file, a job file or an I/O log.", metavar="WORKLOAD", positional=True
    )
    on: Machine = asks("A drive, LAYOUT:COUNTxDRIVE, or a TOML file.", metavar="MACHINE")
    settings: Settings = asks("Change a value.", default=(), metavar="KEY=VALUE")
    rate: Rate | None = rate("I/Os (of a script: transactions) per second; none waits for another.")
    slo: str | None = slo()
    seed: int = seed()
    duration: str | None = duration()
    precision: str | None = precision()
    out: Path | None = out()
    into: Path | None = into()
    io_log: Path | None = asks("Log every I/O, to .parquet or .csv.", default=None, metavar="FILE")
    power_loss: str | None = asks(
        'Cut power at this measured time, such as "30 s".', default=None, metavar="TIME", unit="s"
    )
    fail: Texts = asks(
        'A drive fails, such as d3@"60 s". May be repeated.', default=(), metavar="DRIVE@TIME", timed=True
    )
    spares: int = asks(
        "Drives that wait to replace failed ones.",
        default=0,
        least=0,
        most=MOST_SPARES,
        metavar="COUNT",
    )
    rebuild_rate: str | None = asks(
        'Rate limit of a rebuild, such as "50 MB/s".', default=None, metavar="RATE", unit="B/s"
    )
    rebuild_after: str | None = asks(
        "Delay between a failure and the start of its rebuild.", default=None, metavar="TIME", unit="s"
    )
    events: Texts = asks(
        "What happens, such as 'at 60 s: fail d3'. May be repeated.",
        default=(),
        metavar="EVENT",
        called="event",
        timed=True,
    )
    then: Workloads = asks("Run this after it, on the machine as left.", default=(), metavar="WORKLOAD", hidden=True)
    fresh_seeds: bool = asks("Runs of question.then use new offsets.", default=False, hidden=True)
    fresh: bool = fresh()
    interval: float | None = level_of()
    draws: int | None = draws_of()
    yes: bool = yes()
    erase: str | None = erase()
    size: str | None = size()
    keep: bool = keep()
    hosts: str | None = hosts()
    expect: str | None = expect()
    power: str | None = power()
    purge_by: str | None = purge_by()
    anyway: bool = anyway()

    def __post_init__(self) -> None:
        """Refuse options of one run together with options of several. Raises UserError."""
        super().__post_init__()
        if self.fresh_seeds and not self.then:
            accepted = "is for runs that follow each other: expected question.then WORKLOAD"
            raise UserError("question.fresh_seeds", "", "", accepted)
        if self.then and self.io_log:
            accepted = "an I/O log is of one run: leave out question.then"
            raise UserError("question.then", "", self.then[0].name, accepted)
        if self.then and self.interval is not None:
            accepted = "intervals are of one run: leave out question.then"
            raise UserError("question.interval", "", f"{self.interval:g}", accepted)
        expect_interval(self.interval, self.draws)
        if self.rate is not None:
            from hotband.data.inputs.rate import setting_of

            setting_of(self.rate, self.settings)
        if self.slo is not None:
            from hotband.questions.slo import slo_of

            slo_of(self.slo)

    def written_json(self, result: Ran | Emulation) -> str:
        """Return the JSON texts of the records as they were written."""
        return result.json_text() if isinstance(result, Ran) else ""

    def in_python(self, result: Ran) -> Record:
        """Return the record of the run."""
        return result.records[0]

    def ending(self, result: Ran | Emulation) -> Ending | None:
        """Return the exit code of an interruption, if one stopped the intervals, or of an invalid result."""
        return invalid_ending(result.notes) if result.is_whole else Ending(INTERRUPTED)
