"""fio's output as records: JSON and JSON+ (of clients too, and several documents), terse and normal output, logs.

Logs belong to the JSON that they were given with: by their prefix where several results name one
(`write_lat_log=PREFIX`), else to the only one in their folder, unless its options name other logs or none. Logs alone
make a record of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.text.numbers import counted
from hotband.data.documents.record import RecordDoc
from hotband.data.importers.files import decoded, name_of, read_beginning, read_bytes
from hotband.data.importers.fio.documents import read_fio
from hotband.data.importers.fio.join import alone, by_run, joined
from hotband.data.importers.fio.logs import Log, is_log, log_of
from hotband.data.importers.fio.normal import is_normal, read_normal
from hotband.data.importers.fio.snapshots import fold
from hotband.data.importers.fio.terse import is_terse, read_terse
from hotband.data.record.imported import Imported

ACCEPTED = "a fio result"
_DOCUMENT = re.compile(rb'"fio version"\s*:')
_LOG_OPTIONS = ("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log")


def recognises(beginning: bytes) -> bool:
    """Return whether the beginning of a file is fio's."""
    readers = (is_terse, is_log, is_normal)
    return _DOCUMENT.search(beginning) is not None or any(is_kind(beginning) for is_kind in readers)


def read(paths: Sequence[Path]) -> list[Imported]:
    """Return the records of fio results, in the order of the files. Raises UserError for a mistake."""
    results: list[tuple[Path, Imported]] = []
    logs: list[Log] = []
    for path in paths:
        for file in _files_of(path) if path.is_dir() else [path]:
            beginning = read_beginning(file)
            if is_log(beginning):
                logs.append(log_of(file))
            else:
                results += [(file, result) for result in _read_result(file, beginning)]
    return _with_logs(results, logs)


def _files_of(folder: Path) -> list[Path]:
    """Return the files that fio wrote into a folder; other files (job files, scripts) are ignored."""
    present = sorted(path for path in folder.iterdir() if path.is_file())
    recognised = [path for path in present if recognises(read_beginning(path))]
    if not recognised:
        raise UserError(name_of(folder), "", "", f"none of its files is fio's; accepted: a folder with {ACCEPTED}")
    return recognised


def _read_result(path: Path, beginning: bytes) -> list[Imported]:
    data, file = read_bytes(path, ACCEPTED), name_of(path)
    if _DOCUMENT.search(beginning) is None and is_terse(beginning):
        return fold(read_terse(decoded(data, file), file))
    if _DOCUMENT.search(beginning) is None and is_normal(beginning):
        return [result for run in read_normal(decoded(data, file), file) for result in fold(run)]
    return fold(read_fio(data, file))


def _with_logs(results: list[tuple[Path, Imported]], logs: Sequence[Log]) -> list[Imported]:
    added: dict[int, list[Log]] = {}
    separate: list[list[Log]] = []
    for run in by_run(logs):
        index = _result_of(run, results)
        if index is None:
            separate.append(run)
        elif (why := _foreign(run, results[index][1].record)) is not None:
            results[index][1].record["notes"].append(f"warning of import: left out {counted(len(run), 'log')}: {why}")
        else:
            added.setdefault(index, []).extend(run)
    imported = []
    for index, (_, result) in enumerate(results):
        imported.append(joined(result.record, added[index]) if index in added else result)
    return imported + [alone(run) for run in separate]


def _result_of(run: Sequence[Log], results: Sequence[tuple[Path, Imported]]) -> int | None:
    """Return the result that a run's logs belong to; None if there is none. Raises UserError if several match."""
    near = [index for index, (path, _) in enumerate(results) if path.parent == run[0].path.parent]
    named = [index for index in near if run[0].prefix in _prefixes(results[index][1].record)]
    if len(named) == 1 or len(near) == 1:
        return (named or near)[0]
    if not near:
        return 0 if len(results) == 1 else None
    which = f"it may belong to any of {len(near)} results in its folder"
    raise UserError(run[0].file, "", "", f"{which}; accepted: a log with its JSON alone, or named in its write_*_log")


def _foreign(run: Sequence[Log], record: RecordDoc) -> str | None:
    """Return why the options of a result say that logs are of another run; None if they may be its own."""
    spec, prefix = record["spec"], run[0].prefix
    options = [spec["global"], *spec["jobs"].values()]
    if not any(options) or prefix in _prefixes(record):
        return None
    # Without a name, a log has that of its job, and older fio does not print an option without a value.
    if any(prefix in (name, name.partition("#")[0]) for name in spec["jobs"]):
        return None
    named = ", ".join(sorted(_prefixes(record)))
    return (
        f"they are named {prefix}, and its options name {named}"
        if named
        else f"its options write no log named {prefix}"
    )


def _prefixes(record: RecordDoc) -> set[str]:
    """The prefixes that a result's options give its logs."""
    spec = record["spec"]
    options = [spec["global"], *spec["jobs"].values()]
    return {Path(option[name]).name for option in options for name in _LOG_OPTIONS if option.get(name)}
