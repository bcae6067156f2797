"""Run the Python tests in two lanes beside one another: those that compute, and those that wait.

    python_tests.py              the tests of `make test`
    python_tests.py --long       the long forms alone (tests marked `long` or `sized`), and what they cover

Tests that wait for servers, programs, kills and browsers leave the processor idle, so their lane runs beside the one
that computes on both cores. The exit code is 1 where a lane failed.
"""

from __future__ import annotations

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
"""Of each lane: as many as `make test` is measured on."""


def lanes() -> dict[str, list[str]]:
    """Return the paths of each lane, by its name: a folder that is wholly of one lane is named as such."""
    waiting = [TESTS / name for name in WAITING]
    computing: list[Path] = []
    for folder in sorted(path for path in TESTS.iterdir() if path.is_dir() and path not in waiting):
        files = sorted(folder.rglob("test_*.py"))
        split = [path for path in files if path in waiting]
        computing += [path for path in files if path not in split] if split else [folder] if files else []
    return {"computing": [str(path) for path in computing], "waiting": [str(path) for path in waiting]}


def command(paths: list[str], options: list[str]) -> list[str]:
    """Return the pytest command of a lane: a file stays on one worker, the files that cost most begin."""
    return [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        str(WORKERS),
        "--dist",
        "loadfile",
        "--no-loadscope-reorder",
        *options,
        *paths,
    ]


def environment(runs: Path) -> dict[str, str]:
    """Return the environment of both lanes, which share the folder `runs` and leave the user's cache alone."""
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
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryDirectory(prefix="hotband-tests-") as runs:
        env = environment(Path(runs))
        paths = lanes()
        waiting = subprocess.Popen(
            command(paths["waiting"], options), env=env, cwd=ROOT, stdout=printed, stderr=subprocess.STDOUT
        )
        try:
            codes = [subprocess.run(command(paths["computing"], options), env=env, cwd=ROOT, check=False).returncode]
            codes.append(waiting.wait())
        finally:
            waiting.kill()
        printed.seek(0)
        print("-- the lane of tests that wait:", printed.read(), sep="\n", flush=True)
    return int(any(code not in (0, NO_TESTS) for code in codes))


NO_TESTS = 5
"""Exit code of pytest where it collected no test, as a lane may of long forms."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
