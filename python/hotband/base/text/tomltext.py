"""Writes values as TOML: one line per key."""

from __future__ import annotations

import json
from collections.abc import Mapping


def toml_text(workload: Mapping[str, object]) -> str:
    """Return a workload as TOML, one line per key. (tomlkit takes 0.6 s for the workloads of one review, to keep a
    layout that nobody sees.)"""
    return "".join(f"{quoted(key)} = {toml_value(value)}\n" for key, value in workload.items())


def toml_value(value: object) -> str:
    """Text, numbers, booleans, lists and tables in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)} = {toml_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml_value(one) for one in value) + "]"
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def quoted(text: str) -> str:
    """A text in quotes. JSON's are TOML's where characters are left as they are, but for one control character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
