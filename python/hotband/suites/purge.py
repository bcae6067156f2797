"""Purging a real target before a test, as far as it can be."""

from __future__ import annotations

from hotband.errors import UserError
from hotband.experiment import Executor


def purged(executor: Executor, size_bytes: int) -> str:
    """Purges what an executor writes to, and says how; empty where no way is supported here."""
    permission = getattr(executor, "permission", None)
    if permission is None or not permission.may_write:
        return ""
    from hotband.devices.safety import held
    from hotband.devices.states import prepare

    try:
        with held(permission):
            return ", ".join(prepare(permission, "purged", size_bytes=size_bytes).by)
    except UserError:
        return ""
