"""fio's job file: sections, `[global]`, includes, variables. Not INI as configparser has it: `;` and `#` end a value
anywhere, options have no value or several, global sections are for the jobs that follow them (HOWTO, "Job file format";
init.c: __parse_jobs_ini)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.text.nearest import hint
from hotband.data.importers.files import name_of
from hotband.data.jobs.fio_names import ALIASES, FATES
from hotband.data.jobs.loss import Location
from hotband.data.jobs.source import Option, included, read_text

# The size of a page on x86 and the like; we know no value of the other two words (HOWTO, "Reserved keywords").
PAGE_SIZE = "4096"
_VARIABLE = re.compile(r"\$\{([^}]*)\}|\$(pagesize|mb_memory|ncpus)\b")
# Numbers of our counters and seeds; more jobs than that in a file is a slip.
MOST_JOBS = 1024


@dataclass
class Job:
    """A job with its options, including those of `[global]`. The last option of a name counts."""

    name: str
    location: Location
    options: dict[str, Option] = field(default_factory=dict)
    in_order: list[Option] = field(default_factory=list)

    def get(self, key: str) -> Option | None:
        return self.options.get(key)


def read_jobs(path: Path, text: str, variables: Mapping[str, str] | None = None) -> list[Job]:
    """Return the jobs of a file whose text is `text`. Raises UserError also for what fio refuses."""
    jobs: list[Job] = []
    shared: dict[str, Option] = {}
    shared_order: list[Option] = []
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
        option = _option(location, line, os.environ if variables is None else variables)
        target, order = (shared, shared_order) if section is None else (section.options, section.in_order)
        target[option.key] = option
        order.append(option)
        if len(jobs) > MOST_JOBS:
            raise UserError(name_of(path), "", "", f"has more than {MOST_JOBS} jobs; expected fewer in one file")
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


def _option(location: Location, line: str, variables: Mapping[str, str]) -> Option:
    key, _, value = (part.strip() for part in line.partition("="))
    raw = Option(key, value, location)

    def replaced(variable: re.Match[str]) -> str:
        name = variable[1] if variable[1] is not None else variable[2]
        if variable[2] == "pagesize":
            return PAGE_SIZE
        if variable[2] or name not in variables:
            raise UserError(
                str(location),
                key,
                value,
                f"the variable {name} is not set: expected it in the environment, or its value",
            )
        return variables[name]

    option = Option(ALIASES.get(key, key), _VARIABLE.sub(replaced, value), location, key)
    if option.key not in FATES:
        near = hint(key, [*FATES, *ALIASES])
        raw.refuse(f"fio has no such option; {near}expected an option of fio 3.33 for block I/O")
    return option
