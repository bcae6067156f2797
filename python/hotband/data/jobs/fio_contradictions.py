"""Options of a job that exclude each other or that fio refuses together (init.c: fixup_options; options.c; tried:
3.33). Left out: limits of options that change no I/O here."""

from __future__ import annotations

import re

from hotband.data.importers.fio.text import directions
from hotband.data.jobs.fio_file import Job
from hotband.data.jobs.fio_values import size_bytes
from hotband.data.jobs.source import Option


def refuse_contradictions(job: Job, base: int) -> None:
    """Raise UserError for the first pair of options that exclude each other; `base` is what `k` means in sizes."""
    iops, bandwidth = job.get("rate_iops"), job.get("rate")
    if iops and bandwidth and any(_limits(base, iops)) and any(_limits(base, bandwidth)):
        bandwidth.refuse(f"not together with {iops}: expected one of both, as in fio")
    for least_key, most in (("rate_min", bandwidth), ("rate_iops_min", iops)):
        least = job.get(least_key)
        pairs = zip(_limits(base, least), _limits(base, most), strict=True) if least and most else ()
        if least and any(0 < high < low for low, high in pairs):
            least.refuse(f"exceeds {most}: expected at most that, as in fio")
    mode, zone = job.get("zonemode"), job.get("zonesize")
    if mode is not None and mode.value == "strided" and zone is None:
        mode.refuse("needs zonesize=, as in fio")
    if mode is not None and mode.value == "none" and zone is not None:
        zone.refuse(f"not together with {mode}: expected zonemode=strided, or no zonesize=, as in fio")
    share = job.get("io_size")
    if share is not None and (match := re.fullmatch(r"(\d+)%", share.value.strip())) and int(match[1]) > 100:
        share.refuse("expected at most 100%, as in fio")


def _limits(base: int, option: Option) -> list[int]:
    """Return the limits of reads, writes and trims; 0 for none."""
    return [size_bytes(text, base, option) if text else 0 for text in directions(option.value)]
