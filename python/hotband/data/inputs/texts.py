"""Texts of machines and workloads, by the names in arguments."""

from __future__ import annotations

import os
import re
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.text.regular import text_bytes
from hotband.data.catalog import JOB_ENDINGS, SHORT_FORM, TRACE_ENDINGS, entries, is_file
from hotband.data.catalog.names import catalog_names, without_ending

# A prompt, words that run the program (`sudo -u root`, `A=1`), the program, and an option or a job file.
_COMMAND = re.compile(
    r"\s*(?:(?:\[[^\]\n]{1,80}\]|\S{1,80})?[ \t]{0,4}[$#>%]\s+)?(?:[\w./=:,;&-]+\s+){0,8}"
    r"(?:\S{0,80}[/\\])?(?:fio(?:\.exe)?[\s\\^`>]+(?:-|\S+\.\w)|(?i:diskspd(?:64)?(?:\.exe)?)\s+(?:\S+\s+){0,20}[-/])"
)


def is_command(text: str) -> bool:
    """Return whether a text is a command line of fio or DiskSpd, which may follow a prompt or `sudo`."""
    return _COMMAND.match(text) is not None


def text_of(argument: str, what: str) -> str | None:
    """Return the text of a TOML file that an argument names, or None for a catalog name; `what` is "machine" or
    "workload". A job file of another tool becomes the equivalent workload, a trace its replay."""
    if what == "workload" and is_command(argument):
        tool = Path("diskspd" if re.search(r"\bdiskspd", argument, re.I) else "fio")
        text = _converted(tool, argument.encode("utf-8", "replace"))
        if text is not None:
            return text
    is_name = not is_file(argument)
    may_be_meant = is_name or argument.startswith("/dev/")
    if may_be_meant and argument not in catalog_names("workloads" if what == "workload" else "drives"):
        from hotband.data.inputs.meant import refuse_other_names

        refuse_other_names(argument, what)
    if is_name:
        refuse_other_files(argument, what)
        return None
    path = Path(argument)
    # A pipe can be read only once; anything but a file is refused.
    piped = None if path.is_file() else bytes_of(argument, what)
    if what == "workload":
        text = _converted(path, piped)
        if text is not None:
            return text
    try:
        text = (bytes_of(argument, what) if piped is None else piped).decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise UserError(argument, "", "", f"not a {what}: the file is not UTF-8 text") from None
    return entries.whole_workload(argument, text) if what == "workload" else text


def _converted(path: Path, piped: bytes | None) -> str | None:
    """Return the workload of a job file, of a command line or of a trace; None for another file. `piped` is text read
    from a pipe or typed."""
    from hotband.data.jobs.job_file import job_text
    from hotband.data.traces.files import is_trace, refuse_other_traces, trace_text

    if is_trace(path):
        return trace_text(path)
    refuse_other_traces(path)
    return job_text(path, piped)


def bytes_of(argument: str, what: str) -> bytes:
    """Return the content of a file that the user named. Raises UserError if it cannot be read, does not exist, or is
    too large for handwritten text."""
    return text_bytes(argument, what)


def refuse_other_files(argument: str, what: str) -> None:
    """Raise UserError for a file without the suffix of a workload or a machine, or for a folder, if the catalog has no
    entry with that beginning: the list of its entries would not help. Likewise for a file's name without its ending,
    also of the drives in a short form."""
    path = Path(argument)
    field = "question.workload" if what == "workload" else "question.on"
    # A short form, such as raid5:4xDRIVE, names no file, even if one exists.
    name = re.sub(rf"{SHORT_FORM.pattern}|:.*", "", argument)
    if name not in catalog_names("workloads" if what == "workload" else "drives"):
        endings = (".toml", *JOB_ENDINGS, *TRACE_ENDINGS) if what == "workload" else (".toml",)
        if (without := without_ending(field, argument, name, endings)) is not None:
            raise without
    if not argument or ":" in argument or not os.path.exists(argument):
        return
    known = entries.workloads() if what == "workload" else entries.drives()
    if any(entry["name"].startswith(argument) for entry in known):
        return
    if path.is_dir():
        accepted = {
            "workload": "a catalog name, a TOML file, a job file or an I/O log",
            "machine": "a drive of the catalog, LAYOUT:COUNTxDRIVE or a TOML file",
        }
        raise UserError(field, "", argument, f"is a folder; expected {accepted[what]}")
    reason = f"is not in the catalog; use ./{argument} for the file here"
    raise UserError(field, "", argument, reason)
