"""Which files of a Rust crate use one another: circles in the graph of `use crate::` and `use super::`."""

import re
from collections.abc import Iterator
from pathlib import Path

USE = re.compile(r"^\s*(?:pub(?:\([a-z]+\))? )?use ([^;]*);", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"\bcrate::([a-z_0-9]+(?:::[a-z_0-9]+)*)")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", re.DOTALL)
COMMENT = re.compile(r"//.*")


def modules(source: Path) -> dict[tuple[str, ...], Path]:
    """Every module that is a file, by its path inside the crate."""
    found = {}
    for file in sorted(source.rglob("*.rs")):
        parts = file.relative_to(source).with_suffix("").parts
        if parts[-1] in ("mod", "lib", "main"):
            parts = parts[:-1]
        found[parts] = file
    return found


def paths(tree: str) -> Iterator[tuple[str, ...]]:
    """The paths that a use tree names: `a::{b, c::d}` names a::b and a::c::d."""
    head, brace, rest = tree.partition("{")
    parts = tuple(part.strip() for part in head.split("::") if part.strip())
    if not brace:
        yield (*parts[:-1], parts[-1].split(" as ")[0].strip()) if parts else ()
        return
    depth, begin, body = 0, 0, rest[: rest.rindex("}")]
    for at, letter in enumerate(body + ","):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if body[begin:at].strip():
                for path in paths(body[begin:at]):
                    yield (*parts, *path)
            begin = at + 1


def above(module: tuple[str, ...], path: tuple[str, ...]) -> tuple[str, ...]:
    """Where `super::super::a` of a module leads."""
    while path and path[0] in ("super", "self"):
        module = module[:-1] if path[0] == "super" else module
        path = path[1:]
    return (*module, *path)


def graph(source: Path) -> dict[Path, set[Path]]:
    """Which file uses which; the tests inside a file do not count."""
    known = modules(source)
    uses: dict[Path, set[Path]] = {file: set() for file in known.values()}
    for module, file in known.items():
        text = TESTS.sub("", COMMENT.sub("", file.read_text(encoding="utf-8")))
        named = [path for tree in USE.findall(text) for path in paths(tree)]
        named += [("crate", *path.split("::")) for path in INLINE.findall(text)]
        for path in named:
            if path[0] == "crate":
                whole = path[1:]
            elif path[0] in ("super", "self"):
                whole = above(module, path)
            elif (*module, path[0]) in known:
                whole = (*module, *path)
            else:
                continue
            target = next(known[whole[:n]] for n in range(len(whole), -1, -1) if whole[:n] in known)
            # Names that the root hands on belong to no file: what it hands on is a matter of the crate's border.
            if target != file and target.name not in ("lib.rs", "main.rs"):
                uses[file].add(target)
    return uses


def circles(uses: dict[Path, set[Path]]) -> list[list[Path]]:
    """Groups of files of which each reaches every other, the largest first (Tarjan)."""
    number: dict[Path, int] = {}
    low: dict[Path, int] = {}
    stack: list[Path] = []
    found: list[list[Path]] = []

    def visit(file: Path) -> None:
        number[file] = low[file] = len(number)
        stack.append(file)
        for other in sorted(uses[file]):
            if other not in number:
                visit(other)
                low[file] = min(low[file], low[other])
            elif other in stack:
                low[file] = min(low[file], number[other])
        if low[file] == number[file]:
            at = stack.index(file)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for file in uses:
        if file not in number:
            visit(file)
    return sorted(found, key=len, reverse=True)
