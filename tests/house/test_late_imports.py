"""Is what a module uses imported at its top, where a reader looks for it?

Imports for type checkers alone are none at run time. Left out: names that are loaded by `importlib` from
tables (commands, views, the public API), whose modules nothing else has to load.
"""

import ast
import functools
import sys
from collections.abc import Iterator
from pathlib import Path

from late import LATE
from source import nodes

PACKAGE = Path(__file__).parents[2] / "python" / "hotband"
MOST = 150
"""Names of our own that are imported inside functions."""
HEAVY = {
    "altair", "defusedxml", "duckdb", "IPython", "jinja2", "markupsafe", "numpy", "polars", "pyarrow", "ray", "rich",
    "scipy", "tomlkit", "vl_convert",
}  # fmt: skip
"""Libraries that take long to load, or are there in a notebook alone: functions that use them may import them."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def inside(file: Path) -> Iterator[str]:
    """Yield the names that functions of a file import, with the module that they are imported from."""
    functions = [node for node in nodes(file) if isinstance(node, FUNCTIONS)]
    within = {id(node): node for function in functions for node in ast.walk(function)}
    for node in within.values():
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def late(package: Path) -> Iterator[tuple[str, str]]:
    """A module, and a name that a function of it imports."""
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield from ((module, name) for name in inside(path))


@functools.cache
def late_names() -> list[tuple[str, str]]:
    """Return the names that functions of the package import, each with its module."""
    return list(late(PACKAGE))


def test_what_is_imported_inside_functions_has_a_reason() -> None:
    listed = {(module, name) for of in LATE.values() for module, names in of.items() for name in names}
    ours = {(module, name.removeprefix("hotband.")) for module, name in late_names() if name.startswith("hotband.")}
    assert sorted(ours - listed) == [], "import these at the top, or say in late.py why not"
    assert sorted(listed - ours) == [], "these are no longer imported inside functions"


def test_few_names_of_our_own_are_imported_inside_functions() -> None:
    assert len([name for _, name in late_names() if name.startswith("hotband.")]) <= MOST


def test_no_other_library_but_a_heavy_one_is_imported_inside_functions() -> None:
    libraries = {name.partition(".")[0] for _, name in late_names()} - set(sys.stdlib_module_names) - {"hotband"}
    assert libraries - HEAVY == set()


def test_an_import_inside_a_function_is_found(tmp_path: Path) -> None:
    (tmp_path / "find.py").write_text(
        "import polars\ndef f():\n    def g():\n        from hotband.base import units as u\n"
    )
    assert list(late(tmp_path)) == [("find", "hotband.base.units")]
