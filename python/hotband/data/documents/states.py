"""The section `state_kept` of a record: the state that a device was left in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from hotband.data.documents.record import SteadyRule


State = Literal["purged", "filled", "preconditioned"]


class StateKeptDoc(TypedDict):
    """The state of a device as the section `state_kept` of a record."""

    state: State
    by: list[str]
    seconds: float
    written_bytes: int
    steady: SteadyRule | None
    compressed_pct: float | None
    notes: list[str]
