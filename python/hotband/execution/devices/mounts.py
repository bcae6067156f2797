"""Mounts of every mount namespace that can be seen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from hotband.base.temporary import plain
from hotband.execution.devices.host import Host


@dataclass(frozen=True)
class Mount:
    """A line of mountinfo (proc(5)): `number` is MAJOR:MINOR of the mounted device, `process` one in whose namespace it
    is."""

    number: str
    root: str
    point: str
    kind: str
    source: str
    options: tuple[str, ...]
    process: str = "self"

    def sources(self) -> list[str]:
        """Every device that it names: bcachefs lists several with colons, XFS and ext4 have logs of their own."""
        named = [*self.source.split(":"), *(option.partition("=")[2] for option in self.options)]
        return [source for source in named if source.startswith("/dev/")]


def mounts(host: Host, process: str = "self") -> list[Mount]:
    """The mounts that a process sees."""
    mounted = []
    for line in (host.text(f"/proc/{process}/mountinfo") or "").splitlines():
        head, dash, tail = line.partition(" - ")
        words, ends = head.split(), tail.split()
        if not dash or len(words) < 6 or len(ends) < 3:
            continue
        options = (*words[5].split(","), *ends[2].split(","))
        mounted.append(Mount(words[2], plain(words[3]), plain(words[4]), ends[0], plain(ends[1]), options, process))
    return mounted


def all_mounts(host: Host) -> list[Mount]:
    """The mounts of every namespace that a process is in, ours first; a namespace is examined once."""
    looked: set[str] = set()
    mounted: list[Mount] = []
    for process in ["self", *processes(host)]:
        name = host.link(f"/proc/{process}/ns/mnt")
        if name and name in looked:
            continue
        looked.add(name)
        mounted += mounts(host, process)
    return mounted


def processes(host: Host) -> list[str]:
    """Numbers of the processes that can be seen."""
    return sorted((name for name in host.names("/proc") if name.isdigit()), key=int)


def mount_of(path: str, host: Host) -> Mount | None:
    """The mount that a path lies on; None if no table tells."""
    real = PurePosixPath(host.real(path))
    on = [mount for mount in mounts(host) if real.is_relative_to(mount.point)]
    # A later mount hides an earlier one at the same place.
    return max(enumerate(on), key=lambda numbered: (len(numbered[1].point), numbered[0]))[1] if on else None


def paths_of(path: str, host: Host) -> list[str]:
    """All paths by which the mounts of this process show a file: a bind mount shows a folder, or a file, once more."""
    real, mount = host.real(path), mount_of(path, host)
    if mount is None:
        return [real]
    below = PurePosixPath(mount.root) / PurePosixPath(real).relative_to(mount.point)
    same = (
        mounted for mounted in mounts(host) if mounted.number == mount.number and below.is_relative_to(mounted.root)
    )
    return list(
        dict.fromkeys(
            [real, *(str(PurePosixPath(mounted.point) / below.relative_to(mounted.root)) for mounted in same)]
        )
    )
