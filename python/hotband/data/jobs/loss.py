"""What became of every option of a job file: kept, approximated and how, ignored and why; one line an option.

A converted workload carries its report in comments on top of its text. The record of a run keeps that text whole, and
its notes say what the comments say: so does every run of a TOML file that was converted before.
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
    """What became of an option. `UNUSED` changes no I/O in its tool either: how results are shown, which processor."""

    KEPT = "kept"
    APPROXIMATED = "approximated"
    IGNORED = "ignored"
    UNUSED = "not needed"


@dataclass(frozen=True)
class Place:
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Loss:
    """What became of one option; `why` says how it was approximated, or why it was ignored."""

    fate: Fate
    place: Place
    option: str
    why: str = ""

    def __str__(self) -> str:
        why = f": {self.why}" if self.why else ""
        return f"{self.fate}: {visible(self.place)}: {shortened(visible(self.option))}{why}"


@dataclass
class LossReport:
    """All options of a job file, in the order in which they were met; each once with the same fate."""

    file: str
    tool: str
    losses: dict[Loss, None] = field(default_factory=dict)

    def add(self, fate: Fate, place: Place, option: str, why: str = "") -> None:
        self.losses.setdefault(Loss(fate, place, option, why))

    def of(self, *fates: Fate) -> list[Loss]:
        return [loss for loss in self.losses if loss.fate in fates]

    def summary(self, verb: str = "converted from") -> str:
        """One line: how many options had which fate."""
        counts = ", ".join(f"{len(self.of(fate))} {fate}" for fate in Fate if self.of(fate) or fate is not Fate.UNUSED)
        return f"{verb} {visible(self.file)} ({self.tool}): {counts}"

    def matters(self) -> list[str]:
        """What is not as the job file says it, equal reasons in one line."""
        return _joined(self.of(Fate.APPROXIMATED, Fate.IGNORED))

    def comments(self) -> list[str]:
        """The whole report as comments of TOML."""
        return [f"# hotband: {self.summary()}", *(f"# {loss}" for loss in self.losses)]


def _joined(losses: Sequence[Loss]) -> list[str]:
    """Lines of losses; those of one reason and option follow the first of them as numbers of lines."""
    groups: dict[tuple[Fate, str, str, str], list[Loss]] = {}
    for loss in losses:
        key = loss.option.partition("=")[0]
        groups.setdefault((loss.fate, loss.place.file, key, loss.why), []).append(loss)
    return [_line(group) for group in groups.values()]


def _line(group: Sequence[Loss]) -> str:
    first, more = group[0], len(group) - 1
    return str(first) if not more else f"{first} ({more} more such line{'s' if more > 1 else ''})"


_SUMMARY = re.compile(r"# hotband: (converted from .*)")
_LOSS = re.compile(r"# (approximated|ignored): ([^\n]+?:\d+|[^:\n]+): ([^\n]+)")


def notes_of(text: str) -> list[str]:
    """What a converted workload says of itself in the comments on top; nothing of other texts."""
    return shortest(_notes(text.split("\n")))


def _notes(lines: Iterable[str]) -> list[str]:
    found: list[str] = []
    losses: list[Loss] = []
    for line in lines:
        summary, loss = _SUMMARY.fullmatch(line), _LOSS.fullmatch(line)
        if summary:
            found.append(summary[1])
        elif not line.startswith("#") or (not found and line.strip("# ")):
            break
        elif loss:
            file, _, number = loss[2].rpartition(":")
            place = Place(file, int(number)) if file and number.isdigit() else Place(loss[2], 0)
            option, _, why = loss[3].partition(": ")
            losses.append(Loss(Fate(loss[1]), place, option, why))
    return [*found, *_joined(losses)] if found else []


def in_job_file(error: UserError, file: str, text: str | None) -> UserError:
    """A mistake that the engine found in a converted workload, at the option of the job file that it came from."""
    found = re.fullmatch(r"streams\[(\d+)\]\.(\w+)", error.key)
    if text is None or error.where != file or found is None or not text.startswith("# hotband: converted"):
        return error
    streams = text.split("[[streams]]\n")[1:]
    stream = streams[int(found[1])].split("\n\n")[0] if int(found[1]) < len(streams) else ""
    key = "sizes?" if found[2] in ("size", "sizes") else found[2]
    came = re.search(rf"^{key} = .*  # [^:\n]*:(\d+): ([^=\n]*)=?(.*)$", stream, re.MULTILINE)
    if came is None:
        return error
    return UserError(f"{file}:{came[1]}", came[2], came[3], error.accepted)


def shortest(lines: Sequence[str]) -> list[str]:
    """The first lines, and how many there are besides."""
    if len(lines) <= MOST_NOTES:
        return list(lines)
    left = len(lines) - MOST_NOTES
    return [*lines[:MOST_NOTES], f"{left} more options are approximated or ignored: the workload's text has them all"]
