"""Are runs sent to a cluster that was started by `ray start`, as the guide says, and does its token keep others out?"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install hotband[ray]")

SWEEP = (
    "sweep", "fio-randread", "--on", "ent-10k", "--set", "qd=1,2", "--duration", "100 ms", "--format", "csv",
)  # fmt: skip
TOKEN = "0123456789abcdef" * 4
HEAD = "from ray.scripts.scripts import main; main()"
PROGRAM = "import sys; sys.argv[0] = 'hotband'; from hotband.faces.cli import main; sys.exit(main())"
Outcome = tuple[int, str, str]


@pytest.fixture(scope="module")
def outcomes() -> Iterator[tuple[Mapping[str, Outcome], Path]]:
    """What `--executor ray://HOST:PORT` gave with the cluster's token and without it: exit code, stdout, stderr; and
    the home that Ray had. On loopback alone."""
    with tempfile.TemporaryDirectory(prefix="hbray-", ignore_cleanup_errors=True) as folder:
        home = Path(folder, "home")
        home.mkdir()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        usual = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        usual |= {"HOME": str(home), "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
        admitted = {**usual, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN}
        options = ("--num-cpus=2", "--node-ip-address=127.0.0.1", "--include-dashboard=false", "--disable-usage-stats")
        head = [sys.executable, "-c", HEAD, "start", "--head", f"--port={port}", f"--temp-dir={folder}/ray", *options]
        try:
            began = subprocess.run(head, env=admitted, capture_output=True, text=True, timeout=120, check=False)
            assert began.returncode == 0, began.stdout + began.stderr
            command = [sys.executable, "-c", PROGRAM, *SWEEP, "--executor", f"ray://127.0.0.1:{port}"]
            # At once: who has no token is told after 20 s.
            asked = {
                name: subprocess.Popen(
                    command, env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
                )
                for name, env in (("admitted", admitted), ("stranger", usual))
            }
            told = {name: one.communicate(timeout=120) for name, one in asked.items()}
            yield {name: (one.returncode, *told[name]) for name, one in asked.items()}, home
        finally:
            end_all(f"{folder}/ray")


def end_all(folder: str) -> None:
    """Ends the processes of the cluster whose folder this is: `ray stop` would end those of others, too."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if folder.encode() in path.read_bytes():
                os.kill(int(path.parent.name), signal.SIGKILL)


def test_the_running_cluster_prints_what_this_computer_does(outcomes: Any, hotband: Callable[..., Any]) -> None:
    code, out, errors = outcomes[0]["admitted"]
    assert code == 0, errors
    assert out == hotband(*SWEEP).stdout


def test_without_its_token_nothing_is_run(outcomes: Any) -> None:
    code, out, errors = outcomes[0]["stranger"]
    assert (code, out) == (2, "")
    [line] = [one for one in errors.splitlines() if one.startswith("hotband: error")]
    assert "RAY_AUTH_MODE=token" in line


def test_no_token_is_written_into_the_home(outcomes: Any) -> None:
    assert not (outcomes[1] / ".ray").exists()
