"""A command line of fio, as people post it, as the text of a job file.

fio's own reading (init.c: parse_cmd_line; tried: 3.33): options before the first `--name` are global, a job begins with
each further one, and job files come last. Several commands run one after the other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hotband.data.jobs.commands import LONGEST, commands_of
from hotband.data.jobs.source import words

# Options that take no value unless it follows an equals sign (`fio --cmdhelp=all`: "empty or boolean value").
_FLAGS = frozenset(
    words("bs_unaligned exitall exitall_on_error group_reporting new_group norandommap refill_buffers stonewall thread")
    + words("time_based verify_only zero_buffers userspace_reap fixedbufs hipri registerfiles sqthread_poll")
    + words("wait_for_previous threads")
)
# fio's own options (`fio --help`), of no job; those in the second list have no value.
_OF_FIO = frozenset(
    words("debug output output-format terse-version crctest cmdhelp enghelp eta eta-newline eta-interval")
    + words("status-interval section alloc-size max-jobs server daemonize client remote-config idle-prof trigger-file")
    + words("trigger-timeout trigger trigger-remote aux-path latency-log bandwidth-log")
)
_OF_FIO_ALONE = frozenset(
    words("parse-only merge-blktrace-only minimal append-terse version help cpuclock-test showcmd readonly")
    + words("warnings-fatal inflate-log")
)
_PROGRAM = re.compile(r"(?:.*[/\\])?fio(?:-\d[\d.]*)?(?:\.exe)?", re.IGNORECASE)


@dataclass
class _Jobs:
    """A command's global options, its jobs with their options, and its job files."""

    shared: list[str] = field(default_factory=list)
    jobs: list[tuple[str, list[str]]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def job_file_text(text: str) -> str | None:
    """Return the job file equivalent to the commands of a text; None if the text has none."""
    if not re.search(r"\bfio", text[:LONGEST], re.IGNORECASE):
        return None
    commands = commands_of(text, _PROGRAM)
    parts = [_section_lines(_read(arguments), number > 0) for number, arguments in enumerate(commands)]
    return "\n".join(line for part in parts for line in part) + "\n" if parts else None


def _read(arguments: list[str]) -> _Jobs:
    read = _Jobs()
    options = read.shared
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            read.files.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if not equals and _takes_value(name) and rest and not rest[0].startswith("-"):
            equals, value = "=", rest.pop(0)
        if name in _OF_FIO | _OF_FIO_ALONE:
            continue
        # A job file knows variables in braces alone.
        value = re.sub(r"\$(?!(?:ncpus|mb_memory|pagesize)\b)(\w+)", r"${\1}", value)
        if name == "name" and value != "global":
            options = []
            read.jobs.append((value or "fio", options))
        elif name == "name":
            options = read.shared
        else:
            options.append(f"{name}{equals}{value}")
    return read


def _takes_value(name: str) -> bool:
    return name not in _FLAGS and name not in _OF_FIO_ALONE


def _section_lines(command: _Jobs, is_later: bool) -> list[str]:
    """Return the sections of a command; those of a later one wait for the earlier ones."""
    jobs = command.jobs or ([("fio", [])] if command.shared and not command.files else [])
    lines: list[str] = []
    for number, (name, options) in enumerate(jobs):
        wall = ["stonewall"] if is_later and not number else []
        lines += [f"[{name}]", *wall, *command.shared, *options]
    if command.files:
        lines += ["[global]", *(["stonewall"] if is_later else []), *command.shared]
        lines += [f"include {file}" for file in command.files]
    return lines
