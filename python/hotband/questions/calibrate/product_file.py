"""The product file that a calibration writes: a variant of the product, with the fitted values."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hotband.base.heavy import tomlkit
from hotband.data.catalog import is_file

if TYPE_CHECKING:
    from hotband.base.text.values import Toml
    from hotband.questions.calibrate.calibrated import Value

WIDTH = 116


def file_text(
    like: str, title: str, source: str, values: Sequence[Value], head: Sequence[str], out: Path | None
) -> str:
    """Return the text. `head` are lines of comment; a product file is named relative to `out`."""
    document = tomlkit.document()
    for line in [*head, *_unknown(values)]:
        document.add(tomlkit.comment(line) if line else tomlkit.nl())
    document.add("variant_of", tomlkit.item(_named(like, out)))
    document.add("title", tomlkit.item(title))
    table = tomlkit.table(is_super_table=True)
    for value in values:
        if value.state != "unknown":
            table.add(value.key, _table(value, source))
    document.add("values", table)
    return str(tomlkit.dumps(document))


def whole_text(text: str, source: str, values: Sequence[Value], head: Sequence[str]) -> str:
    """Return the text of a self-contained product file, with the fitted values."""
    read = tomlkit.parse(text)
    table: dict[str, Any] = read["values"]
    for value in values:
        if value.state != "unknown":
            table[value.key] = _table(value, source)
    return "\n".join(f"# {line}" for line in [*head, *_unknown(values)]) + "\n" + str(tomlkit.dumps(read))


def _table(value: Value, source: str) -> Toml:
    table = tomlkit.table()
    table.add("value", in_toml(value.value))
    table.add("range", [in_toml(value.low), in_toml(value.high)])
    if value.options:
        note = f"probability {value.probability:.2f}; before: {value.prior} of {value.prior_low}, {value.prior_high}"
    else:
        share_known = f"{100 * (1 - value.left):.0f} % of the deviation removed"
        note = f"{share_known}; before: {value.prior}, {value.prior_low} to {value.prior_high}"
    if value.at_edge:
        note += "; at the edge of that range"
    table.add("source", source)
    table.add("confidence", "medium" if value.state == "told" else "low")
    table.add("estimate", True)
    table.add("note", note)
    return table


def in_toml(text: str) -> Toml:
    """Convert a value for a product file: a number if it is one, else a text."""
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _named(like: str, out: Path | None) -> str:
    """Return the product's name for the new file: a file is named relative to the folder of the new one."""
    if not is_file(like):
        return like
    path = os.path.relpath(like, out.parent if out is not None else ".")
    return path if path.startswith((".", "/")) else f"./{path}"


def _unknown(values: Sequence[Value]) -> list[str]:
    names = [value.key for value in values if value.state == "unknown"]
    if not names:
        return []
    lines = ["Unknown, unchanged:"]
    for name in names:
        if len(lines[-1]) + len(name) > WIDTH:
            lines.append(" ")
        lines[-1] += f" {name},"
    lines[-1] = lines[-1].rstrip(",")
    return lines
