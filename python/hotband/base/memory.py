"""Memory available to a run, within the limits of the system and of its control groups."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

from hotband.base.text.numbers import size

LARGE = 2_000_000_000
"""Total bytes from which runs report their need before they begin; less fits into any current computer."""
_FILES = {
    2: ("memory.max", "memory.current", "inactive_file"),
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""By version of control groups: files of the limit and of used memory, and the key of memory.stat with the file pages
that the kernel reclaims first (cgroup-v2.rst and cgroup-v1/memory.rst of the Linux documentation)."""
_UNLIMITED = 1 << 62
"""Bytes of a limit of version 1 that no computer reaches: PAGE_COUNTER_MAX of the kernel is 2**63 less a page."""


def left_on_system(meminfo: str) -> int | None:
    """Return MemAvailable of /proc/meminfo in bytes; None if it is missing."""
    for line in meminfo.splitlines():
        key, _, value = line.partition(":")
        words = value.split()
        if key == "MemAvailable" and words and words[0].isdigit():
            return int(words[0]) * 1024
    return None


def left_of_process(statm: str) -> int | None:
    """Return the bytes of address space that `ulimit -v` leaves, from the text of /proc/self/statm; None without a
    limit."""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = statm.split(" ", 1)[0]
    if most == resource.RLIM_INFINITY or not pages.isdigit():
        return None
    return max(0, most - int(pages) * resource.getpagesize())


def groups_of(cgroup: str) -> list[tuple[int, PurePosixPath]]:
    """Return version and path of the memory control groups in /proc/self/cgroup."""
    groups = []
    for line in cgroup.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if path.startswith("/") and number == "0" and not controllers:
            groups.append((2, PurePosixPath(path)))
        elif path.startswith("/") and "memory" in controllers.split(","):
            groups.append((1, PurePosixPath(path)))
    return groups


def is_limit(text: str) -> bool:
    """Return whether the limit of a group limits anything: version 2 has "max" if there is none, version 1 the
    largest number of bytes in whole pages."""
    most = text.strip()
    return most.isdigit() and int(most) < _UNLIMITED


def left_in_group(version: int, files: Mapping[str, str]) -> int | None:
    """Return the bytes that the limit of a group leaves, from the texts of its files; None without a limit."""
    limit, usage, inactive = _FILES[version]
    most, used = (files.get(name, "").strip() for name in (limit, usage))
    if not most.isdigit() or not used.isdigit():
        return None
    stat = dict(line.split(" ", 1) for line in files.get("memory.stat", "").splitlines() if " " in line)
    back = stat.get(inactive, "0").strip()
    return max(0, int(most) - int(used) + (int(back) if back.isdigit() else 0))


def least(known: Iterable[int | None]) -> int | None:
    """Return the smallest known value."""
    return min((size for size in known if size is not None), default=None)


def available(root: Path = Path("/")) -> int | None:
    """Return the bytes of memory that may be used; None if the system does not state it."""
    left = [left_on_system(_text(f"{root}/proc/meminfo")), left_of_process(_text(f"{root}/proc/self/statm"))]
    for version, folder in folders_of(_text(f"{root}/proc/self/cgroup")):
        limit, usage, _ = _FILES[version]
        files = {limit: _text(f"{root}/{folder}/{limit}")}
        # memory.stat takes longest to read, and it is read before each run.
        if is_limit(files[limit]):
            files |= {name: _text(f"{root}/{folder}/{name}") for name in (usage, "memory.stat")}
        left.append(left_in_group(version, files))
    return least(left)


@cache
def folders_of(cgroup: str) -> tuple[tuple[int, PurePosixPath], ...]:
    """Return version and folder of the control groups that /proc/self/cgroup names, and of those above them, whose
    limits hold for all below."""
    return tuple(
        (version, PurePosixPath("sys/fs/cgroup", "memory" if version == 1 else "", group.relative_to("/")))
        for version, path in groups_of(cgroup)
        for group in (path, *path.parents)
    )


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""


def jobs_that_fit(needs: Sequence[int], left: int | None, jobs: int) -> int:
    """Return how many runs may execute at once so that the largest ones fit together; at least one."""
    largest = sorted(needs, reverse=True)
    while left is not None and jobs > 1 and sum(largest[:jobs]) > left:
        jobs -= 1
    return jobs


def jobs_here(needs: Sequence[int], jobs: int) -> int:
    """Return how many of the runs may execute at once on this computer. If they need much memory together, print the
    amount to stderr."""
    jobs = jobs_that_fit(needs, available(), jobs)
    together = sum(sorted(needs, reverse=True)[:jobs])
    if together >= LARGE:
        sys.stderr.write(f"hotband: up to {in_gigabytes(together)} of memory needed\n")
    return jobs


def in_gigabytes(count: int) -> str:
    """Format a number of bytes for messages."""
    return size(count)
