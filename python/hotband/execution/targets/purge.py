"""Purging: bring a device into the state of one that was never written, by the methods it supports.

Left out: SCSI's FORMAT UNIT and SANITIZE (hours, and a drive that is of no use until they end). A disk that
rotates has no such state.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hotband.base.errors import UserError, reason_of
from hotband.base.temporary import TemporaryFolder
from hotband.execution.devices import blocks
from hotband.execution.devices.device import ID_CTRL, ID_NS, asked_json, kind_of
from hotband.execution.devices.held import Held
from hotband.execution.devices.host import Host
from hotband.execution.devices.nodes import node_of
from hotband.execution.devices.readings import whole
from hotband.execution.devices.safety import Permission
from hotband.execution.targets import fio_child
from hotband.execution.targets.fio_child import Status
from hotband.execution.targets.remote import export_of

# linux/fs.h: discards a range, given by its first byte and length, as two 64-bit numbers.
BLKDISCARD = 0x1277
# linux/falloc.h.
KEEP_SIZE, PUNCH_HOLE = 0x01, 0x02
# Discarded at a time, so that it can be interrupted and is seen to go on; a multiple of every granularity.
PIECE = 1 << 30
# Of a trim over NBD: fio cuts the address space into pieces of it.
TRIM = 1 << 20
# Longest that a format or an erase may take. Drives tell hours for large disks, seconds to minutes for flash.
LONGEST_S = 4 * 3600.0
SANITIZE_LOOK_S = 2.0
# Set for the erase alone, which removes it (ACS-4, 4.18); it is said where the erase does not end well.
PASSWORD = "hotband"

Progress = Callable[[float], None]


PURGES = ("discard", "format", "sanitize", "secure-erase")
"""Values of `--purge-by`, as blkdiscard, nvme and hdparm call them."""


@dataclass(frozen=True)
class Way:
    """A method to purge: its name (of `PURGES`), its name in a record, its function (which reports progress), and
    whether it is used without being named."""

    name: str
    words: str
    do: Callable[[Held, Progress], None]
    is_usual: bool = True


def ways_to_purge(path: str, kind: str, host: Host) -> list[str]:
    """Return the methods to purge a target (`kind` is block, file or uri), by names of `PURGES`, the best first; empty
    if none is supported."""
    return [way.name for way in ways(path, kind, host)]


def purge(held: Held, progress: Progress, by: str | None = None) -> str:
    """Purge what is held by the best method that can be interrupted or takes seconds, or by the named one; return its
    name in words. Raises UserError if there is none, or it fails."""
    permission = held.permission
    expect_writes(permission)
    chosen = way_of(permission.path, permission.kind, permission.host, by)
    chosen.do(held, progress)
    return chosen.words


def way_of(path: str, kind: str, host: Host, by: str | None = None) -> Way:
    """Return the method to purge a target: the best usual one, or the named one. Raises UserError."""
    if by is not None and by not in PURGES:
        raise UserError("question.purge_by", "", by, f"expected one of {', '.join(PURGES)}")
    known = ways(path, kind, host)
    named = ", ".join(way.name for way in known)
    chosen = next((way for way in known if (way.name == by if by is not None else way.is_usual)), None)
    if chosen is not None:
        return chosen
    if by is not None:
        accepted = f"is not supported by {path}: expected {named or 'another target, because no method here purges it'}"
        raise UserError("question.purge_by", "", by, accepted)
    more = f"; the supported methods cannot be interrupted and must be named: {named}" if known else ""
    raise UserError(path, "", "", f"cannot be purged: it supports neither discard nor format{more}")


def ways(path: str, kind: str, host: Host) -> list[Way]:
    """Return all methods, the best first. Sanitizing and ATA's erase come last: they cannot be interrupted."""
    if kind == "file":
        return [Way("discard", "discard (a hole in the file)", _punch)]
    if kind == "uri":
        return [Way("discard", "discard (NBD trim)", _trim)] if _is_trimmed(path) else []
    name = host.block_name(path)
    disk, kind = blocks.disk_of(name, host), kind_of(name, host)
    # Virtual disks say that they rotate, too, but take discards, as disks with shingled tracks do.
    if host.text(f"{host.sysfs(disk)}/queue/rotational") == "1" and not _discards(disk, host):
        return []
    methods = list(_of_nvme(path, host)) if kind == "disk" and disk.startswith("nvme") else []
    if _discards(disk, host):
        methods.insert(1 if methods and methods[0].name == "format" else 0, Way("discard", "discard", _discard))
    if kind == "disk" and _is_ata(disk, host):
        methods += _of_ata(path, host)
    return methods


def expect_writes(permission: Permission) -> None:
    """Raise UserError if a permission is read-only."""
    if not permission.may_write:
        raise UserError(permission.path, "", "", "is read-only: expected permission to write (--erase)")


@contextmanager
def opened(held: Held) -> Iterator[int]:
    """Open what is held for writing: the only function where Hotband opens a device for it. Raises UserError if it is
    not what was permitted, OSError."""
    permission = held.permission
    expect_writes(permission)
    if held.node is None:
        raise UserError(permission.path, "", "", "is part of a recorded machine: nothing can be written there")
    descriptor = os.open(held.path, os.O_RDWR | os.O_CLOEXEC)
    try:
        if not held.node.is_same(node_of(descriptor)):
            raise UserError(permission.path, "", "", "is no longer the permitted device")
        yield descriptor
    finally:
        os.close(descriptor)


def _discards(disk: str, host: Host) -> bool:
    return (host.number(f"{host.sysfs(disk)}/queue/discard_max_bytes") or 0) > 0


def _discard(held: Held, progress: Progress) -> None:
    size = held.permission.host.size(held.path) or 0
    with opened(held) as descriptor:
        for at in range(0, size, PIECE):
            piece = min(PIECE, size - at)
            try:
                fcntl.ioctl(descriptor, BLKDISCARD, struct.pack("QQ", at, piece))
            except OSError as error:
                accepted = f"rejects discard, although its queue announces it: {reason_of(error)}"
                raise UserError(held.permission.path, "", "", accepted) from None
            progress((at + piece) / size)


def _punch(held: Held, progress: Progress) -> None:
    """Punch a hole as large as the file, which keeps its size."""
    path, size = held.permission.path, held.permission.host.size(held.path) or 0
    if not size:
        return progress(1.0)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
    with opened(held) as descriptor:
        if libc.fallocate(descriptor, PUNCH_HOLE | KEEP_SIZE, 0, size) != 0:
            reason = os.strerror(ctypes.get_errno())
            raise UserError(path, "", "", f"cannot be purged: its file system does not support holes ({reason})")
        os.fsync(descriptor)
    return progress(1.0)


def _is_trimmed(uri: str) -> bool:
    """Return whether a served device accepts trims. False for an image of a pool: its cluster is not available."""
    if uri.startswith("rbd:"):
        return False
    return export_of(uri, uri).trims


def _trim(held: Held, progress: Progress) -> None:
    """Trim through fio, which has an NBD client."""

    def look(status: Status) -> None:
        progress(status.share or 0.0)

    lines = ["[purge]", "ioengine=nbd", f"uri={held.permission.path}", "rw=trim", f"bs={TRIM}", "iodepth=8", "thread=1"]
    with TemporaryFolder("purge") as folder:
        fio_child.run_fio("\n".join(lines) + "\n", Path(folder), look)
    progress(1.0)


def _of_nvme(path: str, host: Host) -> Iterator[Way]:
    """Format and sanitize, by Identify Controller (NVM Express Base Specification 2.0, figure 275): OACS bit 1 says
    that Format NVM is there; FNA bits 0 and 1 that it goes to all namespaces, bit 2 that it can do away with the key;
    SANICAP bit 1 that blocks can be erased. What goes to all namespaces is none of one alone."""
    identified = asked_json(host, [], *ID_CTRL, path)
    name = asked_json(host, [], *ID_NS, path)
    commands, format_to, sanitize = (whole(identified.get(key)) or 0 for key in ("oacs", "fna", "sanicap"))
    is_alone = whole(identified.get("nn")) == 1
    used, protection = whole(name.get("flbas")), whole(name.get("dps"))
    # A format would change what protects the data, or bytes of metadata, unless it is told of both.
    is_plain = used is not None and protection == 0 and not used & 0x10 and _metadata(name, used) == 0
    if commands & 0b10 and is_plain and used is not None and (is_alone or not format_to & 0b11):
        erase = "2" if format_to & 0b100 else "1"
        words = f"NVMe format ({'crypto' if erase == '2' else 'user data'} erase)"
        yield Way("format", words, partial(_format, form=used & 0xF, erase=erase))
    if sanitize & 0b10 and is_alone:
        yield Way("sanitize", "NVMe sanitize (block erase)", _sanitize, is_usual=False)


def _metadata(name: object, used: int) -> int:
    rows = name.get("lbafs") if isinstance(name, dict) else None
    row = rows[used & 0xF] if isinstance(rows, list) and len(rows) > used & 0xF else None
    return (whole(row.get("ms")) or 0) if isinstance(row, dict) else 1


def _format(held: Held, progress: Progress, *, form: int, erase: str) -> None:
    permission, host = held.permission, held.permission.host
    held.expect_named()
    progress(0.0)
    # --force: the namespace is held, by us (`devices.held`).
    words = ("nvme", "format", permission.path, f"--lbaf={form}", f"--ses={erase}", "--force")
    _expect_done(permission, host.run(*words, longest_s=LONGEST_S), "nvme format")
    progress(1.0)


def _sanitize(held: Held, progress: Progress) -> None:
    """Erase all blocks; the drive continues by itself and logs its progress (SPROG, of 65,536)."""
    permission, host = held.permission, held.permission.host
    held.expect_named()
    output = host.run("nvme", "sanitize", permission.path, "--sanact=2", "--force", longest_s=LONGEST_S)
    _expect_done(permission, output, "nvme sanitize")
    begin = time.monotonic()
    while time.monotonic() - begin < LONGEST_S:
        log = asked_json(host, [], "nvme", "sanitize-log", "-o", "json", permission.path)
        inner = next((part for part in log.values() if isinstance(part, dict)), log)
        status, far = whole(inner.get("sstat")), whole(inner.get("sprog"))
        state = None if status is None else status & 0b111
        # Sanitize Status: 1 done, 2 under way, 3 failed, 4 done without deallocation.
        if state in (1, 4):
            return progress(1.0)
        if state == 3 or state is None:
            raise UserError(permission.path, "", "", "nvme sanitize failed: its log says so (nvme sanitize-log)")
        progress(min(0.99, (far or 0) / 65536))
        time.sleep(SANITIZE_LOOK_S)
    raise UserError(permission.path, "", "", "nvme sanitize takes too long: see nvme sanitize-log")


def _is_ata(disk: str, host: Host) -> bool:
    """Return whether a drive is on a SATA port: USB bridges are known to lock drives up for good (hdparm(8))."""
    return "/ata" in host.real(f"/sys/block/{disk}")


def _of_ata(path: str, host: Host) -> list[Way]:
    """Return the security erase if the drive has it, is not frozen by its firmware and has no password."""
    output = host.run("hdparm", "-I", path)
    text = output.text if output is not None else ""
    security = [" ".join(line.split()) for line in text[text.find("Security:") :].splitlines()]
    if "Security:" not in text or not {"supported", "not enabled", "not locked", "not frozen"} <= set(security):
        return []
    return [Way("secure-erase", "ATA security erase", _erase, is_usual=False)]


def _erase(held: Held, progress: Progress) -> None:
    permission, host = held.permission, held.permission.host
    held.expect_named()
    progress(0.0)
    user = ("hdparm", "--user-master", "u")
    output = host.run(*user, "--security-set-pass", PASSWORD, permission.path)
    _expect_done(permission, output, "setting its password")
    output = host.run(*user, "--security-erase", PASSWORD, permission.path, longest_s=LONGEST_S)
    if output is None or output.code != 0:
        host.run(*user, "--security-disable", PASSWORD, permission.path)
        accepted = (
            f"its security erase failed; should it be locked, its password is {PASSWORD!r}: "
            f"hdparm --user-master u --security-disable {PASSWORD} {permission.path}"
        )
        raise UserError(permission.path, "", "", accepted)
    progress(1.0)


def _expect_done(permission: Permission, output: object, what: str) -> None:
    """Raise UserError with a tool's own message if it failed."""
    code, errors = getattr(output, "code", 1), getattr(output, "errors", "") or getattr(output, "text", "")
    if code != 0:
        message = " ".join(str(errors).split()) or f"exit code {code}"
        raise UserError(permission.path, "", "", f"{what} failed: {message}")
