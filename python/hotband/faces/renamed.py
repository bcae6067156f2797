"""Commands that have another name now. The words of the new one are those that a page shows for copying; the old one
goes on and prints the new one."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

RENAMED: Mapping[str, str] = {
    "calibrate": "measure calibrate",
    "device": "measure device",
    "entropy": "measure entropy",
    "events": "keys --events",
    "osds": "drives --kind osd",
    "mount": "serve --mount",
    "plot": "report --latency",
    "pts": "measure pts",
    "query": "store query",
    "quick": "measure quick",
    "steady": "audit --steady",
    "version": "--version",
    "why": "run --explain",
    "workload": "workloads",
}
"""The words of today for each command of before. Words with an option name a question of its own: the option selects it
and is not passed on, except where it has a value (`WITH_VALUE`)."""
WITH_VALUE = ("serve --mount",)
"""Words whose option is an option of the command that it selects."""


def command_words(name: str) -> list[str]:
    """Return the words of the command of a question: `run --explain` of "why", the name itself where it is the same."""
    words = RENAMED.get(name, name)
    return words.split()[:1] if words in WITH_VALUE else words.split()


def current(arguments: list[str], with_notice: bool) -> list[str]:
    """Return the arguments of a command line with the words of today in the place of an old name, which is printed to
    stderr under `with_notice`."""
    words = RENAMED.get(arguments[0]) if arguments else None
    if words is None or words.startswith("--"):
        return arguments
    rest = arguments[1:]
    if arguments[0] == "plot" and rest[:1] == ["latency"]:
        rest = rest[1:]
    if with_notice:
        print(f"hotband: `{arguments[0]}` is `hotband {words}` now", file=sys.stderr)
    if words in WITH_VALUE:
        return [words, *with_value(words.split()[1], rest)]
    return [*words.split(), *rest]


def with_value(option: str, arguments: list[str]) -> list[str]:
    """Return the arguments with the option in front of the second one, which was an argument without a name."""
    named = len(arguments) > 1 and not arguments[1].startswith("-")
    return [arguments[0], option, *arguments[1:]] if named else arguments


def selected(arguments: list[str], commands: Iterable[str]) -> list[str]:
    """Return the arguments with the name of the command that an option selects in front, without that option:
    `["run", "W", "--explain"]` is `["run --explain", "W"]` if there is a command of this name. An option with a value
    (`WITH_VALUE`) stays."""
    for name in commands:
        first, *option = name.split()
        if not option or arguments[:1] != [first]:
            continue
        joined = "=".join(option)
        for at in range(1, len(arguments)):
            if name in WITH_VALUE and arguments[at].partition("=")[0] == option[0]:
                return [name, *arguments[1:]]
            if arguments[at : at + len(option)] == option:
                return [name, *arguments[1:at], *arguments[at + len(option) :]]
            if arguments[at] == joined:
                return [name, *arguments[1:at], *arguments[at + 1 :]]
    return arguments
