"""Fields of questions that are about hardware, and what all such questions do with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hotband.base.errors import UserError
from hotband.base.question import Way, asks
from hotband.data.catalog.named import NONE, is_real
from hotband.execution.targets.real_asked import RealAsked

if TYPE_CHECKING:
    from hotband.data.documents.run import RunSpec
    from hotband.execution.targets.on_device import OnDevice

NAMES = ("yes", "erase", "size", "keep", "hosts", "expect", "power", "purge_by")
"""Fields of hardware alone; a question has some of them."""


def yes() -> Any:
    """Return the field `yes`: a program that names a file has said that it may be written."""
    return asks("real: write without confirmation.", default=False, hidden=True)


def erase() -> Any:
    """Return the field `erase`."""
    return asks("real: serial number of the drive that may be overwritten.", default=None, metavar="SERIAL")


def size() -> Any:
    """Return the field `size`."""
    return asks("real:DIR: size of the test file.", default=None, metavar="SIZE")


def keep() -> Any:
    """Return the field `keep`."""
    return asks("real:DIR: leave the file there afterwards.", default=False)


def hosts() -> Any:
    """Return the field `hosts`."""
    return asks("real: hosts that run fio --server, which ask together.", default=None, metavar="HOST,HOST")


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


class OnHardware:
    """A question that may be about hardware, with some of the fields above."""

    def hardware(self, expect: str | None = NONE) -> RealAsked:
        """Return what its fields say of hardware, which is predicted as `expect` says."""
        given = {name: getattr(self, name) for name in NAMES if name not in ("yes", "expect") and hasattr(self, name)}
        return RealAsked(**given, expect=expect)

    def expect_hardware(self, machines: Sequence[str]) -> None:
        """Raises UserError if one of its fields is given and none of the machines is hardware, or what is said of a
        file that is made in a folder and none of them is a folder."""
        places = [name for name in machines if is_real(name)]
        if not places:
            return self._expect_none()
        asked = self.hardware()
        if asked.size is not None or asked.keep:
            from hotband.execution.targets.place import place_of
            from hotband.execution.targets.target import expect_folder

            where = [place_of(name) for name in places]
            if not any(place.is_ours for place in where):
                expect_folder(where[0], asked)
        return None

    def _expect_none(self) -> None:
        for name in NAMES:
            value = getattr(self, name, None)
            if value:
                shown = str(value) if isinstance(value, str | bool) else ""
                accepted = "is for hardware: expected question.on real:PATH with it"
                raise UserError(f"question.{name}", "", shown, accepted)

    def executor_on(self, way: Way, specs: Sequence[RunSpec], asked: RealAsked) -> OnDevice:
        """Return who runs these runs, which are all on one piece of hardware. Raises UserError."""
        from hotband.execution.targets.target import executor_for

        said = getattr(self, "yes", False)
        return executor_for(specs, asked, say=way.say, confirm=lambda _: way.may_write(said), can_ask=way.can_ask(said))
