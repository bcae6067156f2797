"""Characters that the encoding of stdout lacks, such as Latin-1 or ASCII: data have JSON's escapes, which programs can
read back; text for people has plainer forms."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable

PLAINER = {
    "µ": "u",
    "μ": "u",
    "…": "...",
    "–": "-",
    "−": "-",
    "±": "+/-",
    "×": "x",
    "·": "*",
    "²": "^2",
    "³": "^3",
    "°": "deg ",
    "≤": "<=",
    "≥": ">=",
    "▲": "^",
    "▼": "v",
    "●": "o",
    "✓": "+",
    "✗": "x",
}
"""Characters of the output, as ASCII has them."""


def has_every_character(encoding: str | None) -> bool:
    """Return whether an encoding has all characters of Unicode; a stream in memory has no encoding."""
    return encoding is None or encoding.lower().startswith("utf")


def json_in(document: str, encoding: str | None) -> str:
    """Return a JSON document for a stream: in ASCII, if the encoding is not of Unicode, as JSON is read as UTF-8."""
    return (
        document if has_every_character(encoding) else re.sub(r"[^\0-\x7f]", lambda match: _escaped(match[0]), document)
    )


def data_in(text: str, encoding: str | None) -> str:
    """Return data for a stream, with JSON's escapes for characters that the encoding lacks."""
    return text.encode(encoding, "escaped").decode(encoding) if encoding else text


def _escaped(character: str) -> str:
    """Return `\\uXXXX`, twice for a character above U+FFFF."""
    return json.dumps(character)[1:-1]


def _plain(character: str) -> str:
    """Return bars as `#`, frames as `-`, unknown characters as JSON's escapes."""
    if "\u2500" <= character < "\u2580":
        return "-"
    return PLAINER.get(character, "#" if "\u2580" <= character < "\u25a0" else _escaped(character))


def _register(name: str, form: Callable[[str], str]) -> None:
    """Register the errors handler `name`, which writes each character that an encoding lacks in another form."""

    def replaced(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        return "".join(map(form, error.object[error.start : error.end])), error.end

    codecs.register_error(name, replaced)


_register("plainer", _plain)
_register("escaped", _escaped)
