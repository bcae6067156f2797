"""A review in a few numbers: geometric means of its figures by group, and of one machine's figures over another's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hotband.data.record.states import states_of, unequal

if TYPE_CHECKING:
    from hotband.data.documents.review import ComparisonDoc, GroupDoc, GroupRatiosDoc, PartsDoc, ReviewDoc

# Parts that are lists of figures.
ListedPart = Literal["block_sizes", "streams", "patterns", "files", "streaming", "applications"]
# Figures by their subject. Larger is better in each.
Figures = dict[str, float]


@dataclass(frozen=True)
class Group:
    """Figures of one unit that are summed up together."""

    name: str
    title: str
    unit: str
    figures: Callable[[PartsDoc], Figures]


def rows(part: ListedPart, keys: Sequence[str], figure: str) -> Callable[[PartsDoc], Figures]:
    """Return the known figures of a part that is a list, each named by the values of `keys`."""

    def found(review: PartsDoc) -> Figures:
        listed: Sequence[Mapping[str, object]] = review[part] or []
        return {
            " ".join(str(row[key]) for key in keys): float(value)
            for row in listed
            if isinstance(value := row[figure], int | float)
        }

    return found


def sequential(review: PartsDoc) -> Figures:
    """Return mean rates over the surface, and the four of streaming."""
    means = review["linear"]["mean"] if review["linear"] else {}
    return {f"linear {op}": rate for op, rate in means.items() if rate is not None} | rows(
        "streaming", ("op", "blocks"), "bandwidth_bytes_per_s"
    )(review)


def access(review: PartsDoc) -> Figures:
    """Return accesses per second, one at a time: the inverse of the access time, so that more is better."""
    return {op: 1e9 / figures["mean_ns"] for op, figures in (review["access"] or {}).items() if figures["mean_ns"]}


def defragmentation(review: PartsDoc) -> Figures:
    """Return extents per second."""
    part = review["defragmentation"]
    return {} if part is None or part["extents_per_s"] is None else {"extents": part["extents_per_s"]}


BANDWIDTH = "bandwidth_bytes_per_s"
GROUPS = [
    Group("sequential", "Sequential", "B/s", sequential),
    Group("access", "Random access", "accesses/s", access),
    Group(
        "blocks", "Block sizes and buffer", "B/s", rows("block_sizes", ("op", "file_bytes", "block_bytes"), BANDWIDTH)
    ),
    Group("streams", "Concurrent streams", "B/s", rows("streams", ("op", "streams"), BANDWIDTH)),
    Group("server", "Server patterns", "IOPS", rows("patterns", ("pattern", "queue_depth"), "iops")),
    Group("files", "Files", "files/s", rows("files", ("op", "size", "queue_depth"), "files_per_s")),
    Group("defragmentation", "Defragmentation", "extents/s", defragmentation),
    Group("applications", "Desktop applications", "B/s", rows("applications", ("name",), BANDWIDTH)),
]


def geometric_mean(values: Iterable[float]) -> float | None:
    """Return the geometric mean of numbers above zero; None without numbers, or if one is not above zero."""
    listed = list(values)
    if not listed or min(listed) <= 0:
        return None
    return math.exp(math.fsum(math.log(value) for value in listed) / len(listed))


def summary(review: PartsDoc) -> list[GroupDoc]:
    """Return the geometric mean of each group with figures, and their number."""
    groups: list[GroupDoc] = []
    for group in GROUPS:
        figures = group.figures(review)
        mean = geometric_mean(figures.values())
        if mean is not None:
            count = len(figures)
            groups.append(
                {"group": group.name, "title": group.title, "geometric_mean": mean, "unit": group.unit, "of": count}
            )
    return groups


def overall(rows: Sequence[GroupDoc]) -> float | None:
    """Return the geometric mean of the groups: units differ, so it has a meaning only relative to another machine."""
    return geometric_mean(row["geometric_mean"] for row in rows)


def ratio(figures: Figures, baseline: Figures) -> float | None:
    """Return the geometric mean of the ratios of common figures; None without any."""
    common = [key for key in baseline if figures.get(key, 0) > 0 and baseline[key] > 0]
    return geometric_mean(figures[key] / baseline[key] for key in common)


def compare(reviews: Sequence[ReviewDoc]) -> ComparisonDoc:
    """Return the speed of each machine relative to the first, by group, over the figures that both have. Groups count
    alike in the overall ratio; figures of only one machine are left out, and null means no common figure."""
    names = [review["machine"]["name"] for review in reviews]
    groups: list[GroupRatiosDoc] = []
    listed = []
    for group in GROUPS:
        figures = [group.figures(review) for review in reviews]
        if not figures[0]:
            continue
        ratios = {
            name: ratio(figures_of_machine, figures[0]) for name, figures_of_machine in zip(names, figures, strict=True)
        }
        listed.append(ratios)
        groups.append({"group": group.name, "title": group.title, "ratios": ratios})
    means = {}
    for name in names:
        known = [value for value in (ratios[name] for ratios in listed) if value is not None]
        means[name] = geometric_mean(known)
    return {
        "schema": "hotband-review-comparison",
        "version": 1,
        "machines": names,
        "baseline": names[0],
        "unequal_state": unequal([(review["machine"]["name"], states_of(review["machine"])) for review in reviews]),
        "groups": groups,
        "overall": means,
    }
