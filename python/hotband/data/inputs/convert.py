"""Convert a workload from one form to another: from the catalog, TOML or job files to TOML, fio or vdbench."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import hotband._core as _core
from hotband.base.engine import user_error
from hotband.base.errors import UserError
from hotband.base.question import Question, Way, asks
from hotband.base.text.write import expect_other_file, write_file
from hotband.data.catalog import entries
from hotband.data.inputs.kinds import Workload
from hotband.data.inputs.texts import text_of
from hotband.data.jobs.converted import Converted
from hotband.data.jobs.job_file import PLACEHOLDER, WRITTEN, written
from hotband.data.jobs.loss import notes_of

FORMS = ("toml", "fio", "vdbench")


@dataclass(frozen=True, kw_only=True)
class ConvertWorkloadQuestion(Question):
    """Convert a workload or job file to another format, and list exact, approximated and ignored options.

    The result has the `text` and `losses`, the result for each option. Raises UserError for a mistake, and for a
    workload that a job file cannot express.
    """

    name = "workloads convert"
    schema = ""
    answers = "hotband.data.jobs.converted:Converted"
    has_json = False

    workload: Workload = asks(
        "A catalog name, a TOML file, a job file or an I/O log.", metavar="WORKLOAD", positional=True
    )
    to: str = asks("toml, fio or vdbench.", default="toml", ordered=True, only_python=True)
    output: Path | None = asks(
        "OUT.toml, .fio or .parm. Default: TOML to stdout.", default=None, metavar="FILE", short="-o", hidden=True
    )
    target: str | None = asks("Device or file on which a written job runs.", default=None, metavar="PATH")

    def text(self, converted: Converted) -> str:
        """Return the workload if no output file is named."""
        return converted.text if self.output is None else ""

    def written(self, converted: Converted, _: Path | None) -> list[str]:
        """Write the named file; return a line with its path. Raises OSError."""
        if self.output is None:
            return []
        write_file(self.output, converted.text)
        return [f"Workload: {self.output}"]


def answer(question: ConvertWorkloadQuestion, _: Way) -> Converted:
    """Return the workload in the requested form. Raises UserError."""
    if question.output is not None:
        expect_other_file("question.output", question.output, [Path(question.workload.name)])
    form = question.to if question.output is None else form_of(question.output)
    text = question.workload.text or text_named(question.workload.name)
    return converted_to(question.workload.name, text, form, question.target)


def form_of(output: Path) -> str:
    """Return the form for the suffix of a file name. Raises UserError."""
    form = "toml" if output.suffix == ".toml" else WRITTEN.get(output.suffix.lower(), "")
    if not form:
        endings = ", ".join([".toml", *WRITTEN])
        raise UserError("question.output", "", str(output), f"expected a name that ends in one of {endings}")
    return form


def text_named(name: str) -> str:
    """Return the TOML text of a workload of the catalog, of a file or of a job file."""
    text = text_of(name, "workload")
    return str(entries.workload(name)["text"]) if text is None else text


def converted_to(name: str, text: str, form: str, target: str | None) -> Converted:
    """Return the workload whose TOML is `text` as "toml", "fio" or "vdbench". Raises UserError if it has a mistake."""
    if form not in FORMS:
        raise UserError("to", "", form, f"expected one of {', '.join(FORMS)}")
    read = "\n".join(notes_of(text))
    if form == "toml":
        try:
            _core.workload(text, name)
        except _core.SpecError as error:
            raise user_error(error) from None
        if target is not None:
            raise UserError("question.target", "", target, "is for job files: a workload names no device")
        return Converted(text, read, (), "")
    job, report = written(f"{name} as TOML" if read else name, text, form, PLACEHOLDER if target is None else target)
    return Converted(job, read, tuple(report.losses), report.summary(f"written for {form} from"))
