"""A converted job file, as tests look at it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hotband import _core
from hotband.data.jobs.job_file import converted
from hotband.data.jobs.loss import Fate, LossReport


@dataclass
class Job:
    """A converted job file: its text, its tables, its loss report."""

    text: str
    table: dict[str, Any]
    report: LossReport

    @property
    def stream(self) -> dict[str, Any]:
        """The only stream."""
        (one,) = self.table["streams"]
        return dict(one)

    def closed(self) -> dict[str, Any]:
        """The only loop."""
        closed: dict[str, Any] = self.table["load"]["closed"]
        return closed

    def fate(self, option: str) -> tuple[Fate, str]:
        """What became of an option (its text begins so), and why."""
        found = [(one.fate, one.why) for one in self.report.losses if one.option.startswith(option)]
        assert len(found) == 1, (option, [str(one) for one in self.report.losses])
        return found[0]


Convert = Callable[..., Job]
Refused = Callable[..., str]


def job_of(path: Path) -> Job:
    """A job file, converted; the engine reads what comes of it."""
    toml, report = converted(path)
    _core.workload(toml, path.name)
    return Job(toml, tomllib.loads(toml), report)
