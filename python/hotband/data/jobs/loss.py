"""The fate of every option of a job file: kept, approximated and how, ignored and why; one line per option.

A converted workload carries its report in comments on top of its text. The record of a run keeps that text whole, and
its notes repeat the comments, also for a TOML file that was converted before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from hotband.base.errors import UserError
from hotband.base.foreign import shortened, visible

# Longer lists are cut on the terminal and in notes; the comments of the text have all of it.
MOST_NOTES = 40


class Fate(StrEnum):
    """The fate of an option. An `UNUSED` one changes no I/O in its tool either, such as how results are shown."""

    KEPT = "kept"
    APPROXIMATED = "approximated"
    IGNORED = "ignored"
    UNUSED = "not needed"


@dataclass(frozen=True)
class Location:
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Loss:
    """The fate of one option; `why` explains an approximation or why it was ignored."""

    fate: Fate
    location: Location
    option: str
    why: str = ""

    def __str__(self) -> str:
        why = f": {self.why}" if self.why else ""
        return f"{self.fate}: {visible(self.location)}: {shortened(visible(self.option))}{why}"


@dataclass
class LossReport:
    """All options of a job file in order of appearance; each once per fate."""

    file: str
    tool: str
    losses: dict[Loss, None] = field(default_factory=dict)

    def add(self, fate: Fate, location: Location, option: str, why: str = "") -> None:
        self.losses.setdefault(Loss(fate, location, option, why))

    def of(self, *fates: Fate) -> list[Loss]:
        return [loss for loss in self.losses if loss.fate in fates]

    def summary(self, verb: str = "converted from") -> str:
        """Return one line: how many options had which fate."""
        counts = ", ".join(f"{len(self.of(fate))} {fate}" for fate in Fate if self.of(fate) or fate is not Fate.UNUSED)
        return f"{verb} {visible(self.file)} ({self.tool}): {counts}"

    def matters(self) -> list[str]:
        """Return the options that were not kept as they are, with equal reasons in one line."""
        return _joined(self.of(Fate.APPROXIMATED, Fate.IGNORED))

    def comments(self) -> list[str]:
        """Return the whole report as comments of TOML."""
        return [f"# hotband: {self.summary()}", *(f"# {loss}" for loss in self.losses)]


def _joined(losses: Sequence[Loss]) -> list[str]:
    """Return lines of losses; one line counts all losses of the same option and reason."""
    groups: dict[tuple[Fate, str, str, str], list[Loss]] = {}
    for loss in losses:
        key = loss.option.partition("=")[0]
        groups.setdefault((loss.fate, loss.location.file, key, loss.why), []).append(loss)
    return [_line(group) for group in groups.values()]


def _line(group: Sequence[Loss]) -> str:
    first, more = group[0], len(group) - 1
    return str(first) if not more else f"{first} ({more} more such line{'s' if more > 1 else ''})"


_SUMMARY = re.compile(r"# hotband: (converted from .*)")
_LOSS = re.compile(r"# (approximated|ignored): ([^\n]+?:\d+|[^:\n]+): ([^\n]+)")


def notes_of(text: str) -> list[str]:
    """Return the notes in the comments on top of a converted workload; none for other texts."""
    return shortest(_notes(text.split("\n")))


def _notes(lines: Iterable[str]) -> list[str]:
    notes: list[str] = []
    losses: list[Loss] = []
    for line in lines:
        summary, loss = _SUMMARY.fullmatch(line), _LOSS.fullmatch(line)
        if summary:
            notes.append(summary[1])
        elif not line.startswith("#") or (not notes and line.strip("# ")):
            break
        elif loss:
            file, _, number = loss[2].rpartition(":")
            location = Location(file, int(number)) if file and number.isdigit() else Location(loss[2], 0)
            option, _, why = loss[3].partition(": ")
            losses.append(Loss(Fate(loss[1]), location, option, why))
    return [*notes, *_joined(losses)] if notes else []


def in_job_file(error: UserError, file: str, text: str | None) -> UserError:
    """Move an engine's error in a converted workload to the option of the job file that it came from."""
    stream_key = re.fullmatch(r"streams\[(\d+)\]\.(\w+)", error.key)
    if text is None or error.where != file or stream_key is None or not text.startswith("# hotband: converted"):
        return error
    streams = text.split("[[streams]]\n")[1:]
    stream = streams[int(stream_key[1])].split("\n\n")[0] if int(stream_key[1]) < len(streams) else ""
    key = "sizes?" if stream_key[2] in ("size", "sizes") else stream_key[2]
    came = re.search(rf"^{key} = .*  # [^:\n]*:(\d+): ([^=\n]*)=?(.*)$", stream, re.MULTILINE)
    if came is None:
        return error
    return UserError(f"{file}:{came[1]}", came[2], came[3], error.accepted)


def shortest(lines: Sequence[str]) -> list[str]:
    """Return the first lines, and the number of the others."""
    if len(lines) <= MOST_NOTES:
        return list(lines)
    left = len(lines) - MOST_NOTES
    return [*lines[:MOST_NOTES], f"{left} more options are approximated or ignored: the workload's text lists them all"]
