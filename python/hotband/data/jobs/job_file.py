"""Job files of any tool: recognise the tool, convert a file to a workload, and write a workload as a job file."""

from __future__ import annotations

import re
from pathlib import Path

import hotband._core as _core
from hotband.base.engine import user_error
from hotband.base.errors import UserError
from hotband.base.text.regular import opened, read_up_to
from hotband.data.catalog import JOB_ENDINGS
from hotband.data.importers import tools
from hotband.data.importers.files import name_of
from hotband.data.importers.unread import unread
from hotband.data.jobs.diskspd_command import profile_text
from hotband.data.jobs.fio_command import job_file_text
from hotband.data.jobs.form import workload_text
from hotband.data.jobs.loss import LossReport
from hotband.data.jobs.returned import compare
from hotband.data.jobs.source import ACCEPTED, LARGEST_BYTES, decoded, read_text
from hotband.data.jobs.tables import conversion_of

__all__ = ["ENDINGS", "converted", "job_text", "tool_of"]

ENDINGS = JOB_ENDINGS

# Blanks, not line ends: a file may be made of millions of those.
_VDBENCH = re.compile(r"^[ \t]*(sd|wd|rd|hd|fsd|fwd)=", re.MULTILINE | re.IGNORECASE)
_SECTION = re.compile(r"^[ \t]*\[", re.MULTILINE)
_ICF = re.compile(r"Version [\d.]{1,20}[ \t]{0,20}\n{1,9}'TEST SETUP")
_FIO = re.compile(r"^[ \t]*\[[^\[\]\"=\n]+\][ \t]*([;#].*)?$", re.MULTILINE)
# What TOML has and no job file: tables in two brackets, text in quotes behind a key, tables of ours.
_TOML = re.compile(
    r"^[ \t]*(\[\[\w+\]\]|[\w.]+[ \t]*=[ \t]*[\"{\[]|\[(load|record|network|precondition|app|uncertainty)\])",
    re.MULTILINE,
)
# What no workload of ours has, whatever stands in brackets or quotes elsewhere in the file.
_FIO_KEY = re.compile(r"^[ \t]*(rw|readwrite|ioengine|iodepth|numjobs|direct)[ \t]*=[ \t]*[^\s\"'{\[]", re.MULTILINE)
_XML = re.compile(r"<(Profile|Results)\b")


def tool_of(text: str) -> str | None:
    """Return the tool of a job file's text; None for a Hotband workload and for anything else."""
    begin = text[:65536].lstrip()
    if begin.startswith("<"):
        # The root comes first, but for a declaration and comments.
        plain = re.sub(r"<\?[^>]{0,200}\?>|<!--.*?-->", "", begin, flags=re.DOTALL)
        if _XML.match(plain.lstrip()):
            return "DiskSpd"
    if _ICF.match(begin):
        return "Iometer"
    if _VDBENCH.search(text) and not _SECTION.search(text):
        return "vdbench"
    return "fio" if _FIO.search(text) and (not _TOML.search(text) or _FIO_KEY.search(text)) else None


def job_text(path: Path, piped: bytes | None = None) -> str | None:
    """The workload of a job file, as TOML; None for a file that may be a workload of ours. Raises UserError for a job
    file that has a mistake, and for a result, which other commands read. `piped` is what was read from a pipe."""
    if path.suffix == ".toml":
        return None
    if path.suffix.lower() in ENDINGS:
        return converted(path, piped)[0]
    beginning = decoded(_beginning(path) if piped is None else piped[:LARGEST_BYTES])
    if beginning is not None and '"hotband-record"' in beginning[:4096]:
        accepted = "is a record of hotband, not a workload: hotband report, compare and audit read it"
        raise UserError(name_of(path), "", "", accepted)
    if beginning is None:
        return None
    of_tool = tool_of(beginning) or result_of(beginning) or _of_commands(path, beginning)
    is_output = not of_tool and not _TOML.search(beginning) and unread(beginning[:65536])
    return converted(path, piped)[0] if of_tool or is_output else None


def _of_commands(path: Path, text: str) -> tuple[str, str] | None:
    """Return the job file equivalent to command lines in a text, and its tool; None without commands."""
    if _TOML.search(text):
        return None
    if (jobs := job_file_text(text)) is not None:
        return jobs, "fio"
    profile = profile_text(path, text)
    return None if profile is None else (profile, "DiskSpd")


def _beginning(path: Path) -> bytes:
    """Return the beginning of a file; empty if it cannot be read."""
    try:
        with opened(path) as file:
            return read_up_to(file, LARGEST_BYTES)[:LARGEST_BYTES]
    except (OSError, ValueError):
        return b""


def converted(path: Path, piped: bytes | None = None) -> tuple[str, LossReport]:
    """Return the workload of a job file, as TOML, and the fate of its options. Raises UserError if it is
    none."""
    text = read_text(path, data=piped)
    tool = tool_of(text)
    commands = _of_commands(path, text) if tool is None else None
    if commands is not None:
        return _workload(path, *commands)
    if tool is None:
        raise UserError(name_of(path), "", "", no_job(path, text))
    return _workload(path, text, tool)


def _workload(path: Path, text: str, tool: str) -> tuple[str, LossReport]:
    report = LossReport(name_of(path), tool)
    from hotband.data.jobs import diskspd, fio_form, iometer, vdbench_form

    readers = {
        "fio": fio_form.form,
        "vdbench": vdbench_form.form,
        "Iometer": iometer.form,
        "DiskSpd": diskspd.form,
    }
    form = readers[tool](path, text, report)
    return workload_text(form), report


def result_of(text: str) -> str | None:
    """Return the tool whose result a text is."""
    beginning = text[:65536].encode("utf-8", "replace")
    return next((name for name, tool in tools().items() if tool.recognises(beginning)), None)


def no_job(path: Path, text: str) -> str:
    """Return why a file is not a job file; for a result, name the command that reads it."""
    result = result_of(text)
    if result is not None:
        return f"is a result of {result}, not a job file: hotband import {result} {path.name} reads it"
    if "<title>Vdbench" in text[:4096] or re.match(r"(<pre>\s*|\d\d:\d\d:\d\d\.\d+ )+", text):
        return "is a report of vdbench, not a job file: hotband import vdbench reads the folder it is in"
    other = unread(text[:65536])
    what = other or ("the file is empty" if not text.strip() else "is not a job file that Hotband recognises")
    return f"{what}; expected {ACCEPTED}"


WRITTEN = {".fio": "fio", ".job": "fio", ".jobfile": "fio", ".parm": "vdbench", ".vdb": "vdbench", ".cfg": "vdbench"}
"""The tools whose job files are written, by the ending of the file."""
MARKS = {"fio": "#", "vdbench": "*"}
"""What begins a comment of the tool."""
PLACEHOLDER = "/dev/TARGET"
"""Default target of a written job. It does not exist, so that nothing is overwritten."""


def written(name: str, text: str, tool: str, target: str = PLACEHOLDER) -> tuple[str, LossReport]:
    """The job file of `tool` ("fio" or "vdbench") for a workload called `name`, and what became of its keys.
    UserError where the workload has a mistake, or is more than a job can say."""
    from hotband.data.jobs.fio_write import fio_text
    from hotband.data.jobs.vdbench_write import vdbench_text

    try:
        _core.workload(text, name)
    except _core.SpecError as error:
        raise user_error(error) from None
    if not target.strip() or any(char in target for char in "\n\r,;# ") or (tool == "vdbench" and "$" in target):
        raise UserError(
            "question.target", "", target, "expected the path of a device or file, without blanks and commas"
        )
    conversion = conversion_of(name, text, tool)
    job = fio_text(conversion, target) if tool == "fio" else vdbench_text(conversion, target)
    read_back, _ = _workload(Path(name), job, tool)
    compare(conversion, read_back)
    return conversion.heading(MARKS[tool]) + job, conversion.report
