"""Does the server end in order when it is told to, and at once when it must?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from forms import sized

PATIENCE = 120
"""Seconds after which a process that goes on is a fault: on an idle computer it ends in two."""
TOLD_TWICE = """
import os, signal, sys
import uvicorn
from hotband.faces.cli import main
from hotband.faces.ui import server

shutdown = uvicorn.Server.shutdown

async def interrupted(self, sockets=None):
    os.kill(os.getpid(), signal.SIGINT)
    await shutdown(self, sockets)

uvicorn.Server.shutdown = interrupted
server.PATIENCE_S = int(sys.argv[1])
sys.argv = ["hotband", "ui", "--no-browser"]
main()
"""


def ended(number: int, patience: int, folder: Path) -> tuple[int, list[str]]:
    """The exit code of a server that is told to end by a signal and again while it ends, and what it says then."""
    command, pipe = [sys.executable, "-c", TOLD_TWICE, str(patience)], subprocess.PIPE
    environment = {**os.environ, "TMPDIR": str(folder)}
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://")
        process.send_signal(number)
        try:
            said = process.communicate(timeout=PATIENCE)[1]
        finally:
            process.kill()
    return process.returncode, said.splitlines()[1:]


@pytest.mark.parametrize("number", [signal.SIGINT, *sized([], [signal.SIGTERM, signal.SIGHUP])])
def test_it_ends_in_order_though_it_is_interrupted_again(tmp_path: Path, number: int) -> None:
    assert ended(number, 1000, tmp_path) == (0, ["hotband ui: ended"])
    assert not list(tmp_path.glob("hotband-ui-*"))


def test_one_that_does_not_end_is_ended_by_a_later_interrupt(tmp_path: Path) -> None:
    assert ended(signal.SIGINT, -1, tmp_path) == (130, [])
