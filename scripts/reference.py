#!/usr/bin/env python3
"""Write the reference pages of the documentation from the definitions: commands, keys, catalog, Python API, records.

python scripts/reference.py
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from hotband.data.catalog import entries
from hotband.data.catalog.layouts import LAYOUTS
from hotband.data.documents import record
from hotband.data.inputs.keys import set_keys
from hotband.faces.cli import app
from hotband.faces.commands.front import GROUPS
from hotband.faces.commands.manual import commands
from hotband.faces.questions import QUESTIONS, declared
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


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a table of Markdown."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        cells = (" ".join(str(cell).replace("|", chr(92) + "|").split()) for cell in row)
        yield f"| {' | '.join(cells)} |"
    yield ""


def page_of_commands() -> Iterator[str]:
    """Yield all commands: purpose, arguments, options."""
    group: Any = typer.main.get_command(app)
    known = dict(commands(group, typer.Context(group, info_name="hotband"), "hotband"))
    schemas = {" ".join(["hotband", *command_words(name)]): declared(name).schema for name in QUESTIONS}
    for title, names in GROUPS.items():
        yield f"## {title}\n"
        for words, command in known.items():
            if words.split()[1] in names:
                yield f"### {words}\n"
                yield from section(command)
                if schema := schemas.get(words):
                    yield f"`--json` prints a document whose `schema` is `{schema}`.\n"


def section(command: Any) -> Iterator[str]:
    """Yield the help of a command, and a table of its parameters."""
    yield " ".join((command.help or "").split()) + "\n"
    rows = []
    for parameter in command.params:
        if parameter.name == "help" or getattr(parameter, "hidden", False):
            continue
        is_option = parameter.param_type_name == "option"
        name = (
            ", ".join(f"`{one}`" for one in parameter.opts)
            if is_option
            else f"`{parameter.metavar or parameter.name.upper()}`"
        )
        takes = "" if getattr(parameter, "is_flag", False) or not is_option else parameter.metavar or ""
        default = parameter.default
        shown = (
            "needed" if parameter.required else "" if default in (None, False, (), "") or callable(default) else default
        )
        rows.append((name, takes, shown, getattr(parameter, "help", None) or ""))
    yield from table(("parameter", "takes", "default", "meaning"), rows)


def page_of_keys() -> Iterator[str]:
    """Yield the page of the keys that `--set` takes."""
    yield "# Keys of settings\n"
    yield "`hotband keys WORKLOAD --on MACHINE` lists those of your machine with their current values.\n"
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for machine in MACHINES:
        for key in set_keys("randread", machine, ()):
            data = key.data()
            part = str(data["part"]).split(":")[0].split(" of ")[0]
            found.setdefault((kind_of(part), str(data["key"])), (str(data["accepted"]), str(data["meaning"])))
    for part in dict.fromkeys(part for part, _ in found):
        yield f"## {part}\n"
        yield from table(
            ("key", "allowed values", "meaning"), [(f"`{k}`", *of) for (p, k), of in found.items() if p == part]
        )


def kind_of(part: str) -> str:
    """Return the heading of the keys of a part."""
    return {"workload": "Workload"}.get(part, "Drives and layouts")


def page_of_catalog() -> Iterator[str]:
    """Yield the page of the catalog."""
    yield "# Catalog\n"
    yield "`hotband drives NAME`, `workloads NAME` and `studies NAME` print each entry with its sources.\n"
    yield "## Drives\n"
    yield from table(
        ("name", "drive", "model"), [(f"`{one['name']}`", one["title"], one["model"]) for one in entries.drives()]
    )
    yield "## Workloads\n"
    yield from table(("name", "workload"), [(f"`{one['name']}`", one["title"]) for one in entries.workloads()])
    yield "## Layouts\n"
    yield from table(("name", "example", "fewest drives", "usable", "survives", "also called"), LAYOUTS)
    yield "## Studies\n"
    read = [file.load(name) for name in file.names()]
    yield from table(("name", "study", "question"), [(f"`{one.name}`", one.title, one.question) for one in read])


def page_of_python() -> Iterator[str]:
    """Yield the page of the Python API: every public function and class with its docstring."""
    import hotband as hb

    yield "# Python API\n"
    yield "`import hotband as hb`. Every mistake raises `hb.UserError`; `--set KEY=VALUE` of a command is `set={}`.\n"
    for name in sorted(one for one in dir(hb) if not one.startswith("_")):
        found = getattr(hb, name)
        if inspect.isfunction(found):
            yield f"### hb.{name}\n"
            yield f"```python\n{name}{short(found)}\n```\n"
            yield inspect.getdoc(found) or ""
            yield ""
    yield "## Classes\n"
    rows = [
        (f"`hb.{name}`", first(getattr(hb, name))) for name in sorted(dir(hb)) if inspect.isclass(getattr(hb, name))
    ]
    yield from table(("class", "what it is"), rows)


def short(function: Any) -> str:
    """Return the arguments of a function with their defaults, without types."""
    signature = inspect.signature(function)
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def first(of: Any) -> str:
    """Return the first paragraph of a docstring."""
    return " ".join((inspect.getdoc(of) or "").partition("\n\n")[0].split())


def page_of_records() -> Iterator[str]:
    """Yield the keys of a record."""
    yield "## Schema\n"
    yield "The keys of `record.json`. Units end the names; a key marked `?` is only in some records.\n"
    tree = ast.parse(Path(inspect.getfile(record)).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.endswith("Doc"):
            yield f"### {node.name.removesuffix('Doc')}\n"
            yield " ".join((ast.get_docstring(node) or "").split()) + "\n"
            keys = [one for one in node.body if isinstance(one, ast.AnnAssign)]
            yield from table(("key", "type"), [key_of(one) for one in keys])


def key_of(line: ast.AnnAssign) -> tuple[str, str]:
    """Return a key of a document, and its type."""
    kind = ast.unparse(line.annotation)
    maybe = kind.startswith("NotRequired[")
    kind = kind.removeprefix("NotRequired[").removesuffix("]") if maybe else kind
    return f"`{ast.unparse(line.target)}`{' ?' if maybe else ''}", f"`{kind}`"


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
