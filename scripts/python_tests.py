"""Run the Python tests in three parallel lanes: two of tests that compute, and one of tests that wait.

    python_tests.py              the tests of `make test`
    python_tests.py --long       the long forms alone (tests marked `long` or `sized`), and what they cover

Tests that wait for servers, programs, kills and browsers leave the processor idle, so their lane runs at the same
time as those that compute, one on each core. The exit code is 1 if a lane failed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import stage_times

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
WAITING = (
    "programs",
    "serve",
    "targets",
    "ui",
    "cli/test_interrupts.py",
    "cli/test_surroundings.py",
    "experiment/test_on_ray.py",
    "experiment/test_ray_joins.py",
    "experiment/test_resume.py",
    "report/test_answer.py",
    "report/test_browser.py",
    "report/test_browser_commands.py",
    "report/test_repair.py",
    "store/test_store_crashes.py",
    "suites/test_kill.py",
    "suites/test_suites_on_hardware.py",
)
"""Folders and files of tests that wait more than they compute."""
WORKERS = 2
"""Processes of the lane that waits. A lane that computes is one process: pytest-xdist would collect all tests in each
of two workers, which takes ten seconds longer than collecting half of them in each."""
SECOND = "i"
"""Folders from this first letter on are in the second lane that computes, which halves the work."""


def lanes() -> dict[str, list[str]]:
    """Return the paths of each lane, by its name: a folder that is wholly of one lane is named as such."""
    waiting = [TESTS / name for name in WAITING]
    computing: dict[bool, list[Path]] = {False: [], True: []}
    for folder in sorted(path for path in TESTS.iterdir() if path.is_dir() and path not in waiting):
        files = sorted(folder.rglob("test_*.py"))
        split = [path for path in files if path in waiting]
        lane = computing[folder.name >= SECOND]
        lane += [path for path in files if path not in split] if split else [folder] if files else []
    paths = {"computing": computing[False], "computing, second half": computing[True], "waiting": waiting}
    return {name: [str(path) for path in lane] for name, lane in paths.items()}


def command(name: str, paths: list[str], options: list[str]) -> list[str]:
    """Return the pytest command of a lane. A file stays on one worker, and the most expensive files start first."""
    workers = ["-n", str(WORKERS), "--dist", "loadfile", "--no-loadscope-reorder"] if name == "waiting" else []
    return [sys.executable, "-m", "pytest", *workers, *options, *paths]


def environment(runs: Path) -> dict[str, str]:
    """Return the environment of all lanes, which share the folder `runs` and leave the user's cache alone."""
    env = os.environ | {
        "HOTBAND_TEST_TIMES": str(stage_times.TABLE),
        "HOTBAND_TEST_RUNS": str(runs),
        "XDG_CACHE_HOME": str(runs / "cache"),
    }
    # Without compiled modules each worker compiles all tests, and each process that a test starts all of hotband.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return env


def main(arguments: list[str]) -> int:
    """Do what the module's text says."""
    is_long = arguments == ["--long"]
    if arguments and not is_long:
        sys.exit(__doc__)
    options = ["-m", "long or sized"] if is_long else []
    with contextlib.ExitStack() as stack:
        env = environment(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hotband-tests-"))))
        running = []
        for name, paths in lanes().items():
            # The first lane prints as it runs, the others when it has ended.
            printed = stack.enter_context(tempfile.TemporaryFile("w+")) if running else None
            process = subprocess.Popen(
                command(name, paths, options), env=env, cwd=ROOT, stdout=printed, stderr=printed and subprocess.STDOUT
            )
            stack.callback(process.kill)
            running.append((name, process, printed))
        codes = []
        for name, process, printed in running:
            codes.append(process.wait())
            if printed is not None:
                printed.seek(0)
                print(f"-- Python tests, lane: {name}", printed.read(), sep="\n", flush=True)
    return int(any(code not in (0, NO_TESTS) for code in codes))


NO_TESTS = 5
"""Exit code of pytest where it collected no test, as a lane may of long forms."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
