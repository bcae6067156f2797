"""What is around a run on hardware: device and host, other processes, counters and power, for its record."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING

from hotband.devices.context import Background, ContextDoc, context_of, ended
from hotband.devices.counters import Counters
from hotband.devices.host import Host
from hotband.devices.remarks import of_run
from hotband.record.files import Table
from hotband.targets.place import Place

if TYPE_CHECKING:
    from hotband.targets.on_device import How


class Watched:
    """Watches a place during its block; `sections`, `tables` and `notes` of the record are there afterwards. Of what is
    no path of this computer nothing is known but the host."""

    def __init__(self, place: Place, how: How) -> None:
        self.place, self.how, self.host = place, how, Host()
        self.sections: dict[str, object] = {}
        self.tables: dict[str, Table] = {}
        self.notes: tuple[str, ...] = ()
        self._stack = ExitStack()
        self._context: ContextDoc | None = None
        self._background: Background | None = None
        self._counters: Counters | None = None
        self._is_measured = False

    def __enter__(self) -> Watched:
        path = self.place.path
        if path is not None and not self.how.hosts:
            self._context = context_of(path, self.host)
            self._counters = self._stack.enter_context(
                Counters(path, self.host, self.how.counters_every_s, power_command=self.how.power_command)
            )
            self._background = self._stack.enter_context(Background(path, self.host))
        return self

    def measuring(self, seconds: float) -> None:
        """Called now and then with the seconds since the measured time began, below zero before it."""
        if seconds >= 0 and not self._is_measured and self._counters is not None:
            self._counters.measured()
            self._is_measured = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)
        path = self.place.path
        if error is not None or path is None or self._context is None:
            return
        assert self._background is not None, "watched together"
        assert self._counters is not None, "watched together"
        context = self.sections["context"] = ended(self._context, path, self._background, self.host)
        if self._counters.section is not None:
            self.sections["counters"] = self._counters.section
        self.notes = tuple(of_run(context, self._counters.section))
        self.tables = dict(self._counters.tables)
