"""The interface between programs and their targets: each volume of a machine as a block device, or as a folder.

Programs know this file alone. `devices_on` opens what `--on` names: `real:DIR` is a folder of the host, used as it is;
anything else is a modelled machine, which is served (`hotband.execution.serve`) as block devices. Only a served device
is formatted here, never one of the host's own.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from hotband.base.errors import UserError, reason_of
from hotband.base.question import INVALID
from hotband.data.catalog.named import REAL, is_real
from hotband.data.inputs.keys import set_keys
from hotband.execution.serve.served import Served, ServeSpec

ROLES = ("data", "log")
"""Names of volumes by purpose."""


@dataclass(frozen=True)
class Devices:
    """The volumes of what programs run on."""

    volumes: Mapping[str, Path]
    """A block device or an existing folder, by the name of the volume."""
    served: bool = False
    """Whether the block devices are ours, emulated: then, and only then, they are formatted."""
    notes: list[str] = field(default_factory=list)
    """Notes of the server for the result; may be filled until the devices are closed."""

    def volume(self, role: str) -> str:
        """The volume for a role such as `log`: the one of that name, else the first that is not for another role."""
        if role in self.volumes:
            return role
        return next((name for name in self.volumes if name not in ROLES), next(iter(self.volumes)))


ANY_WORKLOAD = "fio-randread"
"""Keys are listed of a workload and a machine; of the workload none is meant here."""
IO_LOG = "io.parquet"
"""The log of the I/Os that the drives saw, in the folder of `--out`."""

Values = tuple[tuple[str, str], ...]
Open = Callable[[str, Path | None, Values], AbstractContextManager[Devices]]
"""Serves a machine, by its name and with changed values, and leaves its record in the folder, if there is one."""


@contextmanager
def devices_on(
    on: str, out: Path | None, values: Values = (), serve: Open | None = None, *, anyway: bool = False
) -> Iterator[Devices]:
    """Open what `on` names for the time of the block; `anyway` serves a machine that is faster than this host can
    serve. Raises UserError if that fails."""
    if is_real(on):
        yield Devices({"data": folder_of(on)})
        return
    with (serve or partial(served, anyway=anyway))(on, out, values) as devices:
        expect_block_devices(devices)
        yield devices


@contextmanager
def served(on: str, out: Path | None, values: Values, *, anyway: bool = False) -> Iterator[Devices]:
    """A modelled machine on the wall clock; its record and the log of its I/Os are left in `out`."""
    log = None if out is None else out / IO_LOG
    with Served(ServeSpec(on, values, loop=True, nbd=False, out=out, io_log=log, anyway=anyway)) as machine:
        volumes = {name: volume.device for name, volume in machine.volumes.items() if volume.device is not None}
        devices = Devices(volumes, served=True)
        yield devices
        late = machine.serving().late
        devices.notes.extend([] if late is None else [f"{INVALID}: {late}"])


def keys_of(on: str) -> list[str]:
    """Values of the machine that may be changed: those of its drives and what they hold; none for a folder,
    and none for an invalid machine, which is reported once it is served."""
    if is_real(on):
        return []
    try:
        keys = set_keys(ANY_WORKLOAD, on)
    except UserError:
        return []
    return [key.key for key in keys if key.part.startswith(("drive ", "daemon "))]


def folder_of(on: str) -> Path:
    """The folder of `real:DIR`. Raises UserError if it is none that can be written."""
    name = on.removeprefix(REAL)
    if not name.strip():
        raise UserError("question.on", "", on, "expected a folder after real:, such as real:/mnt/disk")
    try:
        folder = Path(name).resolve(strict=True)
        mode = folder.stat().st_mode
    except (OSError, ValueError) as error:
        raise UserError("question.on", "", on, f"{reason_of(error)}; expected an existing folder") from None
    if stat.S_ISBLK(mode):
        accepted = "is a block device, which would be formatted; expected a folder, such as where it is mounted"
        raise UserError("question.on", "", on, accepted)
    if not stat.S_ISDIR(mode):
        raise UserError("question.on", "", on, "is not a folder; expected one")
    if not os.access(folder, os.W_OK | os.X_OK) or os.statvfs(folder).f_flag & os.ST_RDONLY:
        raise UserError("question.on", "", on, "cannot be written; expected a folder that can")
    return folder


def expect_block_devices(devices: Devices) -> None:
    """Every volume of a served machine is a block device or a folder; anything else is a fault of Hotband."""
    assert devices.volumes, "a machine has a volume"
    for name, path in devices.volumes.items():
        assert stat.S_ISBLK(path.stat().st_mode) or path.is_dir(), f"volume {name}: {path}"
