"""Sizes of I/Os of a fio job (`bs`, `bsrange`, `bssplit`), and the I/Os that a drive gets for one of fio."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.data.jobs.fio_lists import places, text_at
from hotband.data.jobs.fio_values import LARGEST_IO, SECTOR, block, decimal, flag, splits
from hotband.data.jobs.source import Option

if TYPE_CHECKING:
    from hotband.data.jobs.fio_job import JobOptions

# fio's own size of an I/O (HOWTO, "blocksize").
DEFAULT_SIZE = 4096
# More sizes than that between the ends of bsrange= are drawn from as many.
MOST_SIZES = 64
# What the page cache of Linux on x86 reads and writes.
PAGE = 4096

Sizes = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Fitted:
    """Sizes that a drive takes and their weights; the drive's I/Os for one of fio; mean and least bytes of fio's."""

    sizes: Sizes
    pieces: float
    mean: float
    least: int


def sizes(job_options: JobOptions, kinds: str, is_random: bool) -> tuple[Sizes, Sizes, Sizes]:
    """Return fio's sizes and weights of reads, writes and trims. Writes after their trims have the sizes of trims."""
    size_keys = [key for key in ("bs", "bsrange", "bssplit") if job_options.get(key)]
    if not size_keys:
        default: Sizes = ((DEFAULT_SIZE, 1.0),)
        return default, default, default
    # fio: bssplit counts before bs; of bs and bsrange the later one.
    order = job_options.job.in_order
    key = (
        "bssplit"
        if "bssplit" in size_keys
        else max(size_keys, key=lambda name: order.index(job_options.job.options[name]))
    )
    for other in size_keys:
        if other != key:
            job_options.ignore(other, f"{key}= takes precedence")
    read, write, trim = (
        _sizes_of(*text_at(job_options, key, index, str(DEFAULT_SIZE)), job_options) for index in range(3)
    )
    split = job_options.get("bs_is_seq_rand")
    if split is not None and flag(split):
        # The two sizes are for sequential and random I/Os then.
        if read != write and is_random and job_options.get("percentage_random"):
            job_options.approximate("bs_is_seq_rand", "sequential I/Os have the size of random ones, too")
        read = write = trim = write if is_random else read
    return read, trim if kinds == "tw" else write, trim


def _sizes_of(text: str, option: Option, job_options: JobOptions) -> Sizes:
    if option.key == "bs":
        return ((block(text, job_options.base, option), 1.0),)
    if option.key == "bssplit":
        pairs = [(block(size, job_options.base, option), share) for size, share in splits(text, option)]
        if any(
            share != int(share) for part in text.split(":") if (share := decimal(part.partition("/")[2] or "0", option))
        ):
            # Tried: of bssplit=4k/4.5:8k/95.5 fio 3.33 asks for 10 % and 90 %.
            job_options.approximate(
                "bssplit", "shares are used as written; fio itself accepts whole percentages only and misreads others"
            )
        weights: dict[int, float] = {}
        for size, share in pairs:
            weights[size] = weights.get(size, 0.0) + share
        positive = tuple((size, share) for size, share in weights.items() if share > 0)
        return positive or option.refuse("expected shares above zero, such as 4k/60:64k/40")
    # Tried: fio 3.33 accepts a colon for the hyphen, and ignores text after a size.
    low, high, *_ = [*re.split("[-:]", text), ""]
    low, high = low.partition("/")[0], high.partition("/")[0]
    if "/" in text or text.count(":") > 1:
        job_options.approximate("bsrange", f"fio reads {low}-{high}: expected bssplit= for shares")
    least, most = block(low, job_options.base, option), block(high or low, job_options.base, option)
    if most < least:
        option.refuse("the second size is smaller than the first: expected SMALLEST-LARGEST")
    steps = (most - least) // least
    stride = least * max(1, -(-steps // (MOST_SIZES - 1)))
    if stride != least:
        job_options.approximate("bsrange", f"{(most - least) // stride + 1} evenly spaced sizes between both ends")
    evenly = tuple((size, 1.0) for size in range(least, most + 1, stride))
    # Tried: of bsrange=4k-10k fio 3.33 asks for 4k and 8k, and for 10k half as often.
    return (*evenly, (most, most % least / least)) if stride == least and most % least else evenly


def fitted(job_options: JobOptions, sizes_: tuple[Sizes, Sizes, Sizes], kinds: str) -> tuple[Fitted, Fitted, Fitted]:
    """Return the I/Os that a drive receives for reads, writes and trims: whole sectors, and large I/Os in pieces."""
    option = job_options.get("bssplit") or job_options.get("bs") or job_options.get("bsrange")
    used = {size for index in places(kinds) for size, _ in sizes_[index]}
    if option is not None and any(size > LARGEST_IO for size in used):
        why = "I/Os of more than 64 MiB go to the drive in equal pieces, together"
        job_options.approximate(option.key, why)
    if option is not None and any(size % SECTOR for size in used):
        why = (
            "fio fails with direct=1 unless the size is a multiple of the sector's; whole sectors are used"
            if _is_direct(job_options)
            else "the page cache reads and writes whole pages of 4 KiB"
        )
        job_options.approximate(option.key, why)
    read, write, trim = (_fitted(mix, _is_direct(job_options)) for mix in sizes_)
    return read, write, trim


def _is_direct(job_options: JobOptions) -> bool:
    direct = job_options.get("direct")
    return direct is not None and flag(direct)


def _fitted(mix: Sizes, is_direct: bool) -> Fitted:
    whole = sum(share for _, share in mix)
    weights: dict[int, float] = {}
    for size, share in mix:
        for piece, number in _on_drive(size, is_direct):
            weights[piece] = weights.get(piece, 0.0) + share * number
    mean = sum(size * share for size, share in mix) / whole
    return Fitted(tuple(weights.items()), sum(weights.values()) / whole, mean, min(size for size, _ in mix))


def _on_drive(size: int, is_direct: bool) -> list[tuple[int, float]]:
    """Return the I/Os for one of fio: sizes and how many of each."""
    if size % SECTOR and is_direct:
        size += SECTOR - size % SECTOR
    elif size % SECTOR:
        # Of I/Os that begin at any byte of a page.
        pages = (size - 1) / PAGE + 1
        more = pages % 1
        both = [(int(pages) * PAGE, 1 - more), (int(pages + 1) * PAGE, more)]
        return [(pages_, share) for pages_, share in both if share and pages_ <= LARGEST_IO] or [(LARGEST_IO, 1.0)]
    least = -(-size // LARGEST_IO)
    # Equal pieces of whole pages if there are some, else the last sector is cut off.
    pieces = next((n for n in range(least, 4 * least + 1) if size % (n * PAGE) == 0), least)
    return [(max(SECTOR, size // pieces // SECTOR * SECTOR), float(pieces))]
