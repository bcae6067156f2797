"""A call that a form asks for, and what all forms ask alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.data.record.files import REPORT_FILE

if TYPE_CHECKING:
    from hotband.execution.experiment import Tick
    from hotband.faces.ui.shown import Shown

MACHINE = "a drive of the catalog or LAYOUT:COUNTxDRIVE, such as raid5:8xent-10k"
WORKLOAD = "a workload of the catalog, such as fio-randread"


@dataclass(frozen=True)
class Call:
    """One call: its `title`, the `command` that does the same, what `run` shows of its result (it is told what to tell
    the progress to, and a folder of its own), and what writes its report into that folder, where it has one."""

    title: str
    command: list[str]
    run: Callable[[Tick, Path], Shown]
    report: Callable[[Path], None] | None = None


def expect_report(folder: Path) -> None:
    """The report of what writes one by itself. Raises UserError where it was stopped before."""
    if not (folder / REPORT_FILE).is_file():
        raise UserError("report", "", "", "was not written: the work was stopped before")
