#!/usr/bin/env python3
"""Write `python/hotband/__init__.pyi`: types of the public names, which `hotband/__init__.py` loads on demand.

python scripts/public_stub.py
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap
from pathlib import Path

import hotband as hb
from hotband.faces.asked import function
from hotband.faces.questions import by_function, declared, function_name

STUB = Path(__file__).parents[1] / "python" / "hotband" / "__init__.pyi"
HEAD = "# Written by scripts/public_stub.py from the table of hotband/__init__.py: do not edit.\n"


TYPES = """
from collections.abc import Mapping
from collections.abc import Sequence
from os import PathLike

from hotband.base.text.values import Toml
from hotband.data.inputs.specify import Spec
from hotband.execution.experiment import Executor
from hotband.execution.experiment.watch import Wanted
"""
"""What the arguments of questions are."""


def argument(one: inspect.Parameter) -> str:
    """Return an argument as the stub writes it."""
    if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL):
        return f"{'*' if one.kind is one.VAR_POSITIONAL else '**'}{one.name}: {one.annotation}"
    default = "" if one.default is one.empty else f" = {one.default!r}"
    return f"{one.name}: {one.annotation}{default}"


def signature(name: str) -> str:
    """Return the function of a question, which is made when it is asked for."""
    found = list(function.parameters(declared(name)))
    named = [argument(one) for one in found if one.kind is one.POSITIONAL_OR_KEYWORD]
    others = [argument(one) for one in found if one.kind is not one.POSITIONAL_OR_KEYWORD]
    spread = any(one.kind is one.VAR_POSITIONAL for one in found)
    lines = "".join(f"    {one},\n" for one in [*named, *["*"] * (not spread), *others]).replace(
        "**settings: object,", "**settings: object"
    )
    text = textwrap.indent(f'"""{function.docstring(declared(name))}"""', "    ")
    return f"def {function_name(name)}(\n{lines}) -> {declared(name).answers.partition(':')[2]}:\n{text}\n"


def stub() -> str:
    """Return the text of the stub."""
    answers = (declared(name).answers.partition(":") for name in by_function().values())
    imports = {f"from {module} import {name} as {name}\n" for module, _, name in answers}
    modules = {**hb._MODULES, "hotband.base.version": ("__version__",)}
    imports |= {f"from {module} import {name} as {name}\n" for module, names in modules.items() for name in names}
    names = "".join(f'    "{name}",\n' for name in hb.__all__)
    functions = "\n".join(signature(name) for name in by_function().values())
    text = f"{TYPES}{''.join(sorted(imports))}\n{functions}\n__all__ = [\n{names}]\n"
    used = "".join(line for line in text.splitlines(keepends=True) if not is_idle(line, functions))
    return HEAD + ruff("format", ruff("check", used, "--fix", "--quiet", "--select=I"))


def is_idle(line: str, functions: str) -> bool:
    """Whether a line imports a type that no function has."""
    line = line.rstrip("\n")
    return line in TYPES.splitlines() and line.count(",") == 0 and bool(line) and line.split()[-1] not in functions


def ruff(command: str, text: str, *options: str) -> str:
    """Return the text as ruff leaves it."""
    arguments = [sys.executable, "-m", "ruff", command, *options, "--stdin-filename", str(STUB), "-"]
    return subprocess.run(arguments, input=text, capture_output=True, text=True, check=True, cwd=STUB.parents[2]).stdout


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
