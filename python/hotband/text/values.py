"""Values of a JSON or TOML document that nobody has checked yet: what may stand in one, level by level, for mypy."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import TypeAlias

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
Toml: TypeAlias = "str | int | float | bool | date | datetime | time | list[Toml] | dict[str, Toml]"
