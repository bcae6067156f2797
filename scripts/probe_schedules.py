"""End long commands at any moment, and check whether a finished run was lost or a file damaged.

    python scripts/probe_schedules.py --kills 100 --signals 100 --disk-full 50 --failing-calls 50 --surroundings 50

Every command first runs undisturbed. Then, in a new folder and at a random moment, it is killed (SIGKILL), interrupted
(SIGINT) or ended (SIGTERM, SIGHUP); or the disk fills up (a small tmpfs, which needs root), every write, flush and
rename fails from then on, the clock jumps a year, or a second process starts in the same folder. The command is started
again until it ends by itself. Each time all finished runs are there, byte for byte, and in the end everything is as
without the disturbance. The script resumes where it stopped, by the state in --folder.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import json
import os
import random
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probe.moments import Act, Ended, begin, digests, wait
from probe.worker import load_all

from hotband.base.text.write import write_file
from hotband.execution.runs.signals import ENDING
from probe import moments

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ("record.json", "series.parquet", "sweep.parquet", "review.json", "quick.json")
"""Files that an undisturbed command leaves the same every time, byte for byte."""
FLEET = """years = 2
repetitions = 40
[[group]]
name = "a"
machines = 4
machine = "raid5:4xent-15k"
workload = "fio-randread"
set = { qd = 2 }
afr = ["2 %", "5 %"]
rebuild_time = "10 h"
"""
TINY = shlex.quote(str(ROOT / "tests/study/tiny"))
COMMANDS: dict[str, str] = {
    "run": "run fio-randread --on ent-15k --set qd=4 --duration '300 ms'",
    "then": "run fio-randread --on ent-15k --duration '100 ms' --then fio-randwrite",
    "sweep": "sweep fio-randread --on ent-15k --set qd=1..16 --repeat 2 --duration '50 ms'",
    "study": f"study run {TINY}",
    "accuracy": f"study accuracy {TINY}",
    "review": "review ent-15k --quick --only access",
    "advise": "advise fio-randread --slo 'p99 < 60 ms' --capacity '2 TB' --protect 'one failure' "
    "--candidates drives=ent-10k,counts=8,layouts=raid5 --draws 8",
    "fleet": "fleet {fleet}",
    "pts": "pts s4500-960 --test iops --quick --set scale=512",
    "quick": "quick ent-15k --for '1 min'",
    "calibrate": "calibrate ent-15k --like ent-10k --for '150 s'",
    "into": "sweep fio-randread --on ent-15k --set qd=1..4 --duration '50 ms' --into {out}/store",
    "import": f"import auto {shlex.quote(str(ROOT / 'tests/fio/samples/client-two-hosts.json'))}",
}
"""Every long command that keeps what it finished. The longest, `calibrate`, takes half a minute: name it alone."""
AFTER = {
    "into": [
        "store",
        "query",
        "select count(*) as runs, sum(iops) as iops from runs",
        "--from",
        "{out}/store",
        "--json",
    ]
}
"""What is asked of a folder in the end; its answer is that of one which nobody disturbed."""
FULL = (2, os.EX_IOERR)


class Lost(Exception):
    """Something that was finished is not there, or is damaged."""


@dataclass
class Schedule:
    """A command that is disturbed: its folders lie in `place`; `whole` is what it leaves undisturbed, in `count`
    moments and so many `size` bytes."""

    name: str
    place: Path
    rng: random.Random = field(default_factory=random.Random)
    whole: dict[str, str] = field(default_factory=dict)
    answered: str = ""
    count: int = 0
    size: int = 0
    done: Counter[str] = field(default_factory=Counter)

    def arguments(self, out: Path) -> list[str]:
        """The command, into a folder."""
        words = [
            word.replace("{out}", str(out)).replace("{fleet}", str(self.place / "fleet.toml"))
            for word in shlex.split(COMMANDS[self.name])
        ]
        return [*words, "--out", str(out)]

    def start(self, out: Path, moment: int | None = None, act: Act = moments.kill) -> Ended:
        """Runs it to its end, whatever that is."""
        said = self.place / "said"
        return wait(begin(self.arguments(out), out, moment, act, said), said)

    def answer(self, out: Path) -> str:
        """What a folder answers, where something is asked of it."""
        asked = [word.replace("{out}", str(out)) for word in AFTER.get(self.name, [])]
        said = self.place / "answer"
        return wait(begin(asked, out, None, moments.kill, said), said).said if asked else ""

    def undisturbed(self) -> None:
        """What it leaves, and how many moments it has."""
        (self.place / "fleet.toml").write_text(FLEET)
        out = self.place / "whole"
        ended = self.start(out)
        if ended.code:
            raise SystemExit(f"{self.name} failed with {ended.code}: {ended.said[-500:]}")
        self.whole, self.count, self.answered = digests(out, RESULTS), ended.moments, self.answer(out)
        self.size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
        if not self.whole or not self.count:
            raise SystemExit(f"{self.name} leaves nothing that could be lost")

    def moment(self) -> int:
        """One of them."""
        return self.rng.randint(1, self.count)

    def to_the_end(self, out: Path, kept: dict[str, str]) -> None:
        """Runs it once more and compares with what nobody disturbed."""
        ended = self.start(out)
        if ended.code:
            raise Lost(f"{self.name} does not go on ({ended.code}): {ended.said[-800:]}")
        expect_kept(self.name, kept, finished(out))
        if (answer := self.answer(out)) != self.answered:
            raise Lost(f"{self.name}: a store answers {answer[-300:]!r}")
        found = digests(out, RESULTS)
        if found != self.whole:
            differ = sorted(set(found.items()) ^ set(self.whole.items()))
            raise Lost(f"{self.name} differs from one that nobody disturbed: {differ[:4]}")
        expect_readable(self.name, out)


def finished(out: Path) -> dict[str, str]:
    """Digests of what is marked as finished: records by their mark, lines of journals that are whole."""
    found = {}
    for mark in out.rglob("finished.json"):
        found |= {
            str(path.relative_to(out)): one
            for path in [mark.parent]
            for _, one in digests(path, ["record.json"]).items()
        }
    for journal in out.rglob("sweep.journal"):
        for line in journal.read_bytes().split(b"\n")[1:-1]:
            found[f"{journal.name}: {line[:200]!r}"] = ""
    return found


def expect_kept(name: str, before: dict[str, str], after: dict[str, str]) -> None:
    """Raises Lost where something finished is not as it was."""
    lost = [one for one, was in before.items() if after.get(one) != was]
    if lost:
        raise Lost(f"{name} lost {len(lost)}, such as {lost[0]}")


def expect_readable(name: str, out: Path) -> None:
    """Raises Lost for a JSON file that is none, and for what was to be temporary."""
    for path in out.rglob("*.json"):
        try:
            json.loads(path.read_bytes())
        except ValueError:
            raise Lost(f"{name} left a damaged {path.name}") from None


def expect_clean(name: str, out: Path, ended: Ended, codes: Sequence[int]) -> None:
    """Raises Lost where a process that could end in order did not: a traceback, another code, a temporary file."""
    if ended.code not in codes or "Traceback" in ended.said:
        raise Lost(f"{name} ended with {ended.code}: {ended.said[-1500:]}")
    parts = [str(path.relative_to(out)) for path in out.rglob("*.part")]
    if parts:
        raise Lost(f"{name} left {parts[:3]}")
    expect_readable(name, out)


def disturbed(of: Schedule, number: int, act: Act, codes: Sequence[int]) -> int:
    """One folder: ended at moments, again and again, until it ends by itself; how often it was ended."""
    out = of.place / f"{act.__name__}-{number}"
    kept: dict[str, str] = {}
    times = 0
    while True:
        ended = of.start(out, of.moment(), act)
        kept, before = finished(out), kept
        expect_kept(of.name, before, kept)
        if ended.code == 0:
            break
        if act is moments.kill:
            if ended.code != -9:
                raise Lost(f"{of.name} ended with {ended.code}: {ended.said[-1500:]}")
        else:
            expect_clean(of.name, out, ended, codes)
        times += 1
        if times == 8:
            break
    of.to_the_end(out, kept)
    shutil.rmtree(out)
    return times


def killed(of: Schedule, number: int) -> int:
    return disturbed(of, number, moments.kill, ())


def ended_by_signal(of: Schedule, number: int) -> int:
    """Send SIGTERM, SIGHUP and SIGINT in turn, as a host that shuts down, a closed terminal and Ctrl-C do."""
    ending = ENDING[number % len(ENDING)]
    return disturbed(of, number, moments.send(ending), (0, 128 + ending))


def calls_failing(of: Schedule, number: int) -> int:
    """Let every creation, write, flush and rename fail from a moment on, as on a device that is gone or full."""
    out = of.place / f"failing-{number}"
    library, error = ctypes.CDLL(os.environ["LD_PRELOAD"]), of.rng.choice(FAILURES)
    folder, after = str(out).encode(), of.rng.randint(1, 4)
    ended = of.start(out, of.moment(), lambda: library.faults_arm(folder, after, error))
    expect_clean(of.name, out, ended, (0, *FULL))
    if ended.code and not ended.last.startswith("hotband: error: "):
        raise Lost(f"{of.name}, {errno.errorcode[error]}: said {ended.last!r}")
    of.to_the_end(out, finished(out))
    shutil.rmtree(out, ignore_errors=True)
    return int(ended.code != 0)


def surrounded(of: Schedule, number: int) -> int:
    """Run the command in a random environment: its result is the same, or a one-line error."""
    out, cache = of.place / f"around-{number}", of.place / "cache"
    drawn = {name: of.rng.choice(values) for name, values in SURROUNDINGS.items() if of.rng.random() < 0.3}
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)} | {k: v for k, v in drawn.items() if v is not None}
    for name in (name for name, value in drawn.items() if value is None):
        environment.pop(name, None)
    closed, few = of.rng.choice((None, 0, 1, 2)), of.rng.random() < 0.3

    def prepare() -> None:
        if few:
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        if closed is not None:
            os.close(closed)

    command = [sys.executable, "-m", "hotband", *of.arguments(out)]
    done = subprocess.run(command, env=environment, cwd=of.place, capture_output=True, preexec_fn=prepare, check=False)
    said = (done.stderr or done.stdout).decode(errors="replace")
    ended, around = Ended(done.returncode, said, 0), f"{drawn}, closed {closed}, few files {few}"
    try:
        expect_clean(of.name, out, ended, (0, 2, os.EX_IOERR))
        if ended.code and closed not in (1, 2) and not ended.last.startswith("hotband: error: "):
            raise Lost(f"{of.name} said {ended.last!r}")
        of.to_the_end(out, finished(out))
    except Lost as error:
        raise Lost(f"{error} in {around}") from None
    shutil.rmtree(out, ignore_errors=True)
    return 1


def clock_jumped(of: Schedule, number: int) -> int:
    """The clock jumps a year back or on; nothing changes but the times that are told."""
    out = of.place / f"jump-{number}"
    by = of.rng.choice((-1, 1)) * moments.YEAR_S * of.rng.random()
    ended = of.start(out, of.moment(), moments.jump(by))
    expect_clean(of.name, out, ended, (0,))
    of.to_the_end(out, finished(out))
    shutil.rmtree(out)
    return 1


def two_writers(of: Schedule, number: int) -> int:
    """Another is begun in the same folder: one of the two does the work, the other says why not, or both are done."""
    out, said = of.place / f"two-{number}", of.place / "second"
    second: list[int] = []
    first_said = of.place / "said"
    gate = of.place / "gate"
    gate.unlink(missing_ok=True)
    process = begin(of.arguments(out), out, of.moment(), lambda: (gate.touch(), time.sleep(0.3))[-1], first_said)
    while not gate.exists() and os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        time.sleep(0.002)
    second.append(begin(of.arguments(out), out, None, moments.kill, said))
    first, other = wait(process, first_said), wait(second[0], said)
    if sorted((first.code, other.code)) not in ([0, 0], [0, 2]):
        raise Lost(f"{of.name}, two at once: {first.code} {first.last!r} and {other.code} {other.last!r}")
    for one in (first, other):
        expect_clean(of.name, out, one, (0, 2))
    of.to_the_end(out, finished(out))
    shutil.rmtree(out)
    return 1


def disk_full(of: Schedule, number: int) -> int:
    """The file system takes so many bytes and no more; then there is room again."""
    place = of.place / f"full-{number}"
    place.mkdir()
    size = max(4096, of.rng.randrange(of.size))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "hotband-probe", str(place)], check=True)
    try:
        out = place / "out"
        ended = of.start(out)
        expect_clean(of.name, place, ended, (0, *FULL))
        if ended.code and not ended.last.startswith("hotband: error: "):
            raise Lost(f"{of.name} on a full disk said {ended.last!r}")
        kept = finished(out)
        subprocess.run(["mount", "-o", "remount,size=1g", str(place)], check=True)
        of.to_the_end(out, kept)
    finally:
        subprocess.run(["umount", str(place)], check=True)
    place.rmdir()
    return int(ended.code != 0)


FAILURES = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS)
SURROUNDINGS: dict[str, tuple[str | None, ...]] = {
    "HOME": (None, "", "/nowhere", "/dev/null", "relative"),
    "XDG_CACHE_HOME": ("/proc/nowhere", "/dev/null", "", "relative"),
    "TMPDIR": ("/nowhere", "/dev/null", ""),
    "LANG": (None, "C", "tr_TR.UTF-8", "nonsense"),
    "LC_ALL": ("C", "POSIX", "de_DE.UTF-8"),
    "TZ": ("", "Pacific/Kiritimati", ":/etc/passwd", "X" * 300),
    "TERM": (None, "", "dumb", "nonsense"),
    "COLUMNS": ("0", "1", "-5", "99999", "wide"),
    "LINES": ("0", "x"),
    "NO_COLOR": ("1",),
    "FORCE_COLOR": ("1",),
    "PATH": (None, "", "/nowhere"),
    "USER": (None, "", "a b"),
    "PYTHONHASHSEED": ("0", "4294967295"),
    "PYTHONIOENCODING": ("ascii", "latin-1", "utf-16"),
    "PYTHONUTF8": ("0",),
}
"""Values of environment variables to try; None removes the variable."""
KINDS: dict[str, Callable[[Schedule, int], int]] = {
    "kills": killed, "signals": ended_by_signal, "disk-full": disk_full,
    "failing-calls": calls_failing, "jumps": clock_jumped, "two-writers": two_writers, "surroundings": surrounded,
}  # fmt: skip


def under_failing_calls() -> None:
    """Restart this process with `faults.c` loaded, which `calls_failing` controls, unless it is loaded already."""
    if os.environ.get("LD_PRELOAD"):
        return
    library = ROOT / "out/probe/faults.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    source = str(ROOT / "tests/output/faults.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", source, "-o", str(library), "-ldl"], check=True)
    os.execve(sys.executable, sys.orig_argv, os.environ | {"LD_PRELOAD": str(library)})


def main(given: list[str] | None = None) -> int:
    """Disturbs as often as asked; exit code 1 where something was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for kind in KINDS:
        parser.add_argument(f"--{kind}", type=int, default=0, metavar="N")
    parser.add_argument(
        "--command", default=",".join(one for one in COMMANDS if one != "calibrate"), help="of these alone"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=ROOT / "out/probe")
    asked = parser.parse_args(given)
    if asked.failing_calls:
        under_failing_calls()
    names = asked.command.split(",")
    os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    load_all()
    state = asked.folder.resolve() / f"schedules-{asked.seed}.json"
    kept: dict[str, Any] = json.loads(state.read_text()) if state.is_file() else {"lost": []}
    lost: list[str] = kept["lost"]
    total, begun = Counter[str](), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hotband-schedules-") as folder:
        for name in names:
            of = Schedule(name, Path(folder, name))
            of.place.mkdir()
            of.undisturbed()
            for kind, once in KINDS.items():
                wanted = -(-getattr(asked, kind.replace("-", "_")) // len(names))
                place = f"{name}/{kind}"
                number, found = kept.get(f"{place}/tries", 0), kept.get(place, 0)
                while found < wanted and number < 4 * wanted:
                    of.rng = random.Random(f"{asked.seed}/{place}/{number}")
                    try:
                        found += once(of, number)
                    except Lost as error:
                        lost.append(f"{kind} {number}: {error}")
                        print(f"\n{lost[-1]}", flush=True)
                        if len(lost) > 20:
                            return 1
                        found += 1
                    number += 1
                    kept |= {place: found, f"{place}/tries": number}
                    write_file(state, json.dumps(kept, indent=1) + "\n")
                    print(f"\r{name}: {found} of {wanted} {kind} ", end="", file=sys.stderr, flush=True)
                total[kind] += found
                of.done[kind] = found
            print(
                f"{name:8} {of.count:5} moments, {len(of.whole):3} results: "
                + ", ".join(f"{n} {k}" for k, n in of.done.items()),
                flush=True,
            )
            shutil.rmtree(of.place, ignore_errors=True)
    said = ", ".join(f"{count} {kind}" for kind, count in total.items())
    print(f"{said} in {time.monotonic() - begun:.0f} s: {len(lost) or 'no'} loss")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
