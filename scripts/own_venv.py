"""Virtual environments of tools that Hotband itself does not need, made where they are first asked for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


class NotToBeHad(Exception):
    """The environment could not be made; what pip said last."""


def interpreter_with(module: str, venv: Path, wanted: Sequence[str]) -> Path:
    """The interpreter of `venv`, in which `module` is, if need be installed from `wanted` (words of `pip install`).
    Raises NotToBeHad."""
    python = venv / "bin/python"
    if python.is_file() and not subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode:
        return python
    print(f"installing {module}", file=sys.stderr)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in ([sys.executable, "-m", "venv", str(venv)], [*pip, *wanted]):
        tried = subprocess.run(command, capture_output=True, text=True)
        if tried.returncode:
            raise NotToBeHad((tried.stderr.strip() or f"{command[0]} failed").splitlines()[-1])
    return python
