"""vdbench's values: sizes (k, m, g, t are powers of 1024), times, size mixes, shares (Users Guide 5.04.07)."""

from __future__ import annotations

import re
from fractions import Fraction

from hotband.data.jobs.fio_values import LARGEST_IO, SECTOR, decimal
from hotband.data.jobs.source import Option
from hotband.data.jobs.vdbench_file import listed

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SERIES = re.compile(r"(\d{1,15}(?:\.\d{1,9})?[kmgt]?)-(\d{1,15}(?:\.\d{1,9})?[kmgt]?)")
MOST_POINTS = 1000
# "seekpct=" in words.
_SEEK = {"random": 100.0, "rand": 100.0, "sequential": 0.0, "seq": 0.0, "seqnz": 0.0, "eof": 0.0, "-1": 0.0}


def size_bytes(text: str, option: Option) -> int:
    """Return the bytes of a size, rounded down."""
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{0,9})?)([kmgt]?)b?", text.strip().lower())
    if match is None:
        option.refuse("expected a size, such as 4096, 4k, 1.5k or 100g")
    return int(Fraction(match[1].rstrip(".")) * 1024 ** _POWERS[match[2]])


def block(text: str, option: Option) -> int:
    size = size_bytes(text, option)
    if size % SECTOR or not SECTOR <= size <= LARGEST_IO:
        option.refuse(f"{size} bytes is not an I/O size: expected a multiple of 512 bytes up to 64m")
    return size


def sizes(option: Option) -> tuple[tuple[int, float], ...]:
    """Read one size; pairs of size and percentage; or (smallest, largest, step)."""
    parts = listed(option.value)
    if len(parts) == 1:
        return ((block(parts[0], option), 1.0),)
    if len(parts) == 3:
        low, high, step = (block(part, option) for part in parts)
        if high < low or (high - low) // step > 1024:
            option.refuse("expected (SMALLEST,LARGEST,STEP)")
        return tuple((size, 1.0) for size in range(low, high + 1, step))
    if len(parts) % 2:
        option.refuse("expected pairs of a size and a percentage, such as (4k,60,64k,40)")
    pairs = [(block(size, option), decimal(share, option)) for size, share in zip(parts[::2], parts[1::2], strict=True)]
    whole = sum(share for _, share in pairs)
    # vdbench refuses what is not 100; percentages of published files are rounded to a hundredth.
    if abs(whole - 100) > 0.5:
        option.refuse(f"the percentages add up to {whole:g}: expected 100")
    weights: dict[int, float] = {}
    for size, share in pairs:
        weights[size] = weights.get(size, 0.0) + share
    return tuple((size, share) for size, share in weights.items() if share)


def points(option: Option) -> list[str]:
    """The values of a list that runs go through: as they stand, or those of a series, `(1-64,d)`, which doubles, and
    `(1000-3000,1000)`, in steps."""
    parts = listed(option.value.lower())
    ends = _SERIES.fullmatch(parts[0]) if len(parts) == 2 else None
    if ends is None:
        return parts
    low, high = (size_bytes(end, option) for end in ends.groups())
    step = 0 if parts[1] == "d" else size_bytes(parts[1], option)
    if not 0 < low <= high or (parts[1] != "d" and not step) or (step and (high - low) // step >= MOST_POINTS):
        option.refuse(f"expected a series such as (1-64,d) or (1000-3000,1000), of at most {MOST_POINTS} values")
    doubled = (low << power for power in range((high // low).bit_length()))
    in_kib = any(end[-1].isalpha() for end in ends.groups())
    values = range(low, high + 1, step) if step else doubled
    return [f"{value >> 10}k" if in_kib and value % 1024 == 0 else str(value) for value in values]


def number(text: str, option: Option, high: float = 100.0) -> float:
    parsed = decimal(text, option)
    if parsed > high:
        option.refuse(f"expected a number from 0 to {high:g}")
    return parsed


def seek(text: str, option: Option) -> float:
    """Return the percentage of seeks; 0 is sequential."""
    word = text.strip().lower()
    if word in _SEEK:
        return _SEEK[word]
    if not re.fullmatch(r"[\d.]{1,12}", word):
        option.refuse(f"expected a percentage or one of {', '.join(key for key in _SEEK if key.isalpha())}")
    return number(word, option)


def seconds(option: Option, zero: bool = False) -> float:
    """Return a time in seconds, above zero unless `zero` is allowed; bare numbers are seconds."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)([smh]?)", option.value.strip().lower())
    if match is None or not (zero or float(match[1])):
        option.refuse("expected a time above zero, such as 60, 10m or 2h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def count(text: str, option: Option) -> int:
    if not re.fullmatch(r"\d{1,6}", text.strip()) or not 1 <= int(text) <= 65536:
        option.refuse("expected a whole number from 1 to 65536")
    return int(text)
