"""Verdicts on the steady state of records (docs/guides/steady-state.md)."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.heavy import pl
from hotband.base.text.html import frame_html

if TYPE_CHECKING:
    from hotband.data.documents.record import VerdictDoc

TEXTS, NUMBERS = ("name", "phase", "track", "unit", "why"), ("round_ns", "window_mean", "range_pct", "slope_pct")


@dataclass(frozen=True)
class Steadiness:
    """Verdicts of the SNIA PTS rule on records: `verdicts` begins with phases that a run judged itself."""

    verdicts: tuple[VerdictDoc, ...]

    @property
    def reached(self) -> bool | None:
        """Return whether every verdict states that steady state was reached; None if none denies it, but some records
        have too few rounds for a verdict."""
        verdicts = {verdict["reached"] for verdict in self.verdicts}
        return False if False in verdicts else None if None in verdicts else True

    @property
    def frame(self) -> pl.DataFrame:
        """Return one row per verdict: name, phase (null if judged now), track, unit, why in words, round_ns,
        window_mean, range_pct, slope_pct and reached (null if there were too few rounds), round (in which it was
        reached), rounds (their number), left (whether steady state was left again)."""
        schema = {name: pl.String if name in TEXTS else pl.Float64 for name in (*TEXTS, *NUMBERS)}
        rows = [
            (
                *(verdict[name] for name in (*TEXTS, *NUMBERS)),  # type: ignore[literal-required]
                verdict["reached"],
                verdict["round"],
                len(verdict["rounds"]),
                verdict["left"] is not None,
            )
            for verdict in self.verdicts
        ]
        columns = {**schema, "reached": pl.Boolean, "round": pl.Int64, "rounds": pl.Int64, "left": pl.Boolean}
        return pl.DataFrame(rows, schema=columns, orient="row")

    def to_dict(self) -> list[VerdictDoc]:
        """Return a copy of the output of `hotband audit --steady --json`."""
        return copy.deepcopy(list(self.verdicts))

    def __repr__(self) -> str:
        words = {True: "steady", False: "not steady", None: "too short"}
        parts = (f"{verdict['name']}: {words[verdict['reached']]}" for verdict in self.verdicts)
        return f"<Steadiness of {'; '.join(parts)}>"

    def _repr_html_(self) -> str:
        return f"<div>{frame_html(self.frame.select('name', 'track', 'reached', 'round', 'rounds', 'why'))}</div>"
