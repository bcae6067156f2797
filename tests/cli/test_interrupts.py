"""Interrupts: the first stops whatever is under way, the second ends the process even inside native code."""

from __future__ import annotations

import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

import hotband as hb
from forms import sized

HOTBAND = "from hotband.faces.cli import main; main()"
PATIENCE = 120
"""Seconds after which a process that goes on is a fault: on an idle computer it ends in less than one."""
POOL = "replicated:32xmg06sca-10tb"


def begun(code: str, *args: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", code, *args], stdout=pipe, stderr=pipe, text=True)


def interrupted(process: subprocess.Popen[str], number: signal.Signals = signal.SIGINT) -> str:
    """What it says on stderr when it ends after one interrupt."""
    process.send_signal(number)
    try:
        return process.communicate(timeout=PATIENCE)[1]
    finally:
        process.kill()


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    """Returns once a process made a file."""
    for _ in range(10 * PATIENCE):
        if any(path.parent.glob(path.name)):
            return
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        break
    process.kill()
    raise AssertionError(process.communicate()[1])


@pytest.mark.parametrize("machine", ["exos-15e900-512n", POOL])
def test_a_run_stops_says_what_it_kept_and_leaves_no_part_behind(tmp_path: Path, machine: str) -> None:
    args = ("run", "fio-randwrite", "--on", machine, "--duration", "1000 h", "--io-log", str(tmp_path / "log.parquet"))
    process = begun(HOTBAND, *args)
    wait_for(tmp_path / "*part*", process)
    said = interrupted(process)
    assert process.returncode == 130
    assert "interrupted; 0 runs were finished" in said
    assert list(tmp_path.iterdir()) == []


BOTH = {signal.SIGTERM, signal.SIGHUP}


@pytest.mark.parametrize("numbers", sized([BOTH], [{signal.SIGTERM}, {signal.SIGHUP}, BOTH]))
def test_a_request_to_end_is_an_interrupt(tmp_path: Path, numbers: set[signal.Signals]) -> None:
    log, folder = tmp_path / "log.parquet", tmp_path / "temporary"
    folder.mkdir()
    args = ("run", "fio-randwrite", "--on", POOL, "--duration", "1000 h", "--io-log", str(log))
    process = begun(f"import os, tempfile; tempfile.tempdir = {str(folder)!r}\n{HOTBAND}", *args)
    wait_for(tmp_path / "*part*", process)
    # A service manager sends both, and that is one request.
    *before, last = numbers
    for number in before:
        process.send_signal(number)
    said = interrupted(process, last)
    assert process.returncode - 128 in numbers
    assert "interrupted; 0 runs were finished" in said
    assert list(tmp_path.iterdir()) == [folder]
    assert list(folder.iterdir()) == []


def test_a_command_under_nohup_outlives_its_terminal(tmp_path: Path) -> None:
    ignoring = f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n{HOTBAND}"
    args = ("run", "fio-randwrite", "--on", POOL, "--duration", "1000 h", "--io-log", str(tmp_path / "log.parquet"))
    process = begun(ignoring, *args)
    wait_for(tmp_path / "*part*", process)
    process.send_signal(signal.SIGHUP)
    interrupted(process, signal.SIGTERM)
    assert process.returncode == 128 + signal.SIGTERM


SLOW = (
    "with recursive t(x) as (select 1 union all select x+1 from t where x<100000000) select max(x) from t",
    "select count(*) from (select distinct (a.range*7919)%1000003 x,b.range y from range(20000) a, range(20000) b)",
)


ASKED = list(product(SLOW, (signal.SIGINT, signal.SIGTERM)))


@pytest.mark.parametrize(("sql", "number"), sized(ASKED[::3], ASKED))
def test_a_query_stops(tmp_path: Path, sql: str, number: signal.Signals) -> None:
    record = hb.run("fio-randread", on="ent-10k", duration="1 s", progress=False)
    hb.store(tmp_path / "store").add(record)
    # The request is sent as soon as the statement is under way.
    code = (
        "import concurrent.futures as futures, os, threading\n"
        "wait = futures.wait\n"
        "def told(*arguments):\n"
        f"    threading.Timer(0.5, os.kill, (os.getpid(), {int(number)})).start()\n"
        "    views.wait = wait\n"
        "    return wait(*arguments)\n"
        "from hotband.data.store import views\n"
        "views.wait = told\n" + HOTBAND
    )
    process = begun(code, "store", "query", sql, "--from", str(tmp_path / "store"))
    try:
        said = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, said) == (128 + number, ("", "hotband: interrupted\n"))


def test_building_stops() -> None:
    # The interrupt is sent as the last thing before the machine is built.
    code = (
        "import signal, threading\n"
        "from hotband.base import memory\n"
        "from hotband.execution.runs.run import RunSpec, prepare\n"
        "main = threading.main_thread().ident\n"
        "def available():\n"
        "    threading.Thread(target=signal.pthread_kill, args=(main, signal.SIGINT)).start()\n"
        "memory.available = available\n"
        f"prepare(RunSpec('run', {POOL!r}, 'fio-randwrite'))\n"
    )
    process = begun(code)
    said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode != 0
    assert "KeyboardInterrupt" in said


BUSY_TICKS = 10
"""Processor time of a process that is in its long call for sure: a tenth of a second."""


def cpu_ticks(pid: int) -> int:
    """Processor time of a process in user mode, in ticks of a hundredth of a second."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


def test_a_second_interrupt_ends_native_code() -> None:
    # A sum of numbers is one call into C that never looks at signals.
    code = (
        "from hotband import _core\n_core.end_on_second_interrupt()\nprint('ready', flush=True)\nsum(range(10**15))\n"
    )
    process = begun(code)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    begun_at = cpu_ticks(process.pid)
    while process.poll() is None and cpu_ticks(process.pid) < begun_at + BUSY_TICKS:
        pass
    # Signals of one kind that are not yet delivered are one signal: the second may have to be sent again.
    for _ in range(PATIENCE):
        process.send_signal(signal.SIGINT)
        try:
            process.wait(1)
            break
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    said = process.communicate()[1]
    assert process.returncode == 130
    assert "interrupted again" in said


def test_a_log_is_not_read_on(tmp_path: Path) -> None:
    from hotband import _core
    from hotband.data.record.iolog import save_log

    raw, out = tmp_path / "raw", tmp_path / "log.parquet"
    raw.write_bytes(bytes(8 * len(_core.LOG_COLUMNS) * 10))
    with pytest.raises(_core.Interrupted):
        save_log(raw, out, ["a"], lambda: True)
    assert not out.exists()


def test_an_interrupt_that_a_library_turns_into_an_exception_is_one() -> None:
    # As rpds does where it is interrupted, by which charts are checked.
    code = (
        "import os, signal, sys\n"
        "import hotband.views.catalog as catalog\n"
        "from hotband.faces.cli import main\n"
        "def entries(*_, **__):\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n"
        "        pass\n"
        "    raise TypeError('of a library')\n"
        "sys.argv = ['hotband', 'workloads']\n"
        "catalog.entries = entries\n"
        "main()\n"
    )
    process = begun(code)
    said = process.communicate(timeout=PATIENCE)[1]
    assert (process.returncode, said.splitlines()[-1]) == (130, "hotband: interrupted")


def listing(body: str, *before: str) -> str:
    """A program that runs `hotband workloads`, which does this in the place of its own work."""
    imports = ["import hotband.views.catalog as catalog", "from hotband.faces.cli import main"]
    work = "".join(f"    {line}\n" for line in body.splitlines())
    end = "sys.argv = ['hotband', 'workloads']\ncatalog.entries = work\nmain()\n"
    return "\n".join(["import signal, sys", *before, *imports]) + f"\ndef work(*_, **__):\n{work}{end}"


DROPPED = "try:\n    signal.raise_signal(signal.SIGINT)\nexcept BaseException:\n    pass\n"
"""What a library does that drops an interrupt."""
FOR_EVER = "while True:\n    pass"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (f"import dropping\n{FOR_EVER}", "an import drops it"),
        (f"class Dropping:\n    def __del__(self):\n        signal.raise_signal(signal.SIGINT)\nDropping()\n{FOR_EVER}",
         "a destructor drops it"),
        (DROPPED, "a library drops it, and the command comes to its end"),
    ],
)  # fmt: skip
def test_an_interrupt_that_a_library_drops_ends_the_command(tmp_path: Path, body: str, said: str) -> None:
    (tmp_path / "dropping.py").write_text(f"import signal\n{DROPPED}", encoding="utf-8")
    process = begun(listing(body, f"sys.path.insert(0, {str(tmp_path)!r})"))
    error = process.communicate(timeout=PATIENCE)[1]
    assert (process.returncode, error) == (130, "hotband: interrupted\n"), said


SOBOL = """
import signal
from hotband.inference.interval import sobol
from hotband.inference.interval.sampler import Sampler
find_spec = sobol.find_spec
def interrupting(name):
    sobol.find_spec = find_spec
    signal.raise_signal(signal.SIGINT)
    return find_spec(name)
sobol.find_spec = interrupting
"""
"""From here on one interrupt comes while direction numbers are read."""


def test_an_interrupt_while_the_sampler_starts_ends_the_command() -> None:
    process = begun(listing("Sampler([], 1)\nprint('went on')", *SOBOL.splitlines()))
    out, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, error) == (130, "", "hotband: interrupted\n")


def test_draws_after_an_interrupt_are_those_without_it() -> None:
    from hotband.inference.interval.sampler import Sampler

    again = (
        "try:\n    Sampler([], 1)\nexcept KeyboardInterrupt:\n    print(Sampler([], 1)._sobol(3).random(4).tolist())\n"
    )
    out, error = begun(SOBOL + again).communicate(timeout=PATIENCE)
    assert (out.strip(), error) == (str(Sampler([], 1)._sobol(3).random(4).tolist()), "")


def test_what_is_done_as_a_whole_is_interrupted_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    from hotband.execution.runs import signals
    from hotband.execution.runs.signals import forget_interrupts, whole

    # A command that an earlier test ran within this process has left its own handler.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(signals, "_WAITING", signals._Waiting())
    done = []

    def work() -> None:
        with whole():
            with whole():
                signal.raise_signal(signal.SIGINT)
                done.append("inner")
            done.append("outer")

    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        handler = signal.getsignal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    forget_interrupts()
    assert done == ["inner", "outer"]
    assert handler is signal.default_int_handler
