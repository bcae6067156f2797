"""vdbench's output as records: one per run definition (and loop), from flatfile, summary, totals and histogram.

Sources: the heading of flatfile.html and vdbench's reports (5.04). Rates are I/Os per second, MB is 1024 x 1024 bytes,
times are ms. The first interval is never in vdbench's averages (`avg_2-60`), nor are those of `warmup=`: they are
no part of the measured time here either, and are in the record's `warm_up`.
Left out: CPU use, standard deviations, results by storage definition, host or slave, file systems (fsd, fwd).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from hotband.base.errors import UserError
from hotband.data.importers.files import decoded, name_of, read_bytes
from hotband.data.importers.record import build
from hotband.data.importers.vdbench_read import (
    Kind,
    Run,
    join,
    kind_of,
    read_flatfile,
    read_histograms,
    read_reports,
)
from hotband.data.importers.vdbench_run import of_run
from hotband.data.record.imported import Imported

ACCEPTED = "vdbench's flatfile.html (or its csv), summary.html, totals.html or histogram.html, or their folder"
# What a folder is read for, the most exact first: flatfile has more digits than summary, summary more rows than totals.
# Whoever collects results puts something before the names.
FILES = ("flatfile.html", "flatfile.csv", "summary.html", "totals.html", "histogram.html", "parmfile.html")
# Of these there has to be one.
RESULTS = FILES[:5]


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
    return any(path.name.endswith(RESULTS) for path in folder.iterdir())


def _prefix(file: Path) -> str:
    """Return the text before vdbench's own name of the file; empty for a file with another name."""
    return next((file.name.removesuffix(name) for name in FILES if file.name.endswith(name)), "")


def _files_of(folder: Path) -> list[Path]:
    present = sorted(path for path in folder.iterdir() if path.is_file())
    files = [path for name in FILES for path in present if path.name.endswith(name)]
    if not any(path.name.endswith(RESULTS) for path in files):
        raise UserError(name_of(folder), "", "", f"none of its files is vdbench's; accepted: {ACCEPTED}")
    # The csv is made from the html (`vdbench parseflat`): one of both is enough.
    return [path for path in files if path.suffix != ".csv" or path.with_suffix(".html") not in files]


def _read_output(files: Sequence[Path]) -> list[Imported]:
    tables: list[Run] = []
    reports: list[Run] = []
    histograms: list[Run] = []
    parameters = ""
    for path in dict.fromkeys(files):
        file = name_of(path)
        text = decoded(read_bytes(path, ACCEPTED, table=True), file)
        kind = kind_of(text)
        if kind is Kind.FLATFILE:
            tables += read_flatfile(text, file)
        elif kind is Kind.REPORT:
            # totals.html repeats the averages of summary.html.
            parsed = read_reports(text, file)
            reports = (
                parsed if sum(len(r.rows) for r in parsed) > sum(len(r.rows) for r in reports) else reports or parsed
            )
        elif kind is Kind.HISTOGRAM:
            histograms += read_histograms(text, file)
        elif kind is Kind.PARAMETERS:
            parameters = text
        else:
            raise UserError(file, "", "", f"not a result of vdbench; accepted: {ACCEPTED}")
    main = tables or reports or histograms
    if not main:
        raise UserError(name_of(files[0]), "", "", f"it has no run; accepted: {ACCEPTED}")
    runs = join(main, reports if tables else [], histograms if main is not histograms else [])
    devices = _devices(parameters)
    return [build(of_run(run, devices)) for run in runs]


def _devices(parameters: str) -> list[str]:
    """The devices of the storage definitions in a parameter file, in order."""
    definitions = re.findall(r"^\s*sd=[^\n]{0,2000}", parameters, re.MULTILINE)
    matches = [
        re.search(r"lun=([^,\s]{1,400})", text) for text in definitions if not text.strip().startswith("sd=default")
    ]
    return [match[1] for match in matches if match is not None]
