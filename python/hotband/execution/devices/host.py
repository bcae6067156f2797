"""Where sysfs, proc, device nodes and commands are read from: this machine, or a tree of files.

A tree has `sys/`, `proc/` and `dev/` as plain files and symbolic links within it, and `commands/` with what commands
printed: one file per command line, its name the arguments with spaces between them and `%` for `/`
(`commands/blkid -p %dev%sdb`), and beside it NAME.exit where the exit code was not 0. A command none of whose outputs
are there is not installed. `busy` names devices that somebody holds exclusively, a path a line.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hotband.base.child import PARSED, Output, run_child
from hotband.base.errors import reason_of

# Longest that a tool that only reads may take: a sleeping disk needs up to 30 s to spin up (data sheets' "ready" time).
LONGEST_S = 60.0
# util-linux, smartmontools and nvme-cli lie in sbin, which is not in every user's PATH.
SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")

Kind = Literal["block", "character", "file", "folder", "other", "absent"]


@dataclass(frozen=True)
class Host:
    """This machine, or with `root` a recorded tree. Paths are always those of the machine: `/sys/block/sdb/size`."""

    root: Path | None = None

    def at(self, path: str) -> Path:
        """Where a path of the machine lies here."""
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
        """What is in a folder, sorted; nothing if it is not there."""
        try:
            return sorted(os.listdir(self.at(path)))
        except OSError:
            return []

    def has(self, path: str) -> bool:
        """Return whether there is anything by that name."""
        return os.path.lexists(self.at(path))

    def real(self, path: str) -> str:
        """The path behind symbolic links, as the machine calls it."""
        found = os.path.realpath(self.at(path))
        if self.root is None:
            return found
        base = os.path.realpath(self.root)
        return "/" + os.path.relpath(found, base) if found.startswith(base + "/") else found

    def link(self, path: str) -> str:
        """Where a symbolic link points, as it says; empty if it is none."""
        with suppress(OSError):
            return os.readlink(self.at(path))
        return ""

    def kind(self, path: str) -> Kind:
        """What lies at a path. In a tree a file of `/dev` is a block device where sysfs has one of that name."""
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

    def block_name(self, path: str) -> str:
        """The kernel's name of the block device at a path, by its device number: a node may have any name. Empty where
        it is none, or one that sysfs does not know."""
        if self.root is not None:
            real = self.real(path)
            name = real.removeprefix("/dev/").replace("/", "!")
            return name if real.startswith("/dev/") and self.has(real) and self.sysfs(name) else ""
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            return ""
        if not stat.S_ISBLK(found.st_mode):
            return ""
        place = f"/sys/dev/block/{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}"
        return os.path.basename(os.path.realpath(place)) if os.path.exists(place) else ""

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
        return name if any(one.split(" ")[0] == name for one in self.names("/commands")) else None

    def run(self, *arguments: str, longest_s: float = LONGEST_S) -> Output | None:
        """What a command prints; None if it is not installed. One that takes too long, or that a tree did not
        record, failed with what is the matter as its errors."""
        tool = self.tool(arguments[0])
        if tool is None:
            return None
        if self.root is not None:
            return self._recorded(" ".join(arguments).replace("/", "%"))
        try:
            return run_child([tool, *arguments[1:]], within_s=longest_s, environment=PARSED)
        except TimeoutError:
            return Output(-1, "", f"{arguments[0]} did not end within {longest_s:g} s")
        except OSError as error:
            return Output(-1, "", f"{arguments[0]}: {reason_of(error)}")

    def _recorded(self, name: str) -> Output:
        text = self.text(f"/commands/{name}")
        if text is None:
            return Output(1, "", f"{name.replace('%', '/')} was not recorded")
        return Output(self.number(f"/commands/{name}.exit") or 0, text)

    def is_busy(self, path: str) -> bool:
        """Return whether somebody holds a block device exclusively (a file system, md, dm, bcache, ZFS, another tool).
        Raises OSError where it cannot be opened."""
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
