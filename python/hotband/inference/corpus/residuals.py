"""Errors of predictions of the corpus that ships, each with its family left out: what intervals rest on."""

from __future__ import annotations

import csv
import io
import lzma
import math
from collections.abc import Iterable
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import cast, get_args

from hotband.base.errors import UserError
from hotband.base.text.regular import file_text
from hotband.base.text.write import make_folder, write_file
from hotband.data.corpus import files
from hotband.data.corpus.figure import rows_of
from hotband.data.corpus.loads import Load
from hotband.inference.corpus.conformal import At, Pattern, Pools, Residual

SHIPPED_RESIDUALS = Path(files.__file__).parent / "residuals.csv.xz"
"""Written by `scripts/corpus_learn.py` (`make accuracy`)."""
COLUMNS = ("family", "tester", "groups", "value", *At._fields, "run")
PATTERNS = get_args(Pattern)
TAILS = ("disk, p99", "SSD, p99", "p99.9")
RATES_OF_ANY = "rates of any drive"
"""The widest group of rates; latencies have others."""
LARGE = 65_536
"""Bytes from which a sequential I/O is large: one of a few fills the port."""
MANY = 1_024
"""I/Os outstanding that only tests of a controller's limits keep."""


def groups_of(figure_class: str, load: Load, metric: str) -> tuple[str, ...]:
    """Return the groups whose families say how wide the interval of a figure is, the narrowest first."""
    device = "disk" if load.kind == "disk" else "SSD"
    wide = (f"{device}, rates of any load", RATES_OF_ANY)
    if metric.startswith("lat_p"):
        wide = (f"{device}, latencies of {_side(load)}", f"latencies of {_side(load)} of any drive")
    groups = (*_narrow(figure_class, load, metric, device), figure_class)
    if described := _described(load):
        groups = (f"{groups[0]}, {described}", *groups)
    return tuple(dict.fromkeys((*groups, *wide)))


def at_of(load: Load) -> At:
    """Return the load at which a figure is, as residuals have it."""
    pattern: Pattern = "sync" if load.sync or load.of_flush else "random" if load.random else "sequential"
    return At(load.read_pct, load.block, load.depth, pattern)


def _side(load: Load) -> str:
    return "reads" if load.direction == "read" else "writes and mixes"


def _described(load: Load) -> str:
    """Return how well the state of a solid-state drive is known, which decides how far off a prediction can be; empty
    for mixes and sync writes, of which hardly any row states it, and for steady writes, which are their own class."""
    is_steady = load.random and load.direction == "write" and load.state == "steady"
    if load.kind == "disk" or load.direction == "mix" or load.sync or load.of_flush or is_steady:
        return ""
    if load.part:
        return "within a cache" if load.part == "cache" else "beyond a cache"
    return "state unknown" if load.state == "unknown" else "state known"


def _narrow(figure_class: str, load: Load, metric: str, device: str) -> tuple[str, ...]:
    """Return the groups that are narrower than the class of a figure."""
    if figure_class in TAILS or figure_class == "other":
        name = {"lat_p50": "p50", "lat_p9999": "p99.99"}.get(metric, "p90 and p95")
        tail = figure_class if figure_class in TAILS else f"{device}, {name}"
        return (f"{tail} of {_side(load)}",)
    if metric == "lat_p50":
        return (f"{device}, p50 of {_side(load)}",)
    if figure_class == "sequential":
        if load.part:
            return ("sequential, writes that fill a drive",)
        size = "large" if load.block >= LARGE else "small"
        return (f"sequential, {size} {_side(load)} of {device}s", f"sequential, {size} I/Os")
    if load.depth >= MANY:
        return (f"{figure_class}, {MANY:,} and more outstanding",)
    if figure_class in ("SSD, random writes, new or unknown", "sync writes and flushes"):
        return (f"{figure_class}, {'one at a time' if load.depth == 1 else 'several at a time'}",)
    return ()


@cache
def shipped_residuals() -> tuple[Residual, ...]:
    """Return the residuals that ship with Hotband."""
    return _read(files.unpacked(SHIPPED_RESIDUALS), SHIPPED_RESIDUALS.name)


def own_residuals() -> tuple[Residual, ...]:
    """Return the residuals of the user's own figures; none where there is no such file. Raises UserError."""
    path = _own_file()
    try:
        return _read(io.StringIO(file_text(path)), str(path)) if path.exists() else ()
    except UserError as error:
        # Hotband writes the file.
        accepted = f"{error.accepted}; remove the file, or let `hotband corpus add` write it again"
        raise UserError(error.where, error.key, error.value, accepted) from None


def own_stamp() -> tuple[str, int, int] | None:
    """Return the path, time and size of the file of the user's own residuals; None if there is none."""
    path = _own_file()
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    return str(path), state.st_mtime_ns, state.st_size


def _own_file() -> Path:
    return files.own_file().with_suffix(".errors.csv")


def _read(text: Iterable[str], where: str) -> tuple[Residual, ...]:
    rows, _ = rows_of(text, COLUMNS, where)
    cells_of = itemgetter(*((rows.fieldnames or ()).index(name) for name in COLUMNS))
    # Thousands of rows have some dozens of groups and loads.
    groups_in, at = cache(lambda groups: tuple(groups.split("|"))), cache(_at)
    try:
        return tuple(
            Residual(family, tester, groups_in(groups), _finite(value), at(read_pct, block, depth, pattern), int(run))
            for family, tester, groups, value, read_pct, block, depth, pattern, run in map(
                cells_of, filter(None, rows.reader)
            )
        )
    except (ValueError, IndexError) as error:
        raise UserError(where, "value", "", f"is damaged ({error}): expected numbers") from None


def _at(read_pct: str, block: str, depth: str, pattern: str) -> At:
    if pattern not in PATTERNS:
        raise ValueError(f"pattern {pattern}")
    at = At(_finite(read_pct), int(block), int(depth), cast("Pattern", pattern))
    if at.block < 1 or at.depth < 1:
        raise ValueError(f"block {block} and depth {depth}")
    return at


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


@cache
def shipped_pools() -> Pools:
    """Return the residuals that ship, by group."""
    return Pools(shipped_residuals())


def write_residuals(residuals: Iterable[Residual]) -> int:
    """Write the residuals that ship; return how many there are."""
    rows = list(residuals)
    write_file(SHIPPED_RESIDUALS, lzma.compress(_text(rows).encode(), preset=9 | lzma.PRESET_EXTREME))
    return len(rows)


def write_own_residuals(residuals: Iterable[Residual]) -> None:
    """Write the residuals of the user's own figures. Raises OSError."""
    make_folder(_own_file().parent)
    write_file(_own_file(), _text(residuals))


def _text(residuals: Iterable[Residual]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for each in residuals:
        numbers = (f"{each.value:.4f}", f"{each.at.read_pct:g}", *each.at[1:], each.run)
        writer.writerow((each.family, each.tester, "|".join(each.groups), *numbers))
    return text.getvalue()
