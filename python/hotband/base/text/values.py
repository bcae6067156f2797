"""Values of an unchecked JSON or TOML document, converted level by level for mypy."""

from __future__ import annotations

import json
from datetime import date, datetime, time
from pathlib import Path
from typing import TypeAlias

from hotband.base.text.regular import file_text

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
Toml: TypeAlias = "str | int | float | bool | date | datetime | time | list[Toml] | dict[str, Toml]"


def read_json(path: Path) -> dict[str, Json] | None:
    """Return the JSON object in a file; None if there is none."""
    try:
        value: Json = json.loads(file_text(path))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
