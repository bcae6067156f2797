"""What a data sheet calls a choice ("SATA 6 Gb/s", "PCIe Gen4 x4"), as we call it (`sata`, `4x4`)."""

from __future__ import annotations

import re
from collections.abc import Sequence

SAS = re.compile(r"sas[ -]*(6|12|24|22\.5)(?:\.0)? *(?:gb/s|gbps|gbit/s|gb|g)?")
SATA = re.compile(r"(?:sata|serial ata)(?:[ -]*(?:iii|6(?:\.0)? *(?:gb/s|gbps|gbit/s|gb|g)?))?")
PCIE = re.compile(r"(?:pcie|pci express)? *(?:gen *)?(\d)(?:\.0)?,? *x *(\d+)(?: lanes)?(?:,? *nvme *[\d.a-e]*)?")


def chosen(given: str, choices: Sequence[str]) -> str | None:
    """That of `choices` which is plainly meant; none where it is none, or could be several."""
    words = " ".join(given.lower().split())
    plain = next((choice for choice in choices if choice.lower() == words), None)
    if plain is None and SATA.fullmatch(words):
        plain = "sata"
    elif plain is None and (sas := SAS.fullmatch(words)):
        # 24G SAS signals at 22.5 Gb/s [SAS-4].
        plain = f"sas{sas[1].replace('22.5', '24')}"
    elif plain is None and (pcie := PCIE.fullmatch(words)):
        plain = f"{pcie[1]}x{pcie[2]}"
    return plain if plain in choices else None
