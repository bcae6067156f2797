"""The write cache of a drive, turned on or off for the time of a test, and put back as it was.

`/sys/block/NAME/queue/write_cache` is no way to do it: "writing to this file can change the kernels view of the device,
but it doesn't alter the device state" (Documentation/ABI/stable/sysfs-block). What is turned here is the drive's own.
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
    """What turns a drive's write cache: how, whether it is on (None if that is not told), and what turns it."""

    by: str
    is_on: Callable[[], bool | None]
    turn: Callable[[bool], None]


def switch_of(permission: Permission) -> Switch:
    """The switch of a whole drive. Raises UserError if there is none, with the reason."""
    host, path = permission.host, permission.path
    if permission.kind != "block":
        raise UserError(path, "", "", "is no drive: the cache of what lies below it is not ours to turn")
    name = host.block_name(path)
    if kind_of(name, host) != "disk":
        raise UserError(path, "", "", f"is a {kind_of(name, host)}: the cache is of the whole drive below it")
    if name.startswith("nvme"):
        return _of_nvme(path, host)
    folders = [f"{host.sysfs(name)}/cache_type"]
    base = f"{host.sysfs(name)}/device/scsi_disk"
    # drivers/scsi/sd.c, cache_type_store: a MODE SELECT of the caching page, of SATA drives, too (libata translates
    # it); drivers/block/virtio_blk.c has the same name.
    folders += [f"{base}/{one}/cache_type" for one in host.names(base)]
    found = next((folder for folder in folders if host.has(folder)), None)
    if found is not None:
        return _of_sysfs(found, host)
    if host.run("hdparm", "-W", path) is not None:
        return _of_hdparm(path, host)
    raise UserError(path, "", "", "has no switch for its write cache that is known here (sysfs cache_type, hdparm)")


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
        found = re.search(r"write-caching\s*=\s*([01])", output.text if output is not None else "")
        return None if found is None else found[1] == "1"

    def turn(on: bool) -> None:
        _done(path, host, "hdparm", f"-W{int(on)}", path)

    return Switch("hdparm -W", is_on, turn)


def _of_nvme(path: str, host: Host) -> Switch:
    """Identify Controller: VWC bit 0 says that there is a volatile cache; it is that of all namespaces."""
    told = asked_json(host, [], *ID_CTRL, path)
    if not (whole(told.get("vwc")) or 0) & 1:
        return Switch("no volatile cache", lambda: False, lambda on: _none(path, on))
    if whole(told.get("nn")) != 1:
        raise UserError(path, "", "", "is one of several namespaces: the write cache is that of all of them")
    feature = f"--feature-id={VOLATILE_WRITE_CACHE}"

    def is_on() -> bool | None:
        output = host.run("nvme", "get-feature", path, feature)
        found = re.search(r"[Cc]urrent value:\s*(?:0x)?([0-9a-fA-F]+)", output.text if output is not None else "")
        return None if found is None else bool(int(found[1], 16) & 1)

    def turn(on: bool) -> None:
        _done(path, host, "nvme", "set-feature", path, feature, f"--value={int(on)}")

    return Switch("nvme set-feature", is_on, turn)


def _none(path: str, on: bool) -> None:
    if on:
        raise UserError(path, "", "", "has no volatile write cache to turn on")


def _done(path: str, host: Host, *words: str) -> None:
    output = host.run(*words)
    if output is None or output.code != 0:
        said = "" if output is None else " ".join((output.errors or output.text).split())
        raise UserError(path, "", "", f"{words[0]} failed: {said or 'it is not installed'}")


@contextmanager
def cache_turned(permission: Permission, on: bool, kept: Path | None = None) -> Iterator[str]:
    """The write cache as it is wanted for the time of the block, and afterwards as it was; yields how in words. A file
    `kept` remembers how it was, for a block that is killed and begun again. Raises UserError without permission to
    write, where there is no switch, and where the drive says afterwards that it is not turned."""
    expect_writes(permission)
    switch = switch_of(permission)
    was = _remembered(permission, kept)
    was = switch.is_on() if was is None else was
    if was is None:
        raise UserError(permission.path, "", "", f"does not tell whether its write cache is on ({switch.by})")
    if kept is not None:
        write_file(kept, json.dumps({"device": permission.identity, "write_cache": WORDS[was]}) + "\n")
    try:
        if switch.is_on() is not on:
            switch.turn(on)
        if switch.is_on() is not on:
            raise UserError(permission.path, "", "", f"says that its write cache is not {WORDS[on]} ({switch.by})")
        yield f"{WORDS[on]} ({switch.by}); {WORDS[was]} before and afterwards"
    finally:
        if switch.is_on() is not was:
            switch.turn(was)
        if kept is not None:
            kept.unlink(missing_ok=True)


def _remembered(permission: Permission, kept: Path | None) -> bool | None:
    """How the cache was before a block that was killed."""
    if kept is None or not kept.is_file():
        return None
    try:
        found = json.loads(file_text(kept))
    except (OSError, ValueError):
        return None
    if not isinstance(found, dict) or found.get("device") != permission.identity:
        return None
    return {"on": True, "off": False}.get(str(found.get("write_cache")))
