"""fio's values: sizes, times, lists, as fio 3.33 reads them (parse.c: get_mult_bytes, get_mult_time; tried with
`fio --ioengine=null`)."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from math import isfinite

from hotband.data.jobs.parts import Amount
from hotband.data.jobs.source import Option, words

# With kb_base=1024, the default, "k", "kb" and "ki" are 1024 and "kib" is 1000: the other way round than SI and IEC
# have it, for old scripts. With kb_base=1000 "k", "kb" and "ki" are 1000 and "kib" is 1024.
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SIZE = re.compile(r"(0x[0-9a-f]+|\d+)([kmgtp]?)(ib|i|b)?", re.IGNORECASE)
# The part that fio reads of a number with a tail other than a letter: `iodepth=60?` (parse.c: str_to_decimal; tried).
_TAIL = re.compile(rf"({_SIZE.pattern})(?![\w.%\s]).+", re.IGNORECASE)
_WITH_TAILS = words(
    "bs ba iodepth numjobs rate rate_iops thinktime_blocks number_ios loops fsync fdatasync rwmixread rwmixwrite "
    "percentage_random"
)
SIZE_EXPECTED = "expected a size, such as 4k, 64k or 1g"
ZONE_SIZE = 256 << 20
"""Bytes of a zone where zonesize= does not set them: those of host-managed disks."""
_OPERATORS: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}
RATE_EXPECTED = "expected I/Os per second, such as 500 or 10k"
_TIMES = {"d": 86400e6, "h": 3600e6, "m": 60e6, "s": 1e6, "ms": 1e3, "msec": 1e3, "us": 1.0, "usec": 1.0}
TIME_EXPECTED = "expected a time, such as 30, 30s, 5m or 100ms"
LONGEST_US = 3650 * 86400e6
# The engine takes multiples of 512 B up to 64 MiB (crates/workloads/src/most.rs).
SECTOR = 512
LARGEST_IO = 64 << 20
# fio counts the bytes of an I/O in 64 bits; Meta's FioSynth trims 2300 MiB at once.
LARGEST_BLOCK = 4 << 30


def size_bytes(text: str, base: int, option: Option, accepted: str = SIZE_EXPECTED) -> int:
    """Return the bytes of a size, or a number with a size's prefix. Raises UserError with `accepted` for anything
    else."""
    match = _SIZE.fullmatch(text.strip())
    if match is None or len(text) > 40:
        number_ = calculated(text, base) if text.startswith("(") else None
        return option.refuse(accepted + _misread(text)) if number_ is None else number_
    digits, prefix, unit = match[1], match[2].lower(), (match[3] or "").lower()
    number = int(digits, 16) if digits.lower().startswith("0x") else int(digits)
    step = base if unit != "ib" else {1024: 1000, 1000: 1024}[base]
    return number * int(step ** _POWERS[prefix])


def _misread(text: str) -> str:
    """Return what fio reads of a number with a fraction or a blank before its unit."""
    number = re.fullmatch(r"(\d+)(\.\d+| +)[a-zA-Z]*", text.strip())
    return f"; fio 3.33 reads {text} as {number[1]}" if number else ""


def without_tails(key: str, text: str) -> tuple[str, str]:
    """Return the numbers that fio reads of a value, without the text after them, and a note if it differs."""

    def plain(part: str) -> str:
        match = _TAIL.fullmatch(part.strip())
        return match[1] if match else part

    if key in _WITH_TAILS:
        read = ",".join(map(plain, text.split(",")))
    elif key == "bssplit":
        pairs = [part.partition("/") for part in re.split("([:,])", text)]
        read = "".join(f"{plain(size)}{slash}{share}" for size, slash, share in pairs)
    else:
        read = text
    return read, "" if read == text else f"fio reads {read}"


def calculated(text: str, base: int = 1024) -> int | None:
    """Return the value of an expression such as `(2*1m+4k)`; None for anything else."""
    if len(text) > 80 or not re.fullmatch(r"[\dkmgtKMGT*/%+() -]+", text):
        return None
    plain = re.sub(
        r"(\d+)([kmgt])\b", lambda size: str(int(size[1]) * base ** _POWERS[size[2].lower()]), text, flags=re.I
    )

    def value(node: ast.AST) -> int:
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        raise ValueError(node)

    try:
        return max(0, value(ast.parse(plain.strip(), mode="eval").body))
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def amount(option: Option, base: int, zone: int = ZONE_SIZE) -> Amount:
    """Return a size, or a share of the file; `zone` is the size of a zone."""
    text = option.value.strip()
    if re.fullmatch(r"\d{1,9}z", text.lower()):
        return Amount(int(text[:-1]) * zone)
    if text.endswith("%"):
        number = decimal(text[:-1], option)
        # Tried: fio 3.33 begins at 0 for offset=12.5%.
        if number != int(number):
            option.refuse("expected a whole percentage from 0% to 100%: fio accepts no fractions")
        # Tried: size=200% is the whole file.
        return Amount(min(100, number) / 100, True)
    return Amount(size_bytes(text, base, option))


def block(text: str, base: int, option: Option) -> int:
    """Return the size of an I/O in bytes. fio itself takes any up to 4 GiB."""
    size = size_bytes(text, base, option)
    if not 0 < size <= LARGEST_BLOCK:
        option.refuse(f"{size} bytes is not an I/O size: expected 1 byte to 4 GiB")
    return size


def microseconds(text: str, option: Option, unit: str) -> float:
    """Return a time in microseconds; `unit` is the unit of a bare number."""
    text = text.partition(",")[0]
    match = re.fullmatch(r"(\d+)\s*([a-z]*)", text.strip().lower())
    if match is None or len(text) > 40 or (match[2] or unit) not in _TIMES:
        option.refuse(TIME_EXPECTED + _misread(text))
    time = float(match[1]) * _TIMES[match[2] or unit]
    return time if time <= LONGEST_US else option.refuse("expected a time of at most ten years")


def count(option: Option, least: int = 0, most: int = 2**31) -> int:
    """Return a whole number from `least` to `most`. As fio, take `4k` for 4096 and of `4,8` the first (tried: 3.33)."""
    text = option.value.partition(",")[0].strip()
    accepted = f"expected a whole number from {least} to {most}"
    if not re.fullmatch(r"\d{1,12}[km]?|0x[0-9a-f]{1,8}|\(.*\)", text, re.IGNORECASE):
        option.refuse(accepted)
    number = size_bytes(text, 1024, option, accepted)
    return number if least <= number <= most else option.refuse(accepted)


def decimal(text: str, option: Option) -> float:
    """Return a number of 0 or more."""
    try:
        number = float(text) if len(text) <= 40 else -1.0
    except ValueError:
        number = -1.0
    if not (isfinite(number) and number >= 0):
        option.refuse(f"{text!r} is not a number of 0 or more")
    return number


def percent(option: Option) -> int:
    return count(option, 0, 100)


def flag(option: Option) -> bool:
    """Return whether an option is on; an option without a value is."""
    if option.value.strip() not in ("", "0", "1"):
        option.refuse("expected 0 or 1")
    return option.value.strip() != "0"


def splits(text: str, option: Option) -> list[tuple[str, float]]:
    """Return values and their shares of `a/10:b/60:c/`; values without a share divide the remainder evenly. The sum is
    100."""
    pairs: list[tuple[str, float | None]] = []
    for part in text.split(":"):
        value, _, share = part.partition("/")
        pairs.append((value.strip(), decimal(share, option) if share.strip() else None))
    total = sum(share for _, share in pairs if share is not None)
    blank = sum(share is None for _, share in pairs)
    if total > 100 + 1e-9:
        option.refuse(f"the shares add up to {total:g}: expected at most 100")
    # fio gives what is missing to 100 to nobody, and says so; the weights of the others keep their ratio.
    each = (100 - total) / blank if blank else 0.0
    return [(value, each if share is None else share) for value, share in pairs]
