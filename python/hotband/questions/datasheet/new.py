"""The question of `hotband drives new`: a drive's file from lines of its data sheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.question import Question, Way, asks
from hotband.data.catalog.entries import Product
from hotband.data.inputs.kinds import Lines, NameOrPath
from hotband.data.inputs.reports import report_of
from hotband.data.inputs.specify import Named
from hotband.questions.catalog import DrivesQuestion
from hotband.questions.datasheet.drive import KINDS, Assumption, Kind, assumptions
from hotband.questions.datasheet.learned import shipped_rules
from hotband.questions.datasheet.lines import Line, answer, hint
from hotband.questions.datasheet.own import describe, file_of
from hotband.questions.run.asked import RunQuestion

if TYPE_CHECKING:
    from hotband._core import CatalogEntry

TRIED = {
    "disk": ((("qd", "32"),), "5 s"),
    "black-box": ((("qd", "32"),), "5 s"),
    "ssd": ((("qd", "32"), ("state", "preconditioned"), ("scale", "256")), "0.2 s"),
}
"""Settings and duration with which a new drive is tried, by mechanism. Reads of never-written flash complete from
memory and look 2 to 2.5 times faster, so it is preconditioned first, a 256th of it: 2 s for 240 GB, 9 s for 61 TB."""


@dataclass(frozen=True, kw_only=True)
class NewDriveQuestion(Question):
    """Describe a drive of your own by lines of its data sheet; write a file that `--on` and `drives` accept.

    `on="./NAME.toml"` and `drive` accept the file. `lines` are those that `hotband drives new --help` lists, with _
    for -: `capacity="16 TB"`, `read_iops=98000`, `power_loss_protection=True`, `class_="nearline"`; missing lines are
    assumed from the class. Raises UserError for lines that are unknown or make no drive.
    """

    name = "drives new"
    schema = ""
    answers = "hotband.data.catalog.entries:Product"
    shown = ("hotband.questions.datasheet.new:NewDrive",)
    has_json = False

    name_: NameOrPath = asks(
        "Name of the drive; its file is NAME.toml. Or JSON of smartctl or nvme, which has name, kind and capacity.",
        metavar="NAME",
        positional=True,
    )
    kind: str | None = asks("hdd, ssd (SATA or SAS), nvme or cloud (a volume).", default=None)
    title: str | None = asks("Title in reports. Default: its name.", default=None)
    source: str | None = asks("The data sheet: document, revision, page.", default=None)
    force: bool = asks("Replace an existing file.", default=False)
    lines: Lines = asks("Lines of the data sheet.", default=())

    def in_python(self, found: NewDrive) -> Product:
        """Return the drive with its values."""
        return Product.of(found.entry)


@dataclass(frozen=True)
class NewDrive:
    """A drive that was described, and its file."""

    path: Path
    entry: CatalogEntry


def write_drive(question: NewDriveQuestion, way: Way) -> NewDrive:
    """Write the file of a drive. Raises UserError, OSError."""
    report = report_of(Path(question.name_)) if question.name_.lower().endswith(".json") else None
    kind = question.kind or (report.kind if report else None)
    if kind is None:
        raise UserError("question.kind", "", "", f"missing: expected one of {', '.join(KINDS)}")
    path, lines = file_of(report.name if report else question.name_, question.force), dict(question.lines)
    if kind in KINDS and not lines and report is None and way.prompt is not None:
        lines = prompted(KINDS[kind], way.prompt, way.say)
    title, source = question.title, question.source or "its data sheet"
    if report is not None:
        lines, title = report.lines | lines, title or report.model
        source = question.source or f"{report.path.name}, output of smartctl or nvme, and its data sheet"
    drive = describe(path, kind, lines, title=title, source=source)
    estimates = sum(value["estimate"] for value in drive["values"])
    settings, duration = TRIED[drive["kind"]]
    shown = DrivesQuestion(words=(f"./{path}",))
    tried = RunQuestion(workload=Named("fio-randread"), on=Named(f"./{path}"), settings=settings, duration=duration)
    way.say(f"{path}: {len(drive['values'])} values, {estimates} of them estimates with ranges")
    for line in assumed_lines(assumptions(kind, lines, shipped_rules().expected)):
        way.say(line)
    way.say(f"show it: {way.again(shown)}")
    way.say(f"run it: {way.again(tried)}")
    return NewDrive(path, drive)


def assumed_lines(assumed: Sequence[Assumption]) -> list[str]:
    """Return sentences about the lines that the data sheet lacks, the most telling first."""
    if not assumed:
        return []
    width = max(len(assumption.line) for assumption in assumed)
    lines = ["not stated, so assumed:"]
    for before, assumption in zip([None, *assumed], assumed, strict=False):
        ends = f" ({assumption.ends[0]} to {assumption.ends[1]})" if assumption.ends else ""
        why = "" if before and before.why == assumption.why else f": {assumption.why}"
        lines.append(f"  {assumption.line:<{width}}  {assumption.value}{ends}{why}")
    return lines


def prompted(kind: Kind, prompt: Callable[[str], str], say: Callable[[str], None]) -> dict[str, str]:
    """Prompt for the most informative lines of a kind, each of which may be left empty; after a wrong answer the prompt
    is repeated."""
    known = {line.key: line for line in kind.lines}
    given: dict[str, str] = {}
    keys = list(known)[:1]
    keys += [key for key in kind.prompts_of(_ask(known[keys[0]], prompt, say, given)) if key not in keys]
    for key in keys[1:]:
        _ask(known[key], prompt, say, given)
    return given


def _ask(line: Line, prompt: Callable[[str], str], say: Callable[[str], None], given: dict[str, str]) -> str:
    """Prompt for a line until it is empty or right; add it to the `given` ones and return it."""
    while reply := prompt(f"{line.question} ({hint(line)}; Enter if it is not stated)").strip():
        try:
            value = answer(line, reply)
        except UserError as error:
            say(f"  {error.accepted}")
            continue
        given[line.key] = reply
        return str(value)
    return ""
