#!/usr/bin/env python3
"""Write the reference pages of the documentation from the definitions: commands, keys, catalog, Python API, records.

python scripts/reference.py
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import typer

from hotband.base.question import Question, further, summary
from hotband.data.catalog import entries
from hotband.data.catalog.layouts import LAYOUTS
from hotband.data.documents import record
from hotband.data.inputs.keys import set_keys
from hotband.faces.asked.function import said
from hotband.faces.cli import app
from hotband.faces.commands.epilogs import INVALID
from hotband.faces.commands.front import GROUPS
from hotband.faces.commands.manual import commands
from hotband.faces.questions import QUESTIONS, by_function, declared
from hotband.faces.renamed import command_words
from hotband.questions.study import file

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
WRITTEN = "<!-- Written by `python scripts/reference.py`: do not edit what follows. -->\n"
MACHINES = (
    "ent-10k",
    "pm893-3840",
    "990-pro-1tb",
    "7450-pro-3840",
    "raid10:4xent-10k",
    "raid5:4xent-10k",
    "raidz1:4xent-10k",
)
"""Machines whose keys together are nearly all keys."""
SEVERAL = 2
"""An option with the same meaning in this many commands is described once."""
DRIVES: dict[str, Callable[[str, str], bool]] = {
    "Disks": lambda kind, title: kind == "disk",
    "SATA and SAS SSDs": lambda kind, title: kind != "disk" and ", NVMe" not in title,
    "NVMe drives": lambda kind, title: kind != "disk" and ", NVMe" in title,
}
"""The headings of the catalog's drives, each with a test of the kind and title of a drive."""
MANY = 8
"""Functions with this many arguments are printed with only those that a call needs."""
EVERYWHERE = ("set", "progress")
"""Arguments that the introduction of the Python page describes."""
INTRODUCTION = """`import hotband as hb`. Options of the linked command are further keyword arguments (`...`), with `_`
for `-`; an option that may be repeated is a list. `set={}` is `--set`; functions with `**settings` also accept its keys
as arguments. `progress` is True, False or a function. A mistake raises `hb.UserError`, a failure of the system OSError,
an interrupt KeyboardInterrupt unless the function returns what is finished. `help(hb.run)` explains each function with
all arguments.
"""


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a table of Markdown."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        cells = (" ".join(str(cell).replace("|", chr(92) + "|").split()) for cell in row)
        yield f"| {' | '.join(cells)} |"
    yield ""


def listing(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines of a list of names with their meanings."""
    yield from (f"- {name}: {' '.join(meaning.split())}" for name, meaning in rows)
    yield ""


def all_commands() -> dict[str, Any]:
    """Return every command by its words."""
    group: Any = typer.main.get_command(app)
    return dict(commands(group, typer.Context(group, info_name="hotband"), "hotband"))


def page_of_commands() -> Iterator[str]:
    """Yield all commands: purpose, arguments, options. What means the same in several commands is described once."""
    known = all_commands()
    counts = Counter(row for command in known.values() for row in (*arguments(command), *options(command)))
    common: dict[str, str] = {}
    for (name, meaning), count in counts.most_common():
        if count >= SEVERAL and name not in common:
            common[name] = meaning
    everywhere = [name for name, meaning in common.items() if 2 * counts[name, meaning] > len(known)]
    yield "## Arguments and options of several commands\n"
    yield f"Nearly all commands have {', '.join(everywhere)}. Others are listed under each command that has them.\n"
    yield from listing(common.items())
    schemas = {" ".join(["hotband", *command_words(name)]): declared(name).schema for name in QUESTIONS}
    for title, names in GROUPS.items():
        yield f"## {title}\n"
        for words, command in known.items():
            if words.split()[1] in names:
                yield f"### {words}\n"
                yield f"`{usage(words, command)}`\n"
                yield from section(command, common, everywhere, schemas.get(words))


def usage(words: str, command: Any) -> str:
    """Return the usage line of a command: its arguments and those options that it requires."""
    accepted = (parameter for parameter in command.params if parameter.param_type_name == "argument")
    names = [(parameter.metavar or parameter.name.upper(), parameter.required) for parameter in accepted]
    required = [name for name, meaning in options(command) if meaning.endswith(" Required.")]
    positional = [name if needed or name.startswith("[") else f"[{name}]" for name, needed in names]
    return " ".join([words, *positional, *(name.rpartition("`, `")[2].strip("`") for name in required)])


def arguments(command: Any) -> Iterator[tuple[str, str]]:
    """Yield the arguments of a command, each with its meaning."""
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            yield f"`{parameter.metavar or parameter.name.upper()}`", getattr(parameter, "help", None) or ""


def options(command: Any) -> Iterator[tuple[str, str]]:
    """Yield the options of a command, each with its meaning."""
    for parameter in command.params:
        if parameter.param_type_name == "option" and parameter.name != "help" and not parameter.hidden:
            takes = "" if parameter.is_flag else f" {parameter.metavar or ''}".rstrip()
            text = parameter.help or ""
            is_stated = callable(parameter.default) or parameter.is_flag or "Default:" in text
            default = "" if is_stated else parameter.default or ""
            stated = " Required." if parameter.required else f" Default: {default}." if default else ""
            *short, last = parameter.opts
            yield ", ".join([*(f"`{name}`" for name in short), f"`{last}{takes}`"]), f"{text}{stated}"


def section(command: Any, common: Mapping[str, str], everywhere: Sequence[str], schema: str | None) -> Iterator[str]:
    """Yield the help of a command, its own arguments and options, the names of common options, and its schema."""
    yield " ".join((command.help or "").replace(INVALID, "").split()) + "\n"
    rows = [*arguments(command), *options(command)]
    if own := [(name, meaning) for name, meaning in rows if common.get(name) != meaning]:
        yield from listing(own)
    also = [name for name, meaning in options(command) if common.get(name) == meaning and name not in everywhere]
    uses = Counter(map(bare, common))
    names = [f"`{bare(name)}`" if uses[bare(name)] == 1 else name for name in also]
    lines = [f"Also: {', '.join(names)}."] if names else []
    lines += [f"JSON: `{schema}`."] if schema else []
    if lines:
        yield " ".join(lines) + "\n"


def bare(name: str) -> str:
    """Return the first name of an option, without its value."""
    return name.split()[0].strip("`,")


def page_of_keys() -> Iterator[str]:
    """Yield the page of the keys that `--set` takes."""
    yield "# Keys of settings\n"
    yield "`hotband keys WORKLOAD --on MACHINE` lists those of your machine with their current values.\n"
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for machine in MACHINES:
        for key in set_keys("randread", machine, ()):
            data = key.data()
            part = str(data["part"]).split(":")[0].split(" of ")[0]
            found.setdefault((kind_of(part), str(data["key"])), (str(data["accepted"]), str(data["meaning"])))
    kinds = {accepted: kind for accepted, _ in found.values() if (kind := kind_of_value(accepted))}
    yield from listing((f"*{kind}*", accepted) for accepted, kind in kinds.items())
    for part in dict.fromkeys(part for part, _ in found):
        yield f"## {part}\n"
        for (place, key), (accepted, text) in found.items():
            if place == part:
                allowed = kinds.get(accepted) or short_values(accepted)
                yield f"- `{key}`{'' if allowed in text else f' ({allowed})'}: {text}"
        yield ""


def kind_of_value(accepted: str) -> str:
    """Return the word for a quantity, whose units many keys accept, else an empty text."""
    kind, with_unit, _ = accepted.partition(" with its unit")
    if with_unit:
        return kind.split()[-1]
    return "share" if accepted.startswith("a share from 0 % to 100 %") else ""


def short_values(accepted: str) -> str:
    """Return allowed values as `--set` of a sweep has them: a list, or a range of numbers."""
    values = accepted.removeprefix("one of ").removeprefix("a whole number from ")
    return re.sub(r"^(\d+) to (\d+)$", r"\1..\2", values)


def kind_of(part: str) -> str:
    """Return the heading of the keys of a part."""
    return {"workload": "Workload"}.get(part, "Drives and layouts")


def page_of_catalog() -> Iterator[str]:
    """Yield the page of the catalog."""
    yield "# Catalog\n"
    yield "`hotband drives NAME`, `workloads NAME` and `studies NAME` print each entry with its sources.\n"
    yield "## Drives\n"
    drives = [(one["kind"], one["name"], f"{one['title']} ({one['model']})") for one in entries.drives()]
    for heading, is_of_group in DRIVES.items():
        yield f"### {heading}\n"
        rows = ((f"`{name}`", title.replace(", NVMe", "")) for kind, name, title in drives if is_of_group(kind, title))
        yield from listing(rows)
    yield "## Workloads\n"
    yield from listing((f"`{one['name']}`", one["title"]) for one in entries.workloads())
    yield "## Layouts\n"
    yield from table(("name", "example", "fewest drives", "usable", "survives", "also called"), LAYOUTS)
    yield "## Studies\n"
    read = [file.load(name) for name in file.names()]
    yield from listing((f"`{one.name}`", one.question) for one in read)


def page_of_python() -> Iterator[str]:
    """Yield the page of the Python API: every public function and class with its docstring."""
    import hotband as hb

    yield "# Python API\n"
    yield INTRODUCTION
    known, asked = all_commands(), by_function()
    for name in sorted(one for one in dir(hb) if not one.startswith("_")):
        found = getattr(hb, name)
        if inspect.isfunction(found):
            yield f"### hb.{name}\n"
            words = " ".join(["hotband", *command_words(asked[name])]) if name in asked else ""
            command = words.partition(" --")[0]
            few = len(inspect.signature(found).parameters) < MANY
            call = f"`{name}{short(found, with_options=few and command not in known)}`"
            if command in known:
                yield from function(call, declared(asked[name]), words, known[command])
            else:
                yield f"{call}\n\n{without_errors(inspect.getdoc(found) or '')}\n"
    yield "## Classes\n"
    classes = (f"`hb.{name}`" for name in sorted(dir(hb)) if inspect.isclass(getattr(hb, name)))
    yield f"`help(hb.Record)` explains each of {', '.join(classes)}."


def function(call: str, question: type[Question], words: str, command: Any) -> Iterator[str]:
    """Yield what a function does, its command, those arguments that the command does not describe, and the result."""
    page = words.partition(" --")[0]
    link = f"[{words}](commands.md#{page.replace(' ', '-')})"
    purpose, _, _ = summary(question).partition(". ")
    yield f"{purpose.removesuffix('.')}.\n\n{call}: {link}.\n"
    described = {plain(getattr(parameter, "help", None) or "") for parameter in command.params}
    own = [(name, text) for name, text in said(question) if plain(text) not in described and name not in EVERYWHERE]
    if own:
        yield from listing((f"`{name}`", text) for name, text in own)
    if text := without_errors(further(question)):
        yield text + "\n"


def without_errors(text: str) -> str:
    """Return a docstring without the errors, which are the same for all functions."""
    return re.sub(r"\s*\bRaises\s+UserError.*?(?=\n\n|\Z)", "", text, flags=re.DOTALL)


def plain(text: str) -> str:
    """Return the text of an argument or of its option in a form that is the same for both."""
    return " ".join(text.replace("--", "").replace("-", "_").split()).lower()


def short(function: Any, *, with_options: bool) -> str:
    """Return the arguments of a function without types: those that a call needs, or all with their defaults."""
    signature = inspect.signature(function)
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    if not with_options:
        plain = [one for one in plain if one.kind != one.KEYWORD_ONLY or one.default is one.empty]
    text = str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    if len(plain) == len(signature.parameters):
        return text
    first, starred, last = text.removesuffix(")").partition(", **")
    return f"{first}, ...{starred}{last})"


def page_of_records() -> Iterator[str]:
    """Yield the keys of a record."""
    yield "## Schema\n"
    yield "The keys of `record.json`. Units end the names; `key?` is only in some records, `type?` may be null.\n"
    tree = ast.parse(Path(inspect.getfile(record)).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.endswith("Doc"):
            yield f"### {node.name.removesuffix('Doc')}\n"
            yield " ".join((ast.get_docstring(node) or "").split()) + "\n"
            keys = [key_of(line) for line in node.body if isinstance(line, ast.AnnAssign)]
            rows = ((", ".join(key for key, _ in row), kind) for kind, row in groupby(keys, itemgetter(1)))
            yield "\n".join(["```", *(f"{names}: {kind}" for names, kind in rows), "```", ""])


def key_of(line: ast.AnnAssign) -> tuple[str, str]:
    """Return a key of a document and its type."""
    kind = ast.unparse(line.annotation)
    maybe = kind.startswith("NotRequired[")
    kind = kind.removeprefix("NotRequired[").removesuffix("]") if maybe else kind
    kind = re.sub(r"(\w+)Doc\b", r"\1", kind).replace(" | None", "?")
    return f"{ast.unparse(line.target)}{'?' if maybe else ''}", kind


def pages() -> dict[str, str]:
    """Return the text of each page by its path; what stands above the mark is written by hand."""
    made = {
        "reference/commands.md": page_of_commands,
        "reference/keys.md": page_of_keys,
        "reference/catalog.md": page_of_catalog,
        "reference/python.md": page_of_python,
        "guides/records.md": page_of_records,
    }
    by_hand = {path: (DOCS / path).read_text(encoding="utf-8").partition(WRITTEN)[0] for path in made}
    return {path: by_hand[path] + "\n".join([WRITTEN, *lines()]).rstrip() + "\n" for path, lines in made.items()}


if __name__ == "__main__":
    for path, text in pages().items():
        (DOCS / path).write_text(text, encoding="utf-8")
