"""From what `--on` names to who runs it: a model (nobody but the engine), or real hardware."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.data.catalog.named import is_real
from hotband.execution.devices.host import Host
from hotband.execution.targets.asked import asked_of, expect_real
from hotband.execution.targets.on_device import How, OnDevice
from hotband.execution.targets.place import Place, place_of

if TYPE_CHECKING:
    from hotband.data.documents.run import RunSpec
    from hotband.execution.targets.outlook import Outlook
    from hotband.execution.targets.real_asked import RealAsked


def executor_of(
    on: str,
    *,
    writes: bool,
    erase: str | None = None,
    how: How | None = None,
    say: Callable[[str], None] = lambda _: None,
    confirm: Callable[[Outlook], bool] = lambda _: True,
) -> OnDevice | None:
    """Who runs points on `on`; None for a model. `writes` says whether any of them writes, `erase` is what the user
    typed to have it written: the serial number of a device (docs/guides/measure.md). Raises UserError for a place that
    cannot be used, or must not be written."""
    if not is_real(on):
        return None
    place, how = place_of(on), how or How()
    if place.is_ours:
        return OnDevice(place, None, how, say=say, confirm=confirm)
    from hotband.execution.devices.safety import permission

    named = place.uri if place.path is None else place.path
    assert named is not None, "a place has a path or a URI"
    granted = permission(named, Host(), writes=writes, erase=erase)
    return OnDevice(place, granted, how, say=say, confirm=confirm)


def executor_for(
    specs: Sequence[RunSpec],
    asked: RealAsked,
    *,
    say: Callable[[str], None] = lambda _: None,
    confirm: Callable[[Outlook], bool] = lambda _: True,
    can_ask: bool = True,
) -> OnDevice:
    """Who runs these runs, which are all on one real target. Raises UserError for what is wrong with any of them, and
    where they write and nobody can be asked (`can_ask`)."""
    how = asked.how()
    loads = [asked_of(spec) for spec in specs]
    for one in loads:
        expect_real(one)
    writes = any(load.writes for load in loads)
    states = [load.state for load in loads if load.state is not None]
    if how.purge_by is not None and not states:
        accepted = (
            "is for a state before the run: expected question.settings state=purged (filled, preconditioned) with it"
        )
        raise UserError("question.purge_by", "", how.purge_by, accepted)
    executor = executor_of(specs[0].machine, writes=writes, erase=asked.erase, how=how, say=say, confirm=confirm)
    assert executor is not None, "the name begins as that of hardware does"
    for state in states:
        _expect_state(executor, state)
    expect_answer(writes, can_ask)
    return executor


def expect_answer(writes: bool, can_ask: bool) -> None:
    """Raises UserError if something is to be written, and nobody can be asked and none has said yes before."""
    if writes and not can_ask:
        accepted = (
            "missing: it writes, which is asked for first, and there is no terminal to ask: expected question.yes"
        )
        raise UserError("question.yes", "", "", accepted)


def expect_folder(place: Place, asked: RealAsked) -> None:
    """Raises UserError if something is said of a file that is made in a folder, and the place is none."""
    given = {"question.size": asked.size, "question.keep": "" if asked.keep else None}
    for option, value in given.items():
        if value is not None and not place.is_ours:
            raise UserError(option, "", value, f"is of a file that is made in a folder; {place.text} is none")


def _expect_state(executor: OnDevice, state: str) -> None:
    """Raises UserError if the place cannot be brought into a state as it is asked for."""
    from hotband.execution.targets.states import expect_state

    place, kind = executor.place, {"block": "block", "file": "file"}.get(executor.place.kind, "uri")
    expect_state(str(place.uri if place.path is None else place.path), kind, Host(), state, executor.how.purge_by)
