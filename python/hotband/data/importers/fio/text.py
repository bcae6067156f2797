"""From the bytes of a fio result to JSON documents whose fields are type-checked when read.

fio prints warnings and start-up lines into the same stream as its JSON, prints one document per
`--status-interval`, and leaves half a document behind when it is killed: this module separates them, and every
defect is a UserError with the place it was found at.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from hotband.base.errors import UserError
from hotband.base.text.regular import utf8

# fio counts in unsigned 64-bit integers (stat.h: uint64_t); nothing it prints is larger.
LARGEST = 2**64 - 1
# Room for any number fio prints: 20 digits, and a signed one.
_LONGEST_INTEGER = 24
_SHOWN = 60
# One a second for a day is more than a status interval leaves.
MOST_DOCUMENTS = 100_000
# fio's progress ends without a line, so that its JSON may begin anywhere.
_NEXT = re.compile(r'^\{|\{(?=\s*"fio version"\s*:)', re.MULTILINE)
# Prefixes that `kubectl logs --timestamps`, log files of containers, `docker compose logs`, journalctl and quotes in
# mails add to each line.
_STAMPED = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) "
    r"(?:(?:stdout|stderr) [FP] |\S{1,80} [\w./-]{1,80}(?:\[\d+\])?:(?: |$))?"
    r"|[\w./-]{1,80} *\|(?: |$)"
    r"|[A-Z][a-z]{2} [ \d]\d [\d:]{8} \S{1,80} [\w./-]{1,80}(?:\[\d+\])?:(?: |$)|(?:> ?)+"
)
_NAN = re.compile(r"(?<=[:\s])-?(?:nan|inf)(?=\s*[,}\]\n])")
# Documents of other programs hold fio's a few levels down.
_DEEPEST = 6
_MAKE_JSON = "accepted: documents of `fio --output-format=json` or `json+`"


def shown(value: object) -> str:
    """Return a value as short text for an error message, without lone surrogates."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = printable(value if isinstance(value, str) else json.dumps(value))
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def printable(text: str) -> str:
    """Return text that can be written as UTF-8: JSON may contain half a surrogate pair."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _decode(data: str | bytes, file: str) -> str:
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        return utf8(data).decode()
    except UnicodeDecodeError as error:
        raise UserError(file, "", "", f"not UTF-8 at byte {error.start}; accepted: UTF-8 text") from None


def _json_start(text: str, file: str) -> int:
    """Return the start of the first JSON object."""
    stripped = text.lstrip()
    if not stripped:
        raise UserError(file, "", "", f"the file is empty; {_MAKE_JSON}")
    if stripped[0] == "{" or re.match(r"\[\s*\{", stripped):
        return len(text) - len(stripped)
    if stripped[0] == "[":
        raise UserError(file, "", "", f"it starts with '[' (a job file or a JSON array?); {_MAKE_JSON}")
    brace = _NEXT.search(text)
    if brace is None:
        raise UserError(file, "", "", f"there is no JSON object in it; {_MAKE_JSON}")
    return brace.start()


def _without_stamps(text: str) -> tuple[str, list[str]]:
    """Return the text without the line prefixes of a container's log, and a note about them."""
    if _NEXT.search(text) or "{" not in text:
        return text, []
    lines = text.split("\n")
    prefixes = [match[0] if (match := _STAMPED.match(line)) else "" for line in lines]
    first = next((prefix.strip() for prefix in prefixes if prefix), "")
    note = [f"each line begins with {shown(first)!r} or the like, which was skipped"] if first else []
    return "\n".join(line[len(prefix) :] for line, prefix in zip(lines, prefixes, strict=True)), note


def _without_nan(text: str) -> tuple[str, list[str]]:
    """Return the text with zeros for numbers that fio could not compute, and a note about them."""
    if "nan" not in text and "inf" not in text:
        return text, []
    plain, count = _NAN.subn(lambda word: "0".ljust(len(word[0])), text)
    return plain, [f"numbers that fio could not compute (nan, inf) count as 0: {count}"] if count else []


def _decoder(file: str) -> json.JSONDecoder:
    def constant(name: str) -> NoReturn:
        raise UserError(file, "", "", f"{name} is not a JSON number; accepted: finite numbers")

    def integer(digits: str) -> int:
        if len(digits) > _LONGEST_INTEGER:
            raise UserError(file, "", "", f"{shown(digits)} is too large; accepted: numbers below 2^64")
        return int(digits)

    return json.JSONDecoder(parse_constant=constant, parse_int=integer)


def _place(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    return f"line {line}, byte {len(text[:position].encode('utf-8', 'surrogatepass'))}"


def _is_cut(text: str, error: json.JSONDecodeError) -> bool:
    """Return whether the document ends where the parser stopped, or within the word or string it stopped at."""
    rest = text[error.pos :].strip()
    half_word = any(word.startswith(rest) for word in ("true", "false", "null", "-"))
    return not rest or half_word or error.msg.startswith("Unterminated string")


def _parse(text: str, start: int, file: str) -> tuple[Any, int]:
    try:
        return _decoder(file).raw_decode(text, start)
    except json.JSONDecodeError as error:
        if _is_cut(text, error):
            end = len(text.rstrip())
            problem = f"the JSON is cut short: it ends at {_place(text, end)} inside an unfinished value"
        else:
            problem = f"not valid JSON at {_place(text, error.pos)} ({error.msg})"
        raise UserError(file, "", "", f"{problem}; {_MAKE_JSON}") from None
    except RecursionError:
        raise UserError(file, "", "", f"the JSON is nested too deeply; {_MAKE_JSON}") from None


def _check_rest(text: str, begin: int, end: int, file: str) -> str | None:
    """Check the text between two documents: empty, or fio's text output (returned as a note)."""
    rest = text[begin:end].strip()
    if not rest:
        return None
    if rest[0] in "}],:\"'[":
        problem = f"not valid JSON: the document ends at {_place(text, begin)} and {rest[0]!r} follows"
        raise UserError(file, "", "", f"{problem}; {_MAKE_JSON}")
    return f"text after the JSON was skipped: {_first_line(rest)}"


_WARNING = re.compile(r"(?:fio|note): (?!connected to )\S.*|.*\bwarning\b.*", re.IGNORECASE)
"""A line in which fio reports trouble on its standard error (log.c, log_err; options.c and init.c: notes); not that its
engine for NBD is connected (engines/nbd.c)."""
_MOST_WARNINGS, _LONGEST = 20, 240


def _warnings(text: str) -> list[str]:
    """Return a note for each line of text around a document that is a warning of fio."""
    lines = dict.fromkeys(line.strip() for line in text.splitlines())
    return [f"warning of fio: {printable(line)}"[:_LONGEST] for line in lines if _WARNING.fullmatch(line)][
        :_MOST_WARNINGS
    ]


def _first_line(text: str) -> str:
    lines = text.strip().splitlines()
    more = f" (lines: {len(lines)})" if len(lines) > 1 else ""
    return shown(lines[0]) + more


@dataclass(frozen=True)
class Fields:
    """A JSON object, with its position in the file for error messages."""

    file: str
    key: str
    values: dict[str, object]

    def fail(self, name: str, accepted: str) -> NoReturn:
        value = shown(self.values[name]) if name in self.values else ""
        raise UserError(self.file, self._path(name), value, accepted)

    def _path(self, name: str) -> str:
        return shown(f"{self.key}.{name}" if self.key else name)

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def child(self, name: str) -> Fields | None:
        """The object under `name`; None if it is missing."""
        if name not in self.values:
            return None
        value = self.values[name]
        if not isinstance(value, dict):
            self.fail(name, "accepted: a JSON object")
        return Fields(self.file, self._path(name), value)

    def children(self, name: str) -> list[Fields]:
        """The objects of the array under `name`; an object alone counts as an array of one."""
        value = self.values.get(name, [])
        if isinstance(value, dict):
            value = [value]
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            self.fail(name, "accepted: a JSON array of objects")
        return [Fields(self.file, f"{self._path(name)}[{i}]", entry) for i, entry in enumerate(value)]

    def count(self, name: str) -> int:
        """A whole number from 0 to 2^64-1; 0 if it is missing."""
        value = self.values.get(name, 0)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
            self.fail(name, "accepted: a whole number from 0 to 2^64-1")
        return value

    def number(self, name: str) -> float:
        """A finite number of 0 or more; 0 if it is missing."""
        value = self.values.get(name, 0.0)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(name, "accepted: a number of 0 or more")
        if not (math.isfinite(value) and 0 <= value <= LARGEST):
            self.fail(name, "accepted: a finite number from 0 to 2^64-1")
        return float(value)

    def numbers(self, name: str) -> list[float]:
        """The finite numbers of 0 or more in an array; none if it is missing."""
        value = self.values.get(name, [])
        if not isinstance(value, list):
            self.fail(name, "accepted: a JSON array of numbers")
        each = Fields(self.file, self._path(name), {f"[{i}]": number for i, number in enumerate(value)})
        return [each.number(index) for index in each.values]

    def code(self, name: str) -> int:
        """An errno: a whole number whose sign does not matter."""
        value = self.values.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST:
            self.fail(name, "accepted: an error number")
        return abs(value)

    def text(self, name: str) -> str | None:
        value = self.values.get(name)
        if value is not None and not isinstance(value, str):
            self.fail(name, "accepted: text")
        return None if value is None else printable(value)

    def options(self) -> dict[str, str]:
        """All values as text: fio prints job options as strings, a bare one as an empty string."""
        return {printable(name): text for name, text in self._option_pairs()}

    def _option_pairs(self) -> Iterator[tuple[str, str]]:
        for name, value in self.values.items():
            if isinstance(value, dict | list):
                self.fail(name, "accepted: text or a number")
            if isinstance(value, bool):
                yield name, str(int(value))
            else:
                yield name, "" if value is None else printable(str(value))


def read_documents(data: str | bytes, file: str) -> list[tuple[Fields, list[str]]]:
    """The fio documents in `data`, each with notes about text around it; Raises UserError for anything else."""
    text, stamps = _without_stamps(_decode(data, file))
    text, unknown = _without_nan(text)
    start = _json_start(text, file)
    documents: list[tuple[Fields, list[str]]] = []
    before = text[:start]
    while True:
        value, end = _parse(text, start, file)
        notes = [f"text before the JSON was skipped: {_first_line(before)}"] if before.strip() else []
        notes += stamps + unknown
        results = [_checked(result, file) for result in _results_in(value) or [value]]
        further = _NEXT.search(text, end)
        after_end = further.start() if further else len(text)
        notes += _warnings(before) + _warnings(text[end:after_end])
        after = _check_rest(text, end, after_end, file)
        if after is not None:
            notes.append(after)
        documents += [(result, list(notes)) for result in results]
        if further is None:
            return documents
        if len(documents) >= MOST_DOCUMENTS:
            raise UserError(file, "", "", f"more than {MOST_DOCUMENTS} JSON documents; accepted: fewer in one file")
        before, start = "", further.start()


def _results_in(value: object, depth: int = 0) -> list[object]:
    """Return the results of fio in a document: itself, or those in the lists and objects of another program's."""
    if isinstance(value, dict) and "fio version" in value:
        return [value]
    if depth == _DEEPEST or not isinstance(value, dict | list):
        return []
    inner = value.values() if isinstance(value, dict) else value
    return [result for part in inner for result in _results_in(part, depth + 1)]


def _checked(value: object, file: str) -> Fields:
    """The document, if it is fio's."""
    if not isinstance(value, dict):
        raise UserError(file, "", shown(value), f"not a JSON object; {_MAKE_JSON}")
    document = Fields(file, "", value)
    if "fio version" not in document:
        raise UserError(file, "", "", f"not a fio result: the key 'fio version' is missing; {_MAKE_JSON}")
    if "jobs" not in document and "client_stats" not in document:
        missing = "the key 'jobs' (or 'client_stats') is missing"
        raise UserError(file, "", "", f"not a fio result: {missing}; {_MAKE_JSON}")
    return document


def directions(text: str) -> tuple[str, str, str]:
    """Return the values of an option READ,WRITE,TRIM. Those that are left out at the end are as the last one; an empty
    one is empty, which leaves fio's own value (tried: 3.33)."""
    parts = [part.strip() for part in text.split(",")][:3]
    while len(parts) < 3:
        parts.append(parts[-1])
    return parts[0], parts[1], parts[2]
