"""Does one module alone start and end other programs?

Left out: Ray starts its cluster itself, from `ray.init` (`execution/experiment/ray_cluster.py`).
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from source import nodes

PACKAGE = Path(__file__).parents[2] / "python" / "hotband"
ONLY = "base/child.py"
MODULES = {"subprocess", "multiprocessing", "pty", "pexpect", "sh"}
NAMES = {
    "create_subprocess_exec", "create_subprocess_shell", "execv", "execve", "execvp", "execvpe", "fork", "forkpty",
    "kill", "killpg", "pidfd_send_signal", "popen", "posix_spawn", "posix_spawnp", "spawnl", "spawnv", "spawnve",
    "system", "ProcessPoolExecutor",
}  # fmt: skip
"""Of os, signal, asyncio and concurrent.futures."""
OF = {"os", "signal", "asyncio", "futures", "concurrent"}


def uses(code: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names among the nodes of a module that start or end programs."""
    for node in code:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").partition(".")[0]
            if module in MODULES:
                yield module
            elif module in OF:
                yield from (alias.name for alias in node.names if alias.name in NAMES)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from [f"{node.value.id}.{node.attr}"] if node.attr in NAMES and node.value.id in OF else []


def test_one_module_starts_and_ends_programs() -> None:
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if any(uses(nodes(path)))}
    assert found == {ONLY}


def test_every_way_is_found() -> None:
    ways = ("import subprocess as s", "from subprocess import run", "import os\nos.system('ls')", "from os import fork",
            "import os\ndef f():\n    os.killpg(1, 9)", "from asyncio import create_subprocess_exec",
            "from concurrent.futures import ProcessPoolExecutor", "import multiprocessing.pool")  # fmt: skip
    assert [way for way in ways if not any(uses(ast.walk(ast.parse(way))))] == []
