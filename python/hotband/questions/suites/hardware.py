"""Handling of hardware by a suite besides its runs: it holds the device, purges it, and switches its write cache."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path

from hotband.base.errors import UserError, refused
from hotband.base.text import numbers
from hotband.base.text.regular import file_text
from hotband.base.text.write import make_folder, write_file
from hotband.execution.devices.held import Held
from hotband.execution.devices.host import Host
from hotband.execution.devices.safety import Permission
from hotband.execution.experiment import Executor, Progress, Tick
from hotband.execution.targets.on_device import OnDevice
from hotband.execution.targets.on_served import OnServedMachine
from hotband.execution.targets.purge import way_of
from hotband.execution.targets.states import prepare
from hotband.execution.targets.write_cache import cache_turned, switch_of

FINISHED = "finished.json"
"""The mark of a run that is whole (`hotband.execution.experiment`)."""
PURGE_FILE = "purge.json"
"""Record of the purge before a test."""
WRITE_CACHE_FILE = "write-cache.json"
"""Record of the write cache while it is switched."""
Watch = Callable[[str], AbstractContextManager[Tick | None]]


def is_begun(folder: Path | None) -> bool:
    """Return whether runs of a suite, or of one of its tests, were finished before."""
    return folder is not None and any(folder.rglob(FINISHED))


@contextmanager
def standing(executor: Executor, seed: int, out: Path | None, fresh: bool, watch: Watch) -> Iterator[Executor]:
    """Yield the executor of a whole suite's runs. Hardware is held throughout, and a file that Hotband makes exists
    throughout; it stays if the suite is stopped and can continue. Raises UserError, OSError."""
    if isinstance(executor, OnServedMachine):
        if is_begun(out) and not fresh and out is not None:
            raise refused(out, "holds runs of an emulated drive, whose data is lost when its test ends")
        with executor.standing():
            yield executor
        return
    if not isinstance(executor, OnDevice):
        yield executor
        return
    is_ours = executor.target.is_ours
    with ExitStack() as stack:
        with watch(f"the file in {executor.target.text}") if is_ours else nullcontext() as tick:

            def shown(share: float) -> None:
                if tick is not None:
                    tick(Progress(share, 0, 0, 1, f"laying out its file, {numbers.share(share)}"))

            goes_on = is_begun(out) and not fresh
            made = stack.enter_context(executor.standing(seed, shown, goes_on=goes_on, stays=out is not None))
        yield made


def _device(executor: Executor) -> Executor | None:
    """Return the executor of the device; for an emulated machine, the executor through which fio uses it."""
    return executor.device if isinstance(executor, OnServedMachine) else executor


def permission_of(executor: Executor) -> Permission:
    """Return what may be written. Raises UserError if nothing may."""
    permission: Permission | None = getattr(_device(executor), "permission", None)
    if permission is None or not permission.may_write:
        raise UserError("question.erase", "", "", "nothing may be written")
    return permission


def held_of(executor: Executor) -> Held:
    """Return what a standing executor holds. Raises UserError if nothing may be written."""
    permission_of(executor)
    held: Held | None = getattr(_device(executor), "held", None)
    assert held is not None, "a suite stands on its device"
    return held


def expect_ways(executor: Executor | None, purge_by: str | None, set_write_cache: bool) -> None:
    """Raise UserError if hardware does not support the named purge, or has no switch for a write cache that is to be
    set. The check changes nothing; a file that Hotband makes does not exist yet."""
    if not isinstance(executor, OnDevice):
        return
    found = executor.permission
    if purge_by is not None:
        path, kind = (str(executor.target.path), "file") if found is None else (found.path, found.kind)
        way_of(path, kind, Host() if found is None else found.host, purge_by)
    if set_write_cache:
        if found is None:
            raise UserError(
                "question.set_write_cache", "", "", "applies to a whole drive: a file shares its drive with others"
            )
        try:
            switch_of(found)
        except UserError as error:
            raise UserError("question.set_write_cache", "", error.where, error.accepted) from None


@contextmanager
def write_cache(executor: Executor, on: bool, out: Path | None) -> Iterator[str]:
    """The write cache turned for the time of the block; yields how in words. Raises UserError."""
    if out is not None:
        make_folder(out)
    kept = None if out is None else out / WRITE_CACHE_FILE
    with cache_turned(permission_of(executor), on, kept) as how:
        yield how


def purged(executor: Executor, size_bytes: int, by: str | None) -> str:
    """Purges what a standing executor writes to; how, in words. Raises UserError where that is not supported."""
    return ", ".join(prepare(held_of(executor), "purged", size_bytes=size_bytes, purge_by=by).by)


def remember_purge(folder: Path | None, how: str, why_not: str) -> None:
    """Record next to the runs of a test how it was purged before, or why not."""
    if folder is not None:
        make_folder(folder)
        write_file(folder / PURGE_FILE, json.dumps({"purge": how, "why_not": why_not}) + "\n")


def remembered_purge(folder: Path | None) -> tuple[str, str]:
    """Return how a test that continues was purged, or why not."""
    try:
        found = json.loads(file_text(folder / PURGE_FILE)) if folder is not None else {}
        return str(found["purge"]), str(found["why_not"])
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return "", "whether it was purged before this part of it is not known"
