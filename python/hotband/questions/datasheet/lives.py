"""How long drives of a data sheet live, and how seldom a sector cannot be read."""

from __future__ import annotations

from hotband.questions.datasheet.lines import Answers, number
from hotband.questions.datasheet.values import GIVEN, Value


def lives(sheet: Answers, mechanism: str) -> list[Value]:
    """What is stated of both: only disks have errors of sectors as a value that the model takes, too."""
    found = []
    if "mtbf" in sheet:
        found.append(Value("reference.mtbf", f"{number(sheet, 'mtbf'):.15g} h", GIVEN, given=True))
    if "error-rate" in sheet:
        key = "unrecoverable_error_bits"
        key = key if mechanism == "disk" else f"reference.{key}"
        found.append(Value(key, f"{number(sheet, 'error-rate'):g}".replace("e+", "e"), GIVEN, given=True))
    return found
