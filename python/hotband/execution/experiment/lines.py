"""Runs that share a machine."""

from __future__ import annotations

from collections.abc import Sequence

from hotband.data.documents.run import RunSpec


def lines_of(specs: Sequence[RunSpec]) -> list[list[RunSpec]]:
    """Run by the machine that they share: each alone, or with those before and after it, in their order."""
    by_id = {spec.id: spec for spec in specs}
    follower = {spec.after: spec for spec in specs if spec.after in by_id}
    lines = []
    for spec in specs:
        if spec.after not in by_id:
            line = [spec]
            while line[-1].id in follower:
                line.append(follower[line[-1].id])
            lines.append(line)
    return lines
