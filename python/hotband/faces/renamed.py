"""Renamed commands. The page shows the new words for copying; an old name still works and prints the new one."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Container, Iterable, Mapping, Sequence

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
"""The current words for each former command. Words with an option name a separate question: the option selects it and
is not passed on unless it has a value (`WITH_VALUE`)."""
FUNCTIONS: Mapping[str, str] = {"why": "explain"}
"""Current Python functions by their former names."""
WITH_VALUE = ("serve --mount",)
"""Words whose option also is an option of the selected command."""

OPTIONS: Mapping[str, str] = {"--cost": "--prices", "--spare": "--spares"}
"""Current options by former ones, for every command that has the current one."""


SETTINGS: Mapping[str, str] = {"rate_iops": "--rate"}
"""Keys of `--set` that have become options, for every command that has these."""


def with_current_options(arguments: Sequence[str], known: Container[str]) -> list[str]:
    """Return the arguments with current options, of those that a command knows, in place of former options and keys of
    `--set`; print each replacement to stderr."""
    current: list[str] = []
    for word in map(str, arguments):
        name, equals, value = word.partition("=")
        new = OPTIONS.get(name)
        key, _, setting = (word if current[-1:] == ["--set"] else value if name == "--set" else "").partition("=")
        option = SETTINGS.get(key.strip())
        if option is not None and option in known:
            _notice(f"--set {key.strip()}=", option)
            current = [*(current[:-1] if name != "--set" else current), option, setting]
        elif new is not None and name not in known and new in known:
            _notice(name, new)
            current.append(f"{new}{equals}{value}")
        else:
            current.append(word)
    return current


def _notice(old: str, new: str) -> None:
    print(f"hotband: `{old}` is `{new}` now", file=sys.stderr)


def with_current_arguments(given: Mapping[str, object], known: Container[str], function: str) -> dict[str, object]:
    """Return the arguments of a Python call with current names, of those that the function has, in place of former
    names, with a DeprecationWarning."""
    names = {_argument(old): _argument(new) for old, new in OPTIONS.items()}
    current: dict[str, object] = {}
    for name, value in given.items():
        new = names.get(name, name)
        is_old = name not in known and new in known
        if is_old:
            warnings.warn(f"{function}({name}=...) is {function}({new}=...) now", DeprecationWarning, stacklevel=4)
        current[new if is_old else name] = value
    return current


def selected_by(function: str, given: Mapping[str, object]) -> tuple[str | None, Mapping[str, object]]:
    """Return the question that an argument of a Python call selects, as the option does on the command line (`run(...,
    explain=True)`), None without such an argument; and the other arguments."""
    for name, words in RENAMED.items():
        option = _argument(words.removeprefix(f"{function} "))
        if words == f"{function} --{option}" and isinstance(given.get(option), bool):
            others = {key: value for key, value in given.items() if key != option}
            return (name if given[option] else None), others
    return None, given


def _argument(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")


def command_words(name: str) -> list[str]:
    """Return the words of the command of a question: `run --explain` for "why", else the name itself."""
    words = RENAMED.get(name, name)
    return words.split()[:1] if words in WITH_VALUE else words.split()


def current(arguments: list[str], with_notice: bool) -> list[str]:
    """Return the arguments of a command line with the current words in place of a former name, and print it to stderr
    if `with_notice` is set."""
    words = RENAMED.get(arguments[0]) if arguments else None
    if words is None or words.startswith("--"):
        return arguments
    rest = arguments[1:]
    if arguments[0] == "plot" and rest[:1] == ["latency"]:
        rest = rest[1:]
    if with_notice:
        _notice(arguments[0], f"hotband {words}")
    if words in WITH_VALUE:
        return [words, *with_value(words.split()[1], rest)]
    return [*words.split(), *rest]


def with_value(option: str, arguments: list[str]) -> list[str]:
    """Return the arguments with the option before the second one, which was a positional argument."""
    named = len(arguments) > 1 and not arguments[1].startswith("-")
    return [arguments[0], option, *arguments[1:]] if named else arguments


def selected(arguments: list[str], commands: Iterable[str]) -> list[str]:
    """Return the arguments with the command that an option selects in front, without that option: `["run", "W",
    "--explain"]` becomes `["run --explain", "W"]` if there is such a command. An option with a value (`WITH_VALUE`)
    stays."""
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
