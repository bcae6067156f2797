"""A call that a form requests, and the fields common to all forms."""

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
    """A call: its `title`, the equivalent `command`, the function `run`, which returns the display of its result (its
    arguments are a progress function and the job's folder), and the function that writes its `report` into that folder,
    if there is one."""

    title: str
    command: list[str]
    run: Callable[[Tick, Path], Shown]
    report: Callable[[Path], None] | None = None


def expect_report(folder: Path) -> None:
    """Check that a result wrote its report. Raises UserError if it was stopped before."""
    if not (folder / REPORT_FILE).is_file():
        raise UserError("report", "", "", "was not written: the job was stopped first")
