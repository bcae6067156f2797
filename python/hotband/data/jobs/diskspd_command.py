"""A command line of DiskSpd, as people post it, as the text of a profile (`-X`).

Sources: microsoft/diskspd, its wiki ("Command line and parameters"); tags and defaults as in `diskspd.py`. Several
commands are time spans one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from hotband.base.errors import UserError
from hotband.data.jobs.commands import LONGEST, commands_of
from hotband.data.jobs.diskspd import BLOCK

_PROGRAM = re.compile(r"(?:.*[/\\])?diskspd(?:64)?(?:\.exe)?", re.IGNORECASE)
_SIZE = re.compile(r"(\d{1,15})([KMGTB]?)", re.IGNORECASE)
_POWERS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
# Options with a number that is the text of a tag of the time span or of the target.
_OF_SPAN = {"d": "Duration", "W": "Warmup", "C": "Cooldown", "F": "ThreadCount", "O": "RequestCount"}
_OF_TARGET = {"o": "RequestCount", "t": "ThreadsPerFile", "i": "BurstSize", "j": "ThinkTime", "w": "WriteRatio"}
_SIZES = {"b": "BlockSize", "c": "FileSize", "B": "BaseFileOffset", "T": "ThreadStride", "f": "MaxFileSize"}
# Hints for the cache of the file system; thread strides of the file's size.
_HINTS = ("-fr", "-fs", "-frs", "-Ts")
# Results, the host and its caches of memory: no I/O differs.
_NOTHING = "aDeEILlnNPpqRvxXyzZ?"


@dataclass
class _Command:
    """Tags of one command: of its time span, of each of its targets, and the targets."""

    span: dict[str, str] = field(default_factory=dict)
    target: dict[str, str] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    block: int = BLOCK
    rate_unit: str = ""


def profile_text(path: Path, text: str) -> str | None:
    """Return the profile equivalent to the commands of a text; None if the text has none. Raises UserError for an
    option that DiskSpd does not have."""
    if not re.search("diskspd", text[:LONGEST], re.IGNORECASE):
        return None
    # `#1` is the first physical drive.
    commands = commands_of(text, _PROGRAM, comment="")
    if not commands:
        return None
    spans = [line for arguments in commands for line in _span_lines(_read(path, arguments))]
    return "\n".join(["<Profile>", "<TimeSpans>", *spans, "</TimeSpans>", "</Profile>"]) + "\n"


def _read(path: Path, arguments: Sequence[str]) -> _Command:
    command = _Command()
    # On Windows a slash begins an option, elsewhere a path.
    mark = "-" if any(word.startswith("-") for word in arguments) else "/"
    options = [word for word in arguments if word.startswith(mark) and len(word) > 1]
    command.paths = [word for word in arguments if word not in options]
    # Other options count in blocks.
    for word in sorted(options, key=lambda word: word[1] != "b"):
        _add(path, command, word[1], word[2:], word)
    if not command.paths:
        raise UserError(path.name, "diskspd", " ".join(arguments), "names no target: expected a file or a drive")
    return command


def _add(path: Path, command: _Command, letter: str, value: str, word: str) -> None:
    target = command.target
    if letter in _OF_SPAN:
        command.span[_OF_SPAN[letter]] = value
    elif letter in _OF_TARGET:
        target[_OF_TARGET[letter]] = value or "0"
    elif word in _HINTS:
        pass
    elif letter in _SIZES:
        size = _bytes(path, command, value, word)
        command.block = size if letter == "b" else command.block
        target[_SIZES[letter]] = str(size)
    elif letter in "rs":
        _offsets(path, command, letter, value, word)
    elif letter == "g":
        target["Throughput"] = str(_bytes(path, command, value.removesuffix("i"), word))
        command.rate_unit = ' unit="IOPS"' if value.endswith("i") else ""
    elif letter in "hS":
        _caches(target, "h" if letter == "h" else value)
    elif letter not in _NOTHING:
        raise UserError(path.name, "diskspd", word, "DiskSpd has no such option")


def _offsets(path: Path, command: _Command, letter: str, value: str, word: str) -> None:
    """Add random offsets (`-r`, `-r4K`, `-rs50`) or a stride (`-s`, `-si`, `-s64K`)."""
    target = command.target
    if letter == "s":
        if value.startswith("i"):
            target["InterlockedSequential"] = "true"
        if size := value.removeprefix("i"):
            target["StrideSize"] = str(_bytes(path, command, size, word))
    elif value.startswith("s"):
        target["RandomRatio"] = value[1:]
        target.setdefault("Random", str(command.block))
    elif value.startswith("d"):
        target["Distribution"] = value[1:]
    else:
        target["Random"] = str(_bytes(path, command, value, word) if value else command.block)


def _caches(target: dict[str, str], modifiers: str) -> None:
    """Add the use of caches: `-S` and `-Su` bypass the system's cache, `-Sw` writes through the drive's, `-Sh` does
    both."""
    if not modifiers or "u" in modifiers:
        target["DisableOSCache"] = "true"
    if "w" in modifiers:
        target["WriteThrough"] = "true"
    if "h" in modifiers:
        target["DisableAllCache"] = "true"


def _bytes(path: Path, command: _Command, text: str, word: str) -> int:
    size = _SIZE.fullmatch(text)
    if size is None:
        raise UserError(path.name, "diskspd", word, "expected a size, such as 4K, 1M or 10G")
    unit = size[2].upper()
    return int(size[1]) * (command.block if unit == "B" else 1 << _POWERS[unit])


def _span_lines(command: _Command) -> list[str]:
    def tags(values: dict[str, str]) -> list[str]:
        units = {"Throughput": command.rate_unit}
        return [f"<{tag}{units.get(tag, '')}>{escape(value)}</{tag}>" for tag, value in values.items()]

    targets = [
        line
        for target in command.paths
        for line in ["<Target>", *tags({"Path": target, **command.target}), "</Target>"]
    ]
    return ["<TimeSpan>", *tags(command.span), "<Targets>", *targets, "</Targets>", "</TimeSpan>"]
