"""A sweep small enough for tests, and what the command left of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

ASKED = ["fio-randread", "--on", "ent-10k", "--on", "ent-15k", "--set", "qd=1..4", "--duration", "500 ms"]
"""Two machines, three depths."""


@dataclass(frozen=True)
class Swept:
    """What the command left: its folder, its page, and what it printed with `--json`."""

    out: Path
    page: str
    printed: dict[str, Any]
    said: str
