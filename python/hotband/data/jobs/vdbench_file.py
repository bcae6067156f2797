"""vdbench's parameter file: definitions (hd, sd, wd, rd) of keys and values, lists in parentheses, includes.

Source: Vdbench Users Guide 5.04.07 ("Parameter file layout", parameter tables of SD, WD, RD). A line that ends in a
comma goes on in the next; `*`, `#` and `/` begin a comment; a key may be cut to what tells it from others (`el=` is
elapsed); a definition named `default` is for those that follow it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from hotband.base.errors import UserError
from hotband.base.text.nearest import expected
from hotband.data.importers.files import name_of
from hotband.data.jobs.loss import Location
from hotband.data.jobs.source import Option, included, read_text, words

KEYS = {
    "general": words(
        "compratio dedupratio dedupunit dedupsets dedupflipflop data_errors create_anchors messagescan monitor "
        "histogram pattern patterns port report validate journal startcmd endcmd start_cmd end_cmd include "
        "formatxfersize force_error_after swat ios_per_jvm abort_failed_skew loop showlba misc debug "
        "concatenatesds formatsds fwd_thread_adjust report_run_totals auxreport timeout tmpdir deduphotsets"
    ),
    "hd": words("hd system vdbench jvms shell user clients mount master port"),
    "sd": words(
        "sd host lun align count hitarea journal offset openflags range replay resetbus resetlun size streams threads "
        "dedupratio dedupunit dedupsets compratio concatenate hotband"
    ),
    "wd": words(
        "wd sd host iorate openflags priority range rdpct rhpct seekpct skew stride streams threads whpct xfersize "
        "hotband hitarea fsd compratio workload_size"
    ),
    "rd": words(
        "rd wd sd curve stopcurve distribution elapsed maxdata endcmd startcmd start_cmd end_cmd interval iorate "
        "openflags pause replay warmup threads xfersize rdpct seekpct rhpct whpct hitarea compratio forthreads "
        "forxfersize forrdpct forseekpct forrhpct forwhpct forhpct hpct forhitarea forcompratio format fwd fsd "
        "fwdrate operations host foroperations"
    ),
}
ALIASES = {"hd": "host"}
"""Second names of parameters of definitions other than those that they begin."""
# vdbench's own order where a beginning fits several keys (`xf`, `el`, `io`, `th` of its examples).
_FIRST = {"th": "threads", "io": "iorate", "el": "elapsed", "in": "interval", "xf": "xfersize", "rd": "rdpct"}
FILE_SYSTEM = ("fsd", "fwd", "rg")
_KINDS = ("hd", "sd", "wd", "rd")
# Every definition costs some of our time; scripts that make files write some hundred.
MOST_DEFINITIONS = 4096


@dataclass
class Definition:
    """A definition: its kind, its name, its options by key; those of `default` among them."""

    kind: str
    name: str
    location: Location
    options: dict[str, Option] = field(default_factory=dict)

    def get(self, *keys: str) -> Option | None:
        return next((self.options[key] for key in keys if key in self.options), None)


@dataclass
class Parameters:
    """A whole file: general options and definitions in order."""

    general: list[Option] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)

    def of(self, kind: str) -> list[Definition]:
        return [
            definition for definition in self.definitions if definition.kind == kind and definition.name != "default"
        ]


def read_parameters(path: Path, text: str) -> Parameters:
    """Return the definitions of a file whose text is `text`. Raises UserError also for what vdbench refuses."""
    parameters = Parameters()
    defaults: dict[str, dict[str, Option]] = {kind: {} for kind in _KINDS}
    current: Definition | None = None
    goes_on = False
    for location, line in _lines(path, text, (path,)):
        pairs = list(_pairs(location, line))
        kind = pairs[0][0] if pairs else ""
        if kind in FILE_SYSTEM:
            value = pairs[0][1]
            what = "replays of a trace" if kind == "rg" else "file system workloads"
            raise UserError(str(location), kind, value, f"{what} are not supported; expected sd=, wd= and rd=")
        new = kind in _KINDS and not (goes_on and current is not None and current.kind != kind)
        if new:
            _expect_new(parameters, kind, pairs[0][1].strip(), location)
            current = Definition(kind, pairs[0][1].strip(), location, dict(defaults[kind]))
            parameters.definitions.append(current)
            if len(parameters.definitions) > MOST_DEFINITIONS:
                raise UserError(str(location), kind, "", f"more than {MOST_DEFINITIONS} definitions; expected fewer")
        for key, value in pairs[1:] if new else pairs:
            option = _option(current, key, value, location)
            if current is None:
                parameters.general.append(option)
            else:
                current.options[option.key] = option
        if new and current is not None and current.name == "default":
            defaults[kind] = current.options
        goes_on = line.endswith(",")
    return parameters


def _expect_new(parameters: Parameters, kind: str, name: str, location: Location) -> None:
    """Raise UserError for a second definition of storage or a workload with a name, as vdbench does."""
    if kind in ("sd", "wd") and name in {earlier.name for earlier in parameters.of(kind)}:
        raise UserError(str(location), kind, name, f"is defined twice; expected another name of this {kind}=")


def _lines(path: Path, text: str, open_files: tuple[Path, ...]) -> Iterator[tuple[Location, str]]:
    """Yield the lines that are not empty, without the tags of a page that shows the file (parmfile.html)."""
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line[0] in "*#/" or re.fullmatch(r"<[^<>]{1,80}>", line):
            continue
        location = Location(name_of(path), number)
        if line[:3].lower() == "eof" and line[3:4] in ("", " "):
            return
        other = re.match(r"include=(\S+)", line)
        if other is None:
            # A remark may stand behind the parameters, after a blank.
            yield location, line
        else:
            file = included(location, other[1], path, open_files)
            yield from _lines(file, read_text(file, location, other[1]), (*open_files, file))


def _pairs(location: Location, line: str) -> Iterator[tuple[str, str]]:
    """Yield `key=value` pairs split at commas outside of parentheses and quotes; a blank ends the line."""
    for part in _split(location, line):
        key, equals, value = part.partition("=")
        key = key.strip().lower()
        if not equals:
            raise UserError(str(location), "", part.strip(), "expected KEY=VALUE, with commas between two")
        if "$" in value or value.startswith("!"):
            variable = re.search(r"[$!]\{?\w*", value)
            name = variable[0] if variable else value
            raise UserError(
                str(location), key, value, f"the variable {name} is not set: expected its value in the file"
            )
        yield key, value.strip()


def _split(location: Location, line: str) -> list[str]:
    parts, depth, quote, begin = [], 0, "", 0
    end = len(line)
    for at, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        elif char.isspace() and not depth and not line[at:].lstrip().startswith((",", "=")) and line[at - 1] != ",":
            end = at
            break
        elif char == "," and not depth:
            parts.append(line[begin:at])
            begin = at + 1
        if depth < 0:
            break
    if depth or quote:
        raise UserError(str(location), "", line, f"is cut off: {'a quote' if quote else 'a parenthesis'} is not closed")
    parts.append(line[begin:end])
    return [part for part in parts if part.strip()]


def _option(current: Definition | None, key: str, value: str, location: Location) -> Option:
    kind = current.kind if current else "general"
    known = KEYS[kind]
    name = ALIASES.get(key, key)
    if name not in known:
        begin = [candidate for candidate in known if candidate.startswith(key)] if len(key) > 1 else []
        preferred = _FIRST.get(key)
        if preferred in known:
            begin = [preferred]
        if len(begin) != 1:
            what = f"may be {' or '.join(begin)}" if begin else f"vdbench has no such parameter of {kind}"
            raise UserError(str(location), key, value, f"{what}; {expected(key, sorted(known))}")
        name = begin[0]
    return Option(name, value, location, key)


def listed(text: str) -> list[str]:
    """Return the elements of a list in parentheses; a single value is a list of one."""
    text = text.strip()
    inner = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    return [part.strip() for part in inner.split(",") if part.strip()]


def named(option: Option, known: list[str]) -> list[str]:
    """Return the defined names that an option lists: a `*` at the end matches anything, `a1-a9` is a range."""
    names: list[str] = []
    for pattern in listed(option.value):
        some = _matching(pattern, known)
        if not some:
            _unknown(option, pattern, known)
        names += [name for name in some if name not in names]
    return names or option.refuse("expected at least one name")


def _matching(pattern: str, known: list[str]) -> list[str]:
    if pattern in known:
        return [pattern]
    if "*" in pattern:
        form = re.escape(pattern).replace(r"\*", ".*")
        return [name for name in known if re.fullmatch(form, name)]
    row = re.fullmatch(r"(.*?)(\d{1,9})-(.*?)(\d{1,9})", pattern)
    if row is None or row[1] != row[3]:
        return []
    low, high = int(row[2]), int(row[4])
    matches = (re.fullmatch(re.escape(row[1]) + r"(\d{1,9})", name) for name in known)
    return [match[0] for match in matches if match is not None and low <= int(match[1]) <= high]


def _unknown(option: Option, pattern: str, known: list[str]) -> NoReturn:
    what = expected(pattern, known) if known else "none is defined"
    option.refuse(f"{pattern} is not defined; {what}")
