#!/usr/bin/env python3
"""Write `python/hotband/__init__.pyi`: types of the public names, which `hotband/__init__.py` loads on demand.

python scripts/public_stub.py
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

import hotband as hb
from hotband.faces.asked import function, methods
from hotband.faces.questions import by_function, declared, function_name

STUB = Path(__file__).parents[1] / "python" / "hotband" / "__init__.pyi"
METHODS = Path(methods.__file__).with_suffix(".pyi")
HEAD = "# Written by scripts/public_stub.py from the table of hotband/__init__.py: do not edit.\n"


TYPES = """
from collections.abc import Callable
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
    if one.annotation is one.empty:
        return one.name
    if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL):
        return f"{'*' if one.kind is one.VAR_POSITIONAL else '**'}{one.name}: {one.annotation}"
    default = "" if one.default is one.empty else f" = {one.default!r}"
    return f"{one.name}: {one.annotation}{default}"


def signature(name: str) -> str:
    """Return the function or method of a question, which is made when it is asked for."""
    found = list(function.parameters(declared(name)))
    named = [argument(one) for one in found if one.kind is one.POSITIONAL_OR_KEYWORD]
    others = [argument(one) for one in found if one.kind is not one.POSITIONAL_OR_KEYWORD]
    star = [] if not others or any(one.kind is one.VAR_POSITIONAL for one in found) else ["*"]
    lines = "".join(f"    {one},\n" for one in [*named, *star, *others]).replace(
        "**settings: object,", "**settings: object"
    )
    text = textwrap.indent(f'"""{function.docstring(declared(name))}"""', "    ")
    called, returned = function_name(name).rpartition(".")[2], function.returned(declared(name)).partition(":")[2]
    return f"def {called}(\n{lines}) -> {returned}:\n{text}\n"


def stub() -> str:
    """Return the text of the stub."""
    imports = imports_of(by_function().values())
    modules = {**hb._MODULES, "hotband.base.version": ("__version__",)}
    imports |= {f"from {module} import {name} as {name}\n" for module, names in modules.items() for name in names}
    names = "".join(f'    "{name}",\n' for name in hb.__all__)
    text = "\n".join(signature(name) for name in by_function().values())
    return formed(imports, text, f"__all__ = [\n{names}]\n")


def methods_stub() -> str:
    """Return the text of the stub of methods."""
    text: list[str] = []
    used: list[str] = []
    for kind in vars(methods).values():
        if isinstance(kind, type) and kind.__module__ == methods.__name__:
            names = [one.name for one in vars(kind).values() if isinstance(one, function.Method)]
            text += [f"class {kind.__name__}:", f'    """{kind.__doc__}"""', *map(indented, map(signature, names))]
            used += names
    return formed(imports_of(used), "\n".join(text))


def indented(text: str) -> str:
    """Return a function as a method."""
    return textwrap.indent(text, "    ")


def imports_of(names: Iterable[str]) -> set[str]:
    """Return the imports of what the functions of questions return."""
    returned = (function.returned(declared(name)).partition(":") for name in names)
    return {f"from {module} import {name} as {name}\n" for module, _, name in returned}


def formed(imports: set[str], functions: str, names: str = "") -> str:
    """Return a stub as ruff leaves it."""
    text = f"{TYPES}{''.join(sorted(imports))}\n{functions}\n{names}"
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
    METHODS.write_text(methods_stub(), encoding="utf-8")
