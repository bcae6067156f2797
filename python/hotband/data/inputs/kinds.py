"""Types of questions' fields that each face accepts in its own form: a machine is a name on the command line, and also
a text or a dict in Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from hotband.data.inputs.specify import Named

if TYPE_CHECKING:
    from hotband.base.text.values import Toml
    from hotband.data.record.record import Record

    RecordGiven: TypeAlias = Path | Record
    Records: TypeAlias = tuple[Path | Record, ...]
    Sides: TypeAlias = tuple[Records, ...]
    Document: TypeAlias = Path | str | Mapping[str, Toml]
else:
    RecordGiven = Annotated[Any, "record"]
    """A record in memory, or its path."""
    Records = Annotated[Any, "records"]
    """Records in memory, or paths of records and of results of other tools."""
    Sides = Annotated[Any, "sides"]
    """Records of several sides, each with its repeats: in Python one argument per side, on the command line with a
    word between sides."""
    Document = Annotated[Any, "document"]
    """A TOML file, its text or its table."""

Machine = Annotated[Named, "machine"]
Machines = Annotated[tuple[Named, ...], "machines"]
"""Machines, whose number of drives may be open."""
Drive = Annotated[Named, "drive"]
"""A product, which may be a file."""
Targets = Annotated[tuple[str, ...], "targets"]
"""Names of machines and hardware, or of results."""
FirstTargets = Annotated[tuple[str, ...], "first targets"]
"""Names of machines and hardware; on the command line the first of them, with an option for the others."""
OtherTargets = Annotated[tuple[str, ...], "other targets"]
Workload = Annotated[Named, "workload"]
Workloads = Annotated[tuple[Named, ...], "workloads"]
Settings = Annotated[tuple[tuple[str, str], ...], "settings"]
"""Pairs of `--set`, and of `set` and the further arguments of a function."""
Rate = Annotated[str, "rate"]
"""I/Os per second as text, possibly several; in Python also numbers."""
Values = Annotated[tuple[tuple[str, str], ...], "values"]
"""Like `Settings`, for a function that takes no further arguments."""
Axes = Annotated[tuple[tuple[str, Any], ...], "axes"]
"""Like `Settings`, with several values for each key: text as on the command line, a value, or a tuple."""
Seeds = Annotated[Any, "seeds"]
"""A root seed; in Python also several."""
AlikeWorkloads = Annotated[tuple[Named, ...], "alike workloads"]
"""A workload; in Python also several, each with a name."""
Texts = Annotated[tuple[str, ...], "texts"]
"""Texts, which may have commas."""
WorkloadName = Annotated[str, "workload name"]
DaemonName = Annotated[str, "daemon name"]
DriveWords = Annotated[tuple[str, ...], "drive words"]
"""Names of drives, and words that filter them; in Python one argument each."""
Lines = Annotated[tuple[tuple[str, str], ...], "lines"]
"""Further options of the command line, and further arguments of Python, that no field names: pairs of name and
value."""
Target = Annotated[str, "target"]
"""A machine, or hardware: `real:PATH`."""
ProgramName = Annotated[str, "program name"]
ProgramPlace = Annotated[str, "program place"]
"""A machine, or a folder of this host: `real:DIR`."""
ProgramSettings = Annotated[tuple[tuple[str, str], ...], "settings of a program"]
"""Settings of a program, and values of the drives."""
SettingsOfDrives = Annotated[tuple[tuple[str, str], ...], "settings of drives"]
"""Like `Settings`, for questions without runs, which accept no words of fio."""
KeyValues = Annotated[str, "key-values"]
"""KEY=VALUES,...: in Python also a dict of lists."""
NameOrPath = Annotated[str, "name or path"]
"""A name of the catalog, or a path."""
Paths = Annotated[tuple[Path, ...], "paths"]
"""Files and folders."""
Results = Annotated[tuple[Path, ...], "results"]
"""Like `Paths`, for results of tools: on the command line also a pipe."""
Names = Annotated[tuple[str, ...], "names"]
"""Several words, also as a text with commas."""

Filters = Annotated[tuple[str, ...], "filters"]
"""Several texts, each with its own option on the command line; in Python also numbers."""
Columns = Annotated[Mapping[str, object], "columns"]
"""Columns of a table by their meaning: KEY=COLUMN,... on the command line."""
TomlTable = Annotated[Mapping[str, object], "table"]
"""Keys of a TOML table with their values, for Python only."""
Share = Annotated[str, "share"]
"""A share, such as 1/1000: in Python also a number."""
EachName = Annotated[tuple[str, ...], "each name"]
"""Like `Names`, with repeated names; text without names is unchanged."""


def paths_of(records: Records) -> list[Path]:
    """Return the paths of records; for those in memory, their names."""
    return [record if isinstance(record, Path) else Path(record.name) for record in records]
