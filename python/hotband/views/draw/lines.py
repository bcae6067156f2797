"""Coinciding lines: find them, and make the lower ones wider so that all of them are visible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hotband.base.heavy import alt, pl

# Two values nearer than this (share of the larger) coincide: about a line's width on a chart of 250 px.
NEAR = 0.015
# Least share of their common points at which two lines must be near.
MOSTLY = 0.8
# Width of the top line, and the additional width of each line below it (px).
WIDTH, WIDER = 2.0, 2.8

Points = Mapping[object, tuple[float | None, ...]]


def coincident(frame: pl.DataFrame, line: str, at: str, values: Sequence[str]) -> list[list[str]]:
    """Return the names of coinciding lines in groups, in the order of the frame. Rows have a line, the position `at`,
    and `values`, which must all be near."""
    lines: dict[str, dict[object, tuple[float | None, ...]]] = {}
    for row in frame.select(line, at, *values).iter_rows():
        lines.setdefault(str(row[0]), {})[row[1]] = row[2:]
    groups: list[list[str]] = []
    for name, points in lines.items():
        same = next((group for group in groups if _on_each_other(lines[group[0]], points)), None)
        if same is None:
            groups.append([name])
        else:
            same.append(name)
    return [group for group in groups if len(group) > 1]


def _on_each_other(points: Points, other: Points) -> bool:
    shared = [at for at in points if at in other]
    if len(shared) < 2 or len(shared) < MOSTLY * min(len(points), len(other)):
        return False
    near = sum(all(map(_near, points[at], other[at])) for at in shared)
    return near >= MOSTLY * len(shared)


def _near(value: float | None, other: float | None) -> bool:
    if value is None or other is None:
        return value is other
    return abs(value - other) <= NEAR * max(abs(value), abs(other))


def wider(groups: Sequence[Sequence[str]]) -> list[tuple[float, list[str]]]:
    """Return the widths of the lower lines, widest first, each with its lines: of coinciding lines the first is the
    widest, and the last has the normal width."""
    levels: dict[float, list[str]] = {}
    for group in groups:
        for index, name in enumerate(group[:-1]):
            levels.setdefault(WIDTH + WIDER * (len(group) - 1 - index), []).append(name)
    return sorted(levels.items(), reverse=True)


def below(frame: pl.DataFrame, line: str, groups: Sequence[Sequence[str]], **encoding: Any) -> list[alt.Chart]:
    """Return layers of the wider lines, to be drawn before the lines of `frame` with the same `encoding`."""
    parts = [(width, frame.filter(pl.col(line).is_in(names))) for width, names in wider(groups)]
    return [alt.Chart(rows).mark_line(strokeWidth=width).encode(**encoding) for width, rows in parts]


def said(groups: Sequence[Sequence[str]]) -> str:
    """Return a sentence about coinciding lines for below the chart; empty without any."""
    if not groups:
        return ""
    pieces = "; ".join(f"{', '.join(group[:-1])} and {group[-1]}" for group in groups)
    return f"Lines that lie on each other are drawn one inside the other, the first widest: {pieces}."
