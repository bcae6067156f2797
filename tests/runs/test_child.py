"""Is a child process bounded in time and output, and is nothing of it left when it was ended?"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hotband.base import child as children
from hotband.base.child import PARSED, Printed, run_child, start_child

SLEEPS = "sleep 60"


def shell(script: str) -> list[str]:
    """The words of a script."""
    return ["/bin/sh", "-c", script]


def gone(process: int) -> bool:
    """Whether a process has ended, be it not reaped by whoever takes over orphans."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something comes to hold."""
    until = time.monotonic() + 20
    while not holds() and time.monotonic() < until:
        time.sleep(0.005)
    return holds()


def number_in(path: Path) -> int:
    """The process id that a script writes into a file."""
    assert eventually(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


def test_a_command_gives_its_code_and_both_of_its_texts() -> None:
    done = run_child(shell("echo out; echo err >&2; exit 3"))
    assert (done.code, done.text, done.errors) == (3, "out\n", "err\n")
    assert run_child(shell("kill -TERM $$")).code == -signal.SIGTERM


def test_a_command_that_is_not_there_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run_child([tmp_path / "nothing"])


def test_what_takes_too_long_is_killed_with_its_group(tmp_path: Path) -> None:
    """A grandchild that holds the pipes open would have subprocess.run wait for it."""
    with pytest.raises(TimeoutError, match=r"sh did not end within 0\.2 s"):
        run_child(shell(f"{SLEEPS} & echo $! > {tmp_path}/pid; wait"), within_s=0.2)
    assert eventually(lambda: gone(number_in(tmp_path / "pid")))


def test_no_command_reads_the_terminal() -> None:
    assert run_child(["cat"], within_s=20).text == ""


def test_what_is_not_text_is_read_all_the_same() -> None:
    assert run_child(["printf", r"a\377b"]).text == "a�b"


def test_what_is_printed_beyond_the_bound_is_read_and_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "MOST_TEXT", 1000)
    monkeypatch.setattr(children, "LONGEST_LINE", 100)
    code = "import sys; sys.stdout.write('x' * 1_000_000); print('end', file=sys.stderr)"
    done = run_child([sys.executable, "-c", code], within_s=60)
    assert (done.code, len(done.text), done.errors) == (0, 1000, "end\n")


def test_variables_are_added_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTBAND_STAYS", "1")
    monkeypatch.setenv("HOTBAND_GOES", "2")
    script = shell("echo $HOTBAND_STAYS ${HOTBAND_GOES-none} $HOTBAND_NEW $LC_ALL")
    environment = {**PARSED, "HOTBAND_GOES": None, "HOTBAND_NEW": "3"}
    assert run_child(script, environment=environment).text == "1 none 3 C\n"
    assert os.environ["HOTBAND_GOES"] == "2"


def test_each_line_is_told_while_it_runs() -> None:
    lines: list[str] = []
    child = start_child(shell(f"echo first; {SLEEPS}"), output=Printed(lines.append))
    try:
        assert eventually(lambda: lines == ["first"])
        assert child.running()
        assert child.text() == "first\n"
    finally:
        child.end(0)
    assert not child.running()
    assert child.code == -signal.SIGKILL


def test_it_ends_by_its_own_signal_and_what_it_left_is_killed(tmp_path: Path) -> None:
    script = f"trap 'exit 7' INT; {SLEEPS} & echo $! > {tmp_path}/pid; wait"
    child = start_child(shell(script), output=Printed(), end_signal=signal.SIGINT)
    left = number_in(tmp_path / "pid")
    child.end(20)
    assert child.code == 7
    assert eventually(lambda: gone(left))


def test_what_ended_by_itself_leaves_nothing_in_its_group(tmp_path: Path) -> None:
    child = start_child(shell(f"{SLEEPS} >/dev/null 2>&1 & echo $! > {tmp_path}/pid"), output=Printed())
    left = number_in(tmp_path / "pid")
    assert child.ended_within(20)
    child.end(20)
    child.end(20)
    assert child.code == 0
    assert eventually(lambda: gone(left))


def test_an_interruption_while_it_ends_kills_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = start_child(shell(f"trap '' TERM; echo $$ > {tmp_path}/pid; {SLEEPS}"), output=Printed())
    process = number_in(tmp_path / "pid")

    def interrupted(_: float) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(child, "ended_within", interrupted)
    with pytest.raises(KeyboardInterrupt):
        child.end(60)
    assert gone(process)
    assert child.code == -signal.SIGKILL


def test_an_interruption_of_a_command_kills_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> bool:
        number_in(tmp_path / "pid")
        raise KeyboardInterrupt

    monkeypatch.setattr(children.Child, "ended_within", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_child(shell(f"echo $$ > {tmp_path}/pid; exec {SLEEPS}"))
    assert gone(number_in(tmp_path / "pid"))


def test_what_shares_the_terminal_stays_in_our_group_and_ends_with_all_it_started(tmp_path: Path) -> None:
    # A session of its own, which no signal to a group reaches.
    script = f"setsid sh -c 'echo $$ > {tmp_path}/pid; exec {SLEEPS}' & wait"
    child = start_child(shell(script), output="terminal")
    try:
        left = number_in(tmp_path / "pid")
        assert os.getpgid(child.pid) == os.getpgid(0)
    finally:
        child.end(20)
    assert child.code == -signal.SIGTERM
    assert eventually(lambda: gone(left))


def test_every_other_child_has_a_group_of_its_own() -> None:
    child = start_child(shell(SLEEPS), output=Printed())
    try:
        assert os.getpgid(child.pid) == child.pid
    finally:
        child.end(0)


def test_what_is_tied_ends_when_we_are_killed(tmp_path: Path) -> None:
    code = f"""
import os, signal, time
from pathlib import Path
from hotband.base.child import Printed, start_child
start_child(["/bin/sh", "-c", "echo $$ > {tmp_path}/pid; exec {SLEEPS}"], output=Printed(), tied=True)
while not Path("{tmp_path}/pid").exists() or not Path("{tmp_path}/pid").read_text():
    time.sleep(0.005)
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert run_child([sys.executable, "-c", code], within_s=60).code == -signal.SIGKILL
    assert eventually(lambda: gone(number_in(tmp_path / "pid")))


def test_an_interruption_while_it_starts_kills_it(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    def interrupted(child: children.Child, within_s: float) -> None:
        begun.append(child.pid)
        whole(child, within_s)

    def unread(*_: object) -> None:
        raise KeyboardInterrupt

    whole = children.Child.end
    monkeypatch.setattr(children.Child, "end", interrupted)
    monkeypatch.setattr(Printed, "read", unread)
    with pytest.raises(KeyboardInterrupt):
        run_child(shell(SLEEPS))
    assert [gone(process) for process in begun] == [True]
