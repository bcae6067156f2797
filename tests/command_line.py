"""The command line, in the process of the tests."""

from __future__ import annotations

import contextlib
import subprocess
import traceback
from pathlib import Path

from typer.testing import CliRunner


def run_hotband(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs `hotband ARGUMENTS` in `cwd`; nothing is checked. What no command catches ends in a traceback on stderr and
    exit code 1, as in a process."""
    from hotband.faces.cli import app

    with contextlib.chdir(cwd or Path.cwd()):
        done = CliRunner().invoke(app, arguments, prog_name="hotband")
    stderr = done.stderr
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        stderr += "".join(traceback.format_exception(done.exception))
    return subprocess.CompletedProcess(["hotband", *arguments], done.exit_code, done.stdout, stderr)
