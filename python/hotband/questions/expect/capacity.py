"""The capacity of a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.base.engine import mistakes_of
from hotband.data.catalog import CATALOG_DIR

if TYPE_CHECKING:
    from hotband.data.inputs.specify import Named


def target_bytes(machine: Named) -> int | None:
    """Return the bytes of a machine's only volume; None if it has several. Raises UserError for an invalid machine."""
    with mistakes_of(machine.name):
        volumes = _core.machine_offer(CATALOG_DIR, machine.name, machine.text, [])["volumes"]
    return volumes[0][1] if len(volumes) == 1 else None
