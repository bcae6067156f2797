"""A command line of fio, as people post it, as the text of a job file.

fio's own reading (init.c: parse_cmd_line; tried: 3.33): options before the first `--name` are global, a job begins with
each further one, and job files come last. What stands around the command is dropped: prompts, `sudo`, variables,
redirections, line continuations of Unix and Windows. Several commands run one after the other.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

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
# Programs that run another.
_RUNS = frozenset(
    words("sudo doas time exec nohup env nice ionice numactl stdbuf taskset timeout chrt then do docker podman kubectl")
    + words("ip systemd-run ssh")
)
_PROGRAM = re.compile(r"(?:.*[/\\])?fio(?:-\d[\d.]*)?(?:\.exe)?", re.IGNORECASE)
_PROMPT = re.compile(r"^(?:\[[^\]\n]{1,80}\]|[\w.@~/:-]{1,80})?[ \t]*[$#>%][ \t]+(?=\S)")
_CONTINUED = re.compile(r"[ \t]*[\\`^][ \t]*\r?\n[ \t]*(?:>[ \t]+)?")
_SEPARATORS = re.compile(r"[;&|()]+")
_REDIRECTIONS = re.compile(r"&?[<>][<>&|]*")
LONGEST = 65536
"""Characters of a text that is searched for commands."""


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
    lines = _lines(text[:LONGEST])
    commands = _commands(line for line in lines if not line.startswith("#"))
    # A root's prompt looks like a comment.
    commands = commands or _commands(_PROMPT.sub("", line) for line in lines)
    parts = [_section_lines(_read(arguments), number > 0) for number, arguments in enumerate(commands)]
    return "\n".join(line for part in parts for line in part) + "\n" if parts else None


def _commands(lines: Iterable[str]) -> list[list[str]]:
    return [arguments for line in lines if (arguments := _arguments(line)) is not None]


def _lines(text: str) -> list[str]:
    """Return the lines of a text, those that go on joined."""
    joined = _CONTINUED.sub(" ", text.strip())
    return [line if line.startswith("#") else _PROMPT.sub("", line) for line in map(str.strip, joined.split("\n"))]


def _arguments(line: str) -> list[str] | None:
    """Return the arguments of fio in a line; None if the line runs another program."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, "#"
    lexer.escape = "" if re.search(r"\b[A-Za-z](:|\\:)\\", line) else "\\"
    try:
        tokens = list(lexer)
    except ValueError:
        return None
    programs: list[list[str]] = [[]]
    for token in tokens:
        if _SEPARATORS.fullmatch(token):
            programs.append([])
        else:
            programs[-1].append(token)
    of_fio = (_of_program(program) for program in programs)
    return next((arguments for arguments in of_fio if arguments is not None), None)


def _of_program(tokens: list[str]) -> list[str] | None:
    """Return the arguments of fio, up to a redirection; None for another program."""
    begin = next((n for n, token in enumerate(tokens) if _PROGRAM.fullmatch(token)), None)
    if begin is None or not _runs_it(tokens[:begin]):
        return None
    arguments = tokens[begin + 1 :]
    end = next((n for n, token in enumerate(arguments) if _REDIRECTIONS.fullmatch(token)), len(arguments))
    # `2>&1`: the number belongs to the redirection.
    is_number = 0 < end < len(arguments) and arguments[end - 1].isdigit()
    arguments = arguments[: end - is_number]
    return arguments if any(argument.startswith("-") or "." in argument for argument in arguments) else None


def _runs_it(before: Sequence[str]) -> bool:
    """Return whether the words before fio's name run it: variables, or a program such as `sudo` with its options."""
    program = next((token for token in before if not re.match(r"\w+=", token)), None)
    return program is None or program in _RUNS


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
