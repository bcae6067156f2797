"""Trace files: recognition, the traces that a workload's `[trace]` names, and their rows for the engine."""

from __future__ import annotations

import atexit
import hashlib
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.base.engine import user_error
from hotband.base.errors import UserError, file_beside, reason_of, reason_of_input
from hotband.base.folders import real_path
from hotband.base.heavy import tomlkit
from hotband.base.text.regular import NotRegular, opened
from hotband.base.text.write import is_mistake
from hotband.data.catalog import TRACE_ENDINGS
from hotband.data.traces.headings import columns_of

if TYPE_CHECKING:
    from hotband.base.temporary import TemporaryFolder

PARQUET = b"PAR1"
"""First bytes of a Parquet file, such as Hotband's I/O log."""
IO_LOG = "io-log"
"""The format of Hotband's I/O log as Parquet; all others are text, which the core reads."""

_lock = threading.Lock()
_folder: TemporaryFolder | None = None
_rows: dict[tuple[object, ...], Path] = {}
_digests: dict[tuple[object, ...], str] = {}


def format_of(path: Path) -> str | None:
    """The name of the format of a file, by what it begins with; None of one that is not a trace, or cannot be read."""
    try:
        with opened(path) as file:
            if file.read(len(PARQUET)) == PARQUET:
                return IO_LOG
        return _core.trace_format(path)
    except OSError:
        return None


def expect_file(key: str, source: Path) -> None:
    """Raise UserError for a path that is not a regular file; `key` is the argument that names it."""
    if not source.is_file():
        special = "is not a regular file" if source.exists() else "is not there"
        meant = f"did you mean {file}? " if (file := file_beside(str(source))) else ""
        raise UserError(
            key, "", str(source), f"{'is a folder' if source.is_dir() else special}; {meant}expected a trace"
        )


def is_trace(path: Path) -> bool:
    """Return whether a file is a trace, by its beginning."""
    return format_of(path) is not None or columns_of(path) is not None


def refuse_other_traces(path: Path) -> None:
    """Raise UserError for a file that is called as traces are, and is none."""
    if not path.name.lower().endswith(TRACE_ENDINGS) or not path.is_file():
        return
    if not path.stat().st_size:
        raise UserError(str(path), "", "", "is empty; expected a trace")
    accepted = "has another format; expected an I/O log as Parquet, or a trace of a known format"
    raise UserError(str(path), "", "", f"{accepted}; for any other CSV, set the columns in a workload's [trace]")


def trace_text(path: Path) -> str:
    """The workload that replays a trace at its recorded times, as TOML."""
    keys = {"file": str(real_path(path)), **by_headings(path)}
    return tomlkit.dumps({"title": f"replay of {path.name}", "trace": keys})


def by_headings(path: Path) -> dict[str, dict[str, str]]:
    """Return the key of `[trace]` for a CSV whose headings name its columns: its lines may look like another format."""
    columns = columns_of(path)
    return {"columns": columns} if columns else {}


def traces_of(workload: str, text: str | None) -> list[tuple[Path, _core.TraceAsked]]:
    """The traces that a workload replays, relative to its file, if it has one, and how they are read. Nothing if it
    replays none, or states it wrongly, which the engine reports."""
    if text is None or "trace" not in text:
        return []
    try:
        requests = _core.traces_of(text, workload)
    except _core.SpecError:
        return []
    here = Path(workload)
    folder = here.parent if here.suffix == ".toml" and here.is_file() else Path()
    return [(folder / request.file, request) for request in requests if "\0" not in request.file]


def rows_of(workload: str, text: str | None) -> list[Path]:
    """The rows of each trace that a workload replays, for the engine; made once a file, and gone when the program ends.
    Raises UserError for a file that is not there, or no trace; OSError."""
    return [_rows_of(workload, trace, request) for trace, request in traces_of(workload, text)]


def _rows_of(workload: str, trace: Path, request: _core.TraceAsked) -> Path:
    name = workload if is_same(Path(workload), trace) else str(trace)
    key = (*_key(trace, request, workload), request.selection, name)
    with _lock:
        if key not in _rows:
            _rows[key] = _made(trace, request, name)
        return _rows[key]


def is_same(path: Path, other: Path) -> bool:
    """Return whether two paths name one existing file."""
    try:
        return path.samefile(other)
    except OSError:
        return False


def digest_of(workload: str, text: str | None) -> str | None:
    """The SHA-256 of the traces that a workload replays: with the same text another file is another run. None if it
    replays none, or one that is refused when it is run."""
    digests = []
    for trace, request in traces_of(workload, text):
        try:
            key = _key(trace, request, workload)
            if key not in _digests:
                with opened(trace) as file:
                    _digests[key] = hashlib.file_digest(file, "sha256").hexdigest()
        except (UserError, OSError):
            return None
        digests.append(_digests[key])
    return " ".join(digests) or None


def _key(trace: Path, request: _core.TraceAsked, workload: str) -> tuple[object, ...]:
    """Return the identity of a file while this program runs. Raises UserError if there is none."""
    key = f"{request.key}.file"
    try:
        with opened(trace) as file:
            status = os.fstat(file.fileno())
    except NotRegular as error:
        accepted = f"{reason_of(error)}; expected a trace, of any size"
        raise UserError(workload, key, str(trace), accepted) from None
    except OSError as error:
        if not is_mistake(error):
            raise
        raise UserError(workload, key, str(trace), f"cannot be read: {reason_of_input(error)}") from None
    if request.format is None and format_of(trace) is None:
        accepted = "is not a trace: expected an I/O log as Parquet, as a run writes it, or a known format"
        raise UserError(workload, key, str(trace), f"{accepted}; for any CSV set the columns")
    return os.path.realpath(trace), status.st_ino, status.st_size, status.st_mtime_ns


def _made(trace: Path, request: _core.TraceAsked, name: str) -> Path:
    """Rows of a trace in a folder of this program."""
    from hotband.base.temporary import TemporaryFolder

    global _folder
    if _folder is None:
        _folder = TemporaryFolder("traces")
        atexit.register(_folder.cleanup)
    rows = Path(_folder.name) / f"{len(_rows)}.rows"
    try:
        make_rows(trace, request, name, rows)
    except BaseException:
        rows.unlink(missing_ok=True)
        raise
    return rows


def make_rows(trace: Path, request: _core.TraceAsked, name: str, out: Path) -> None:
    """Write the rows of a trace to `out`; errors call it `name`. Raises UserError for another file, or for its first
    wrong line; OSError."""
    try:
        if request.format == IO_LOG or (request.format is None and format_of(trace) == IO_LOG):
            from hotband.data.traces.io_log import write_log_rows

            write_log_rows(trace, name, out, request)
        else:
            request.write_rows(trace, name, out)
    except _core.SpecError as error:
        raise user_error(error) from None
