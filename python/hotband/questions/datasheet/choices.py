"""Translation of a data sheet's terms ("SATA 6 Gb/s", "PCIe Gen4 x4") into our choices (`sata`, `4x4`)."""

from __future__ import annotations

import re
from collections.abc import Sequence

SPEED = r" *(?:gb/s|gbps|gbit/s|gb|g)"
SAS = re.compile(rf"sas[ -]*(3|6|12|24|22\.5)(?:\.0)?(?:{SPEED})?")
SATA = re.compile(rf"(?:sata|serial ata)(?:[ -]*(?:iii|6(?:\.0)?(?:{SPEED})?))?")
OLD_SATA = re.compile(rf"(?:sata|serial ata)[ -]*(3|1\.5)(?:\.0)?{SPEED}")
FC = re.compile(rf"(?:fc(?:-al)?|fibre channel)[ -]*(2|4|8)(?:\.0)?(?:{SPEED}|fc)?")
SCSI = re.compile(r"(?:ultra[ -]?(320|160)|(ultra2)[ -]wide|(ultra)[ -]wide|(fast))[ -]?(?:scsi(?:-2)?)?")
ATA = re.compile(r"(?:ultra[ -]?)?ata[-/ ]?(133|100)")
FLASH = re.compile(r"(?:3d |v-)*(?:nand )?(slc|mlc|tlc|qlc|xpoint)(?: (?:3d )?nand| flash)?|(3d xpoint|optane)")
PCIE = re.compile(r"(?:pcie|pci express)? *(?:gen *)?(\d)(?:\.0)?,? *x *(\d+)(?: lanes)?(?:,? *nvme *[\d.a-e]*)?")


def chosen(given: str, choices: Sequence[str]) -> str | None:
    """Return the one of `choices` that the text means; None if it means none of them, or is ambiguous."""
    words = " ".join(given.lower().split())
    plain = next((choice for choice in choices if choice.lower() == words), None)
    if plain is None and SATA.fullmatch(words):
        plain = "sata"
    elif plain is None and (sas := SAS.fullmatch(words)):
        # 24G SAS signals at 22.5 Gb/s [SAS-4].
        plain = f"sas{sas[1].replace('22.5', '24')}"
    elif plain is None and (pcie := PCIE.fullmatch(words)):
        plain = f"{pcie[1]}x{pcie[2]}"
    elif plain is None and (flash := FLASH.fullmatch(words)):
        plain = "XPoint" if flash[1] in (None, "xpoint") else flash[1].upper()
    plain = plain or _old(words)
    return plain if plain in choices else None


def _old(words: str) -> str | None:
    """Return the interface of an old disk that the words mean."""
    if sata := OLD_SATA.fullmatch(words):
        return {"3": "sata300", "1.5": "sata150"}[sata[1]]
    if fibre := FC.fullmatch(words):
        return f"fc{fibre[1]}"
    if ata := ATA.fullmatch(words):
        return f"ata{ata[1]}"
    if scsi := SCSI.fullmatch(words):
        wide = {scsi[2]: "ultra2-wide", scsi[3]: "ultra-wide", scsi[4]: "scsi-fast"}
        return f"ultra{scsi[1]}" if scsi[1] else next(choice for match, choice in wide.items() if match)
    return None
