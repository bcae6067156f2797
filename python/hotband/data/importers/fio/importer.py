"""fio's output as records: JSON and JSON+ (of clients too, and several documents), terse, logs (docs/guides/import.md).

Logs belong to the JSON that they were given with: by their prefix where several results name one
(`write_lat_log=PREFIX`), else to the only one in their folder. Logs alone make a record of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from hotband.base.errors import UserError
from hotband.data.documents.record import RecordDoc
from hotband.data.importers.files import decoded, name_of, read_beginning, read_bytes
from hotband.data.importers.fio.documents import read_fio
from hotband.data.importers.fio.join import alone, by_run, joined
from hotband.data.importers.fio.logs import Log, is_log, log_of
from hotband.data.importers.fio.snapshots import fold
from hotband.data.importers.fio.terse import is_terse, read_terse
from hotband.data.record.imported import Imported

ACCEPTED = "a fio result"
_DOCUMENT = re.compile(rb'"fio version"\s*:')
_LOG_OPTIONS = ("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log")


def recognises(beginning: bytes) -> bool:
    """Whether a file that begins so is fio's."""
    return _DOCUMENT.search(beginning) is not None or is_terse(beginning) or is_log(beginning)


def read(paths: Sequence[Path]) -> list[Imported]:
    """The records of fio results, in the order of the files. UserError names what is wrong."""
    results: list[tuple[Path, Imported]] = []
    logs: list[Log] = []
    for path in paths:
        for file in _files_of(path) if path.is_dir() else [path]:
            beginning = read_beginning(file)
            if is_log(beginning):
                logs.append(log_of(file))
            else:
                results += [(file, one) for one in _read_result(file, beginning)]
    return _with_logs(results, logs)


def _files_of(folder: Path) -> list[Path]:
    """What fio wrote into a folder: anything else beside it (job files, scripts) is left alone."""
    present = sorted(path for path in folder.iterdir() if path.is_file())
    found = [path for path in present if recognises(read_beginning(path))]
    if not found:
        raise UserError(name_of(folder), "", "", f"none of its files is fio's; accepted: a folder with {ACCEPTED}")
    return found


def _read_result(path: Path, beginning: bytes) -> list[Imported]:
    data, file = read_bytes(path, ACCEPTED), name_of(path)
    if _DOCUMENT.search(beginning) is None and is_terse(beginning):
        return [Imported(record, None) for record in read_terse(decoded(data, file), file)]
    return fold(read_fio(data, file))


def _with_logs(results: list[tuple[Path, Imported]], logs: Sequence[Log]) -> list[Imported]:
    added: dict[int, list[Log]] = {}
    own: list[list[Log]] = []
    for run in by_run(logs):
        place = _result_of(run, results)
        if place is None:
            own.append(run)
        else:
            added.setdefault(place, []).extend(run)
    found = []
    for place, (_, one) in enumerate(results):
        found.append(joined(one.record, added[place]) if place in added else one)
    return found + [alone(run) for run in own]


def _result_of(run: Sequence[Log], results: Sequence[tuple[Path, Imported]]) -> int | None:
    """Which result a run's logs belong to; None where there is none. UserError where it cannot be told."""
    near = [place for place, (path, _) in enumerate(results) if path.parent == run[0].path.parent]
    named = [place for place in near if run[0].prefix in _prefixes(results[place][1].record)]
    if len(named) == 1 or len(near) == 1:
        return (named or near)[0]
    if not near:
        return 0 if len(results) == 1 else None
    which = f"which of {len(near)} results beside it it belongs to cannot be told"
    raise UserError(run[0].file, "", "", f"{which}; accepted: a log with its JSON alone, or named in its write_*_log")


def _prefixes(record: RecordDoc) -> set[str]:
    """The prefixes that a result's options give its logs."""
    spec = record["spec"]
    options = [spec["global"], *spec["jobs"].values()]
    return {Path(option[name]).name for option in options for name in _LOG_OPTIONS if option.get(name)}
