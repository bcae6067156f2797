"""Is the record of a served machine kept however often it is told to end, and does it end?"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from forms import sized
from hotband.execution.serve import until_end
from hotband.execution.serve.served import Served, ServedVolume, ServeSpec

DRIVE = "exos-15e900-512n"
PATIENCE = 120
"""Seconds after which a process that goes on is a fault: on an idle computer it ends in two."""


def ended(folder: Path, at_end: str) -> subprocess.CompletedProcess[str]:
    """A server that is interrupted while it serves, and does `at_end` before it keeps its record."""
    code = (
        "import os, signal, sys, threading\n"
        "from hotband.faces.cli import main\n"
        "from hotband.execution.serve import ending\nfrom hotband.execution.serve.served import Served\n"
        "def interrupt(*_):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "kept = Served._end\n"
        "def end(self):\n"
        f"    {at_end}\n"
        "    kept(self)\n"
        "Served._end, Served.wait = end, interrupt\n"
        f"sys.argv = ['hotband', 'serve', {DRIVE!r}, '--anyway', '--record', {str(folder)!r}]\n"
        "main()\n"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_interrupts_while_it_ends_do_not_lose_the_record(tmp_path: Path) -> None:
    done = ended(tmp_path / "out", "interrupt(); interrupt()")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("hotband: the record is being written") == 1
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {"record.json", "series.parquet", "caches.parquet", "power.parquet"}


def test_interrupts_at_the_end_of_a_block_do_not_lose_its_record(tmp_path: Path) -> None:
    code = (
        "import os, signal\n"
        "import hotband as hb\n"
        "from hotband.execution.serve.served import Served\n"
        "kept = Served._end\n"
        "def end(self):\n"
        "    for _ in range(3):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    kept(self)\n"
        "Served._end = end\n"
        f"with hb.serve({DRIVE!r}, out={str(tmp_path / 'out')!r}, anyway=True) as served:\n"
        "    pass\n"
        "print(served.finished is not None)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGINT, ""), done.stderr
    assert "KeyboardInterrupt" in done.stderr
    assert done.stderr.count("hotband: the record is being written") == 1
    assert (tmp_path / "out" / "record.json").is_file()


def test_an_interrupt_stops_the_run_that_makes_a_server() -> None:
    """Drives of an array are preconditioned for minutes, in native code that no signal enters."""
    code = (
        "import os, signal, threading\n"
        "from hotband.execution.serve.served import made_beside\n"
        "ended = threading.Event()\n"
        "class Run:\n"
        "    stopped = threading.Event()\n"
        "    stop = stopped.set\n"
        "def make():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        f"    Run.stopped.wait({PATIENCE / 2})\n"
        "    ended.set()\n"
        "try:\n"
        "    made_beside(Run, make)\n"
        "except KeyboardInterrupt:\n"
        f"    print(Run.stopped.is_set(), ended.wait({PATIENCE / 2}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stdout.split() == ["True", "True"], done.stderr


def test_an_interrupt_ends_a_server_that_does_not_end_by_itself(tmp_path: Path) -> None:
    done = ended(tmp_path / "out", "ending.PATIENCE_S = 0; interrupt(); threading.Event().wait()")
    assert done.returncode == 130
    assert done.stderr.splitlines()[-1] == "hotband: interrupted again; ended at once, without the record"


def test_a_command_that_does_not_end_when_it_is_told_to_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(until_end, "TO_END_S", 0.1)
    begun, over = tmp_path / "begun", tmp_path / "over"

    def interrupted(_: Served) -> None:
        if begun.exists():
            raise KeyboardInterrupt

    served = Served(ServeSpec(DRIVE))
    served.volumes = {"d0": ServedVolume("d0", 4096, 512, None, None, None)}
    with pytest.raises(KeyboardInterrupt):
        until_end.run_beside(served, f"trap '' TERM; touch '{begun}'; sleep 20; touch '{over}'", interrupted)
    assert not over.exists()


def test_what_a_command_has_started_ends_with_it(tmp_path: Path) -> None:
    # The shell waits for the first of them; it does not end it when it ends itself.
    started = tmp_path / "started"
    command = f"sh -c 'echo $$ > {started}; exec sleep 60'; touch {tmp_path}/over"
    asked = [sys.executable, "-m", "hotband", "serve", DRIVE, "--anyway", "--live", "--run", command]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "no I/O" in line and started.exists() and started.read_text():
                break
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 128 + signal.SIGTERM, said
    assert not (tmp_path / "over").exists()
    told = Path("/proc", started.read_text().strip(), "stat")
    # Whoever takes over orphans may not have asked how it ended yet.
    assert not told.exists() or told.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)")
@pytest.mark.parametrize("number", sized([signal.SIGTERM], [signal.SIGTERM, signal.SIGHUP]))
@pytest.mark.parametrize(
    ("asked", "begins"),
    [
        (["run", "fio-randread", "--on", f"emulated:{DRIVE}"], "the same on the served machine"),
        (
            ["measure", "calibrate", "real:file", "--like", "black-box", "--erase", "{file}", "--yes"],
            "real:file is read for",
        ),
    ],
)
def test_what_runs_fio_ends_it_and_leaves_nothing_when_it_is_told_to_end(
    tmp_path: Path, number: signal.Signals, asked: list[str], begins: str
) -> None:
    (tmp_path / "file").write_bytes(bytes(1 << 26))
    words = ["hotband", *(word.format(file=tmp_path / "file") for word in asked)]
    # A host that is busy with other tests is too slow for any drive.
    code = (
        "import sys\n"
        "from hotband.faces.cli import main\n"
        "from hotband.execution.serve import served\n"
        "served.expect_servable = lambda *_: None\n"
        f"sys.argv = {words!r}\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code]
    # Short, as a socket's path has at most 107 bytes (unix(7)).
    with tempfile.TemporaryDirectory(prefix="hb-") as temporary:
        environment = {**os.environ, "TMPDIR": temporary}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment
        ) as process:
            assert process.stderr is not None
            before = ""
            for line in process.stderr:
                before += line
                if line.startswith(begins):
                    break
            process.send_signal(number)
            said = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == 128 + number, before + said
        assert "hotband: interrupted" in said
        assert list(Path(temporary).glob("hotband*")) == []


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)")
def test_a_temporary_folder_too_deep_for_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setenv("TMPDIR", str(deep))
    command = [sys.executable, "-m", "hotband", "run", "fio-randread", "--on", f"emulated:{DRIVE}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2, done.stderr
    assert "TMPDIR" in done.stderr
    assert "is too long for a socket" in done.stderr
