"""fio's job file: sections, `[global]`, includes, variables. Not INI as configparser has it: `;` and `#` end a value
anywhere, options have no value or several, global sections are for the jobs that follow them (HOWTO, "Job file format";
init.c: __parse_jobs_ini)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from hotband.base.errors import UserError
from hotband.base.text.nearest import FEW
from hotband.base.text.regular import variable
from hotband.data.importers.files import name_of
from hotband.data.jobs.fio_names import ALIASES, FATES
from hotband.data.jobs.fio_values import calculated, without_tails
from hotband.data.jobs.form import MOST_STREAMS
from hotband.data.jobs.loss import Location
from hotband.data.jobs.source import Option, included, read_text

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_KEYWORD = re.compile(r"\$(pagesize|mb_memory|ncpus)\b")
# Names of files and folders are as good as any other where the variable is not set.
_NAMES = ("filename", "directory")


@dataclass
class Job:
    """A job with its options, including those of `[global]`. The last option of a name counts."""

    name: str
    location: Location
    options: dict[str, Option] = field(default_factory=dict)
    in_order: list[Option] = field(default_factory=list)

    def get(self, key: str) -> Option | None:
        return self.options.get(key)


def read_jobs(path: Path, text: str) -> list[Job]:
    """Return the jobs of a file whose text is `text`. Raises UserError also for what fio refuses."""
    jobs: list[Job] = []
    shared: dict[str, Option] = {}
    shared_order: list[Option] = []
    unset: list[tuple[Option, str]] = []
    section: Job | None = None
    in_global = False
    for location, line in _lines(path, text, (path,)):
        header = re.fullmatch(r"\[(.*)\]\s*", line)
        if header:
            name = header[1].strip()
            in_global = name.lower() == "global"
            section = None if in_global else Job(name or "main", location, dict(shared), list(shared_order))
            jobs += [section] if section is not None else []
            continue
        if line.startswith("["):
            raise UserError(str(location), "", line, "the section's name is cut off: expected [NAME]")
        if section is None and not in_global:
            raise UserError(str(location), "", line, "is before the first section: expected [global] or [JOB]")
        option = _option(location, line, unset)
        target, order = (shared, shared_order) if section is None else (section.options, section.in_order)
        target[option.key] = option
        order.append(option)
        if len(jobs) > MOST_STREAMS:
            raise UserError(name_of(path), "", "", f"has more than {MOST_STREAMS} jobs; expected fewer in one file")
    if unset:
        _refuse_unset(unset)
    if not jobs and shared:
        # The name of the only job is left to fio's command line.
        first = shared_order[0].location
        jobs = [Job("job", Location(first.file, first.line - 1), shared, shared_order)]
    if not jobs:
        raise UserError(name_of(path), "", "", "has no job: expected a section such as [JOB] besides [global]")
    return jobs


def _lines(path: Path, text: str, open_files: tuple[Path, ...]) -> Iterator[tuple[Location, str]]:
    """Yield the lines that are not empty, with included files in their place."""
    file = name_of(path)
    for number, raw in enumerate(text.split("\n"), 1):
        line = re.split(r"[;#]", raw, maxsplit=1)[0].strip()
        if not line:
            continue
        location = Location(file, number)
        include = re.match(r"include\s+(.*)", line)
        if include is None:
            yield location, line
            continue
        other = included(location, include[1].strip(), path, open_files)
        yield from _lines(other, read_text(other, location, include[1].strip()), (*open_files, other))


def _option(location: Location, line: str, unset: list[tuple[Option, str]]) -> Option:
    """Return the option of a line. Variables that its value needs and that are not set are added to `unset`."""
    key, _, value = (part.strip() for part in line.partition("="))
    name = ALIASES.get(key, key)
    text = _VARIABLE.sub(_replaced, value)
    text, note = _without_keywords(text)
    text, cut = without_tails(name, text)
    option = Option(name, text, location, key, "; ".join(filter(None, (note, cut))))
    if name not in _NAMES and FATES.get(name, (None, ""))[0] is None:
        unset += [(option, named[1]) for named in _VARIABLE.finditer(text)]
    return option


def _replaced(named: re.Match[str]) -> str:
    """Return the value of a variable, or its name as it is where it is not set."""
    value = variable(named[1])
    return named[0] if value is None else value


def _without_keywords(text: str) -> tuple[str, str]:
    """Replace fio's reserved words by their values, and calculate with these (HOWTO, "Reserved keywords"; tried: 3.33).
    Return also the replacements."""
    keywords = dict.fromkeys(keyword[1] for keyword in _KEYWORD.finditer(text))
    if not keywords:
        return text, ""
    values = {keyword: variable(keyword) or _here(keyword) for keyword in keywords}
    plain = _KEYWORD.sub(lambda keyword: values[keyword[1]], text)
    number = calculated(plain)
    words = ", ".join(f"${keyword} is {value}" for keyword, value in values.items())
    note = f"{words} on this computer; an environment variable of that name sets another value"
    return (plain if number is None else str(number)), note


def _here(keyword: str) -> str:
    """Return the value of a reserved word on this computer, as fio would find it."""
    if keyword == "ncpus":
        return str(os.cpu_count() or 1)
    page = os.sysconf("SC_PAGE_SIZE")
    return str(page if keyword == "pagesize" else page * os.sysconf("SC_PHYS_PAGES") >> 20)


def _refuse_unset(unset: list[tuple[Option, str]]) -> NoReturn:
    """Raise the error of variables that are not set: all of them at once."""
    option, first = unset[0]
    names = list(dict.fromkeys(name for _, name in unset))
    if len(names) == 1:
        option.refuse(f"the variable {first} is not set: expected it in the environment, or its value")
    named = ", ".join(names[:FEW]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")
    option.refuse(f"the variables {named} are not set: expected them in the environment, or their values")
