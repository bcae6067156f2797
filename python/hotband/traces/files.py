"""Which files are traces, what a workload's `[trace]` names, and the rows that the engine reads of it."""

from __future__ import annotations

import atexit
import hashlib
import os
import tempfile
import threading
import tomllib
from pathlib import Path

from hotband.catalog import TRACE_ENDINGS
from hotband.errors import UserError
from hotband.text.write import is_mistake

PARQUET = b"PAR1"
"""What a file of Parquet begins with, as our I/O log does."""

_lock = threading.Lock()
_folder: tempfile.TemporaryDirectory[str] | None = None
_rows: dict[tuple[object, ...], Path] = {}
_digests: dict[tuple[object, ...], str] = {}


def is_trace(path: Path) -> bool:
    """Whether a file is a trace, by what it begins with."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(PARQUET)) == PARQUET
    except OSError:
        return False


def refuse_other_traces(path: Path) -> None:
    """Raises UserError for a file that is called as traces are, and is none."""
    if path.suffix.lower() in TRACE_ENDINGS and path.is_file():
        what = "begins with something else" if path.stat().st_size else "is empty"
        raise UserError(str(path), "", "", f"{what}; expected an I/O log as Parquet")


def trace_text(path: Path) -> str:
    """The workload that replays a trace at its recorded times, as TOML."""
    import tomlkit

    return tomlkit.dumps({"title": f"replay of {path.name}", "trace": {"file": str(path.resolve())}})


def trace_of(workload: str, text: str | None) -> Path | None:
    """The trace that a workload replays: relative to its file, if it has one. None where it replays none, or says it
    wrongly, which the engine tells."""
    if text is None or "trace" not in text:
        return None
    try:
        table = tomllib.loads(text).get("trace")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    file = table.get("file") if isinstance(table, dict) else None
    if not isinstance(file, str) or not file or "\0" in file:
        return None
    here = Path(workload)
    return (here.parent if here.suffix == ".toml" and here.is_file() else Path()) / file


def rows_of(workload: str, text: str | None) -> Path | None:
    """The rows of the trace that a workload replays, for the engine; made once a file, and gone when the program ends.
    Raises UserError for a file that is not there, or no trace; OSError."""
    trace = trace_of(workload, text)
    if trace is None:
        return None
    name = workload if is_same(Path(workload), trace) else str(trace)
    key = (*_key(trace, workload), name)
    with _lock:
        if key not in _rows:
            _rows[key] = _made(trace, name)
        return _rows[key]


def is_same(path: Path, other: Path) -> bool:
    """Whether two paths are those of one file, which is there."""
    try:
        return path.samefile(other)
    except OSError:
        return False


def digest_of(workload: str, text: str | None) -> str | None:
    """The SHA-256 of the trace that a workload replays: with the same text another file is another run. None where it
    replays none, or one that is refused when it is run."""
    trace = trace_of(workload, text)
    if trace is None:
        return None
    try:
        key = _key(trace, workload)
        if key not in _digests:
            with trace.open("rb") as file:
                _digests[key] = hashlib.file_digest(file, "sha256").hexdigest()
    except (UserError, OSError):
        return None
    return _digests[key]


def _key(trace: Path, workload: str) -> tuple[object, ...]:
    """What a file is known by while this program runs. Raises UserError where there is none."""
    try:
        found = trace.stat()
    except OSError as error:
        if not is_mistake(error):
            raise
        raise UserError(workload, "trace.file", str(trace), f"cannot be read: {error.strerror}") from None
    if not is_trace(trace):
        accepted = "is no trace: expected an I/O log as Parquet, as hotband run --io-log writes it"
        raise UserError(workload, "trace.file", str(trace), accepted)
    return os.path.realpath(trace), found.st_ino, found.st_size, found.st_mtime_ns


def _made(trace: Path, name: str) -> Path:
    """Rows of a trace in a folder of this program."""
    global _folder
    from hotband.traces.io_log import write_log_rows

    if _folder is None:
        _folder = tempfile.TemporaryDirectory(prefix="hotband-traces-")
        atexit.register(_folder.cleanup)
    rows = Path(_folder.name) / f"{len(_rows)}.rows"
    try:
        write_log_rows(trace, name, rows)
    except BaseException:
        rows.unlink(missing_ok=True)
        raise
    return rows
