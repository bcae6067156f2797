"""The write cache of a drive, turned on or off during a test, and restored afterwards.

`/sys/block/NAME/queue/write_cache` is no way to do it: "writing to this file can change the kernels view of the device,
but it doesn't alter the device state" (Documentation/ABI/stable/sysfs-block). Only the drive's own cache is set.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hotband.base.errors import UserError, reason_of
from hotband.base.text.regular import file_text
from hotband.base.text.write import write_file
from hotband.execution.devices.device import ID_CTRL, asked_json, kind_of
from hotband.execution.devices.host import Host
from hotband.execution.devices.readings import whole
from hotband.execution.devices.safety import Permission
from hotband.execution.targets.purge import expect_writes

# NVM Express Base Specification 2.0, 5.27.1.4: the feature Volatile Write Cache, bit 0 is WCE.
VOLATILE_WRITE_CACHE = 6
WORDS = {True: "on", False: "off"}


@dataclass(frozen=True)
class Switch:
    """Control of a drive's write cache: its name, whether the cache is on (None if unknown), and the function that sets
    it."""

    by: str
    is_on: Callable[[], bool | None]
    turn: Callable[[bool], None]


def switch_of(permission: Permission) -> Switch:
    """Return the control of a whole drive. Raises UserError with the reason if there is none."""
    host, path = permission.host, permission.path
    if permission.kind != "block":
        raise UserError(path, "", "", "is not a drive: Hotband does not change the cache of the device below it")
    name = host.block_name(path)
    if kind_of(name, host) != "disk":
        raise UserError(path, "", "", f"is a {kind_of(name, host)}: the cache is of the whole drive below it")
    if name.startswith("nvme"):
        return _of_nvme(path, host)
    folders = [f"{host.sysfs(name)}/cache_type"]
    base = f"{host.sysfs(name)}/device/scsi_disk"
    # drivers/scsi/sd.c, cache_type_store: a MODE SELECT of the caching page, of SATA drives, too (libata translates
    # it); drivers/block/virtio_blk.c has the same name.
    folders += [f"{base}/{host_name}/cache_type" for host_name in host.names(base)]
    folder_ = next((folder for folder in folders if host.has(folder)), None)
    if folder_ is not None:
        return _of_sysfs(folder_, host)
    if host.run("hdparm", "-W", path) is not None:
        return _of_hdparm(path, host)
    raise UserError(path, "", "", "has no known control for its write cache (sysfs cache_type, hdparm)")


def _of_sysfs(file: str, host: Host) -> Switch:
    def is_on() -> bool | None:
        return {"write back": True, "write through": False}.get((host.text(file) or "").partition(",")[0])

    def turn(on: bool) -> None:
        try:
            descriptor = os.open(host.at(file), os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
            try:
                os.write(descriptor, b"write back" if on else b"write through")
            finally:
                os.close(descriptor)
        except OSError as error:
            raise UserError(file, "", "", f"does not take {WORDS[on]}: {reason_of(error).lower()}") from None

    return Switch("sysfs cache_type", is_on, turn)


def _of_hdparm(path: str, host: Host) -> Switch:
    def is_on() -> bool | None:
        output = host.run("hdparm", "-W", path)
        match = re.search(r"write-caching\s*=\s*([01])", output.text if output is not None else "")
        return None if match is None else match[1] == "1"

    def turn(on: bool) -> None:
        _done(path, host, "hdparm", f"-W{int(on)}", path)

    return Switch("hdparm -W", is_on, turn)


def _of_nvme(path: str, host: Host) -> Switch:
    """Return the control by Identify Controller: VWC bit 0 means a volatile cache, shared by all namespaces."""
    identified = asked_json(host, [], *ID_CTRL, path)
    if not (whole(identified.get("vwc")) or 0) & 1:
        return Switch("no volatile cache", lambda: False, lambda on: _none(path, on))
    if whole(identified.get("nn")) != 1:
        raise UserError(path, "", "", "is one of several namespaces, which share the write cache")
    feature = f"--feature-id={VOLATILE_WRITE_CACHE}"

    def is_on() -> bool | None:
        output = host.run("nvme", "get-feature", path, feature)
        match = re.search(r"[Cc]urrent value:\s*(?:0x)?([0-9a-fA-F]+)", output.text if output is not None else "")
        return None if match is None else bool(int(match[1], 16) & 1)

    def turn(on: bool) -> None:
        _done(path, host, "nvme", "set-feature", path, feature, f"--value={int(on)}")

    return Switch("nvme set-feature", is_on, turn)


def _none(path: str, on: bool) -> None:
    if on:
        raise UserError(path, "", "", "has no volatile write cache to turn on")


def _done(path: str, host: Host, *words: str) -> None:
    output = host.run(*words)
    if output is None or output.code != 0:
        message = "" if output is None else " ".join((output.errors or output.text).split())
        raise UserError(path, "", "", f"{words[0]} failed: {message or 'it is not installed'}")


@contextmanager
def cache_turned(permission: Permission, on: bool, remembered: Path | None = None) -> Iterator[str]:
    """Set the write cache for the time of the block and restore it afterwards; yield the method in words. A file
    `remembered` stores the previous setting, for a block that is killed and repeated. Raises UserError without
    permission to write, without a control, and if the drive reports afterwards that nothing changed."""
    expect_writes(permission)
    switch = switch_of(permission)
    was = _remembered(permission, remembered)
    was = switch.is_on() if was is None else was
    if was is None:
        raise UserError(permission.path, "", "", f"does not report whether its write cache is on ({switch.by})")
    if remembered is not None:
        write_file(remembered, json.dumps({"device": permission.identity, "write_cache": WORDS[was]}) + "\n")
    try:
        if switch.is_on() is not on:
            switch.turn(on)
        if switch.is_on() is not on:
            raise UserError(permission.path, "", "", f"reports that its write cache is not {WORDS[on]} ({switch.by})")
        yield f"{WORDS[on]} ({switch.by}); {WORDS[was]} before and afterwards"
    finally:
        if switch.is_on() is not was:
            switch.turn(was)
        if remembered is not None:
            remembered.unlink(missing_ok=True)


def _remembered(permission: Permission, remembered: Path | None) -> bool | None:
    """Return the setting of the cache before a block that was killed."""
    if remembered is None or not remembered.is_file():
        return None
    try:
        stored = json.loads(file_text(remembered))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(stored, dict) or stored.get("device") != permission.identity:
        return None
    return {"on": True, "off": False}.get(str(stored.get("write_cache")))
