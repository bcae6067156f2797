"""Machines whose number of drives is left open: `raid10:{n}xPRODUCT`, `{8n}` in eights."""

from __future__ import annotations

from dataclasses import dataclass

from hotband.base.errors import UserError
from hotband.data.catalog.named import OPEN
from hotband.data.documents.run import RunSpec
from hotband.execution.runs.run import prepare

STAND_IN = "ent-10k"
"""A drive that is built quickly, to find the numbers of drives that a layout accepts."""
MOST_DRIVES = 64
"""Most drives by default: no single enclosure of the catalog's time holds more (60 bays, 4U)."""
TRIED = 16
"""The first numbers of which one is taken by every layout: RAID 60 needs eight."""


@dataclass(frozen=True)
class Family:
    """A machine with an open number of drives, and the numbers that its layout takes: `first`, `first + step`, ..."""

    text: str
    each: int
    first: int
    step: int

    def machine(self, count: int) -> str:
        """The machine with this many drives."""
        return OPEN.sub(str(count), self.text)


def family(machine: str) -> Family:
    """The machines that `LAYOUT:{n}xDRIVE` represents. Raises UserError if none of them can be."""
    found = OPEN.search(machine)
    layout, colon, rest = machine.partition(":")
    if found is None or not colon or not rest.startswith(found[0]) or not rest[len(found[0]) :].startswith("x"):
        accepted = "expected LAYOUT:{n}xDRIVE, such as raid10:{n}xexos-15e900-512n, or {8n} for eights"
        raise UserError("question.on", "", machine, f"leaves the number of drives to be found: {accepted}")
    each = int(found[1] or 1)
    if not each:
        raise UserError("question.on", "", machine, "expected drives in ones or more, such as {8n}")
    legal = _legal(layout, machine, each)
    return Family(machine, each, legal[0], legal[1] - legal[0] if len(legal) > 1 else each)


def _legal(layout: str, machine: str, each: int) -> list[int]:
    """The first two numbers of drives, multiples of `each`, that a layout takes."""
    legal: list[int] = []
    why = ""
    for count in range(each, max(TRIED, 4 * each) + 1, each):
        try:
            prepare(RunSpec("drives", f"{layout}:{count}x{STAND_IN}", "fio-randread"))
            legal.append(count)
        except UserError as error:
            why = error.accepted
        if len(legal) == 2:
            return legal
    if len(legal) == 1 and legal[0] > 1:
        return legal
    raise UserError("question.on", "", machine, f"the number of drives of {layout} cannot vary: {why}")
