"""The command line in this process, with an eye on whatever would write a block device: every file that is opened,
every command that is run."""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

WRITING = os.O_WRONLY | os.O_RDWR | os.O_TRUNC | os.O_CREAT | os.O_APPEND
# What tools are called with where they only look, by their first word: the whole command line has to match.
LOOKING = (
    r"blkid -p .*",
    r"wipefs --no-act .*",
    r"lsblk .*",
    r"smartctl --json=c -i -H -A -l devstat .*",
    r"nvme (id-ctrl|id-ns|smart-log|ocp smart-add-log|resv-report) .*",
    r"hdparm -I .*",
    r"sg_persist --readonly --in --read-reservation .*",
    r"fio (--version|--enghelp).*",
    r"nbdinfo .*",
)
WRITES_OF_FIO = re.compile(r"^\s*(?:rw|readwrite)\s*=\s*(?!read\b|randread\b)", re.MULTILINE)


class Stopped(BaseException):
    """fio was about to run."""


class Spy:
    """What would have written the victim, or a device of the name."""

    def __init__(self) -> None:
        self.victim: str | None = None
        self.found: list[str] = []
        self.jobs: list[str] = []
        self._is_hooked = False

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.victim is None:
            return
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, str | bytes) and isinstance(flags, int) and flags & WRITING and self._is_victim(path):
                self.found.append(f"opened with {flags:#o}")
        elif event in ("os.truncate", "os.remove", "os.rename", "os.link", "shutil.copyfile"):
            self.found += [event for one in arguments if isinstance(one, str) and one == self.victim]
        elif event == "subprocess.Popen":
            self._command([os.fsdecode(one) for one in arguments[1]], arguments[2])  # type: ignore[attr-defined, arg-type]
        elif event in ("os.system", "os.exec", "os.posix_spawn"):
            self.found.append(f"{event} {arguments}")

    def _is_victim(self, path: str | bytes) -> bool:
        named = os.fsdecode(path)
        # What is opened from the descriptor of its folder has its last name alone here.
        from_folder = os.sep not in named and named == os.path.basename(str(self.victim))
        return from_folder or os.path.realpath(named) == self.victim

    def _command(self, words: Sequence[str], folder: str | None) -> None:
        named = " ".join([os.path.basename(words[0]), *words[1:]])
        jobs = [Path(folder or ".", word) for word in words if word.endswith(".fio")]
        if jobs:
            text = jobs[0].read_text()
            self.jobs.append(text)
            if WRITES_OF_FIO.search(text):
                self.found.append(f"fio would write: {text}")
            raise Stopped
        if self.victim in named and not any(re.fullmatch(pattern, named) for pattern in LOOKING):
            self.found.append(f"ran {named}")

    @contextlib.contextmanager
    def watching(self, victim: str, pretends: bool) -> Iterator[None]:
        """Watches one path; `pretends` lets a file look like a block device."""
        if not self._is_hooked:
            # It cannot be taken back, and slows whatever the process does from then on by some percent.
            sys.addaudithook(self._hear)
            self._is_hooked = True
        self.victim, self.found, self.jobs = victim, [], []
        told = os.stat

        def looked(path: object, *rest: object, **named: object) -> os.stat_result:
            found = told(path, *rest, **named)  # type: ignore[arg-type, call-overload]
            if isinstance(path, int) or os.path.realpath(os.fsdecode(path)) != victim:  # type: ignore[arg-type]
                return found  # type: ignore[no-any-return]
            whole = list(found)
            whole[0] = stat.S_IFBLK | 0o600
            return os.stat_result(whole, {"st_rdev": os.makedev(240, 99)})

        try:
            with mock.patch("os.stat", looked) if pretends else contextlib.nullcontext():
                yield
        finally:
            self.victim = None


def command_line(*arguments: str) -> str:
    """Runs `hotband ARGUMENTS` in this process, as far as it goes; what it said."""
    from hotband.faces.cli import main

    out, said = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["hotband", *arguments]),
        # There is no stdout of this process to leave.
        mock.patch("hotband.faces.commands.group.leave_stdout"),
        # The page would be served until somebody ends it.
        mock.patch("uvicorn.Server.run", side_effect=Stopped),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(said),
        contextlib.suppress(SystemExit, Stopped),
    ):
        main()
    return out.getvalue() + said.getvalue()
