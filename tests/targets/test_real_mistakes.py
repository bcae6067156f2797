"""Is every mistake with hardware one line that says what is expected, with nothing written and nothing left behind?"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hotband.base.child import Child, start_child
from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.data.jobs.job_file import converted
from hotband.execution.runs.signals import forget_interrupts
from hotband.execution.targets import fio_child
from hotband.execution.targets.fio_child import LOOK_EVERY_S, TO_END_S, find_fio, run_fio
from hotband.execution.targets.fio_client import fio_run_of
from hotband.execution.targets.fio_job import job_at
from hotband.execution.targets.hosts import hosts_of
from hotband.execution.targets.real_target import RealTarget, real_target_of

fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)")
DRIVE = "exos-15e900-512n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of files to make mistakes with, which is where the command is run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_bytes(bytes(8192))
    (tmp_path / "tiny").write_bytes(bytes(512))
    (tmp_path / "empty").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as silent, socket.socket(socket.AF_UNIX) as wrong:
        silent.bind("unserved")
        wrong.bind("wrong")
        wrong.listen()
        threading.Thread(target=_answers, args=(wrong,), daemon=True).start()
        yield tmp_path


def _answers(listening: socket.socket) -> None:
    """A server of something else."""
    try:
        while True:
            client, _ = listening.accept()
            with client:
                client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    except OSError:
        return


READ, WRITE = "fio-randread", "fio-randwrite"
VERSION = 'case "$1" in --version) echo fio-3.33; exit;; esac'


@fio
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([READ, "--on", "real:"], "--on = 'real:': expected real:PATH of a block device"),
        ([READ, "--on", "real:nowhere"], "cannot be used: no such file or directory"),
        ([READ, "--on", "real:/dev/nowhere"], "cannot be used: no such file or directory"),
        ([READ, "--on", "real:file/below"], "cannot be used: not a directory"),
        ([READ, "--on", "real:/dev/null"], "is a character device"),
        ([READ, "--on", "real:pipe"], "is a pipe"),
        ([READ, "--on", "real:unserved"], "is a socket: expected real:nbd+unix:///?socket="),
        ([READ, "--on", "real:tiny"], "has 512 bytes, and fio-randread needs 4,096"),
        ([READ, "--on", "real:empty"], "has 0 bytes, and fio-randread needs 4,096"),
        ([READ, "--on", "real:nbd+unix:///"], "names no socket"),
        ([READ, "--on", "real:nbd+unix:///?socket=nowhere"], "no server: no such file or directory"),
        ([READ, "--on", "real:nbd+unix:///?socket=unserved"], "no server: connection refused"),
        ([READ, "--on", "real:nbd+unix:///?socket=wrong"], "is not an NBD server: no fixed newstyle handshake"),
        ([READ, "--on", "real:nbd://127.0.0.1:1/x"], "no server: connection refused"),
        ([READ, "--on", "real:rbd:image"], "expected real:rbd:POOL/IMAGE"),
        ([READ, "--on", "real:rbd:a/b/c"], "expected real:rbd:POOL/IMAGE"),
        ([WRITE, "--on", "real:file", "--yes"], "would be overwritten"),
        ([WRITE, "--on", "real:file", "--yes", "--erase", "FILE"], "letter for letter"),
        ([READ, "--on", "real:file", "--erase", "NONSENSE"], "/file for it, letter for letter"),
        (
            [READ, "--on", "real:file", "--set", "data=0.5"],
            "data = '0.5': applies to written data, but nothing is written",
        ),
        ([WRITE, "--on", "real:folder"], "no terminal to confirm it: expected --yes"),
        ([READ, "--on", "real:folder", "--size", "large"], "--size = 'large': expected a size with its unit"),
        ([READ, "--on", "real:folder", "--size", "900 PB"], "has room for"),
        ([READ, "--on", "real:folder", "--size", "1 MiB", "--set", "span=2 MiB"], "is less than the workload's range"),
        ([READ, "--on", "real:file", "--size", "1 MiB"], "--size = '1 MiB': applies to a file made in a folder"),
        (
            [READ, "--on", "real:file", "--keep"],
            "--keep: applies to a file made in a folder; real:file is not a folder",
        ),
        ([READ, "--on", "real:file", "--hosts", ","], "--hosts = ',': expected 1 to 64 hosts"),
        ([READ, "--on", "real:file", "--hosts", "a b"], "expected HOST, HOST:PORT or the path of a socket"),
        ([READ, "--on", "real:file", "--hosts", "127.0.0.1:1"], "does not answer"),
        ([READ, "--on", "real:file", "--hosts", "a,a:99"], "names a twice"),
        ([READ, "--on", "real:file", "--expect", "nothing"], "--expect = 'nothing': expected"),
        ([READ, "--on", "real:file", "--set", "wce=on"], "--set = 'wce': expected one of 17 names, such as qd, depth"),
        ([READ, "--on", "real:file", "--set", "qd=many"], "qd = 'many': expected"),
        ([READ, "--on", "real:file", "--set", "bs=4 furlongs"], "4 furlongs"),
        ([READ, "--on", "real:file", "--set", "state=new"], "expected one of purged, filled, preconditioned"),
        ([READ, "--on", "real:file", "--duration", "soon"], "soon"),
        ([READ, "--on", "real:file", "--interval", "90"], "--expect PRODUCT has them"),
        ([READ, "--on", "real:file", "--fail", "d0@1 s"], "--fail: is for runs in virtual time"),
        ([READ, "--on", "real:file", "--event", "at 1 s: fail d0"], "--event: is for runs in virtual time"),
        ([READ, "--on", "real:file", "--io-log", "x.parquet"], "--io-log: is for runs in virtual time"),
        (["oltp", "--on", "real:file"], "a job cannot express a script"),
        (["nothing", "--on", "real:file"], "nothing"),
        ([READ, "--on", DRIVE, "--erase", "S1"], "--erase = 'S1': is for hardware"),
        ([READ, "--on", DRIVE, "--yes"], "--yes: is for hardware"),
        ([READ, "--on", DRIVE, "--hosts", "a"], "--hosts = 'a': is for hardware"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(hotband, place: Path, arguments: list[str], words: str) -> None:
    before = {path: path.stat().st_mtime_ns for path in place.iterdir()}
    own = [] if "--duration" in arguments else ["--duration", "1 s"]
    done = hotband("run", *arguments, *own, *([] if "--set" in arguments else ["--set", "warm_up=0 s"]))
    assert done.returncode == 2, done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("hotband: error: ")
    assert "Traceback" not in done.stderr
    assert words in last
    assert before == {path: path.stat().st_mtime_ns for path in place.iterdir()}


def test_a_folder_or_file_of_others_is_refused(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read and write everything")
    (tmp_path / "secret").write_bytes(b"x")
    (tmp_path / "secret").chmod(0)
    with pytest.raises(UserError, match="expected a file that you may read"):
        real_target_of(f"real:{tmp_path / 'secret'}")
    (tmp_path / "folder").mkdir(mode=0o500)
    with pytest.raises(UserError, match="is a folder that you cannot write"):
        real_target_of(f"real:{tmp_path / 'folder'}")


def test_fio_that_is_missing_or_old_is_named_with_how_to_get_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"is not installed: expected fio 3\.33 or newer"):
        find_fio()
    fake(tmp_path, "echo fio-3.28")
    with pytest.raises(UserError, match=r"is fio-3\.28: expected fio 3\.33 or newer \(apt install fio"):
        find_fio()


def fake(folder: Path, script: str) -> None:
    """A command that is called fio."""
    (folder / "fio").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "fio").chmod(0o755)


def test_what_is_asked_to_end_and_does_not_is_killed_in_time(tmp_path: Path, monkeypatch) -> None:
    # Noticed after a look, waited for, then killed: within the two seconds that an interrupt may take.
    assert LOOK_EVERY_S + TO_END_S < 2.0
    monkeypatch.setattr(fio_child, "TO_END_S", 0.1)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    pid = tmp_path / "pid"
    fake(tmp_path, f'{VERSION}\ntrap "" TERM\necho $$ > {pid}\nexec sleep 60')

    def look(_: fio_child.Status) -> None:
        if pid.exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_fio("[job]\n", tmp_path, look)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_an_interruption_while_fio_starts_leaves_no_fio(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    fake(tmp_path, f"{VERSION}\nexec sleep 60")
    begun: list[Child] = []

    def interrupted(words: list[str], **named: Any) -> Child:
        begun.append(start_child(words, **named))
        signal.raise_signal(signal.SIGINT)
        return begun[0]

    monkeypatch.setattr(fio_child, "start_child", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_fio("[job]\n", tmp_path)
    forget_interrupts()
    assert [child.code for child in begun] == [-signal.SIGTERM]


def test_what_fio_says_of_its_failure_is_the_error(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    fake(
        tmp_path,
        'case "$1" in --version) echo fio-3.33; exit;; esac\necho "Jobs: 1 (f=1)"\necho "fio: it broke"\nexit 1',
    )
    with pytest.raises(UserError, match="failed: fio: it broke"):
        run_fio("[job]\n", tmp_path)


def test_hosts_are_named_as_fio_takes_them() -> None:
    assert hosts_of("a, b.lan:8765,/run/fio.sock") == ("a", "b.lan,8765", "sock:/run/fio.sock")


def test_settings_that_are_no_numbers_are_named() -> None:
    phase = '[[phases]]\nmeasure = true\nduration = "1 s"\n'
    stream = '[[streams]]\nread_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\n'
    text = f"[load]\nclosed = {{ threads = 1, depth = 1 }}\n{stream}{phase}"
    for key in ("qd", "threads", "read_pct", "rate_iops"):
        if key == "rate_iops":
            text = text.replace("closed = { threads = 1, depth = 1 }", 'open = { rate_iops = 5, arrival = "fixed" }')
        with pytest.raises(UserError, match=f"settings: {key} = 'x': expected "):
            fio_run_of(RunSpec("run", "real:/dev/sdz", "own", ((key, "x"),), workload_text=text))


def test_nothing_that_a_job_file_would_execute_is_handed_on(tmp_path: Path) -> None:
    job = tmp_path / "a.fio"
    ends = "runtime=1\ntime_based\nexec_prerun=touch executed\nexec_postrun=touch executed\nwrite_iops_log=elsewhere\n"
    job.write_text(f"[a]\nioengine=libaio\ndirect=1\nfilename=/dev/other\nrw=randread\nbs=4k\n{ends}")
    measured = RealTarget("real:/dev/sdz", "block", Path("/dev/sdz"), None, 1 << 30, 512)
    text = job_at(fio_run_of(RunSpec("run", measured.text, "a", workload_text=converted(job)[0])), measured)
    assert "filename=/dev/sdz" in text
    assert [word for word in ("exec", "touch", "elsewhere", "/dev/other") if word in text] == []


def test_fio_that_hangs_is_ended() -> None:
    phase = '[[phases]]\nmeasure = true\nduration = "2 s"\n'
    stream = '[[streams]]\nread_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\n'
    text = f"[load]\nclosed = {{ threads = 1, depth = 1 }}\n{stream}{phase}"
    run = fio_run_of(RunSpec("run", "real:/dev/sdz", "own", workload_text=text))
    looks: list[fio_child.Status] = []
    ending = run._ending(looks.append, RealTarget("real:/dev/sdz", "block", Path("/dev/sdz"), None, 1 << 30, 512))
    ending(fio_child.Status(61.0))
    assert looks == [fio_child.Status(61.0)]
    with pytest.raises(UserError, match="has not ended 60 s after its time"):
        ending(fio_child.Status(63.0))
