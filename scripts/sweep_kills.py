"""Kills a sweep at random moments and looks whether it goes on: `python scripts/sweep_kills.py --kills 50`.

A sweep is run undisturbed, which takes so many seconds. Then it is started again and again, in a folder of its own,
and killed (SIGKILL) at a moment drawn from those seconds; when it has come to its end all the same its frame is
compared, and the next folder is begun. Every start may only add lines to the journal, never one of a run that is there.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hotband.data.results.sweep_journal import FRAME_FILE, JOURNAL_FILE, parsed

SWEEP = [
    *("sweep", "fio-randread", "--on", "exos-15e900-512n", "--on", "ent-10k"),
    *("--set", "qd=1..128", "--set", "bs=4KiB..64KiB", "--duration", "20 s"),
]


def command(repeat: int, out: Path) -> list[str]:
    """The sweep, with so many seeds a point: eighty times as many runs."""
    return [sys.executable, "-m", "hotband", *SWEEP, "--repeat", str(repeat), "--out", str(out), "--json"]


def lines(out: Path) -> list[bytes]:
    """Whole lines of the journal, its head left out; one that was begun is not among them."""
    path = out / JOURNAL_FILE
    found = path.read_bytes().split(b"\n")[:-1] if path.is_file() else []
    return found[1:]


def keys(of: list[bytes]) -> list[str]:
    """The run of each line. Fails for a line that is not as it was written."""
    entries = [parsed(line) for line in of]
    assert None not in entries, "a whole line of the journal is damaged"
    return [str(entry["key"]) for entry in entries if entry is not None]


def begin(repeat: int, out: Path) -> subprocess.Popen[bytes]:
    """Starts the sweep."""
    return subprocess.Popen(command(repeat, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def check(out: Path, before: list[bytes], runs: int) -> list[bytes]:
    """The journal after a start: what was there is there, and nothing twice."""
    now = lines(out)
    assert now[: len(before)] == before, "what was finished has changed"
    found = keys(now)
    assert len(set(found)) == len(found) <= runs, "a run is there twice"
    return now


def main() -> None:
    """Kills so often, and says what it saw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--repeat", type=int, default=4, help="seeds a point: 80 runs each")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    moments, runs = random.Random(asked.seed), 80 * asked.repeat
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        whole = Path(folder, "whole")
        assert begin(asked.repeat, whole).wait() == 0
        seconds = time.monotonic() - start
        frame = (whole / FRAME_FILE).read_bytes()
        print(f"{runs} runs, undisturbed in {seconds:.1f} s", flush=True)
        kills, ends, number, kept = 0, 0, 0, list[bytes]()
        out = Path(folder, "0")
        while kills < asked.kills or kept:
            process = begin(asked.repeat, out)
            try:
                process.wait(moments.uniform(0, seconds) if kills < asked.kills else None)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
                kept = check(out, kept, runs)
                print(f"killed {kills}: {len(kept)} runs are kept", flush=True)
                continue
            assert process.returncode == 0
            assert len(check(out, kept, runs)) == runs
            assert (out / FRAME_FILE).read_bytes() == frame, "the frame differs from the undisturbed one"
            ends, number, kept = ends + 1, number + 1, []
            out = Path(folder, str(number))
        print(f"{kills} kills, {ends} sweeps came to their end: no run lost, none repeated, frames as undisturbed")


if __name__ == "__main__":
    main()
