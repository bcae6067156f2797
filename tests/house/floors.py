"""Which modules of the Python half import which, and on which floor each stands (ARCHITECTURE.md).

Every form of import counts: at the top of a file, inside functions, for type checkers alone, relative, and names of
modules in text, as importlib and tables of what is loaded when it is used have them. Left out: the package
that an import loads on its way (`hotband.a` of `hotband.a.b`), and names that are put together at run time but for
their beginning. The compiled engine lies beside the floors and imports none of them: `import hotband._core as _core`
names it alone, while `from hotband import _core` is an import of the package, whose names come from every face.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from source import nodes

FLOORS = ("base", "data", "execution", "inference", "questions", "views", "faces")
"""From the ground up. A floor is the first folder below the package."""
TOP = ("", "__main__")
"""Modules that stand beside the highest floor: the flat names that users import, and the entry point."""
NAMED = re.compile(r"\w+(?:\.\w+)+")
BEGUN = re.compile(r"(\w+(?:\.\w+)*)\.\w*")


def modules(package: Path) -> dict[str, Path]:
    """The files of a package, by the name of the module."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def floor_of(module: str) -> int | None:
    """The floor of a module, from 0; None where it stands on none."""
    inner = module.split(".")[1:] or [""]
    if inner[0] in TOP and len(inner) == 1:
        return len(FLOORS) - 1
    return FLOORS.index(inner[0]) if inner[0] in FLOORS else None


def part_of(module: str) -> str:
    """The package or the single module of a floor that a module belongs to."""
    return ".".join(module.split(".")[:3])


def names_in(node: ast.AST, module: str, is_package: bool) -> Iterator[tuple[str, str]]:
    """What a piece of code imports: modules, each with the name that is taken from it, if any."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, "") for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = module.split(".")[: len(module.split(".")) - node.level + is_package] if node.level else []
        source = ".".join([*above, *([node.module] if node.module else [])])
        yield from ((source, alias.name) for alias in node.names)
    elif isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
        if begun := BEGUN.fullmatch(str(node.values[0].value)):
            yield begun[1], ""
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        name = node.value.partition(":")[0]
        if NAMED.fullmatch(name):
            yield name, ""


def graph(package: Path) -> dict[str, set[str]]:
    """Which module imports which; a module that is named by a longer name is its nearest one."""
    known = modules(package)
    uses: dict[str, set[str]] = {module: set() for module in known}
    for module, file in known.items():
        for node in nodes(file):
            for source, name in names_in(node, module, file.name == "__init__.py"):
                whole = f"{source}.{name}".strip(".")
                target = next((one for one in (whole, source) if one in known), module)
                uses[module] |= {target} - {module}
    return uses


def upward(uses: dict[str, set[str]]) -> set[str]:
    """Imports that go up, as "importer -> imported"."""
    floors = {module: floor_of(module) for module in uses}
    return {
        f"{module} -> {target}"
        for module, targets in uses.items()
        for target in targets
        if (floors[module] or 0) < (floors[target] or 0)
    }


def parts(uses: dict[str, set[str]]) -> dict[str, set[str]]:
    """Which packages of a floor import which of the same floor."""
    found: dict[str, set[str]] = defaultdict(set)
    for module, targets in uses.items():
        same = {part_of(one) for one in targets if floor_of(one) == floor_of(module)}
        found[part_of(module)] |= same - {part_of(module)}
    return {part: targets & set(found) for part, targets in found.items()}
