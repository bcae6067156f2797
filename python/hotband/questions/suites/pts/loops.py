"""A loop of rounds until steady, and its results: tracked variables, the window, means of every cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from hotband.data.documents.pts import CellDoc, LoopDoc, MomentDoc
from hotband.questions.suites.bench import Bench, Stage
from hotband.questions.suites.cells import Cell
from hotband.questions.suites.figures import Round
from hotband.questions.suites.pts.spec import MOST_ROUNDS
from hotband.questions.suites.pts.steady import Value, all_steady, tracked
from hotband.questions.suites.target import SuiteTarget


@dataclass(frozen=True)
class Followed:
    """A variable that is followed: its name (the cell it is of) and how a round says it."""

    name: str
    value: Value


def value_of(key: str, cell: str) -> Value:
    """Return a figure of one cell: "iops", "bandwidth_bytes_per_s" or "latency_mean_ns"."""

    def value(one: Round) -> float:
        found = one[cell]
        if key == "iops":
            return found["iops"]
        return found["bandwidth_bytes_per_s"] if key == "bandwidth_bytes_per_s" else found["latency_mean_ns"] or 0.0

    return value


def run_loop(
    bench: Bench, name: str, cells: Sequence[Cell], followed: Sequence[Followed], unit: str, most: int = MOST_ROUNDS
) -> LoopDoc:
    """Rounds of these cells until all that is followed is steady in the same five rounds, 25 at most."""
    enough = all_steady([one.value for one in followed])
    rounds = bench.run(Stage(name, tuple(cells), most, enough))
    steady = enough(rounds)
    last = len(rounds)
    found = [tracked(one.name, unit, rounds, one.value, last) for one in followed]
    window = found[0]["window"] if found else None
    inside = rounds if window is None else rounds[window["first"] - 1 : last]
    return {
        "name": name,
        "unit": unit,
        "steady": steady,
        "tracked": found,
        "window": [] if window is None else [window["first"], last],
        "rounds": [list(round_.values()) for round_ in rounds],
        "means": means(inside),
    }


def means(rounds: Sequence[Round]) -> list[CellDoc]:
    """Each cell over some rounds."""
    return [mean_of([round_[name] for round_ in rounds]) for name in rounds[0]] if rounds else []


def mean_of(cells: Sequence[CellDoc]) -> CellDoc:
    """Means of rates and mean latencies; the largest of all others, as a percentile of several is not a mean."""
    first = cells[0]
    waits = [cell["latency_mean_ns"] for cell in cells if cell["latency_mean_ns"] is not None]
    fives = [cell["latency_p99_999_ns"] for cell in cells if cell["latency_p99_999_ns"] is not None]
    longest = [cell["latency_max_ns"] for cell in cells if cell["latency_max_ns"] is not None]
    return {
        **first,
        "seconds": sum(cell["seconds"] for cell in cells),
        "count": sum(cell["count"] for cell in cells),
        "errors": sum(cell["errors"] for cell in cells),
        "iops": fmean(cell["iops"] for cell in cells),
        "bandwidth_bytes_per_s": fmean(cell["bandwidth_bytes_per_s"] for cell in cells),
        "latency_mean_ns": fmean(waits) if waits else None,
        "latency_p99_999_ns": max(fives) if len(fives) == len(cells) else None,
        "latency_max_ns": max(longest) if longest else None,
    }


def moments_of(
    line: str, cells: Sequence[Cell], round_: Round, target: SuiteTarget, after: Sequence[MomentDoc]
) -> list[MomentDoc]:
    """Return the cells of a round in their order, as moments that follow those of `after`. Times are those of the whole
    drive: of a model that is a 64th of it they are 64 times as long as they were."""
    found: list[MomentDoc] = []
    begin = after[-1]["at_s"] / target.scale + after[-1]["cell"]["seconds"] if after else 0.0
    written = after[-1]["fills"] if after else 0.0
    for cell in cells:
        one = round_[cell.name]
        begin += cell.idle_s
        part = one["bandwidth_bytes_per_s"] * one["seconds"] * (100 - one["read_pct"]) / 100
        written += part / target.bytes
        found.append({"line": line, "at_s": begin * target.scale, "fills": written, "cell": one})
        begin += one["seconds"]
    return found


def cell_in(cells: Sequence[CellDoc], name: str) -> CellDoc | None:
    """Return the cell of a name."""
    return next((cell for cell in cells if cell["name"] == name), None)
