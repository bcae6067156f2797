"""The question `review` (docs/guides/review.md)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hotband.base.question import Ending, Question, Way, asks, fresh, into, invalid_ending, out, seed
from hotband.data.inputs.kinds import EachName, FirstTargets, OtherTargets, Settings, Texts
from hotband.data.inputs.specify import expect_interval
from hotband.data.store.into import into_store
from hotband.execution.runs.signals import INTERRUPTED
from hotband.execution.targets.fields import OnHardware, anyway, erase, keep, size, yes
from hotband.inference.interval import DRAWS_OF_MANY
from hotband.inference.interval.fields import level_of
from hotband.inference.interval.of_run import Asked as IntervalsAsked
from hotband.questions.review.many import Reviewed, review_all


@dataclass(frozen=True, kw_only=True)
class ReviewQuestion(OnHardware, Question):
    """Review a machine, emulated:MACHINE or hardware (real:PATH): transfer curve, access time, block sizes, streams,
    server patterns, files; compare it with others.

    The others are compared with the first machine. Machines are catalog names, short forms or paths. `interval` is a
    percentage. `out` is the folder of all files; runs that it already has are not repeated, unless `fresh`. Everything
    else as in `run`.

    The result has `reviews` and `comparison`, documents as `hotband review --json` prints them. An interrupted review
    has the finished parts (`interrupted`). Raises UserError before anything runs, OSError.
    """

    name = "review"
    schema = ""
    answers = "hotband.questions.review.many:Reviewed"
    runs = True

    on: FirstTargets = asks(
        "A drive, LAYOUT:COUNTxDRIVE, or a TOML file.",
        metavar="MACHINE",
        positional=True,
        takes="the name of a machine, or a list of some",
    )
    against: OtherTargets = asks("Also review this machine, and compare.", default=(), metavar="MACHINE", hidden=True)
    settings: Settings = asks("Change a value of the drives, data or state.", default=(), metavar="KEY=VALUE")
    volume: str | None = asks("The volume to review, if a machine has several.", default=None, metavar="NAME")
    only: EachName = asks("Review only these parts.", default=(), metavar="PART[,PART]")
    quick: bool = asks("Use a quarter of the I/Os, fewer places and depths.", default=False)
    seed: int = seed()
    jobs: int | None = asks("Number of runs at a time. Default: all cores.", default=None, least=1, most=1024)
    events: Texts = asks(
        "An event in every run, such as 'at 0 s: fail d3'.", default=(), metavar="EVENT", called="event", timed=True
    )
    interval: float | None = level_of()
    draws: int | None = asks(
        f"Samples of the uncertain values for question.interval. Default: {DRAWS_OF_MANY}.", default=None
    )
    yes: bool = yes()
    erase: str | None = erase()
    size: str | None = size()
    keep: bool = keep()
    anyway: bool = anyway()
    out: Path | None = out()
    into: Path | None = into()
    fresh: bool = fresh()

    def __post_init__(self) -> None:
        """Move the machines after the first to `against`. Raises UserError."""
        super().__post_init__()
        expect_interval(self.interval, self.draws)
        object.__setattr__(self, "against", (*self.on[1:], *self.against))
        object.__setattr__(self, "on", self.on[:1])

    def ending(self, result: Reviewed) -> Ending | None:
        """Return the exit code of an interruption, if there was one, or of invalid results."""
        if not result.interrupted:
            return invalid_ending(note for review in result.reviews for note in review["notes"])
        last = ", and one in part" if result.in_part else ""
        whole = len(result.reviews) - result.in_part
        return Ending(INTERRUPTED, f"interrupted; finished reviews: {whole}{last}")


def answer(question: ReviewQuestion, way: Way) -> Reviewed:
    """Return the reviews, even if they are interrupted. Raises UserError before anything runs, OSError."""
    machines = [*question.on, *question.against]
    question.expect_hardware(machines)
    of_hardware = question.hardware()
    draws = DRAWS_OF_MANY if question.draws is None else question.draws
    with into_store(question.into):
        done = review_all(
            machines,
            set=question.settings,
            volume=question.volume,
            seed=question.seed,
            quick=question.quick,
            only=list(dict.fromkeys(question.only)),
            events=question.events,
            jobs=question.jobs,
            out=question.out,
            fresh=question.fresh,
            say=way.say,
            progress=way.watch,
            intervals=None if question.interval is None else IntervalsAsked(question.interval, draws),
            hardware=lambda specs: question.executor_on(way, specs, of_hardware),
            size_bytes=of_hardware.setup().size_bytes,
        )
        way.before_saving(done)
        return done
