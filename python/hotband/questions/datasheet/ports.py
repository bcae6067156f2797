"""Rates of the ports of solid-state drives, and of their channels to the flash."""

from __future__ import annotations

from hotband.data.catalog.lanes import LANE
from hotband.questions.datasheet.lines import INTERFACES, Answers

PACKET = 24
"""Bytes of framing and header of each packet [Intel AN 829]."""
USUAL_PAYLOAD, LARGEST_PAYLOAD = 256, 512
"""Bytes of data in a packet. The platform sets it, not the drive; makers measure on platforms with large ones."""
CHANNEL = {
    "sata": (400e6, 333e6, 533e6),
    "2": (200e6, 133e6, 400e6),
    "3": (667e6, 533e6, 800e6),
    "4": (1.2e9, 0.8e9, 1.6e9),
    "5": (1.6e9, 1.2e9, 2.4e9),
    "6": (2.4e9, 1.6e9, 3.6e9),
}
"""Rates of ONFI and Toggle interfaces: SATA drives of 2017, and PCIe generations of 2010, 2017, 2020, 2023 and 2025
[ONFI 2.0 has 133 MT/s, 2.1 has 200, 3.0 has 400, 4.0 has 800, 4.2 has 1,600, 5.0 has 2,400, 5.1 has 3,600; Toggle 4.0
has 1,200]."""
XPOINT_CHANNEL = (1e9, 0.5e9, 1.6e9)
"""The channel of the catalog's P4800X."""


def era_of(sheet: Answers) -> str:
    """Return `nvme` for drives on PCIe lanes, `sata` for those on a SATA or SAS port."""
    return "nvme" if "pcie" in sheet else "sata"


def lane_count(sheet: Answers) -> int:
    """Return the number of PCIe lanes."""
    return int(str(sheet["pcie"]).split("x")[1])


def lane_rate(pcie: str, payload: int) -> float:
    """Return the bytes of data per second that lanes carry in one direction, in packets of `payload` bytes."""
    generation, lanes = pcie.split("x")
    return LANE[int(generation)] * int(lanes) * payload / (payload + PACKET)


def port_rate(sheet: Answers) -> float:
    """Return the most bytes per second that the port carries in one direction."""
    if "pcie" in sheet:
        return lane_rate(str(sheet["pcie"]), LARGEST_PAYLOAD)
    return INTERFACES[str(sheet["interface"])]


def channel_of(sheet: Answers, flash: str) -> tuple[float, float, float]:
    """Return the rate of a channel to the flash: middle, least, most."""
    if flash == "XPoint":
        return XPOINT_CHANNEL
    return CHANNEL[str(sheet["pcie"])[0] if "pcie" in sheet else "sata"]
