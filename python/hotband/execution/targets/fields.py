"""Fields of questions about hardware, and their common checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hotband.base.errors import UserError
from hotband.base.question import Way, asks
from hotband.data.catalog.named import NONE, is_emulated, is_real
from hotband.execution.targets.real_options import RealOptions

if TYPE_CHECKING:
    from hotband.data.documents.run import RunSpec
    from hotband.execution.targets.emulated import OnServed
    from hotband.execution.targets.on_device import OnDevice

NAMES = ("yes", "erase", "size", "keep", "hosts", "expect", "power", "purge_by")
"""Fields for hardware only; a question has some of them."""
OPTIONS = (*(name for name in NAMES if name not in ("yes", "expect")), "anyway")
"""Fields that `RealOptions` has, too."""


def yes() -> Any:
    """Return the field `yes`: a program that names a file has said that it may be written."""
    return asks("real: write without confirmation.", default=False, hidden=True)


def erase() -> Any:
    """Return the field `erase`."""
    return asks("real: serial number of the drive that may be overwritten.", default=None, metavar="SERIAL")


def size() -> Any:
    """Return the field `size`."""
    return asks("real:DIR: size of the test file.", default=None, metavar="SIZE", unit="B")


def keep() -> Any:
    """Return the field `keep`."""
    return asks("real:DIR: keep the file afterwards.", default=False)


def hosts() -> Any:
    """Return the field `hosts`."""
    return asks("real: hosts with fio --server that issue I/Os together.", default=None, metavar="HOST,HOST")


def expect() -> Any:
    """Return the field `expect`."""
    text = "real: drive whose prediction is compared; nearest: search for it; none: no prediction."
    return asks(text, default=None, metavar="PRODUCT")


def power() -> Any:
    """Return the field `power`."""
    return asks("real: a command that prints the drive's watts.", default=None, metavar="COMMAND")


def purge_by() -> Any:
    """Return the field `purge_by`."""
    return asks("real: discard, format, sanitize or secure-erase; best first.", default=None, metavar="WAY")


def anyway() -> Any:
    """Return the field `anyway`."""
    return asks("emulated: also a machine that is faster than this host can serve.", default=False)


class OnHardware:
    """A question that may run on hardware or on an emulated machine, with some of the fields above."""

    def hardware(self, expect: str | None = NONE) -> RealOptions:
        """Return what its fields say of hardware, which is predicted as `expect` says."""
        given = {name: getattr(self, name) for name in OPTIONS if hasattr(self, name)}
        return RealOptions(**given, expect=expect)

    def expect_hardware(self, machines: Sequence[str]) -> None:
        """Raise UserError if one of its fields is given but no machine is hardware, or a field for files made in a
        folder but none is a folder, or one for emulated machines but none is."""
        if getattr(self, "anyway", False) and not any(is_emulated(name) for name in machines):
            accepted = "is for emulated machines: expected question.on emulated:MACHINE with it"
            raise UserError("question.anyway", "", "", accepted)
        places = [name for name in machines if is_real(name)]
        if not places:
            return self._expect_none()
        options = self.hardware()
        if options.size is not None or options.keep:
            from hotband.execution.targets.real_target import real_target_of
            from hotband.execution.targets.target import expect_folder

            where = [real_target_of(name) for name in places]
            if not any(real.is_ours for real in where):
                expect_folder(where[0], options)
        return None

    def _expect_none(self) -> None:
        for name in NAMES:
            value = getattr(self, name, None)
            if value:
                shown = str(value) if isinstance(value, str | bool) else ""
                accepted = "is for hardware: expected question.on real:PATH with it"
                raise UserError(f"question.{name}", "", shown, accepted)

    def executor_on(self, way: Way, specs: Sequence[RunSpec], options: RealOptions) -> OnDevice | OnServed:
        """Return who runs these runs, all on one piece of hardware or one emulated machine. Raises UserError."""
        from hotband.execution.targets.target import executor_for

        confirmed = getattr(self, "yes", False)
        return executor_for(
            specs, options, say=way.say, confirm=lambda _: way.may_write(confirmed), can_ask=way.can_ask(confirmed)
        )
