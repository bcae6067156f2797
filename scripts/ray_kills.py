"""Kills what runs a sweep on Ray, and looks whether it matters: `python scripts/ray_kills.py --workers 20`.

A sweep is run here, undisturbed. Then it is run on a cluster that it starts, and workers are killed (SIGKILL) one after
the other while they have a task: it has to come to its end by itself, with the same frame. Then the driver is killed at
moments drawn from the time that a sweep takes: no process of Ray may be left two minutes later, and the same command
goes on from there; every start may only add lines to the journal, never one of a run that is there.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hotband.base.child import descendants
from hotband.data.results.sweep_journal import FRAME_FILE, JOURNAL_FILE, parsed

SWEEP = [
    *("sweep", "fio-randread", "--on", "exos-15e900-512n", "--on", "ent-10k"),
    *("--set", "qd=1..128", "--set", "bs=4KiB..64KiB", "--duration", "20 s"),
]
POINTS = 80
GONE_S = 120.0
"""Within which Ray's processes have to end: the kernel ends two, workers look every second, and agents try for a minute
to tell the others (gcs_server_request_timeout_seconds of ray/_private/ray_constants.py)."""
TASK = b"ray::run_lines"
"""How a worker calls itself while it has a task of ours."""


def command(repeat: int, out: Path, executor: str) -> list[str]:
    """The sweep, with so many seeds a point."""
    asked = [*SWEEP, "--repeat", str(repeat), "--out", str(out), "--json", "--executor", executor]
    return [sys.executable, "-m", "hotband", *asked]


def begin(repeat: int, out: Path, executor: str) -> subprocess.Popen[bytes]:
    """Starts the sweep; what it says on stderr is kept beside its folder."""
    with out.with_suffix(".said").open("wb") as said:
        return subprocess.Popen(command(repeat, out, executor), stdout=subprocess.DEVNULL, stderr=said)


def expect_end(process: subprocess.Popen[bytes], out: Path) -> None:
    """Fails, with what it said, for a sweep that did not come to its end."""
    assert process.wait() == 0, out.with_suffix(".said").read_text()[-2000:]


def lines(out: Path) -> list[bytes]:
    """Whole lines of the journal, its head left out."""
    path = out / JOURNAL_FILE
    return path.read_bytes().split(b"\n")[1:-1] if path.is_file() else []


def check(out: Path, before: list[bytes], runs: int) -> list[bytes]:
    """The journal after a start: what was there is there, whole, and nothing twice."""
    now = lines(out)
    assert now[: len(before)] == before, "what was finished has changed"
    entries = [parsed(line) for line in now]
    assert None not in entries, "a whole line of the journal is damaged"
    keys = {str(entry["key"]) for entry in entries if entry is not None}
    assert len(keys) == len(now) <= runs, "a run is there twice"
    return now


def name_of(process: int) -> bytes:
    """How a process calls itself; nothing of one that has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def until(is_so: Callable[[], bool], seconds: float) -> bool:
    """Whether something comes true in so many seconds."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def kill_workers(folder: Path, asked: argparse.Namespace, frame: bytes, moments: random.Random) -> None:
    """Sweeps whose workers are killed."""
    kills, number = 0, 0
    while kills < asked.workers:
        out, number = folder / f"workers-{number}", number + 1
        process = begin(asked.repeat, out, "ray")
        killed: set[int] = set()
        while process.poll() is None:
            time.sleep(moments.uniform(0.1, 1.0))
            at_work = [one for one in descendants(process.pid) if name_of(one).startswith(TASK)]
            if at_work and kills < asked.workers and (one := moments.choice(at_work)) not in killed:
                os.kill(one, signal.SIGKILL)
                killed.add(one)
                kills += 1
        expect_end(process, out)
        assert len(check(out, [], asked.repeat * POINTS)) == asked.repeat * POINTS, "a run is lost"
        assert (out / FRAME_FILE).read_bytes() == frame, "the frame differs from the undisturbed one"
        print(f"sweep {number}: {len(killed)} workers killed, frame as undisturbed", flush=True)


def kill_drivers(folder: Path, asked: argparse.Namespace, frame: bytes, moments: random.Random) -> None:
    """Sweeps that are killed as a whole."""
    kills, ends, kept, runs = 0, 0, list[bytes](), asked.repeat * POINTS
    begun = time.monotonic()
    process = begin(asked.repeat, folder / "timed", "ray")
    expect_end(process, folder / "timed")
    seconds = time.monotonic() - begun
    print(f"{runs} runs on Ray, undisturbed in {seconds:.1f} s", flush=True)
    out, started = folder / "drivers-0", set[int]()
    while kills < asked.drivers or kept:
        process = begin(asked.repeat, out, "ray")
        try:
            process.wait(moments.uniform(0, seconds) if kills < asked.drivers else None)
        except subprocess.TimeoutExpired:
            started |= set(descendants(process.pid))
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            kept = check(out, kept, runs)
            print(f"driver killed {kills}: {len(kept)} runs are kept", flush=True)
            continue
        expect_end(process, out)
        assert len(check(out, kept, runs)) == runs, "a run is lost"
        assert (out / FRAME_FILE).read_bytes() == frame, "the frame differs from the undisturbed one"
        ends, kept = ends + 1, []
        out = folder / f"drivers-{ends}"
    assert until(lambda: not any(map(is_of_ray, started)), GONE_S), "Ray goes on without its driver"
    print(f"all of {len(started)} processes that the drivers had started are gone")
    print(f"{kills} drivers killed, {ends} sweeps came to their end: no run lost, none repeated, frames as undisturbed")


def is_of_ray(pid: int) -> bool:
    """Whether a process is there, and one of Ray's."""
    return b"ray" in name_of(pid)


def main() -> None:
    """Kills so often, and says what it saw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--drivers", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=10, help=f"seeds a point: {POINTS} runs each")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    moments = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expect_end(begin(asked.repeat, folder / "here", "local"), folder / "here")
        frame = (folder / "here" / FRAME_FILE).read_bytes()
        if asked.workers:
            kill_workers(folder, asked, frame, moments)
        if asked.drivers:
            kill_drivers(folder, asked, frame, moments)


if __name__ == "__main__":
    main()
