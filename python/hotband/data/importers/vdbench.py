"""vdbench's output as records: one per run definition (and loop), from flatfile, summary, totals and histogram.

Sources: the heading of flatfile.html and vdbench's reports (5.04). Rates are I/Os per second, MB is 1024 x 1024 bytes,
times are ms. The first interval is never in vdbench's averages (`avg_2-60`), nor are those of `warmup=`: they are
no part of the measured time here either, and are in the record's `warm_up`. Of a file system workload (fsd, fwd) the
reads and writes are taken.
Left out: CPU use, standard deviations, results by storage or workload definition, host or slave (`sd1.histogram.html`),
the runs that create files, and what a file system does besides reads and writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.text.numbers import counted
from hotband.data.importers.files import decoded, name_of, read_bytes
from hotband.data.importers.fio.text import shown
from hotband.data.importers.record import build
from hotband.data.importers.vdbench_read import (
    PREPARATIONS,
    Kind,
    Run,
    join,
    kind_of,
    named_apart,
    read_flatfile,
    read_histograms,
    read_reports,
)
from hotband.data.importers.vdbench_restated import elsewhere
from hotband.data.importers.vdbench_run import of_run
from hotband.data.record.imported import Imported

ACCEPTED = "vdbench's flatfile.html (or its csv), summary.html, totals.html or histogram.html, or their folder"
# What a folder is read for, the most exact first: flatfile has more digits than summary, summary more rows than totals.
# Whoever collects results puts something before the names. One of the results has to be there.
RESULTS = ("flatfile.html", "flatfile.csv", "summary.html", "totals.html", "histogram.html")
ERRORS = "errorlog.html"
FILES = (*RESULTS, "parmfile.html", ERRORS)
# An I/O that failed, in vdbench's error log.
_FAILED = re.compile(r"\berrno:", re.IGNORECASE)


def recognises(beginning: bytes) -> bool:
    """Return whether the beginning of a file is vdbench's."""
    return kind_of(beginning.decode("utf-8", "replace")) is not None


def read(paths: Sequence[Path]) -> list[Imported]:
    """Return the records of vdbench's files; those of one folder form one output. Raises UserError for a mistake."""
    outputs: dict[tuple[Path, str], list[Path]] = {}
    for path in paths:
        files = _files_of(path) if path.is_dir() else [path]
        for file in files:
            outputs.setdefault((file.parent, _prefix(file)), []).append(file)
    return [record for files in outputs.values() for record in _read_output(files)]


def is_output(folder: Path) -> bool:
    """Return whether a folder is one that vdbench wrote."""
    return has_results(folder.iterdir())


def has_results(paths: Iterable[Path]) -> bool:
    """Return whether files of one folder hold the result of a whole run."""
    return any(path.name.endswith(RESULTS) for path in _whole(list(paths)))


def belongs(path: Path) -> bool:
    """Return whether a file of an output folder is vdbench's, by its name."""
    return path.suffix == ".html" or path.name.startswith(("swat_mon", "flatfile")) or path.name.endswith(FILES)


def _prefix(file: Path) -> str:
    """Return the text before vdbench's own name of the file; empty for a file with another name."""
    return next((file.name.removesuffix(name) for name in FILES if file.name.endswith(name)), "")


def _whole(paths: Sequence[Path]) -> list[Path]:
    """Return the files without histograms of a storage or workload definition, a host or a slave, such as
    `sd1.histogram.html`: no table has their prefix."""
    tables = {_prefix(path) for path in paths if path.name.endswith(RESULTS) and "histogram" not in path.name}
    return [path for path in paths if not path.name.endswith(".histogram.html") or _prefix(path) in tables]


def _files_of(folder: Path) -> list[Path]:
    present = _whole(sorted(path for path in folder.iterdir() if path.is_file()))
    files = [path for name in FILES for path in present if path.name.endswith(name)]
    if not any(path.name.endswith(RESULTS) for path in files):
        raise UserError(name_of(folder), "", "", f"none of its files is vdbench's; accepted: {ACCEPTED}")
    # The csv is made from the html (`vdbench parseflat`): one of both is enough.
    return [path for path in files if path.suffix != ".csv" or path.with_suffix(".html") not in files]


def _read_output(files: Sequence[Path]) -> list[Imported]:
    tables: list[Run] = []
    reports: list[Run] = []
    parsed_files: list[list[Run]] = []
    histograms: list[Run] = []
    parameters = ""
    notes: list[str] = []
    for path in dict.fromkeys(files):
        file = name_of(path)
        text = decoded(read_bytes(path, ACCEPTED, table=True), file)
        if path.name.endswith(ERRORS):
            notes += _failures(text, file)
            continue
        kind = kind_of(text)
        if kind is Kind.FLATFILE:
            tables += (parsed := read_flatfile(text, file, notes))
            parsed_files.append(parsed)
        elif kind is Kind.REPORT:
            # totals.html repeats the averages of summary.html.
            parsed = _besides(read_reports, text, file, bool(tables or reports), notes)
            parsed_files.append(parsed)
            reports = (
                parsed if sum(len(r.rows) for r in parsed) > sum(len(r.rows) for r in reports) else reports or parsed
            )
        elif kind is Kind.HISTOGRAM:
            histograms += _besides(read_histograms, text, file, bool(tables or reports), notes)
        elif kind is Kind.PARAMETERS:
            parameters = text
        elif tables or reports:
            notes.append(f"not read: {file}: not a result of vdbench (the run was stopped?)")
        else:
            raise UserError(file, "", "", f"not a result of vdbench; accepted: {ACCEPTED}")
    main = tables or reports or [run for run in histograms if run.histograms]
    if not main:
        raise UserError(name_of(files[0]), "", "", f"it has no run; accepted: {ACCEPTED}")
    runs = join(main, reports if tables else [], histograms if tables or reports else [])
    others = elsewhere(runs, parsed_files)
    devices = _devices(parameters)
    return [build(of_run(run, devices, notes, others[id(run)])) for run in _results(named_apart(runs), notes)]


def _failures(text: str, file: str) -> list[str]:
    """Return a note on the I/Os that vdbench's error log lists, if there are any."""
    failed = [line for line in text.splitlines() if _FAILED.search(line)]
    if not failed:
        return []
    return [
        f"warning of vdbench: {Path(file).name} lists {counted(len(failed), 'failed I/O')}, such as: {shown(failed[0])}"
    ]


def _besides(
    read_runs: Callable[[str, str, list[str]], list[Run]], text: str, file: str, known: bool, notes: list[str]
) -> list[Run]:
    """Read a file; where the figures are `known` from another, note what is wrong with it. Raises UserError."""
    try:
        return read_runs(text, file, notes)
    except UserError as error:
        if not known:
            raise
        notes.append(f"not read: {error}")
        return []


def _results(runs: Sequence[Run], notes: list[str]) -> list[Run]:
    """Return the runs that measured something. Raises UserError for file system workloads without reads and writes."""
    results = [run for run in runs if not run.name.startswith(PREPARATIONS)] or list(runs)
    moved = [run for run in results if not run.of_files or any(row.number("rate") for row in run.figures)]
    if not moved:
        problem = "a file system workload that neither reads nor writes"
        raise UserError(results[0].file, results[0].name, "", f"{problem}; accepted: runs with reads or writes")
    for what, left_out in (
        ("prepared the target", [run.name for run in runs if run not in results]),
        ("neither read nor wrote", [run.name for run in results if run not in moved]),
    ):
        if left_out:
            notes.append(f"not a result: {', '.join(dict.fromkeys(left_out))}, which {what}")
    return moved


def _devices(parameters: str) -> list[str]:
    """The devices of the storage definitions in a parameter file, or the folders of those of file systems, in order."""
    definitions = re.findall(r"^\s*f?sd=[^\n]{0,2000}", parameters, re.MULTILINE)
    matches = [re.search(r"(?:lun|anchor)=([^,\s]{1,400})", text) for text in definitions if "sd=default" not in text]
    return [match[1] for match in matches if match is not None]
