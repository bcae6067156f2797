"""A record as text: the bytes that the engine writes, whoever writes it.

So the record of a run is one file, saved by `--out`, by `Record.save` or out of a store, and `diff` finds in two of
them what differs in what they say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

ON_ONE_LINE = "buckets"
"""A key whose lists of numbers stand on one line: a histogram has hundreds of pairs."""
SMALL = re.compile(r"(-?)(\d)(?:\.(\d+))?e-0*(\d+)")


def record_text(document: Mapping[str, object]) -> str:
    """The JSON text of a record, without a line end."""
    return _text(document, "\n")


def _text(value: object, line: str) -> str:
    """A value, whose lines begin as `line` does."""
    deeper = f"{line}  "
    if isinstance(value, Mapping) and value:
        entries = (
            f"{json.dumps(str(key), ensure_ascii=False)}: {_entry(key, one, deeper)}" for key, one in value.items()
        )
        return f"{{{deeper}{f',{deeper}'.join(entries)}{line}}}"
    if isinstance(value, list | tuple) and value:
        return f"[{deeper}{f',{deeper}'.join(_text(one, deeper) for one in value)}{line}]"
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value, ensure_ascii=False)


def _entry(key: object, value: object, line: str) -> str:
    if key == ON_ONE_LINE and isinstance(value, list):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return _text(value, line)


def _number(value: float) -> str:
    """A number in the shortest digits that give it again. The engine writes small ones otherwise than Python: 1e-05 as
    0.00001, 1e-07 as 1e-7."""
    text = json.dumps(value)
    found = SMALL.fullmatch(text)
    if found is None:
        return text
    sign, first, more, power = found.groups(default="")
    if power == "5":
        return f"{sign}0.0000{first}{more}"
    return f"{sign}{first}{f'.{more}' if more else ''}e-{power}"
