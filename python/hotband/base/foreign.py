"""Foreign text: texts from files, arguments and folder names are data, never markup and never commands to a terminal or
a spreadsheet. Characters that the encoding of stdout lacks have JSON's escapes in data, which programs can read back,
and plainer forms in text for people."""

from __future__ import annotations

import codecs
import json
import re
import sys
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Most characters of a value in a message.
MOST_SHOWN = 80
# Characters that a terminal acts on or does not show, so that a text would look like another: C0 and C1 controls
# (ECMA-48), line and paragraph separators, marks that turn the direction of writing (Unicode TR 36, "bidirectional text
# spoofing"), zero-width ones, and halves of surrogate pairs, which no encoding takes.
_UNSEEN = "\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufff9-\ufffb"
_HIDDEN = re.compile(f"[{_UNSEEN}]")
# Those of them that JSON's escapes (`json.dumps` writes C0 as `\u00XX`) leave unchanged.
_RAW_IN_JSON = re.compile(f"[{_UNSEEN.removeprefix(chr(0) + '-' + chr(0x1F))}]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Spreadsheets interpret a cell that begins with these as a formula (OWASP, "CSV injection").
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

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


def visible(text: object) -> str:
    """Return the text on one line, with characters that a terminal acts on or does not show as escapes: `\\x1b`."""
    return _HIDDEN.sub(_escaped, str(text))


def visible_lines(text: str) -> str:
    """Apply `visible` to each line of a text."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if match[0] in _SHORT:
        return _SHORT[match[0]]
    # A byte of a file name that is not UTF-8 (PEP 383).
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def shortened(value: object, most: int = MOST_SHOWN) -> str:
    """Return a value as a message prints it: a long one as its beginning and its length."""
    text = value if isinstance(value, str) else str(value)
    if len(text) <= most:
        return text
    return f"{text[:most]}... ({len(text):,} characters)"


def all_visible(value: Any) -> Any:
    """Return a chart's specification with all texts `visible` except for line ends: SVG accepts no others."""
    if isinstance(value, str):
        return visible_lines(value)
    if isinstance(value, dict):
        return {all_visible(key): all_visible(item) for key, item in value.items()}
    return [all_visible(item) for item in value] if isinstance(value, list) else value


def console(file: IO[str] | None = None, width: int | None = None) -> Console:
    """Return a console of rich that treats every plain string as data; `marked` makes text with markup. Writes to
    stdout if no file is given."""
    from rich.console import Console

    class ForeignConsole(Console):
        """A console in which strings are data everywhere: in lines, cells, titles."""

        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(visible_lines(text), **options | {"markup": False, "emoji": False})

    # Colours are reserved for verdicts, so numbers have none.
    return ForeignConsole(file=file or sys.stdout, width=width, markup=False, emoji=False, highlight=False)


def marked(markup: str, **foreign: object) -> Text:
    """Return text from our markup, with foreign text inserted for its `{names}`."""
    from rich.markup import escape
    from rich.text import Text

    return Text.from_markup(markup.format(**{name: escape(visible(text)) for name, text in foreign.items()}))


def json_text(data: object, indent: int | None = 2) -> str:
    """Return a JSON document that is also safe text for people and terminals: invisible characters are escaped."""
    return json_safe(json.dumps(data, indent=indent, ensure_ascii=False))


def json_safe(document: str) -> str:
    """Escape such characters in a JSON document; its data stays the same."""
    return _RAW_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


def csv_cell(value: object) -> object:
    """Return a cell for `csv.writer` that a spreadsheet does not interpret as a formula; numbers stay numbers."""
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def has_every_character(encoding: str | None) -> bool:
    """Return whether an encoding has all characters of Unicode; a stream in memory has no encoding."""
    return encoding is None or encoding.lower().startswith("utf")


def json_in(document: str, encoding: str | None) -> str:
    """Return a JSON document for a stream: in ASCII, if the encoding is not of Unicode, as JSON is read as UTF-8."""
    if has_every_character(encoding):
        return document
    return re.sub(r"[^\0-\x7f]", lambda match: _json_escape(match[0]), document)


def data_in(text: str, encoding: str | None) -> str:
    """Return data for a stream, with JSON's escapes for characters that the encoding lacks."""
    return text.encode(encoding, "escaped").decode(encoding) if encoding else text


def _json_escape(character: str) -> str:
    """Return `\\uXXXX`, twice for a character above U+FFFF."""
    return json.dumps(character)[1:-1]


def _plain(character: str) -> str:
    """Return bars as `#`, frames as `-`, unknown characters as JSON's escapes."""
    if "\u2500" <= character < "\u2580":
        return "-"
    return PLAINER.get(character, "#" if "\u2580" <= character < "\u25a0" else _json_escape(character))


def _register(name: str, form: Callable[[str], str]) -> None:
    """Register the errors handler `name`, which writes each character that an encoding lacks in another form."""

    def replaced(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        return "".join(map(form, error.object[error.start : error.end])), error.end

    codecs.register_error(name, replaced)


_register("plainer", _plain)
_register("escaped", _json_escape)
