"""From one form of a workload to another: the catalog, TOML, job files in; TOML, fio and vdbench out."""

from __future__ import annotations

from pathlib import Path

import hotband._core as _core
from hotband.base.engine import user_error
from hotband.base.errors import UserError
from hotband.data.catalog import entries
from hotband.data.inputs.texts import text_of
from hotband.data.jobs.converted import Converted
from hotband.data.jobs.job_file import PLACEHOLDER, WRITTEN, written
from hotband.data.jobs.loss import notes_of

FORMS = ("toml", "fio", "vdbench")


def convert_workload(name: str, output: Path | None, target: str | None) -> Converted:
    """The workload `name` in the form that the ending of `output` asks for; TOML where there is none."""
    form = "toml" if output is None or output.suffix == ".toml" else WRITTEN.get(output.suffix.lower(), "")
    if not form:
        endings = ", ".join([".toml", *WRITTEN])
        raise UserError("question.output", "", str(output), f"expected a name that ends in one of {endings}")
    return converted_to(name, text_named(name), form, target)


def text_named(name: str) -> str:
    """The TOML text of a workload of the catalog, of a file or of a job file."""
    text = text_of(name, "workload")
    return str(entries.workload(name)["text"]) if text is None else text


def converted_to(name: str, text: str, form: str, target: str | None) -> Converted:
    """The workload whose TOML is `text` as "toml", "fio" or "vdbench". UserError where it has a mistake."""
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
