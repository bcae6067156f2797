"""Changes pieces of Hotband's Python and lists what no test notices: `python scripts/python_mutants.py --count 60`.

A sample of the changes that cosmic-ray knows (an operator, a comparison, a number, a condition), drawn from a seed,
each in a copy of what is committed, with the tests of its part. What survived is printed as a difference; results are
kept in FOLDER, and the same command continues from there. Types of arguments and results are left: nothing reads them.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from own_venv import NotToBeHad, interpreter_with

ROOT = Path(__file__).resolve().parent.parent
COSMIC_RAY = "cosmic-ray==8.7.0"
COMPARING = ("compare", "difference", "comparability", "correlated", "resample")
MOST_S = 300
"""A change after which the tests take longer is noticed: undisturbed they take half a minute."""


@dataclass(frozen=True)
class Part:
    """What is changed, and the tests that should notice."""

    files: tuple[str, ...]
    tests: tuple[str, ...]
    without: tuple[str, ...] = ()

    def paths(self, tree: Path) -> list[Path]:
        """The files in a copy of the project."""
        found = {path for pattern in self.files for path in (tree / "python/hotband").glob(pattern)}
        return sorted(path for path in found if path.stem not in self.without)


PARTS = {
    "audit": Part(("inference/audit/*.py",), ("tests/audit",), COMPARING),
    "compare": Part(tuple(f"inference/audit/{one}.py" for one in COMPARING), ("tests/audit",)),
    "interval": Part(
        ("inference/interval/*.py", "questions/study/intervals/*.py"),
        ("tests/interval", "tests/review/test_review_intervals.py"),
    ),
}


class Change(NamedTuple):
    """One change of cosmic-ray's: `number` tells those of an operator in a file apart."""

    path: Path
    operator: str
    arguments: dict[str, Any]
    number: int
    line: int


def annotated(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations stand: (line, column) of begin and end."""
    found: list[ast.expr | None] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node.returns)
        elif isinstance(node, ast.arg | ast.AnnAssign):
            found.append(node.annotation)
    return [
        ((one.lineno, one.col_offset), (one.end_lineno or 0, one.end_col_offset or 0))
        for one in found
        if one is not None
    ]


def changes(paths: list[Path]) -> list[Change]:
    """Every change of these files."""
    from cosmic_ray.commands import init
    from cosmic_ray.work_db import WorkDB

    base = WorkDB(":memory:", WorkDB.Mode.create)
    init(paths, base, {})
    without = {path: annotated(path.read_text(encoding="utf-8")) for path in paths}
    found = []
    for item in base.work_items:
        (one,) = item.mutations
        path, at = Path(one.module_path), tuple(one.start_pos)
        if not any(begin <= at < end for begin, end in without[path]):
            found.append(Change(path, one.operator_name, dict(one.operator_args), one.occurrence, at[0]))
    return sorted(found, key=lambda one: (one.path, one.operator, one.number))


def tested(change: Change, command: list[str], tree: Path) -> tuple[bool, str]:
    """Whether the tests notice a change, and the difference it makes."""
    import difflib

    from cosmic_ray import plugins
    from cosmic_ray.mutating import use_mutation

    operator = plugins.get_operator(change.operator)(**change.arguments)
    with use_mutation(change.path, operator, change.number) as (before, after):
        lines = difflib.unified_diff(before.splitlines(), (after or "").splitlines(), lineterm="", n=1)
        noticed = after is not None and not passes(command, tree)
    return noticed, "\n".join(list(lines)[2:])


def passes(command: list[str], tree: Path) -> bool:
    """Whether the tests pass in a copy."""
    env = {**os.environ, "PYTHONPATH": str(tree / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        said = subprocess.run(command, cwd=tree, env=env, capture_output=True, timeout=MOST_S)
    except subprocess.TimeoutExpired:
        return False
    return said.returncode == 0


def copied(folder: Path) -> Path:
    """A copy of what is committed, with the compiled module of this folder."""
    tree = folder / "tree-python"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", str(tree)], input=archive.stdout, check=True)
    for module in (ROOT / "python/hotband").glob("_core*.so"):
        shutil.copy2(module, tree / "python/hotband" / module.name)
    return tree


def of_part(name: str, tree: Path, folder: Path, count: int, seed: int) -> Counter[str]:
    """Tests a sample of a part's changes; how many were noticed and survived."""
    part = PARTS[name]
    every = changes(part.paths(tree))
    sample = random.Random(f"{seed}/{name}").sample(every, min(count, len(every)))
    kept = folder / f"{name}-{seed}.jsonl"
    done = [json.loads(line) for line in kept.read_text().splitlines()] if kept.is_file() else []
    command = [str(ROOT / ".venv/bin/python"), "-m", "pytest", "-x", "-p", "no:cacheprovider", *part.tests]
    if not passes(command, tree):
        raise SystemExit(f"{name}: its tests do not pass as they are: {' '.join(command)} in {tree}")
    for number, change in enumerate(sample[len(done) :], len(done) + 1):
        noticed, difference = tested(change, command, tree)
        where = f"{change.path.relative_to(tree)}:{change.line}"
        done.append({"where": where, "operator": change.operator, "noticed": noticed, "difference": difference})
        with kept.open("a") as out:
            out.write(json.dumps(done[-1]) + "\n")
        if not noticed:
            print(f"{name} {number}: survived, {where}\n{difference}\n", flush=True)
    return Counter(all=len(every), tried=len(done), noticed=sum(one["noticed"] for one in done))


def main() -> int:
    """Prints a line a part; exit code 0 whatever survived: it is for a person to look at."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default=",".join(PARTS), help="of these alone")
    parser.add_argument("--count", type=int, default=60, help="changes of each part")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=ROOT / "out/mutants")
    asked = parser.parse_args()
    folder: Path = asked.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    names = asked.part.split(",")
    for name in names:
        if name not in PARTS:
            parser.error(f"no part {name!r}; there are {', '.join(PARTS)}")
    try:
        python = interpreter_with("cosmic_ray", folder / "venv", [COSMIC_RAY])
    except NotToBeHad as error:
        print(f"{COSMIC_RAY} cannot be installed: {error}", file=sys.stderr)
        return 2
    if Path(sys.prefix).resolve() != (folder / "venv").resolve():
        os.execv(python, [str(python), *sys.argv])
    tree = copied(folder)
    counts = {name: of_part(name, tree, folder, asked.count, asked.seed) for name in names}
    for name, one in counts.items():
        share = one["noticed"] / one["tried"] if one["tried"] else 0.0
        print(f"{name:9} {one['noticed']} of {one['tried']} noticed ({share:.0%}), of {one['all']:,} changes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
