"""Write the text of a record with the same bytes as the engine.

A record is therefore the same file whether `--out`, `Record.save` or a store wrote it, and `diff` of two records shows
how their contents differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

ON_ONE_LINE = "buckets"
"""A key whose lists of numbers are written on one line: a histogram has hundreds of pairs."""
SMALL = re.compile(r"(-?)(\d)(?:\.(\d+))?e-0*(\d+)")


def record_text(document: Mapping[str, object]) -> str:
    """Return the JSON text of a record, without a line end."""
    return _text(document, "\n")


def _text(value: object, line: str) -> str:
    """Return a value whose lines begin with `line`."""
    deeper = f"{line}  "
    if isinstance(value, Mapping) and value:
        entries = (
            f"{json.dumps(str(key), ensure_ascii=False)}: {_entry(key, item, deeper)}" for key, item in value.items()
        )
        return f"{{{deeper}{f',{deeper}'.join(entries)}{line}}}"
    if isinstance(value, list | tuple) and value:
        return f"[{deeper}{f',{deeper}'.join(_text(item, deeper) for item in value)}{line}]"
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value, ensure_ascii=False)


def _entry(key: object, value: object, line: str) -> str:
    if key == ON_ONE_LINE and isinstance(value, list):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return _text(value, line)


def _number(value: float) -> str:
    """Format a number in the shortest digits that reproduce it. The engine writes small ones differently from Python:
    1e-05 as 0.00001, 1e-07 as 1e-7."""
    text = json.dumps(value)
    small = SMALL.fullmatch(text)
    if small is None:
        return text
    sign, first, more, power = small.groups(default="")
    if power == "5":
        return f"{sign}0.0000{first}{more}"
    return f"{sign}{first}{f'.{more}' if more else ''}e-{power}"
