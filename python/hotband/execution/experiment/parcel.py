"""Runs as sent to another computer, and their results: all parts of a run as text, since the files of one computer are
not on the other, and finished runs as bytes.

Left out: traces and I/O logs, which are files of this computer and may be of any size.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from struct import Struct
from typing import Any

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.heavy import pa
from hotband.data.catalog import CATALOG_DIR, SHORT_FORM
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.texts import bytes_of, text_of
from hotband.data.record.files import Cell, ReadTable
from hotband.data.record.finished import Finished
from hotband.data.traces.files import traces_of

LEVEL = 3
"""Usual compression level of zstd: records are repetitive text. It reduces those of a task to a seventh, in a hundredth
of the time that their runs took (zlib's quickest level reduces them to half, in four times that)."""
Read = Callable[[Finished], Any]
"""Result that is brought back from a run; a function that a worker can import."""
LENGTH = Struct("<Q")
Files = dict[str, bytes]
"""Small files that the engine opens, by the path that it opens them by."""


@dataclass(frozen=True)
class Line:
    """Runs that share a machine, in their order (most are alone), with the files of the user's that they name."""

    specs: tuple[RunSpec, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)

    def alike(self) -> tuple[RunSpec, ...]:
        """Return what lines share that differ only in their seeds and names."""
        return tuple(
            replace(spec, id="", seed=1, weight=1.0, after=str(index)) for index, spec in enumerate(self.specs)
        )


class Packing:
    """Makes lines of runs that can travel; a text that thousands of runs share is read once."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str | None, str, str | None], tuple[str | None, str | None, Files]] = {}

    def line(self, specs: Sequence[RunSpec]) -> Line:
        """Raise UserError for a mistake in a file, and for what cannot travel."""
        made = [self._spec(spec) for spec in specs]
        return Line(tuple(spec for spec, _ in made), {path: data for _, files in made for path, data in files.items()})

    def _spec(self, spec: RunSpec) -> tuple[RunSpec, Files]:
        if spec.io_log is not None:
            refuse(str(spec.io_log), "is written by the run itself, which executes on another node")
        named = (spec.machine, spec.machine_text, spec.workload, spec.workload_text)
        if named not in self._texts:
            machine = text_of(spec.machine, "machine") if spec.machine_text is None else spec.machine_text
            workload = text_of(spec.workload, "workload") if spec.workload_text is None else spec.workload_text
            for trace, _ in traces_of(spec.workload, workload):
                refuse(str(trace), "is a trace, which is replayed on the host that stores it")
            self._texts[named] = machine, workload, own_drives(spec.machine, machine)
        machine, workload, files = self._texts[named]
        data = {value: bytes_of(value, "data") for key, value in spec.set if key == "data" and is_data_file(value)}
        moved = replace(spec, machine_text=machine, workload_text=workload, out=None)
        return moved, {_below_here(path): held for path, held in {**files, **data}.items()}


def refuse(value: str, why: str) -> None:
    """Raise UserError for what cannot be done elsewhere."""
    raise UserError("question.executor", "", value, f"{why}: remove question.executor")


def is_data_file(value: str) -> bool:
    """Return whether `data=` names a file of `hotband measure entropy --json` (`data_of` of
    crates/engine/src/build)."""
    return ("/" in value or value.endswith(".json")) and not value.strip().startswith("{")


def _below_here(path: str) -> str:
    """The path, if a worker can have such a file, too."""
    if not PurePath(path).is_absolute() and ".." in PurePath(path).parts:
        refuse(path, "is outside the current folder, and only that is sent; expected it below, or as /PATH")
    return path


def own_drives(machine: str, text: str | None) -> Files:
    """Texts of the user's drives that a machine names, by the paths that the engine opens: a product's path counts from
    the folder of the machine's file. Empty for invalid text, which the engine refuses."""
    if ".toml" not in machine and ".toml" not in (text or ""):
        return {}
    try:
        machine_drives = _core.machine(CATALOG_DIR, machine, text)["own_drives"]
    except _core.SpecError:
        return {}
    folder = Path() if text is None or SHORT_FORM.match(machine) else Path(machine).parent
    return {str(folder / product): held.encode() for product, held in machine_drives.items()}


@dataclass(frozen=True)
class Returned:
    """A finished run as it travels: its record's text, the columns and kinds of its tables, I/Os."""

    text: str
    tables: dict[str, tuple[dict[str, list[Cell]], dict[str, str]]]
    ios: int

    @classmethod
    def of(cls, finished: Finished) -> Returned:
        """Return the result of a run."""
        tables = {name: (table.columns, table.kinds) for name, table in finished.tables.items()}
        return cls(finished.text, tables, finished.ios)

    def finished(self, spec: RunSpec) -> Finished:
        """The run under the spec that was requested, as it would be had it run here."""
        import json

        tables = {name: ReadTable(columns, kinds) for name, (columns, kinds) in self.tables.items()}
        return Finished(spec, json.loads(self.text), self.text, tables, self.ios)


@dataclass(frozen=True)
class Told:
    """Result of a task for one line: the results of its runs and their I/Os, or, for a line that was only checked, the
    memory that it needs; the mistake that ended it; and its seconds."""

    runs: tuple[Any, ...] = ()
    ios: int = 0
    memory: int = 0
    mistake: UserError | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Reply:
    """Reply of a task: one result per line, up to the first mistake; or nothing, because another version of Hotband
    runs there."""

    told: tuple[Told, ...] = ()
    node: str = ""
    other: str = ""

    def packed(self) -> bytes:
        """Return it as bytes, with its length first."""
        data = pickle.dumps(self, protocol=pickle.HIGHEST_PROTOCOL)
        squeezed: bytes = pa.Codec("zstd", compression_level=LEVEL).compress(data, asbytes=True)
        return LENGTH.pack(len(data)) + squeezed


def unpacked(data: bytes) -> Reply:
    """A reply of its bytes, which come from the user's own cluster."""
    (length,) = LENGTH.unpack_from(data)
    reply = pickle.loads(pa.Codec("zstd").decompress(memoryview(data)[LENGTH.size :], length, asbytes=True))
    assert isinstance(reply, Reply), "a task answers nothing else"
    return reply
