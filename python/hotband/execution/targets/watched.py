"""Surroundings of a run on hardware for its record: device and host, other processes, counters and power."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from hotband.data.documents.context import ContextDoc
from hotband.data.record.files import Table
from hotband.data.record.states import NOT_KNOWN
from hotband.execution.devices.context import Background, context_of, ended
from hotband.execution.devices.counters import Counters
from hotband.execution.devices.host import Host
from hotband.execution.devices.remarks import holes_of, of_run
from hotband.execution.targets.real_target import RealTarget

if TYPE_CHECKING:
    from hotband.data.documents.record import DriveStatesDoc
    from hotband.execution.targets.on_device import Setup

# Documentation/ABI/stable/sysfs-block: "write back" where write-back caching is enabled, "write through" where not.
WRITE_CACHES = {"write back": "volatile", "write through": "off"}


class Watched:
    """Watches a target during its block (`context` is set at once); `sections`, `tables` and `notes` of the record are
    set afterwards. For targets without a path on this computer, only the host is known."""

    def __init__(self, target: RealTarget, setup: Setup) -> None:
        self.target, self.setup, self.host = target, setup, Host()
        self.sections: dict[str, object] = {}
        self.tables: dict[str, Table] = {}
        self.notes: tuple[str, ...] = ()
        self._stack = ExitStack()
        self.context: ContextDoc | None = None
        self._background: Background | None = None
        self._counters: Counters | None = None
        self._is_measured = False
        self._holes: list[str] = []

    def __enter__(self) -> Watched:
        path = self.target.path
        if path is not None and not self.setup.hosts:
            if self.target.kind == "file":
                self._holes = holes_of(str(path), self.target.size_bytes, self.host)
            self.context = context_of(path, self.host)
            self._counters = self._stack.enter_context(
                Counters(path, self.host, self.setup.counters_every_s, power_command=self.setup.power_command)
            )
            self._background = self._stack.enter_context(Background(path, self.host))
        return self

    def measuring(self, seconds: float) -> None:
        """Receive the seconds since the measured time began, negative before it, at intervals."""
        if seconds >= 0 and not self._is_measured and self._counters is not None:
            self._counters.measured()
            self._is_measured = True

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)
        path = self.target.path
        if error[0] is not None or path is None or self.context is None:
            return
        assert self._background is not None, "watched together"
        assert self._counters is not None, "watched together"
        context = self.sections["context"] = ended(self.context, path, self._background, self.host)
        if self._counters.section is not None:
            self.sections["counters"] = self._counters.section
        self.notes = (*self._holes, *of_run(context, self._counters.section))
        self.tables = dict(self._counters.tables)


def drive_state(target: RealTarget, context: ContextDoc | None, holds: str) -> DriveStatesDoc:
    """Return the section `drive_state` of the measured device: its write cache by the kernel, and its content before: a
    state it was brought into, "as found", or "as left" by the previous run. Hardware reports nothing else."""
    device = None if context is None else context["device"]
    cache = None if device is None else device["write_cache"]
    named = str(target.uri if target.path is None else target.path)
    return {
        "drives": [
            {
                "drives": [named],
                "product": (device["model"] if device is not None else None) or "",
                "write_cache": WRITE_CACHES.get(cache or "", NOT_KNOWN),
                "declared_volatile": False,
                "write_cache_bytes": 0,
                "read_cache_bytes": 0,
                "read_ahead": None,
                "flash_cache": None,
                "flash_cache_bytes": 0,
                "scale": 1,
                "holds": holds,
            }
        ]
    }
