"""Words of fio and of people that are accepted for Hotband's keys: `--set iodepth=32` is `--set depth=32`."""

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

WITHOUT_BASE_UNIT = {"thinktime"}
"""fio's words whose plain numbers are not in the base unit of Hotband's key: fio counts `thinktime` in microseconds."""

USUAL_WORDS = {
    "queue_depth": "qd",
    "queuedepth": "qd",
    "concurrency": "qd",
    "outstanding": "qd",
    "block_size": "bs",
    "write_cache": "wce",
}
"""Words of people for Hotband's keys, whose letters resemble other keys more, or none."""


def ours(key: str) -> str:
    """Return our word for a key of fio, or for a usual word; any other key unchanged."""
    return FIO_WORDS.get(key) or USUAL_WORDS.get(key, key)


def key_of_setting(word: str, value: str) -> str:
    """Return the key of a setting. Raises UserError for a word that is no setting, but a field of the question."""
    if word == "runtime":
        raise UserError("question.settings", word, value, "did you mean question.duration?")
    return ours(word)


def twice(where: str, key: str, value: str, other: str, used: str) -> UserError:
    """Return the error for a key that is set twice, possibly in different words."""
    if key == other:
        return UserError(where, key, value, f"is given twice, also as {other}={used}")
    return UserError(where, key, value, f"is the same as {other}, which is also given: {other}={used}")
