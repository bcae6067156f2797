"""The tables in vdbench's files: flatfile (html and csv), summary, totals, histogram."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from hotband.base.errors import UserError
from hotband.data.importers.cells import NS_PER_MS, Cells
from hotband.data.importers.fio.text import shown

Scope = Literal["all", "read", "write"]
_STARTING = re.compile(r"([\d:.]{1,20}) Starting RD=([^;\s]{1,400});([^<\n]{0,4000})")
_ROW = re.compile(r"^\d\d:\d\d:\d\d\.\d+\s")
_AVERAGE = re.compile(r"avg_(\d+)-(\d+)")
# Two header lines of summary.html one above the other, and the names that flatfile has for the same.
_REPORT_COLUMNS = {
    "i/o rate": "rate",
    "MB/sec 1024**2": "MB/sec",
    "bytes i/o": "bytes/io",
    "read pct": "read%",
    "resp time": "resp",
    "read resp": "read_resp",
    "write resp": "write_resp",
    "resp max": "resp_max",
    "queue depth": "queue_depth",
}
_HISTOGRAM_ROW = re.compile(r"^\s*([\d.]+)\s*<\s*([\d.]+|max)\s+([\d,]+)\s")
# vdbench's longest line, of a run's parameters, has some thousand characters; searching one of megabytes takes seconds.
LONGEST_LINE = 65536
_HISTOGRAM_SCOPES: dict[str, Scope] = {"Reads and writes:": "all", "Reads:": "read", "Writes:": "write"}


class Kind(Enum):
    """The kinds of vdbench's files."""

    FLATFILE = 1
    REPORT = 2
    HISTOGRAM = 3
    PARAMETERS = 4


@dataclass
class Run:
    """One run definition as a file has it: its intervals, and vdbench's own `average` over those `measured`."""

    name: str
    file: str
    loops: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    started: str = ""
    day: str = ""
    rows: list[Cells] = field(default_factory=list)
    average: Cells | None = None
    measured: tuple[int, int] | None = None
    histograms: dict[Scope, list[tuple[int | None, int]]] = field(default_factory=dict)


def kind_of(text: str) -> Kind | None:
    """Recognise a file by content; None if it is not a result of vdbench."""
    start = text[:65536].lstrip()
    if re.search(r'^"?(date|tod)"?,"?Run"?,"?Interval"?,"?reqrate"?', start) or "'flatfile.html' contains" in start:
        return Kind.FLATFILE
    if not start.startswith("<pre>"):
        return None
    if "response time histogram." in start[:200]:
        return Kind.HISTOGRAM
    if "Vdbench summary report" in start or start[5:].lstrip().startswith("Run totals"):
        return Kind.REPORT
    return Kind.PARAMETERS if "* Contents of parameter file" in start else None


def _lines_of(text: str, file: str) -> list[str]:
    """The lines of a file; Raises UserError for one that is too long to be vdbench's."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            problem = f"a line of more than {LONGEST_LINE} characters"
            raise UserError(file, f"line {number}", shown(line[:40]), f"{problem}; accepted: a result of vdbench")
    return lines


def read_flatfile(text: str, file: str) -> list[Run]:
    """The runs of a flatfile: a new one where the name or the loop's parameters change, or intervals begin again."""
    runs: list[Run] = []
    last = 0
    for cells in _flat_rows(text, file):
        name = cells.values.get("Run", "")
        loops = " ".join(cells.values.get(key, "") for key in ("xfersize", "threads", "rdpct", "seekpct", "reqrate"))
        average = _AVERAGE.fullmatch(cells.values.get("Interval", ""))
        number = 0 if average else round(cells.needed("Interval"))
        begins = not runs or (runs[-1].name, runs[-1].loops) != (name, loops)
        if begins or (not average and number <= last) or (average and runs[-1].average is not None):
            runs.append(Run(name, file, loops))
        last = number
        if average:
            runs[-1].average, runs[-1].measured = cells, (int(average[1][:9]), int(average[2][:9]))
        else:
            runs[-1].rows.append(cells)
    return runs


def _flat_rows(text: str, file: str) -> Iterator[Cells]:
    """Rows of the table, by comma or by blanks."""
    lines = _lines_of(text, file)
    by_comma = not text.lstrip().startswith("<pre>")
    header: list[str] | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("*") or line.lstrip().startswith("<"):
            continue
        values = _comma_separated(line, file, number) if by_comma else line.split()
        if header is None:
            header = values
            missing = [name for name in ("Run", "Interval", "rate", "resp") if name not in values]
            if missing:
                accepted = "accepted: a flatfile of storage definitions, with its header"
                raise UserError(file, f"line {number}", "", f"the column {missing[0]} is missing; {accepted}")
            continue
        if len(values) != len(header):
            cut = " (the file is cut short?)" if number == len(lines) else ""
            problem = f"{len(values)} columns under a header of {len(header)}{cut}"
            raise UserError(file, f"line {number}", "", f"{problem}; accepted: a whole flatfile")
        yield Cells(file, f"line {number}", dict(zip(header, values, strict=True)))
    if header is None:
        raise UserError(file, "", "", "there is no table in it; accepted: a flatfile with its header")


def _comma_separated(line: str, file: str, number: int) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(line)), [])
    except csv.Error as error:
        raise UserError(file, f"line {number}", "", f"not a row: {error}; accepted: a whole flatfile") from None


def read_reports(text: str, file: str) -> list[Run]:
    """The runs of summary.html or totals.html."""
    runs: list[Run] = []
    columns: list[str] = []
    day = ""
    lines = _lines_of(text, file)
    for number, line in enumerate(lines, 1):
        starting = _STARTING.search(line)
        if starting is not None:
            runs.append(_started(starting, file))
            continue
        if re.match(r"^[A-Z][a-z]{2} \d\d, \d{4}\s+[Ii]nterval", line):
            day = line[:12]
            columns = _report_columns(line, lines[number] if number < len(lines) else "", file, number)
        elif _ROW.match(line) and runs and not line[12:].lstrip().startswith("Vdbench"):
            runs[-1].day = day
            _add_row(runs[-1], line.split(), columns, file, number)
    return [run for run in runs if run.rows or run.average is not None]


def _started(starting: re.Match[str], file: str) -> Run:
    parts = [part.strip() for part in starting[3].split(";")]
    loops = next((part.partition(":")[2].strip() for part in parts if part.startswith("For loops")), "")
    settings = {}
    for part in parts:
        key, equals, value = part.partition("=" if "=" in part and not part.startswith("For loops") else ":")
        if equals:
            settings[key.strip()[:60]] = value.strip()[:200]
    return Run(starting[2], file, loops, settings, starting[1])


def _report_columns(first: str, second: str, file: str, number: int) -> list[str]:
    """The names of the columns after the time and the interval."""
    above, below = first[12:].split()[1:], second.split()
    if len(above) != len(below):
        accepted = "accepted: a summary of storage definitions (not of file systems)"
        raise UserError(file, f"line {number}", "", f"a table that is not known; {accepted}")
    names = [f"{a} {b}" for a, b in zip(above, below, strict=True)]
    if "i/o rate" not in names or "resp time" not in names:
        accepted = "accepted: a summary of storage definitions (not of file systems)"
        raise UserError(file, f"line {number}", shown(" ".join(names)), accepted)
    return [_REPORT_COLUMNS.get(name, name) for name in names]


def _add_row(run: Run, values: Sequence[str], columns: Sequence[str], file: str, number: int) -> None:
    position = f"line {number}"
    if not columns or len(values) != len(columns) + 2:
        problem = f"{len(values)} columns under a header of {len(columns) + 2}"
        raise UserError(file, position, "", f"{problem}; accepted: a whole summary")
    named = {"date": values[0], "Interval": values[1], **dict(zip(columns, values[2:], strict=True))}
    cells = Cells(file, position, named)
    average = _AVERAGE.fullmatch(values[1])
    if average:
        run.average, run.measured = cells, (int(average[1][:9]), int(average[2][:9]))
    else:
        cells.needed("Interval")
        run.rows.append(cells)


def read_histograms(text: str, file: str) -> list[Run]:
    """The runs of histogram.html: [upper edge in ns, count] by scope; the last has no edge."""
    runs: list[Run] = []
    scope: Scope | None = None
    for number, line in enumerate(_lines_of(text, file), 1):
        starting = _STARTING.search(line)
        if starting is not None:
            runs.append(_started(starting, file))
            scope = None
            continue
        scope = _HISTOGRAM_SCOPES.get(line.strip(), scope)
        row = _HISTOGRAM_ROW.match(line)
        if row is None or scope is None or not runs:
            continue
        cells = Cells(file, f"line {number}", {"max": row[2].replace("max", ""), "count": row[3]})
        edge, count = cells.number("max"), cells.count("count") or 0
        pairs = runs[-1].histograms.setdefault(scope, [])
        pairs.append((None if edge is None else round(edge * NS_PER_MS), count))
    return [run for run in runs if run.histograms]


def join(main: Sequence[Run], reports: Sequence[Run], histograms: Sequence[Run]) -> list[Run]:
    """Add to the runs of one output the data of its other files: by name, in order."""
    for others in (reports, histograms):
        left = list(others)
        for run in main:
            match = next((other for other in left if other.name == run.name), None)
            if match is None:
                continue
            left.remove(match)
            run.histograms = run.histograms or match.histograms
            run.settings = run.settings or match.settings
            run.started, run.day = run.started or match.started, run.day or match.day
    return list(main)
