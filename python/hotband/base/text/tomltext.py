"""Writes values as TOML: one line per key."""

from __future__ import annotations

import json
from collections.abc import Mapping


def toml_text(workload: Mapping[str, object]) -> str:
    """Return a workload as TOML, one line per key. (tomlkit needs 0.6 s for the workloads of one review, to preserve a
    layout that is never shown.)"""
    return "".join(f"{quoted(key)} = {toml_value(value)}\n" for key, value in workload.items())


def toml_value(value: object) -> str:
    """Format text, numbers, booleans, lists and tables on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)} = {toml_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def quoted(text: str) -> str:
    """Return a quoted text. JSON's quoting is valid TOML if characters stay unescaped, except for one control
    character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
