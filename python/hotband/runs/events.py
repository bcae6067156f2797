"""What happens to the machine of a run at a time, as text: `at 60 s: fail d3`, `at 30 s: power-off`.

For now these are two of today's options of a run in one form, so that experiments, studies and reviews have one list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hotband.errors import UserError

SHAPE = re.compile(r"at\s+(?P<time>[^:]+?)\s*:\s*(?P<what>[a-z-]+)(?:\s+(?P<part>\S+))?")
ACCEPTED = 'expected "at TIME: fail DRIVE" or "at TIME: power-off", such as "at 60 s: fail d3"'


@dataclass(frozen=True)
class Happening:
    """Failures as `DRIVE@TIME`, and when power is lost."""

    fail: tuple[str, ...] = ()
    power_loss: str | None = None


def happening(events: Sequence[str], where: str = "--event") -> Happening:
    """What a list of events means. Raises UserError."""
    fail: list[str] = []
    power_loss: str | None = None
    for text in events:
        found = SHAPE.fullmatch(text.strip())
        what, part = (found["what"], found["part"]) if found else ("", None)
        if found is not None and what == "fail" and part:
            fail.append(f"{part}@{found['time']}")
        elif found is not None and what == "power-off" and part is None:
            if power_loss is not None:
                raise UserError(where, "", text, "power is lost once in a run")
            power_loss = found["time"]
        else:
            raise UserError(where, "", text, ACCEPTED)
    return Happening(tuple(fail), power_loss)
