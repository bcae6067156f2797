"""Source of an imported record, and the settings requested from the tool: the record's `source`
(docs/guides/import.md).

Every key is present; it is None if the tool does not report it.
"""

from datetime import UTC, datetime
from typing import NotRequired, TypedDict, cast

from hotband.base.claim import ClaimDoc
from hotband.base.guess import GuessDoc

NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000
# Beyond these a moment has no calendar date in Python (years 1 to 9999).
_LAST_SECOND = 253_402_300_799


class Asked(TypedDict):
    """Requested settings of the run. `concurrency` covers all jobs; `ramp_ns` of warm-up is left out."""

    duration_ns: int | None
    ramp_ns: int | None
    concurrency: int | None
    jobs: int | None
    block_bytes: int | None
    read_pct: float | None
    pattern: str | None
    working_set_bytes: int | None
    offset_begin_bytes: int | None
    direct: bool | None
    seed: str | None
    seed_text: str | None
    rate_iops: float | None
    group_reporting: bool | None
    time_based: bool | None


class Source(TypedDict):
    """`began` and `ended` are UTC in ISO 8601, whole seconds; `target` as the tool names it.

    `elapsed_ns` is the time since the tool began, `job_errors` how its jobs ended if that is no success. `latency`
    names fio's latency of the figures: `lat` or `clat`; `job_depth_at_most` is the most I/Os that a job had in flight
    by fio's distribution, where the options are unknown; `job_cpu_pct` is the lowest processor use of a job, in
    percent; `hosts` are the clients of fio, if there were several; `guesses` are readings of the files that leave
    another open; `contradictions` are figures that others of the tool's own output contradict.
    """

    tool: str
    version: str | None
    file: str
    began: str | None
    ended: str | None
    asked: Asked
    target: str | None
    host: str | None
    latency: NotRequired[str]
    job_cpu_pct: NotRequired[float | None]
    elapsed_ns: NotRequired[int | None]
    job_errors: NotRequired[list[str]]
    job_depth_at_most: NotRequired[int]
    hosts: NotRequired[list[str]]
    guesses: NotRequired[list[GuessDoc]]
    contradictions: NotRequired[list[ClaimDoc]]


def nothing_asked() -> Asked:
    """Return settings that are all unknown, for an importer to fill in."""
    return cast("Asked", dict.fromkeys(Asked.__annotations__))


def iso(epoch_s: float | None) -> str | None:
    """Return seconds since 1970 as UTC, cut to whole seconds; None for None and for times without a date."""
    if epoch_s is None or not 0 < epoch_s <= _LAST_SECOND:
        return None
    return datetime.fromtimestamp(int(epoch_s), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment_of(text: object) -> datetime | None:
    """Return a time in ISO 8601 as UTC without a zone; a time without a zone is UTC already. None for other values."""
    try:
        moment = datetime.fromisoformat(str(text)) if text else None
        return moment.astimezone(UTC).replace(tzinfo=None) if moment and moment.tzinfo else moment
    except (ValueError, OverflowError):
        return None
