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
"""fio's words (fio(1), "Job file parameters"), and Hotband's keys for them. `bs` and `rate_iops` are the same in
both."""


def ours(key: str) -> str:
    """Return our word for a key of fio; any other key unchanged."""
    return FIO_WORDS.get(key, key)


def twice(where: str, key: str, value: str, other: str, used: str) -> UserError:
    """Return the error for a key that is set twice, possibly in different words."""
    if key == other:
        return UserError(where, key, value, f"is given twice, also as {other}={used}")
    return UserError(where, key, value, f"is the same as {other}, which is also given: {other}={used}")
