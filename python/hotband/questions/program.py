"""The question `program`: a real program on a machine, and the list of programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hotband.base.errors import UserError
from hotband.base.question import Ending, Question, Way, asks, invalid_ending
from hotband.base.temporary import TemporaryFolder
from hotband.data.catalog.named import is_real
from hotband.data.inputs.kinds import OtherTargets, ProgramName, ProgramPlace, ProgramSettings
from hotband.data.record.files import RECORD_FILE
from hotband.execution.experiment import expect_out, new_record
from hotband.execution.programs import PROGRAMS, all_programs, find_program, needs
from hotband.execution.programs.program import Need, Program
from hotband.execution.programs.result import ProgramResult
from hotband.execution.programs.run import PROGRAM_FILE, run_program
from hotband.execution.programs.settings import accepted_by


@dataclass(frozen=True)
class ProgramOutline:
    """A program with its settings and its missing requirements."""

    program: Program
    lacking: list[Need]
    schema: str = "hotband-program-outline"

    def to_dict(self) -> Mapping[str, object]:
        """Return the outline as data."""
        program = self.program
        settings = [
            {"key": key, "default": str(each.default), "accepted": accepted_by(each), "meaning": each.what}
            for key, each in program.settings.items()
        ]
        return {
            "name": program.name,
            "title": program.title,
            "asks": program.asks,
            "needs": [{"command": need.command, "package": need.package} for need in program.needs],
            "volumes": list(program.volumes),
            "settings": settings,
            "missing": [need.command for need in self.lacking],
        }


@dataclass(frozen=True)
class ProgramList:
    """All programs."""

    programs: list[ProgramOutline]

    @property
    def rows(self) -> list[Any]:
        """Return a document per program."""
        return [program.to_dict() for program in self.programs]


@dataclass(frozen=True, kw_only=True)
class ProgramQuestion(Question):
    """Run a real program on a machine that is served as block devices, or in a folder.

    The machine is on the wall clock; a folder is `on="real:DIR"`. Further arguments are settings of the program
    (`clients=8`, `total="1 GiB"`), which `hotband program NAME` lists. All processes are ended, file systems unmounted
    and files removed, even after Ctrl-C. Raises UserError for a mistake and for a program that is not installed,
    OSError if the program fails.
    """

    name = "program"
    schema = "hotband-program"
    answers = "hotband.execution.programs.result:ProgramResult"
    shown = (answers, "hotband.questions.program:ProgramOutline", "hotband.questions.program:ProgramList")
    tells = True

    name_: ProgramName | None = asks(
        "A program; without it, all.", default=None, metavar="[NAME]", positional=True, lists=True
    )
    on: ProgramPlace | None = asks(
        "A drive, LAYOUT:COUNTxDRIVE, a TOML file, or real:DIR, a folder of this host.",
        default=None,
        metavar="MACHINE",
        lists=True,
    )
    settings: ProgramSettings = asks(
        "A setting of the program, or a value of the drives.", default=(), metavar="KEY=VALUE"
    )
    predict: OtherTargets = asks(
        "Also replay its I/Os on the model of this machine. May be repeated.", default=(), metavar="MACHINE"
    )
    out: Path | None = asks("Folder for the output.", default=None, metavar="DIR")
    fresh: bool = asks("Overwrite the record in the folder.", default=False)
    anyway: bool = asks("Also on a machine that is faster than this host can serve.", default=False)

    def __post_init__(self) -> None:
        """Refuse options of a run if nothing runs. Raises UserError."""
        super().__post_init__()
        expect_out(self.fresh, self.out)
        if self.on is None and (self.settings or self.out is not None):
            raise UserError("question.on", "", "", "missing: a machine, or real:DIR")
        if self.predict and (self.on is None or is_real(self.on)):
            accepted = "needs the I/Os of a machine that is served: expected question.on MACHINE"
            raise UserError("question.predict", "", self.predict[0], accepted)
        if self.anyway and (self.on is None or is_real(self.on)):
            raise UserError("question.anyway", "", "", "is for machines that are served: expected question.on MACHINE")
        if self.name_ is None and self.on is not None:
            raise UserError("question.name", "", "", f"missing: expected one of {', '.join(PROGRAMS)}")

    def ending(self, result: ProgramResult | ProgramOutline | ProgramList) -> Ending | None:
        """Return the exit code of an invalid result."""
        return invalid_ending(result.notes) if isinstance(result, ProgramResult) else None


def program(question: ProgramQuestion, way: Way) -> ProgramResult | ProgramOutline | ProgramList:
    """Run a program, describe it, or list all. Raises UserError, and `ProgramFailed` (an OSError)."""
    if question.name_ is None:
        return ProgramList([ProgramOutline(each, needs.missing(each)) for each in all_programs()])
    if question.on is None:
        chosen = find_program(question.name_)
        return ProgramOutline(chosen, needs.missing(chosen))
    with new_record(question.out, "question.out", question.fresh, (RECORD_FILE, PROGRAM_FILE)):
        settings, out, options = dict(question.settings), question.out, (question.anyway, question.predict)
        with TemporaryFolder("predict") as temporary:
            # The replay reads the log of I/Os even if no output is stored.
            folder = Path(temporary) if out is None and question.predict else out
            return ProgramResult(run_program(question.name_, question.on, settings, folder, way.say, *options))
