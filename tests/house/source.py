"""Parse each module once for all tests of a process: six of them walk every module of the package."""

import ast
from functools import cache
from pathlib import Path


@cache
def parsed(file: Path) -> ast.Module:
    """Return the syntax tree of a file, which does not change while the tests run."""
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a file in the order of `ast.walk`."""
    return tuple(ast.walk(parsed(file)))
