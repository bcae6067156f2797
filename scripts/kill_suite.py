"""Kills a suite (SIGKILL) at random moments, and proves that nothing finished was lost and that it goes on to its end.

    python scripts/kill_suite.py OUT --kills 100 -- pts s4500-960 --test iops,latency --quick
    python scripts/kill_suite.py OUT --kills 100 --within 8 -- pts real:FILE --erase NAME --yes --test cross-stimulus \
        --quick --minute "100 ms"

After every kill each run that was finished before is still there, byte for byte. In the end the runs are those of a
suite that nobody disturbed: of a model with the same results, of a real device (which never measures the same twice)
with the same names, but for the number of rounds until it was steady. A suite is killed at a moment of the time that
an undisturbed one takes, or `--within` so many seconds: it goes on every time, so that all of it comes up. One that
ends before it is killed begins anew in another folder.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

ROUND = re.compile(r"round-\d+-")
"""Of the name of a run's folder."""
Finished = dict[str, str]
"""Digest of the record of every run that is whole, by its folder."""


def finished(out: Path) -> Finished:
    """What is there."""
    marks = sorted(out.rglob("finished.json"))
    return {str(mark.parent.relative_to(out)): digest(mark.parent / "record.json") for mark in marks}


def digest(path: Path) -> str:
    """Of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def whole(mark: Path) -> bool:
    """Whether a run's files are those that its mark names."""
    named = json.loads(mark.read_text(encoding="utf-8"))["files"]
    return all(digest(mark.parent / name) == was for name, was in named.items())


def start(arguments: list[str], out: Path) -> subprocess.Popen[bytes]:
    """The suite, in a session of its own, so that what it started is killed with it."""
    command = [sys.executable, "-m", "hotband", *arguments, "--out", str(out)]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=subprocess.PIPE, start_new_session=True)


def to_the_end(arguments: list[str], out: Path) -> float:
    """Runs it undisturbed; the seconds that it took."""
    begin = time.monotonic()
    process = start(arguments, out)
    said = process.communicate()[1].decode(errors="replace")
    if process.returncode:
        raise SystemExit(f"the suite failed with {process.returncode}: {said[-500:]}")
    return time.monotonic() - begin


def kill_after(arguments: list[str], out: Path, seconds: float) -> bool:
    """Starts it, and kills it and all that it started after some seconds; whether it was still running."""
    process = start(arguments, out)
    try:
        process.communicate(timeout=seconds)
        return False
    except subprocess.TimeoutExpired:
        return True
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def check(before: Finished, after: Finished, out: Path) -> None:
    """Nothing that was there is missing or changed."""
    lost = [name for name, was in before.items() if after.get(name) != was]
    if lost:
        raise SystemExit(f"lost or changed by a kill: {', '.join(lost)}")
    torn = [str(mark.parent) for mark in out.rglob("finished.json") if not whole(mark)]
    if torn:
        raise SystemExit(f"marked as finished and not whole: {', '.join(torn)}")


def main(given: list[str] | None = None) -> int:
    """Kills as often as asked; prints what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--within", type=float, metavar="SECONDS", help="the latest moment; as long as it takes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("suite", nargs="+", help="what follows `hotband`, without --out")
    asked = parser.parse_args(given)
    draw = random.Random(asked.seed)
    model = not any(argument.startswith("real:") for argument in asked.suite)
    begin = time.monotonic()
    takes = to_the_end(asked.suite, asked.out / "undisturbed")
    expected = finished(asked.out / "undisturbed")
    done, folder, ends = 0, 0, 0
    before: Finished = {}
    while done < asked.kills:
        out = asked.out / f"killed-{folder}"
        was_running = kill_after(asked.suite, out, draw.uniform(0.0, asked.within or takes))
        after = finished(out)
        check(before, after, out)
        done, before = done + was_running, after
        if not was_running:
            compare(expected, after, model)
            folder, before, ends = folder + 1, {}, ends + 1
    out = asked.out / f"killed-{folder}"
    to_the_end(asked.suite, out)
    check(before, finished(out), out)
    compare(expected, finished(out), model)
    whole_s = time.monotonic() - begin
    print(f"{done} kills over {ends + 1} suites of {takes:.1f} s, {len(expected)} runs each: none was lost, all ended")
    print(f"in {whole_s:.0f} s")
    return 0


def compare(expected: Finished, found: Finished, model: bool) -> None:
    """The runs of a suite that was killed and of one that was not: of a model results, else names. How many rounds a
    real device takes until it is steady differs from time to time."""
    if model and found != expected:
        raise SystemExit(f"differ from an undisturbed suite: {sorted(set(found.items()) ^ set(expected.items()))[:4]}")
    differ = {ROUND.sub("", name) for name in found} ^ {ROUND.sub("", name) for name in expected}
    if not model and differ:
        raise SystemExit(f"differ from an undisturbed suite: {sorted(differ)[:4]}")


if __name__ == "__main__":
    sys.exit(main())
