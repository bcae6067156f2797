"""Source of sysfs, proc, device nodes and commands: this machine, or a tree of files.

A tree has `sys/`, `proc/` and `dev/` as plain files and symbolic links within it, and `commands/` with the output of
commands: one file per command line, its name the arguments with spaces between them and `%` for `/`
(`commands/blkid -p %dev%sdb`), and NAME.exit for an exit code other than 0. A command without any output file is not
installed. `busy` lists devices that are held exclusively, one path per line.
"""

from __future__ import annotations

import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hotband.base.child import PARSED, Output, run_child
from hotband.base.errors import reason_of

# Longest that a tool that only reads may take: a sleeping disk needs up to 30 s to spin up (data sheets' "ready" time).
LONGEST_S = 60.0
# Longer than a tool takes on a drive that is awake.
SAY_AFTER_S = 3.0
_HUNG: set[tuple[str, str]] = set()
"""Tools that did not end in time in this process, each with its device."""
# util-linux, smartmontools and nvme-cli lie in sbin, which is not in every user's PATH.
SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")

Kind = Literal["block", "character", "file", "folder", "other", "absent"]


@dataclass(frozen=True)
class Host:
    """This machine, or with `root` a recorded tree. Paths are always those of the machine: `/sys/block/sdb/size`."""

    root: Path | None = None
    say: Callable[[str], None] | None = field(default=None, compare=False, repr=False)
    """Receives a sentence about a tool that takes long."""

    def at(self, path: str) -> Path:
        """Return the local path of a path of the machine."""
        return Path(path) if self.root is None else self.root / path.lstrip("/")

    def text(self, path: str) -> str | None:
        """A small file's text without the blanks around it; None if it is not there or cannot be read."""
        try:
            return self.at(path).read_text(errors="replace").strip()
        except (OSError, ValueError):
            return None

    def number(self, path: str) -> int | None:
        """A file's whole number; None if there is none."""
        text = self.text(path)
        try:
            return None if text is None else int(text, 0)
        except ValueError:
            return None

    def names(self, path: str) -> list[str]:
        """Return the sorted names in a folder; empty if it does not exist."""
        try:
            return sorted(os.listdir(self.at(path)))
        except OSError:
            return []

    def has(self, path: str) -> bool:
        """Return whether there is anything by that name."""
        return os.path.lexists(self.at(path))

    def real(self, path: str) -> str:
        """The path behind symbolic links, as the machine calls it."""
        real_path = os.path.realpath(self.at(path))
        if self.root is None:
            return real_path
        base = os.path.realpath(self.root)
        return "/" + os.path.relpath(real_path, base) if real_path.startswith(base + "/") else real_path

    def link(self, path: str) -> str:
        """Return the target of a symbolic link, unresolved; empty if it is none."""
        with suppress(OSError):
            return os.readlink(self.at(path))
        return ""

    def kind(self, path: str) -> Kind:
        """Return the kind of a path. In a tree, a file of `/dev` is a block device if sysfs has its name."""
        if self.root is not None and self.block_name(path):
            return "block"
        try:
            mode = self.at(path).stat().st_mode
        except (OSError, ValueError):
            return "absent"
        kinds: list[tuple[bool, Kind]] = [
            (stat.S_ISBLK(mode), "block"),
            (stat.S_ISCHR(mode), "character"),
            (stat.S_ISREG(mode), "file"),
            (stat.S_ISDIR(mode), "folder"),
        ]
        return next((kind for holds, kind in kinds if holds), "other")

    def sysfs(self, name: str) -> str:
        """The folder of a block device in sysfs, partitions included; empty if it has none."""
        for folder in (f"/sys/block/{name}", f"/sys/class/block/{name}"):
            if self.has(folder):
                return folder
        for disk in self.names("/sys/block"):
            if self.has(f"/sys/block/{disk}/{name}/partition"):
                return f"/sys/block/{disk}/{name}"
        return ""

    def disk_counters(self, folder: str) -> list[int]:
        """Return the counters of a block device with this folder in sysfs (Documentation/block/stat.rst); none if they
        are unknown."""
        words = (self.text(f"{folder}/stat") or "").split() if folder else []
        return [int(word) for word in words if word.isdecimal()]

    def block_name(self, path: str) -> str:
        """Return the kernel's name of the block device at a path, by its device number, since a node may have any name.
        Empty if it is none, or unknown to sysfs."""
        if self.root is not None:
            real = self.real(path)
            name = real.removeprefix("/dev/").replace("/", "!")
            return name if real.startswith("/dev/") and self.has(real) and self.sysfs(name) else ""
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return ""
        if not stat.S_ISBLK(status.st_mode):
            return ""
        sys_path = f"/sys/dev/block/{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
        return os.path.basename(os.path.realpath(sys_path)) if os.path.exists(sys_path) else ""

    def read(self, path: str, offset: int, count: int) -> bytes:
        """Bytes of a device or a file, fewer at its end. Never opened for writing. Raises OSError."""
        descriptor = os.open(self.at(path), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            return os.pread(descriptor, count, offset)
        finally:
            os.close(descriptor)

    def size(self, path: str) -> int | None:
        """Bytes of a device (by sysfs) or a file; None if it is not there."""
        if self.kind(path) == "block":
            sectors = self.number(f"{self.sysfs(self.block_name(path))}/size")
            # Sysfs counts sizes in 512 bytes, whatever the sectors (Documentation/ABI/stable/sysfs-block).
            return None if sectors is None else sectors * 512
        try:
            return self.at(path).stat().st_size
        except (OSError, ValueError):
            return None

    def tool(self, name: str) -> str | None:
        """The path of a command; None if it is not installed."""
        if self.root is None:
            path = os.environ.get("PATH", os.defpath)
            return shutil.which(name, path=os.pathsep.join([path, *SBIN]))
        return name if any(command.split(" ")[0] == name for command in self.names("/commands")) else None

    def run(self, *arguments: str, longest_s: float = LONGEST_S) -> Output | None:
        """Run a command and return its output; None if it is not installed. One that takes too long, or that a tree did
        not record, fails with the reason as its errors."""
        tool = self.tool(arguments[0])
        if tool is None:
            return None
        if self.root is not None:
            return self._recorded(" ".join(arguments).replace("/", "%"))
        hung = Output(-1, "", f"{arguments[0]} did not end within {longest_s:g} s")
        # Do not wait again for a drive that did not respond.
        asked = (tool, arguments[-1])
        if asked in _HUNG:
            return hung
        try:
            with self._saying(f"waiting for {arguments[0]}, {longest_s:g} s at most"):
                return run_child([tool, *arguments[1:]], within_s=longest_s, environment=PARSED)
        except TimeoutError:
            _HUNG.add(asked)
            if self.say is not None:
                self.say(f"{hung.errors}: what it reports of {arguments[-1]} is missing")
            return hung
        except OSError as error:
            return Output(-1, "", f"{arguments[0]}: {reason_of(error)}")

    @contextmanager
    def _saying(self, sentence: str) -> Iterator[None]:
        """Print a sentence if the block takes long."""
        if self.say is None:
            yield
            return
        timer = threading.Timer(SAY_AFTER_S, self.say, (sentence,))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _recorded(self, name: str) -> Output:
        text = self.text(f"/commands/{name}")
        if text is None:
            return Output(1, "", f"{name.replace('%', '/')} was not recorded")
        return Output(self.number(f"/commands/{name}.exit") or 0, text)

    def is_busy(self, path: str) -> bool:
        """Return whether a block device is held exclusively (a file system, md, dm, bcache, ZFS, another tool).
        Raises OSError if it cannot be opened."""
        if self.root is not None:
            return path in (self.text("/busy") or "").splitlines()
        try:
            # O_EXCL without O_CREAT is a claim on the device, refused where another holds one (open(2)).
            os.close(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC | os.O_NONBLOCK))
        except OSError as error:
            import errno

            if error.errno == errno.EBUSY:
                return True
            raise
        return False
