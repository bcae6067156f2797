"""Power drawn while a device is measured: processors by RAPL, a drive by its own sensor, anything by a user's command
that prints watts.

Left out: RAPL covers the processors and their memory, never the drive; only a sensor of the drive, or a command that
reads a meter, gives the drive's power.
"""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hotband.base.child import run_child
from hotband.base.errors import UserError
from hotband.execution.devices import blocks
from hotband.execution.devices.host import Host

RAPL = "/sys/class/powercap"
# A meter's command that takes longer than a look would be late for all that follow.
LONGEST_S = 5.0
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


@dataclass
class Source:
    """A source of watts: `of` is the consumer, `watts` returns the mean since its last call, or the current value."""

    of: str
    name: str
    watts: Callable[[], float | None]


@dataclass
class Energy:
    """A counter of energy that wraps around, read as mean power."""

    host: Host
    folder: str
    clock: Callable[[], float] = time.monotonic
    _last: tuple[float, int] | None = field(default=None, init=False)

    def watts(self) -> float | None:
        """Return the mean since the previous reading; None at the first."""
        energy_uj = self.host.number(f"{self.folder}/energy_uj")
        if energy_uj is None:
            return None
        now, before = (self.clock(), energy_uj), self._last
        self._last = now
        if before is None or now[0] <= before[0]:
            return None
        joules = now[1] - before[1]
        if joules < 0:
            # Documentation/power/powercap/powercap.rst: it starts again at zero beyond max_energy_range_uj.
            joules += self.host.number(f"{self.folder}/max_energy_range_uj") or 0
        return joules / 1e6 / (now[0] - before[0]) if joules >= 0 else None


def sources(path: str | Path, host: Host, command: str | None = None) -> list[Source]:
    """Return every source of watts here. Raises UserError for a command that prints none."""
    sources_ = []
    for name in host.names(RAPL):
        # Zones have one colon (intel-rapl:0), parts of them two: those are in their zone's energy.
        label = host.text(f"{RAPL}/{name}/name")
        if re.fullmatch(r"[a-z-]+:\d+", name) and label and host.number(f"{RAPL}/{name}/energy_uj") is not None:
            sources_.append(Source(f"rapl {label}", "RAPL", Energy(host, f"{RAPL}/{name}").watts))
    disk = blocks.base_disk(os.path.abspath(path), host)
    for folder in _sensors(disk, host) if disk else []:
        for key in ("power1_average", "power1_input"):
            if host.number(f"{folder}/{key}") is not None:
                sources_.append(Source(str(disk), "the drive's own sensor", _microwatts(host, f"{folder}/{key}")))
                break
    if command is not None:
        command_source = _command(command)
        if command_source() is None:
            raise UserError("question.power", "", command, "prints no number: expected a command that prints watts")
        sources_.append(Source(str(disk or path), "a command", command_source))
    return sources_


def _sensors(disk: str, host: Host) -> list[str]:
    base = f"/sys/block/{disk}/device"
    folders = (f"{base}/hwmon", base, f"{base}/device/hwmon")
    return [f"{folder}/{name}" for folder in folders for name in host.names(folder) if re.fullmatch(r"hwmon\d+", name)]


def _microwatts(host: Host, path: str) -> Callable[[], float | None]:
    def watts() -> float | None:
        microwatts = host.number(path)
        # Documentation/hwmon/sysfs-interface.rst: powers are in microwatts.
        return None if microwatts is None else microwatts / 1e6

    return watts


def _command(command: str) -> Callable[[], float | None]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UserError("question.power", "", command, f"is not a command: {error}") from None

    def watts() -> float | None:
        try:
            output = run_child(words, within_s=LONGEST_S) if words else None
        except OSError:
            return None
        number = NUMBER.search(output.text) if output is not None and output.code == 0 else None
        return float(number[0]) if number else None

    return watts
