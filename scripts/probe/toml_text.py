"""A tree as TOML."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def toml_text(tree: Mapping[str, Any]) -> str:
    """A tree as a document: plain values first, then a section a table. None, which TOML has not, is left out."""
    lines: list[str] = []
    section(tree, "", lines)
    return "\n".join(lines) + "\n"


def section(table: Mapping[str, Any], name: str, lines: list[str]) -> None:
    """The lines of a table; the tables in it are sections of their own, lists of tables too."""
    later = []
    for key, value in table.items():
        if (isinstance(value, Mapping) and value) or is_tables(value):
            later.append((key, value))
        elif value is not None:
            lines.append(f"{key_text(key)} = {value_text(value)}")
    for key, value in later:
        full = f"{name}.{key_text(key)}" if name else key_text(key)
        for one in value if isinstance(value, list) else (value,):
            lines += ["", f"[[{full}]]" if isinstance(value, list) else f"[{full}]"]
            section(one, full, lines)


def is_tables(value: object) -> bool:
    """Whether it is a list of tables that are not empty."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) and one for one in value)


def key_text(key: str) -> str:
    return key if key.isascii() and key.replace("-", "").replace("_", "").isalnum() else string(key)


def value_text(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_text(k)} = {value_text(v)}" for k, v in value.items() if v is not None) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(value_text(one) for one in value if one is not None) + "]"
    return string(str(value))


def string(text: str) -> str:
    """A basic string: JSON's escapes are among TOML's, but for halves of surrogates, which TOML has not."""
    return json.dumps(text.encode(errors="replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007F")
