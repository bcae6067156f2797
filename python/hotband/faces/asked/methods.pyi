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
    """The questions about a study, which is their `study`."""
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
        """Predict the figures of a study and print them next to the published ones.

        Args:
            out: Folder for what is produced.
            into: A store (hotband store) that takes every run, too.
            seed: Root of all randomness.
            only: Run these loads alone.
            fresh_seeds: Runs that follow others on one machine ask for offsets of their own.
            fresh: Start over; else runs that are in the folder already are not repeated.
            trust: Execute the findings.py of a study that is not of the catalog.
            executor: Who runs the runs: local, ray (starts one here) or ray://HOST:PORT.
            progress: What shows progress: True, False, or a function.

        Of some loads alone there are no claims and findings. In the folder `out` are records, `result.json` and
        `report.html`; runs that are there already are not repeated. Raises UserError, KeyboardInterrupt where it
        is stopped.
        """

    def emulate(
        self,
        *,
        scale: str | float | None = None,
        only: str | Sequence[str] = (),
        out: str | PathLike[str] | None = None,
        fresh: bool = False,
        progress: Callable[[str], None] | None = None,
    ) -> EmulationResult:
        """Run a study's real programs on emulated machines at a smaller scale; compare their ratios with the model and
        the publication.

        Args:
            scale: Share of the study's data and drives, such as 1/1000.
            only: Run these parts alone.
            out: Folder for what is produced.
            fresh: Start over; else runs that are in the folder already are not repeated.
            progress: Is called with lines of progress, from other threads too.

        The two machines of a part differ in one thing. What is finished is stored in the folder `out`, and not run
        again. A part whose program is missing is skipped, and says what to install. Raises UserError for a mistake and
        for a study without emulated parts, OSError where a program fails, KeyboardInterrupt where it is stopped.
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
        """Run each assumption at both ends of its range; print which ones change a prediction.

        Args:
            out: Folder for what is produced.
            seed: Root of all randomness.
            only: Swing these assumptions alone.
            jobs: Number of runs at a time. Default: all cores.
            save: Keep them in the study's folder, as what it ships.
            executor: Who runs the runs: local, ray (starts one here) or ray://HOST:PORT.
            progress: What shows progress: True, False, or a function.

        Assumptions are run one at a time, all of them or those that `only` names, by name or key. What is done is
        stored in the folder `out`, and not run again. Raises UserError, KeyboardInterrupt where it is stopped.
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
        """Compute intervals of a study's predictions; with --all also how often they contain the published figure, each
        study left out.

        Args:
            out: Folder for what is produced.
            save: Keep them in the study's folder, as what it ships.
            only: Only the runs of these loads.
            jobs: Number of runs at a time. Default: all cores.
            executor: Who runs the runs: local, ray (starts one here) or ray://HOST:PORT.
            progress: What shows progress: True, False, or a function.

        What is stored with `save` is where `run` and `why` find it (docs/guides/intervals.md). Raises UserError,
        KeyboardInterrupt where it is stopped.
        """

    def why(
        self,
        figure: str,
        *,
        interval: float = 90.0,
    ) -> Why:
        """Explain the uncertainty of a study's figure from the draws that ship with it. Runs nothing.

        Args:
            figure: The id of a figure of it.
            interval: Percent of such predictions that the interval is to hold, 1 to 99.

        Raises UserError.
        """
