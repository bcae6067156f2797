"""Settings of programs: from text to values. An error names the key, the value and the accepted values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hotband.base.errors import UserError
from hotband.base.text.nearest import expected
from hotband.base.text.quantities import SIZE_EXPECTED, size_bytes
from hotband.execution.programs.program import Choice, Program, Setting, Settings, Size

WHERE = "question.settings"


def apart(
    program: Program, requested: Mapping[str, str], of_machine: Sequence[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Split settings into those of the program, which come first, and those of the machine, whose keys are known."""
    rest = {key: value for key, value in requested.items() if key in of_machine and key not in program.settings}
    return {key: value for key, value in requested.items() if key not in rest}, rest


def values_of(program: Program, requested: Mapping[str, str]) -> Settings:
    """Every setting of a program, as asked or as it is by itself. Raises UserError."""
    for key, value in requested.items():
        if key not in program.settings:
            known = expected(key, list(program.settings))
            raise UserError(WHERE, key, value, f"{program.name} has no such setting; {known}")
    return {key: value_of(key, setting, requested.get(key)) for key, setting in program.settings.items()}


def value_of(key: str, setting: Setting, text: str | None) -> int | str:
    """The value of one setting: bytes of a size, a whole number, a word. Raises UserError."""
    given = str(setting.default) if text is None else text
    if isinstance(setting, Choice):
        if given not in setting.words:
            raise UserError(WHERE, key, given, expected(given, setting.words))
        return given
    if isinstance(setting, Size):
        return whole_size(key, setting, given)
    digits = given.replace("_", "")
    if not (digits.isascii() and digits.isdigit()) or not setting.least <= int(digits[:20]) <= setting.most:
        raise UserError(WHERE, key, given, f"expected a whole number from {setting.least} to {setting.most}")
    return int(digits)


def whole_size(key: str, setting: Size, text: str) -> int:
    """Bytes of a size within its limits. Raises UserError."""
    size = size_bytes(text)
    if size is None:
        raise UserError(WHERE, key, text, f"expected {SIZE_EXPECTED}")
    if not (size_bytes(setting.least) or 0) <= size <= (size_bytes(setting.most) or 0):
        raise UserError(WHERE, key, text, f"expected a size from {setting.least} to {setting.most}")
    return int(size)


def as_texts(program: Program, requested: Mapping[str, str]) -> dict[str, str]:
    """Every setting as it is kept with the result: as asked, or as it is by itself."""
    return {key: requested.get(key, str(setting.default)) for key, setting in program.settings.items()}


def accepted_by(setting: Setting) -> str:
    """Return the values that a setting accepts, in words."""
    if isinstance(setting, Choice):
        return ", ".join(setting.words)
    if isinstance(setting, Size):
        return f"{setting.least} to {setting.most}"
    return f"{setting.least:,} to {setting.most:,}"
