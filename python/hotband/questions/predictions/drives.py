"""Drives of the corpus' families, made from their data sheets alone; the rules for each leave out its own family."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from hotband.base.errors import UserError
from hotband.data.corpus.figure import Figure
from hotband.data.corpus.loads import kind_of
from hotband.data.corpus.sheets import Sheet, Sheets, sheet_of
from hotband.inference.corpus.observed import observed
from hotband.questions.datasheet import KINDS, described_text
from hotband.questions.datasheet.assumed import with_class
from hotband.questions.datasheet.learned import Evidence, Learned
from hotband.questions.datasheet.lines import Answers, read_lines
from hotband.questions.datasheet.ports import port_rate
from hotband.questions.datasheet.uniform import lines_of
from hotband.questions.predictions.predicted import Drive, write_drive_file
from hotband.questions.predictions.setup import Size

PORT_KEYS = {"hdd": ("port_rate",), "ssd": ("link_rate", "link_write_rate")}


def evidence_of(figures: Iterable[Figure], sheets: Sheets) -> tuple[Evidence, ...]:
    """Return the evidence of each data sheet: each size of a family has its own ratings."""
    grouped: dict[Sheet, list[Figure]] = defaultdict(list)
    for figure in figures:
        sheet = sheet_of(sheets, figure.family, figure.model, figure.device, figure.capacity)
        if kind_of(figure) is not None and sheet is not None:
            grouped[sheet].append(figure)
    return tuple(Evidence(sheet.family, *stated_by(sheet), observed(those)) for sheet, those in grouped.items())


@cache
def stated_by(sheet: Sheet) -> tuple[str, Answers]:
    """Return the kind of a drive and the lines that its sheet states, in base units."""
    kind, lines = lines_of_sheet(sheet)
    return kind, read_lines(KINDS[kind].lines, lines)


def lines_of_sheet(sheet: Sheet) -> tuple[str, dict[str, str]]:
    """Return the kind of a drive and the lines of its sheet as texts."""
    kind, lines = lines_of(sheet.rows, sheet.capacity_gb)[:2]
    return kind, lines


@dataclass
class Makers:
    """Makes the drive of each sheet once, in a folder."""

    sheets: Sheets
    learned: Learned
    folder: Path
    made: dict[tuple[Sheet, bool], Drive] = field(default_factory=dict)

    def drive_of(self, figure: Figure) -> Drive:
        """Return the drive of a figure. Raises UserError if its sheet is missing or makes no drive."""
        sheet = sheet_of(self.sheets, figure.family, figure.model, figure.device, figure.capacity)
        if sheet is None:
            raise UserError("sheets", "family", figure.family, "has no data sheet")
        key = (sheet, figure.interface.startswith("SATA"))
        if key not in self.made:
            self.made[key] = self._drive(*key)
        return self.made[key]

    def _drive(self, sheet: Sheet, is_on_sata: bool) -> Drive:
        kind, lines = lines_of_sheet(sheet)
        if kind == "hdd" and is_on_sata and lines.get("interface", "").startswith("sas"):
            lines["interface"] = "sata"  # a line of disks with either port, whose sheet names the other
        expect = self.learned.without(sheet.family).expected
        text = described_text(kind, lines, title=sheet.model or sheet.family, source="its data sheet", expect=expect)
        name = re.sub(r"\W+", "-", f"{sheet.family} {sheet.model}")[:60]
        size = Size(float(_number(text, "capacity")), _largest_scale(text) if kind != "hdd" else 1)
        rates = {key: 600e6 for key in PORT_KEYS.get(kind, ()) if f"[values.{key}]" in text}
        return Drive(
            write_drive_file(self.folder, name, text), size, rates, port_rate(with_class(kind, stated_by(sheet)[1])[0])
        )


def _number(text: str, key: str) -> float:
    """Return the number in a value of a drive's file, in bytes for sizes."""
    match = re.search(rf'\[values\.{key}\]\nvalue = "?([\d.]+) ?(\w*)', text)
    assert match is not None, f"{key} is a value of every drive"
    return float(match[1]) * {"KiB": 1024, "MiB": 1 << 20, "GiB": 1 << 30}.get(match[2], 1)


def _largest_scale(text: str) -> int:
    """Return the largest factor by which the blocks of a drive can be scaled down: a block of all planes holds two
    passes."""
    passes = _number(text, "block") * _number(text, "planes") / _number(text, "program_pass")
    return 1 << max(0, int(math.log2(max(1.0, passes / 2))))
