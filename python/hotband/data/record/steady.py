"""Verdict of the steady state rule on rounds, in words and as data. The rule is the engine's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import hotband._core as _core
from hotband.base.errors import UserError

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc, SteadyRule, VerdictDoc

# For each tracked variable, its unit in records and its key in a summary.
TRACKS = {
    "iops": ("IOPS", "iops"),
    "bandwidth": ("B/s", "bandwidth_bytes_per_s"),
    "latency": ("ns", "latency_mean_ns"),
}


@dataclass(frozen=True)
class Rounds:
    """The tracked value of every round of `name`; `short` explains a lack of rounds that a shorter round would fix."""

    name: str
    track: str
    round_ns: float
    values: list[float]
    notes: list[str] = field(default_factory=list)
    short: str = ""


def rule(values: Sequence[float]) -> SteadyRule:
    """Apply the PTS's rule to the rounds of a tracked value: the first window that is steady, else the last. Raises
    SpecError of the engine for invalid values."""
    return cast("SteadyRule", dict(_core.steady_state(list(values))))


def is_steady(values: Sequence[float]) -> bool:
    """Return whether the last window of rounds is steady."""
    last = values[-_core.STEADY_WINDOW :]
    return len(last) == _core.STEADY_WINDOW and rule(last)["reached"]


def verdict(rounds: Rounds) -> VerdictDoc:
    """Return the rule's verdict on rounds: reached or not (None if they are too few), where and why, and how steady
    state was left."""
    try:
        state = rule(rounds.values)
        left = _core.departure(rounds.values)
    except _core.SpecError as error:
        _, key, value, accepted = error.args
        raise UserError(rounds.name, f"rounds{key}", value, accepted) from None
    return {
        "name": rounds.name,
        "phase": None,
        "track": rounds.track,
        "unit": TRACKS[rounds.track][0],
        "round_ns": rounds.round_ns,
        "reached": _reached(state),
        "round": state["round"],
        "rounds": state["rounds"],
        "window_mean": state["window_mean"],
        "range_pct": state["range_pct"],
        "slope_pct": state["slope_pct"],
        "why": rounds.short if rounds.short and not state["reached"] else why(state),
        "left": left,
        "notes": rounds.notes,
    }


def _reached(state: SteadyRule) -> bool | None:
    """Return whether rounds are steady; None if they are fewer than the rule's window."""
    return None if state["window_mean"] is None else state["reached"]


def why(state: SteadyRule) -> str:
    """Return the reason in words: the first steady window, or the last one examined."""
    window, most = _core.STEADY_WINDOW, _core.STEADY_MOST_ROUNDS
    count = min(len(state["rounds"]), most)
    if state["window_mean"] is None:
        return f"{count} rounds: {window} are needed"
    last = state["round"]
    where = "the last rounds" if last is None else f"rounds {last - window + 1} to {last}"
    if state["range_pct"] is None:
        return f"no I/O in {where}"
    parts = []
    for name, value, bound in (
        ("range", state["range_pct"], _core.STEADY_RANGE_PCT),
        ("slope excursion", state["slope_pct"], _core.STEADY_SLOPE_PCT),
    ):
        # If one is known, both are: the window had I/Os.
        assert value is not None, "a window has both measures or none"
        word = "at most" if value <= bound else "more than"
        parts.append(f"{name} {_percent(value)} of the mean ({word} {bound:g} %)")
    if state["reached"]:
        return f"in {where}: {', '.join(parts)}"
    looked = f"{count} of {len(state['rounds'])} rounds examined" if len(state["rounds"]) > most else f"{count} rounds"
    return f"in none of {looked}; {where}: {', '.join(parts)}"


def _percent(value: float) -> str:
    """Format a percentage with enough digits to distinguish it from the bounds."""
    return (
        f"{value:.2f} %" if round(value, 2) not in (_core.STEADY_RANGE_PCT, _core.STEADY_SLOPE_PCT) else f"{value!r} %"
    )


def of_phases(record: RecordDoc) -> list[VerdictDoc]:
    """Return the run's own verdicts on phases that end at steady state."""
    phases = [*record.get("steady_state_before", []), *([record["steady_state"]] if "steady_state" in record else [])]
    defaults: dict[str, object] = {"left": None, "notes": []}
    return [
        cast("VerdictDoc", {"name": record["name"], **state, "reached": _reached(state), "why": why(state), **defaults})
        for state in phases
    ]
