"""Fields that questions about traces share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base import memory
from hotband.base.errors import UserError
from hotband.base.question import Question, asks
from hotband.base.text.nearest import repeated
from hotband.base.text.regular import opened
from hotband.data.inputs.kinds import Columns, Filters

if TYPE_CHECKING:
    from hotband.base.guess import Guess

UNPACK = 200
"""Default of `unpack`, within half of the available memory."""
TOO_MUCH = "unpacks to more than"
"""Beginning of the engine's error for a compressed file."""
COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
"""Beginnings of gzip (RFC 1952) and zstd (RFC 8878)."""


@dataclass(frozen=True, kw_only=True)
class TraceQuestion(Question):
    """Base of questions about traces: the format of a file, and the part of it to use (keys of `[trace]`)."""

    format: str | None = asks("Format of the trace, if it is not recognised.", default=None, metavar="NAME")
    columns: Columns | None = asks(
        "Columns of any CSV: time=1:us,offset=2:sectors,size=3,op=4; op=4:1 if 1 is a read.",
        default=None,
        metavar="KEY=COLUMN,...",
    )
    skip_bad: int = asks("Skip up to N invalid lines.", default=0, metavar="N", least=0)
    unpack: int | None = asks(
        f"Accept a compressed trace that unpacks to N times its size. Default: {UNPACK}, or half of the free memory.",
        default=None,
        metavar="N",
        least=2,
    )
    device: Filters = asks("Only this device. May be repeated.", default=(), metavar="NAME")
    host: Filters = asks("Only this host. May be repeated.", default=(), metavar="NAME")
    process: Filters = asks("Only this process. May be repeated.", default=(), metavar="NAME")
    direction: Filters = asks("Only read, write, flush or trim. May be repeated.", default=(), metavar="NAME")
    range: Filters = asks('Range of addresses: ["0 GB", "300 GB"].', default=(), only_python=True)
    from_: str | None = asks(
        'Start this long after the first I/O, such as "1 h".', default=None, metavar="TIME", unit="s", called="from"
    )
    for_: str | None = asks("Length of the part to use.", default=None, metavar="TIME", unit="s", called="for")

    def keys(self) -> dict[str, object]:
        """Return the keys of `[trace]`."""
        several = {name: list(getattr(self, name)) for name in ("device", "host", "process", "direction", "range")}
        times = {"from": self.from_, "for": self.for_}
        plain = {name: getattr(self, name) for name in ("format", "columns", "skip_bad", "unpack")}
        return {**plain, **several, **times}

    def traces(self) -> Iterable[tuple[Path, Mapping[str, object]]]:
        """Return the traces that it reads, with the keys of `[trace]` for each."""
        raise NotImplementedError

    def guesses(self) -> list[Guess]:
        """Return the ambiguous readings of the first lines of its traces."""
        from hotband.data.traces.guesses import guesses_of

        guesses: list[Guess] = []
        for path, keys in self.traces():
            format_, columns = keys.get("format"), keys.get("columns")
            named = columns if isinstance(columns, Mapping) else None
            guesses += guesses_of(path, None if format_ is None else str(format_), named)
        return guesses


def default_unpack(file: Path) -> int:
    """Return the factor to which a file may unpack by default: to no more than half of the available memory."""
    left = memory.available()
    if left is None or not file.is_file():
        return UNPACK
    with opened(file) as compressed:
        is_compressed = compressed.read(4).startswith(COMPRESSED)
    return max(2, min(UNPACK, left // 2 // max(file.stat().st_size, 1))) if is_compressed else UNPACK


def columns_of(text: str | None) -> dict[str, str]:
    """Parse columns such as `time=3:ms,offset=4`. Raises UserError."""
    if text is None:
        return {}
    pairs = [part.partition("=") for part in text.split(",")]
    if any(not sign or not value.strip() for _, sign, value in pairs):
        accepted = "expected columns by number or name, with a unit, such as time=1:us,offset=2:sectors,size=3,op=4"
        raise UserError("question.columns", "", text, accepted)
    twice = repeated(key.strip() for key, _, _ in pairs)
    if twice is not None:
        raise UserError("question.columns", twice, text, "is given twice; expected it once")
    return {key.strip(): value.strip() for key, _, value in pairs}
