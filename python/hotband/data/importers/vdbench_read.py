"""The tables in vdbench's files: flatfile (html and csv), summary, totals, histogram.

Source: Report, Flat, Histogram, FwdStats and RD_entry of vdbench (2016; 5.04.06 and later begin every report with
`<title>`). Numbers of Flat and Report are never grouped, so that a comma is a decimal point of another country.
"""

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
_HEAD = re.compile(r"\s*(?:<html>\s*)?(?:<title>[^<]{0,4000}</title>\s*)?<pre>\s*", re.IGNORECASE)
_STARTING = re.compile(r"([\d:.]{1,20}) Starting RD=([^;\s<]{1,400})(?:;([^<\n]{0,4000}))?")
# The average of many intervals fills its column: 16:35:12.083avg_31-150. Messages have a time, but no numbers.
_ROW = re.compile(r"^(\d\d:\d\d:\d\d\.\d{3})\s*((?:avg_\d+-)?\d+)\s+(?=[\d.,]+\s)")
_AVERAGE = re.compile(r"avg_(\d+)-(\d+)")
_HEADER = re.compile(r"^.{0,24}\d\d, \d{4}\s*\.?interval\b\.?", re.IGNORECASE)
# What vdbench prints to the terminal has the lines of summary.html.
_PRINTED = re.compile(rf"^\d\d:\d\d:\d\d\.\d{{3}} Starting RD=|{_HEADER.pattern}", re.IGNORECASE | re.MULTILINE)
# Two header lines of summary.html one above the other, and the names that flatfile has for the same.
_REPORT_COLUMNS = {
    "i/o rate": "rate",
    "MB/sec 1024**2": "MB/sec",
    "MB/sec 1000**2": "MB_decimal",
    "bytes i/o": "bytes/io",
    "read pct": "read%",
    "resp time": "resp",
    "read resp": "read_resp",
    "write resp": "write_resp",
    "resp max": "resp_max",
    "read max": "read_max",
    "write max": "write_max",
    "queue depth": "queue_depth",
}
# Columns of file system workloads have one heading for two: rate and mean, or read and written.
_FILE_COLUMNS = {
    "ReqstdOps": ("rate", "resp"),
    "cpu%": ("cpu_used", "cpu_kernel"),
    "read%": ("read%",),
    "read": ("Read_rate", "Read_resp"),
    "write": ("Write_rate", "Write_resp"),
    "mb/sec": ("MB_read", "MB_write"),
    "mb/sec total": ("MB/sec",),
    "xfer": ("Xfersize",),
}
_HISTOGRAM_ROW = re.compile(r"^\s*([\d.]+)\s*<\s*([\d.]+|max)\s+([\d,]+)\s")
_COMMA_ROW = re.compile(r"^\s*\d+,\d+\s*<")
# vdbench's longest line, of a run's parameters, has some thousand characters; searching one of megabytes takes seconds.
LONGEST_LINE = 65536
_HISTOGRAM_SCOPES: dict[str, Scope] = {
    "Reads and writes:": "all",
    "Reads:": "read",
    "Writes:": "write",
    "Only reads done for this workload:": "read",
    "Only writes done for this workload:": "write",
    "Total of all requested operations:": "all",
}
# Columns of a flatfile that loops change.
LOOPED = ("xfersize", "threads", "rdpct", "seekpct", "reqrate")
# What vdbench runs before a run definition to create its files, or to write a new target once.
PREPARATIONS = ("format_for_", "SD_format")


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
    of_files: bool = False
    rows: list[Cells] = field(default_factory=list)
    average: Cells | None = None
    ended: bool = False
    measured: tuple[int, int] | None = None
    histograms: dict[Scope, list[tuple[int | None, int]]] = field(default_factory=dict)

    @property
    def figures(self) -> list[Cells]:
        """The average, if vdbench printed it, and the intervals."""
        return [*([] if self.average is None else [self.average]), *self.rows]

    @property
    def title(self) -> str:
        """The name with the parameters of its loop."""
        return f"{self.name} {self.loops}".strip()


def kind_of(text: str) -> Kind | None:
    """Recognise a file by content; None if it is not a result of vdbench."""
    start = text[:65536].lstrip()
    csv_header = r'^"?(date|tod)"?,("?timestamp"?,)?"?Run"?,"?Interval"?,"?reqrate"?'
    if re.search(csv_header, start) or "'flatfile.html' contains" in start:
        return Kind.FLATFILE
    head = _HEAD.match(start)
    if head is None:
        return Kind.REPORT if _PRINTED.search(start) else None
    body = start[head.end() :]
    if "histogram" in body.partition("\n")[0]:
        return Kind.HISTOGRAM
    if "Vdbench summary report" in body or body.startswith("Run totals"):
        return Kind.REPORT
    return Kind.PARAMETERS if "* Contents of parameter file" in body else None


def _lines_of(text: str, file: str) -> list[str]:
    """The lines of a file; Raises UserError for one that is too long to be vdbench's."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            problem = f"a line of more than {LONGEST_LINE} characters"
            raise UserError(file, f"line {number}", shown(line[:40]), f"{problem}; accepted: a result of vdbench")
    return lines


def read_flatfile(text: str, file: str, notes: list[str]) -> list[Run]:
    """The runs of a flatfile: a new one where the name or the loop's parameters change, after an average, or where
    intervals begin again. Note a last line that is cut short."""
    runs: list[Run] = []
    parameters: list[str] = []
    last = 0
    for cells in _flat_rows(text, file, notes):
        name = cells.values.get("Run", "")
        current = [cells.values.get(key, "") for key in LOOPED]
        average = cells.values.get("Interval", "").startswith("avg_")
        number = 0 if average else round(cells.needed("Interval"))
        begins = not runs or runs[-1].ended or (runs[-1].name, parameters) != (name, current)
        if begins or (not average and number <= last):
            runs.append(Run(name, file, of_files="Read_rate" in cells.values))
        last, parameters = number, current
        _add(runs[-1], cells)
    return runs


def _add(run: Run, cells: Cells) -> None:
    """Add an interval, or vdbench's average; a run that ended in its first interval has an average of none."""
    average = _AVERAGE.fullmatch(cells.values.get("Interval", ""))
    cells = _reads_and_writes(cells) if run.of_files else cells
    if average is None:
        cells.needed("Interval")
        run.rows.append(cells)
        return
    run.ended = True
    low, high = int(average[1][:9]), int(average[2][:9])
    if low <= high:
        run.average, run.measured = cells, (low, high)


def _reads_and_writes(cells: Cells) -> Cells:
    """Return the reads and writes of a file system workload under the names that other workloads have; what it was
    `requested` to do includes opening, creating and deleting."""
    reads, writes = cells.number("Read_rate") or 0.0, cells.number("Write_rate") or 0.0
    rate = reads + writes
    named = {
        "rate": repr(rate),
        "read%": repr(100 * reads / rate if rate else 0.0),
        "read_resp": cells.values.get("Read_resp", ""),
        "write_resp": cells.values.get("Write_resp", ""),
        "bytes/io": cells.values.get("Xfersize", ""),
        "requested": cells.values.get("rate", ""),
        "reqrate": "",
    }
    return Cells(cells.file, cells.position, {**cells.values, **named})


def _is_cut(text: str, lines: Sequence[str], number: int, file: str, notes: list[str]) -> bool:
    """Return whether a wrong line is the last of a file that ends within it, which is then noted."""
    if number != len(lines) or text.endswith("\n"):
        return False
    notes.append(f"the last line of {file} is cut short and left out")
    return True


def _flat_rows(text: str, file: str, notes: list[str]) -> Iterator[Cells]:
    """Rows of the table, by comma or by blanks. Lines of the latter that do not begin with a time are messages."""
    head = _HEAD.match(text)
    lines = _lines_of(text, file)
    header: list[str] | None = None
    by_comma = head is None and "'flatfile.html' contains" not in text[:LONGEST_LINE]
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("*") or line.lstrip().startswith("<"):
            continue
        values = _comma_separated(line, file, number) if by_comma else line.replace(",", ".").split()
        if header is None or values[0] == header[0]:
            header = values
            missing = [name for name in ("Run", "Interval", "rate", "resp") if name not in values]
            if missing:
                accepted = "accepted: a flatfile with its header"
                raise UserError(file, f"line {number}", "", f"the column {missing[0]} is missing; {accepted}")
            continue
        if header[0] == "tod" and not by_comma and not line.lstrip()[:1].isdigit():
            continue
        if len(values) < len(header) and _is_cut(text, lines, number, file, notes):
            return
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


def read_reports(text: str, file: str, notes: list[str]) -> list[Run]:
    """The runs of summary.html or totals.html. Lines between the rows are vdbench's messages. Note a last line that is
    cut short."""
    runs: list[Run] = []
    columns: list[str] = []
    lines = _lines_of(text, file)
    for number, line in enumerate(lines, 1):
        starting = _STARTING.search(line)
        if starting is not None:
            runs.append(_started(starting, file))
            continue
        header = _HEADER.match(line)
        if header is not None:
            # Pasted without the line that names the run.
            runs = runs or [Run("run", file)]
            below = lines[number].split() if number < len(lines) else []
            if number >= len(lines) - 1 and _is_cut(text, lines, len(lines), file, notes):
                break
            columns = _report_columns(line[header.end() :].split(), below, file, number)
            continue
        row = _ROW.match(line) if runs else None
        if row is not None:
            runs[-1].of_files = "Read_rate" in columns
            values = line[row.end() :].replace(",", ".").split()
            if len(values) < len(columns) and _is_cut(text, lines, number, file, notes):
                break
            _add_row(runs[-1], [row[1], row[2], *values], columns, file, number)
    return [run for run in runs if run.rows or run.ended]


def _started(starting: re.Match[str], file: str) -> Run:
    # A file system's rate ends with a full stop: "fwdrate=max. For loops: None".
    parts = [part.strip() for part in re.split(r";|\.\s(?=For loops)", starting[3] or "")]
    loops = next((part.partition(":")[2].strip() for part in parts if part.startswith("For loops")), "")
    settings = {}
    for part in parts:
        key, equals, value = part.partition("=" if "=" in part and not part.startswith("For loops") else ":")
        if equals:
            settings[key.strip()[:60]] = value.strip()[:200]
    return Run(starting[2], file, "" if loops == "None" else loops, settings, starting[1])


def _report_columns(above: Sequence[str], below: Sequence[str], file: str, number: int) -> list[str]:
    """The names of the columns after the time and the interval."""
    names = _file_columns(above) if any("ReqstdOps" in word for word in above) else []
    if not names and len(above) == len(below):
        names = [_REPORT_COLUMNS.get(name, name) for name in map(" ".join, zip(above, below, strict=True))]
    if len(names) != len(below) or "rate" not in names or "resp" not in names:
        text = shown(" ".join([*above, *below]))
        raise UserError(file, f"line {number}", text, "an unknown table; accepted: a summary of vdbench")
    return names


def _file_columns(above: Sequence[str]) -> list[str]:
    """The columns of a report on file systems, from their headings: `....read.....` is over two of them."""
    names: list[str] = []
    for heading in above:
        word = heading.strip(".")
        if word == heading:
            word = {"read": "read%", "mb/sec": "mb/sec total"}.get(word, word)
        names += _FILE_COLUMNS.get(word, (f"{word.capitalize()}_rate", f"{word.capitalize()}_resp"))
    return names


def _add_row(run: Run, values: Sequence[str], columns: Sequence[str], file: str, number: int) -> None:
    position = f"line {number}"
    if values[1].startswith("avg_"):
        # Columns of auxreport= have no averages.
        columns = columns[: len(values) - 2]
    if "resp" not in columns or len(values) != len(columns) + 2:
        problem = f"{len(values)} columns under a header of {len(columns) + 2}"
        raise UserError(file, position, "", f"{problem}; accepted: a whole summary")
    named = zip(("date", "Interval", *columns), values, strict=True)
    _add(run, Cells(file, position, dict(named)))


def read_histograms(text: str, file: str, notes: list[str]) -> list[Run]:
    """The runs of histogram.html: [upper edge in ns, count] by scope; the last has no edge, or all I/Os are
    below it. Note one that is cut short."""
    runs: list[Run] = []
    scope: Scope | None = None
    is_whole: dict[tuple[int, Scope], bool] = {}
    for number, line in enumerate(_lines_of(text, file), 1):
        starting = _STARTING.search(line)
        if starting is not None:
            runs.append(_started(starting, file))
            scope = None
            continue
        scope = _HISTOGRAM_SCOPES.get(line.strip(), scope)
        row = _HISTOGRAM_ROW.match(_ungrouped(line))
        if row is None or scope is None or not runs:
            continue
        cells = Cells(file, f"line {number}", {"max": row[2].replace("max", ""), "count": row[3]})
        edge, count = cells.number("max"), cells.count("count") or 0
        pairs = runs[-1].histograms.setdefault(scope, [])
        pairs.append((None if edge is None else round(edge * NS_PER_MS), count))
        # The last of a line's numbers is the cumulative percentage.
        is_whole[len(runs), scope] = edge is None or re.findall(r"[\d.]+", _ungrouped(line))[-1].startswith("100.")
    for number, run in enumerate(runs, 1):
        whole = {scope: pairs for scope, pairs in run.histograms.items() if is_whole[number, scope]}
        if whole != run.histograms:
            notes.append(f"the histogram of {run.name} is cut short and left out")
            run.histograms = whole
    return runs


def _ungrouped(line: str) -> str:
    """Return a row with the points and commas of English: others group by points or spaces that do not break."""
    line = re.sub(r"(?<=\d)[\u00a0\u202f](?=\d)", "", line)
    return line.translate({44: 46, 46: 44}) if _COMMA_ROW.match(line) else line


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
            run.settings, run.loops = run.settings or match.settings, run.loops or match.loops
            run.started = run.started or match.started
    return list(main)


def named_apart(runs: Sequence[Run]) -> list[Run]:
    """Give runs of one title the parameters that differ between them: a flatfile has those of its loops in columns."""
    for alike in by_title(runs).values():
        tables = [run.figures[0].values if run.figures else {} for run in alike]
        differ = [key for key in LOOPED if len({table.get(key) for table in tables}) > 1]
        for run, table in zip(alike, tables, strict=True):
            values = [(key, table.get(key, "")) for key in differ]
            run.loops = " ".join([*run.loops.split(), *(f"{key}={_short(value)}" for key, value in values)])
    return list(runs)


def by_title(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Return runs by their title."""
    titles: dict[str, list[Run]] = {}
    for run in runs:
        titles.setdefault(run.title, []).append(run)
    return titles


def _short(value: str) -> str:
    """Return a number without the zeros behind its point."""
    return value.rstrip("0").rstrip(".") if re.fullmatch(r"\d+\.\d+", value) else value
