# Written by scripts/public_stub.py from the table of hotband/__init__.py: do not edit.
from collections.abc import Callable, Sequence
from os import PathLike

from hotband.execution.experiment import Executor
from hotband.execution.experiment.watch import Wanted
from hotband.inference.interval.explained import Why as Why
from hotband.questions.study.emulate.result import EmulationResult as EmulationResult
from hotband.questions.study.intervals.spreads import Spreads as Spreads
from hotband.questions.study.result import StudyResult as StudyResult
from hotband.questions.study.swung import Swings as Swings

class StudyMethods:
    """The questions about a study, whose field `study` is the object."""
    def run(
        self,
        *,
        out: str | PathLike[str] | None = None,
        into: str | PathLike[str] | None = None,
        seed: int | None = None,
        only: str | Sequence[str] = (),
        fresh_seeds: bool = False,
        fresh: bool = False,
        trust: bool = False,
        executor: str | Executor | None = None,
        progress: Wanted = None,
    ) -> StudyResult:
        """Predict a study's figures; print them next to the published ones.

        Args:
            out: Folder for the output.
            into: Also add every run to this store (hotband store).
            seed: Seed of the random numbers.
            only: Run only these loads.
            fresh_seeds: Draw new offsets for runs that follow others on one machine.
            fresh: Start over; otherwise runs already in the folder are not repeated.
            trust: Execute the findings.py of a study outside the catalog.
            executor: Where runs execute: local, ray (starts one here) or ray://HOST:PORT.
            progress: How progress is shown: True, False, or a function.

        Runs of only some loads have no claims and findings. The folder `out` receives records, `result.json` and
        `report.html`; runs that it already has are not repeated. Raises UserError, KeyboardInterrupt if it is
        stopped.
        """

    def emulate(
        self,
        *,
        scale: str | float | None = None,
        only: str | Sequence[str] = (),
        out: str | PathLike[str] | None = None,
        fresh: bool = False,
        anyway: bool = False,
        progress: Callable[[str], None] | None = None,
    ) -> EmulationResult:
        """Run real programs on a study's machines, emulated at a scale that fits this host; print ratios next to those
        of model and publication.

        Args:
            scale: Share of the study's data and drives, such as 1/1000.
            only: Run only these parts.
            out: Folder for the output.
            fresh: Start over; otherwise runs already in the folder are not repeated.
            anyway: emulated: also a machine that is faster than this host can serve.
            progress: Function called with each line of progress, also from other threads.

        The two machines of a part differ in one respect. Finished parts are stored in the folder `out` and not run
        again. A part whose program is missing is skipped, with a hint what to install. Raises UserError for a mistake
        and for a study without emulated parts, OSError if a program fails, KeyboardInterrupt if it is stopped.
        """

    def swings(
        self,
        *,
        out: str | PathLike[str] | None = None,
        seed: int | None = None,
        only: str | Sequence[str] = (),
        jobs: int | None = None,
        save: bool = False,
        executor: str | Executor | None = None,
        progress: Wanted = None,
    ) -> Swings:
        """Run each assumption at both ends of its range; print which of them change a prediction.

        Args:
            out: Folder for the output.
            seed: Seed of the random numbers.
            only: Run only these assumptions.
            jobs: Number of runs at a time. Default: all cores.
            save: Store them in the study's folder.
            executor: Where runs execute: local, ray (starts one here) or ray://HOST:PORT.
            progress: How progress is shown: True, False, or a function.

        Assumptions are run one at a time, all of them or those that `only` names, by name or key. Finished ones are
        stored in the folder `out` and not run again. Raises UserError, KeyboardInterrupt if it is stopped.
        """

    def intervals(
        self,
        *,
        out: str | PathLike[str] | None = None,
        save: bool = False,
        only: str | Sequence[str] = (),
        jobs: int | None = None,
        executor: str | Executor | None = None,
        progress: Wanted = None,
    ) -> Spreads:
        """Compute intervals of a study's figures from its uncertain values; with --all also how often intervals contain
        the published figures, each study left out.

        Args:
            out: Folder for the output.
            save: Store them in the study's folder.
            only: Only the runs of these loads.
            jobs: Number of runs at a time. Default: all cores.
            executor: Where runs execute: local, ray (starts one here) or ray://HOST:PORT.
            progress: How progress is shown: True, False, or a function.

        `run` and `why` read the intervals that `save` stores (docs/guides/intervals.md). Raises UserError,
        KeyboardInterrupt if it is stopped.
        """

    def why(
        self,
        figure: str | None = None,
        *,
        interval: float = 90.0,
    ) -> Why:
        """Show the sources of uncertainty of a study's figure, from its stored samples; without FIGURE, list the
        figures with the largest errors. Runs nothing.

        Args:
            figure: Id of a figure of the study.
            interval: Confidence level of the interval in percent, 1 to 99.

        Raises UserError.
        """
