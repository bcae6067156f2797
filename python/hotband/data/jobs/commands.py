"""Commands in pasted text: the arguments of a program, of each line that runs it.

Prompts, `sudo`, variables, redirections and line continuations of Unix and Windows are dropped.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from hotband.data.jobs.source import words

# Programs that run another.
_RUNS = frozenset(
    words("sudo doas time exec nohup env nice ionice numactl stdbuf taskset timeout chrt then do docker podman kubectl")
    + words("ip systemd-run ssh start cmd call")
)
_PROMPT = re.compile(
    r"^(?:\[[^\]\n]{1,80}\]|[\w.@~/:-]{1,80})?[ \t]*[$#>%][ \t]+(?=\S)|^(?:PS )?[A-Za-z]:\\[^>\n]{0,80}>[ \t]*"
)
_CONTINUED = re.compile(r"[ \t]*[\\`^][ \t]*\r?\n[ \t]*(?:>[ \t]+)?")
_SEPARATORS = re.compile(r"[;&|()]+")
_REDIRECTIONS = re.compile(r"&?[<>][<>&|]*")
_WINDOWS = re.compile(r"\b[A-Za-z](:|\\:)\\|\\\\\.\\")
LONGEST = 65536
"""Characters of a text that is searched for commands."""


def commands_of(text: str, program: re.Pattern[str], comment: str = "#") -> list[list[str]]:
    """Return the arguments of each command of a program in a text; a `comment` may follow them."""
    lines = _lines(text[:LONGEST])
    commands = _commands((line for line in lines if not line.startswith("#")), program, comment)
    # A root's prompt looks like a comment.
    return commands or _commands((_PROMPT.sub("", line) for line in lines), program, comment)


def _commands(lines: Iterable[str], program: re.Pattern[str], comment: str) -> list[list[str]]:
    return [arguments for line in lines for arguments in _arguments(line, program, comment)]


def _lines(text: str) -> list[str]:
    """Return the lines of a text, those that go on joined."""
    joined = _CONTINUED.sub(" ", text.strip())
    return [line if line.startswith("#") else _PROMPT.sub("", line) for line in map(str.strip, joined.split("\n"))]


def _arguments(line: str, program: re.Pattern[str], comment: str) -> list[list[str]]:
    """Return the arguments of each command of the program in a line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, comment
    lexer.escape = "" if _WINDOWS.search(line) else "\\"
    try:
        tokens = list(lexer)
    except ValueError:
        return []
    programs: list[list[str]] = [[]]
    for token in tokens:
        if _SEPARATORS.fullmatch(token):
            programs.append([])
        else:
            programs[-1].append(token)
    return [arguments for tokens in programs if (arguments := _of_program(tokens, program)) is not None]


def _of_program(tokens: list[str], program: re.Pattern[str]) -> list[str] | None:
    """Return the arguments of the program, up to a redirection; None for another one."""
    begin = next((n for n, token in enumerate(tokens) if program.fullmatch(token)), None)
    if begin is None or not _runs_it(tokens[:begin]):
        return None
    arguments = tokens[begin + 1 :]
    end = next((n for n, token in enumerate(arguments) if _REDIRECTIONS.fullmatch(token)), len(arguments))
    # `2>&1`: the number belongs to the redirection.
    is_number = 0 < end < len(arguments) and arguments[end - 1].isdigit()
    arguments = arguments[: end - is_number]
    return arguments if any(argument.startswith("-") or "." in argument for argument in arguments) else None


def _runs_it(before: Sequence[str]) -> bool:
    """Return whether the words before the program's name run it: variables, or a program such as `sudo` with its
    options."""
    program = next((token for token in before if not re.match(r"\w+=", token)), None)
    return program is None or program in _RUNS
