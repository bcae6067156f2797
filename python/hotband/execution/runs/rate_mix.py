"""A note on a rate in place of a closed loop, which changes the mix of streams if only some flush.

Leaves out: a read share that is set as well, which changes the number of flushes.
"""

from __future__ import annotations

import hotband._core as _core
from hotband.data.inputs.loads import Load

MOST_SHARES = 3
"""Streams that a note names."""


def mix_notes(text: str) -> list[str]:
    """Return a note with the shares that preserve the mix of a workload's closed loop at a rate, if it needs others."""
    load = Load(_core.workload(text)["text"], "")
    loop = load.table.get("load")
    if not isinstance(loop, dict) or "closed" not in loop:
        return []
    shares = [f'{share:.3g} of "{name}"' for name, share in load.shares_of_mix()]
    some = ", ".join(shares[:MOST_SHARES]) + (", ..." if len(shares) > MOST_SHARES else "")
    why = "share_pct counts flushes in the closed loop of the workload, but not at a rate"
    return [f"{why}: the mix differs; share_pct {some} would preserve it"] if shares else []
