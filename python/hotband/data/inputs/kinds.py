"""Types of fields of questions that faces take in forms of their own: a machine is a name on the command line, and also
a text or a dict in Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from hotband.data.inputs.specify import Named

if TYPE_CHECKING:
    from hotband.data.record.record import Record

    RecordGiven: TypeAlias = Path | Record
else:
    RecordGiven = Annotated[Any, "record"]
    """A record in memory, or where it lies."""

Machine = Annotated[Named, "machine"]
Machines = Annotated[tuple[Named, ...], "machines"]
"""Also such whose number of drives is left open."""
Drive = Annotated[Named, "drive"]
"""A product, which may be a file."""
Targets = Annotated[tuple[str, ...], "targets"]
"""Names of machines and hardware, or of results."""
Workload = Annotated[Named, "workload"]
Workloads = Annotated[tuple[Named, ...], "workloads"]
Settings = Annotated[tuple[tuple[str, str], ...], "settings"]
"""Pairs of `--set`, and of `set` and the further arguments of a function."""
Values = Annotated[tuple[tuple[str, str], ...], "values"]
"""Pairs of `--set` and of `set`; the function has no further arguments."""
SettingsOfDrives = Annotated[tuple[tuple[str, str], ...], "settings of drives"]
"""The same where nothing runs: words of fio's are none of them."""
KeyValues = Annotated[str, "key-values"]
"""KEY=VALUES,...: in Python also a dict of lists."""
Paths = Annotated[tuple[Path, ...], "paths"]
"""Files and folders."""
Results = Annotated[tuple[Path, ...], "results"]
"""The same, of tools: on the command line a pipe is one, too."""
Names = Annotated[tuple[str, ...], "names"]
"""Several words, also as a text with commas."""
