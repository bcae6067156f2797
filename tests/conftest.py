"""What every test folder uses: the command line, in this process; `in_process_of_its_own` where a test is about that.

A process of its own costs 0.4 s and more before it does anything, hundreds of times over."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what it puts into the background so, and every process that a test starts would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

Hotband = Callable[..., "subprocess.CompletedProcess[str]"]


def run_hotband(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs `hotband ARGUMENTS` in `cwd`; nothing is checked. What no command catches ends in a traceback on stderr and
    exit code 1, as in a process."""
    from hotband.cli import app

    with contextlib.chdir(cwd or Path.cwd()):
        done = CliRunner().invoke(app, arguments, prog_name="hotband")
    stderr = done.stderr
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        stderr += "".join(traceback.format_exception(done.exception))
    return subprocess.CompletedProcess(["hotband", *arguments], done.exit_code, done.stdout, stderr)


def process(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "hotband.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=1200, check=False)


@pytest.fixture
def hotband(tmp_path: Path) -> Hotband:
    """The command line, run in an empty folder."""
    return lambda *arguments: run_hotband(*arguments, cwd=tmp_path)


@pytest.fixture
def in_process_of_its_own(tmp_path: Path) -> Hotband:
    """The command line as a user runs it, in an empty folder: for tests that are about the process."""
    return lambda *arguments: process(*arguments, cwd=tmp_path)


@pytest.fixture(scope="session")
def call() -> Hotband:
    """The command line for fixtures that run once: `cwd` is theirs to give."""
    return run_hotband


@pytest.fixture(scope="session")
def content_hdd(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The result and the folder of a whole run of content-hdd."""
    return study_result("content-hdd", tmp_path_factory)


@pytest.fixture(scope="session")
def exos(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The result and the folder of a whole run of exos-15e900."""
    return study_result("exos-15e900", tmp_path_factory)


@pytest.fixture(scope="session")
def durawrite(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The result and the folder of a whole run of durawrite."""
    return study_result("durawrite", tmp_path_factory)


def study_result(name: str, factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """Runs a study with `--json --out`; processes of one run of the tests share the result, the others wait for it.

    Where `HOTBAND_KEPT_RUNS` names a folder (such as `out/accuracy`) its runs are taken over as far as they are of this
    engine and of the same specs: what does not depend on them is tested again without repeating them."""
    base = factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / f"study-{name}"
    folder.mkdir(exist_ok=True)
    kept = os.environ.get("HOTBAND_KEPT_RUNS", "")
    out, printed = Path(kept, name) if kept else folder / "out", folder / "printed.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not printed.exists():
            done = run_hotband("study", "run", name, "--json", "--out", str(out))
            assert done.returncode == 0, done.stderr
            printed.write_text(done.stdout)
    return json.loads(printed.read_text()), out


@pytest.fixture(scope="session")
def mach2(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The result and the folder of a whole run of mach2-ceph."""
    return study_result("mach2-ceph", tmp_path_factory)


@pytest.fixture(scope="session")
def full_ssd(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The result and the folder of a whole run of full-sata-ssd."""
    return study_result("full-sata-ssd", tmp_path_factory)


@pytest.fixture(scope="session")
def savvio(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The result and the folder of a whole run of savvio-raid."""
    return study_result("savvio-raid", tmp_path_factory)


@pytest.fixture(scope="session")
def fuzz_target() -> Callable[[str], Callable[[bytes], None]]:
    """What a fuzz target of `fuzz/` does with one input, by the name of the target."""

    def target(name: str) -> Callable[[bytes], None]:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / "fuzz" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        one_input: Callable[[bytes], None] = module.one_input
        return one_input

    return target
