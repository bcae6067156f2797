"""Executors by the name in `--on`: none for a model (the engine runs it), or one for real hardware."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.data.catalog.named import is_emulated, is_real
from hotband.execution.devices.host import Host
from hotband.execution.targets.emulated import OnServed
from hotband.execution.targets.fio_run import expect_real
from hotband.execution.targets.on_device import OnDevice, Setup
from hotband.execution.targets.real_target import RealTarget, real_target_of
from hotband.execution.targets.replay_run import client_run_of

if TYPE_CHECKING:
    from hotband.data.documents.run import RunSpec
    from hotband.execution.targets.outlook import Outlook
    from hotband.execution.targets.real_options import RealOptions


def executor_of(
    on: str,
    *,
    writes: bool,
    erase: str | None = None,
    setup: Setup | None = None,
    say: Callable[[str], None] = lambda _: None,
    confirm: Callable[[Outlook], bool] = lambda _: True,
) -> OnDevice | None:
    """Return the executor for points on `on`; None for a model. `writes` tells whether any of them writes, `erase` is
    the text that permits it: the serial number of a device (docs/guides/measure.md). Raises UserError for a target that
    cannot be used, or must not be written."""
    if not is_real(on):
        return None
    target, setup = real_target_of(on), setup or Setup()
    if target.is_ours:
        return OnDevice(target, None, setup, say=say, confirm=confirm)
    from hotband.execution.devices.safety import permission

    named = target.uri if target.path is None else target.path
    assert named is not None, "a place has a path or a URI"
    granted = permission(named, Host(), writes=writes, erase=erase)
    return OnDevice(target, granted, setup, say=say, confirm=confirm)


def executor_for(
    specs: Sequence[RunSpec],
    options: RealOptions,
    *,
    say: Callable[[str], None] = lambda _: None,
    confirm: Callable[[Outlook], bool] = lambda _: True,
    can_ask: bool = True,
) -> OnDevice | OnServed:
    """Return the executor of these runs, which share one emulated machine or one real target. Raises UserError for a
    mistake in any of them, and if they write to a real one and nobody can be asked (`can_ask`)."""
    if is_emulated(specs[0].machine):
        served = OnServed(options.anyway, say=say)
        for spec in specs:
            served.plan(spec)
        return served
    setup = options.setup()
    loads = [client_run_of(spec) for spec in specs]
    for client_run in loads:
        expect_real(client_run)
    writes = any(load.writes for load in loads)
    states = [load.state for load in loads if load.state is not None]
    if setup.purge_by is not None and not states:
        accepted = (
            "is for a state before the run: expected question.settings state=purged (filled, preconditioned) with it"
        )
        raise UserError("question.purge_by", "", setup.purge_by, accepted)
    executor = executor_of(specs[0].machine, writes=writes, erase=options.erase, setup=setup, say=say, confirm=confirm)
    assert executor is not None, "the name begins like that of hardware"
    for state in states:
        _expect_state(executor, state)
    expect_answer(writes, can_ask)
    return executor


def expect_answer(writes: bool, can_ask: bool) -> None:
    """Raise UserError if a run writes without confirmation and nobody can be asked."""
    if writes and not can_ask:
        accepted = "missing: this run writes and there is no terminal to confirm it: expected question.yes"
        raise UserError("question.yes", "", "", accepted)


def expect_folder(target: RealTarget, options: RealOptions) -> None:
    """Raise UserError if options for files made in a folder are given and the target is not a folder."""
    given = {"question.size": options.size, "question.keep": "" if options.keep else None}
    for option, value in given.items():
        if value is not None and not target.is_ours:
            raise UserError(option, "", value, f"applies to a file made in a folder; {target.text} is not a folder")


def _expect_state(executor: OnDevice, state: str) -> None:
    """Raise UserError if the target cannot be brought into the requested state."""
    from hotband.execution.targets.states import expect_state

    target, kind = executor.target, {"block": "block", "file": "file"}.get(executor.target.kind, "uri")
    expect_state(str(target.uri if target.path is None else target.path), kind, Host(), state, executor.setup.purge_by)
