"""Times and shares as text ("5 ms", "7 %"), for what Python reads itself."""

from __future__ import annotations

import re

# "min" and "h" are accepted beside the SI units, as in workloads.
SPAN_UNITS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9}
SPAN_EXPECTED = 'a time with its unit, such as "5 ms" or "10 s"'


def span_ns(text: str) -> float | None:
    """Nanoseconds of a time above zero; None where the text is none."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zµ]+)\s*", text)
    if found is None or found[2] not in SPAN_UNITS:
        return None
    return float(found[1]) * SPAN_UNITS[found[2]] or None


def share(text: str) -> float | None:
    """A share, such as "0.37" or "7 %"; None where the text is none."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", text)
    if found is None:
        return None
    return float(found[1]) / (100.0 if found[2] else 1.0)


# "GB" is 10^9, "GiB" 2^30, a single letter is binary as in fio (docs/guides/machines.md).
_SIZE_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
SIZE_EXPECTED = 'a size with its unit, such as "256 MB" or "8 GiB"'


def size_bytes(text: str) -> float | None:
    """Bytes of a size above zero; None where the text is none."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kKmMgGtTpP]?)(iB|B|b)?\s*", text)
    if found is None or not (found[2] or found[3]):
        return None
    base = 1000 if found[3] in ("B", "b") else 1024
    return float(found[1]) * base ** _SIZE_POWERS[found[2].lower()] or None
