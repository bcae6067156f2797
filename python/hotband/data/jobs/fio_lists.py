"""Options of fio with a value for reads, for writes and for trims: `percentage_random=0,10,100` (HOWTO of fio 3.33;
what is read here was tried with `fio --ioengine=null`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.data.importers.fio.text import directions
from hotband.data.jobs.fio_values import SECTOR, decimal, percent, size_bytes
from hotband.data.jobs.source import Option

if TYPE_CHECKING:
    from hotband.data.jobs.fio_job import JobOptions
    from hotband.data.jobs.fio_sizes import Sizes

PLACES = {"r": 0, "w": 1, "t": 2, "tw": 2}
"""The place of an I/O's kind in the list. A write that follows its trim has the offset and the size of the trim
(tried: 3.33)."""
_DISTRIBUTIONS = ("random", "zipf", "pareto", "normal", "gauss", "zoned", "zoned_abs", "sequence")
Chosen = tuple[str, list[str], Option]
"""A distribution's name, its arguments, and the option that names it."""


def places(kinds: str) -> tuple[int, ...]:
    """Return the places of a job's I/Os in the list."""
    return (0, 1) if kinds == "rw" else (PLACES[kinds],)


def text_at(job_options: JobOptions, key: str, index: int, default: str) -> tuple[str, Option]:
    """Return the last value for reads, writes or trims and its option: `bs=,8k` leaves that of reads as an earlier line
    has it, else as the `default` (tried). The job must have the option."""
    texts = [
        (directions(option.value)[index], option) for option in reversed(job_options.job.in_order) if option.key == key
    ]
    return next(((text, one) for text, one in texts if text), (default, texts[0][1]))


def random_shares(job_options: JobOptions, is_random: bool, run: int) -> tuple[float, float, float]:
    """Return the percentages of random I/Os, which `percentage_random=` sets."""
    option = job_options.get("percentage_random")
    if option is None:
        share = 100.0 if is_random else 0.0
        return share, share, share
    if not is_random:
        job_options.ignore("percentage_random", "rw= is sequential: fio also ignores it")
        return 0.0, 0.0, 0.0
    if run > 1:
        job_options.ignore("percentage_random", f"rw= has runs of {run} I/Os, which set the random share")
    texts = [text_at(job_options, "percentage_random", index, "100") for index in range(3)]
    reads, writes, trims = (float(percent(Option(option.key, text, option.location))) for text, option in texts)
    return reads, writes, trims


def align(job_options: JobOptions, mix: Sizes, index: int) -> int | None:
    """Return the grid of random offsets: `blockalign`, else the smallest size; None if that is the size of the I/O."""
    option = job_options.get("ba")
    text, option = ("", None) if option is None else text_at(job_options, "ba", index, "")
    if text and option is not None:
        grid = size_bytes(text, job_options.base, option)
        if not grid or grid % SECTOR:
            option.refuse("expected a multiple of 512 bytes above zero")
        return grid
    return min(size for size, _ in mix) if len(mix) > 1 else None


def distribution(job_options: JobOptions, index: int) -> Chosen | None:
    """`random_distribution=` of reads, writes or trims; None for uniform. fio 3.33 takes lists by its HOWTO and refuses
    them (tried): they are read as the HOWTO has them, `zoned:A,B,C` or a name each."""
    if job_options.get("random_distribution") is None:
        return None
    text, option = text_at(job_options, "random_distribution", index, "random")
    if option.value.startswith("sequence"):
        return "sequence", option.value.partition(":")[2].split(","), option
    first = directions(option.value)[0].partition(":")[0]
    name, _, rest = text.partition(":")
    if name not in _DISTRIBUTIONS and first in _DISTRIBUTIONS and name[:1].isdigit():
        name, rest = first, text
    if name not in _DISTRIBUTIONS:
        option.refuse(f"expected one of {', '.join(_DISTRIBUTIONS)}")
    return None if name == "random" else (name, rest.split(":") if rest else [], option)


def number_of(arguments: list[str], option: Option, low: float, high: float) -> float:
    """Return the number after the name of a distribution."""
    # fio's own where the name is alone (options.c: FIO_DEF_ZIPF, FIO_DEF_PARETO).
    default = {"zipf": 1.1, "pareto": 0.2}.get(option.value.partition(":")[0], -1.0)
    value = decimal(arguments[0], option) if arguments and arguments[0] else default
    if not low < value <= high:
        option.refuse(f"expected a number above {low:g} and up to {high:g} after the name, such as zipf:1.2")
    return value
