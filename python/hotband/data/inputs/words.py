"""Words of fio that are accepted for Hotband's keys: `--set iodepth=32` is `--set depth=32`."""

from __future__ import annotations

from hotband.base.errors import UserError

FIO_WORDS = {
    "iodepth": "depth",
    "numjobs": "threads",
    "rwmixread": "read_pct",
    "percentage_random": "random_pct",
    "blocksize": "bs",
    "size": "span",
    "thinktime": "think",
    "ramp_time": "warm_up",
}
"""fio's word (fio(1), "Job file parameters"), and ours for the same thing. `bs` and `rate_iops` are words of both."""


def ours(key: str) -> str:
    """Our word for a key that fio calls otherwise; any other key as it is."""
    return FIO_WORDS.get(key, key)


def twice(where: str, key: str, value: str, other: str, used: str) -> UserError:
    """The error for a key that is set twice, be it in words that mean the same."""
    if key == other:
        return UserError(where, key, value, f"is given twice, also as {other}={used}")
    return UserError(where, key, value, f"is the same as {other}, which is also given: {other}={used}")
