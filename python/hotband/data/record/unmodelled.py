"""Records of runs that rest on something that is not modelled and moves their figures: no interval is made of them.

The engine names it (`unmodelled` of a record, `crates/engine/src/record/unmodelled.rs`), and the notes begin with it.
What it leaves out: everything that the engine has no rule for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hotband.data.documents.record import RecordDoc

WHATS = {
    "md-thread": "md's thread",
    "flash-pool": "Ceph's daemons on solid-state drives",
    "flash-raidz": "ZFS on solid-state drives",
    "smr-rebuild": "rebuilds onto shingled disks",
}
"""What the model leaves out, in words."""


def unmodelled_notes(record: RecordDoc) -> list[str]:
    """Return the notes on what is not modelled and moves the figures of a run."""
    return [one["note"] for one in record.get("unmodelled", [])]


def unmodelled_notes_of(records: Iterable[RecordDoc]) -> list[str]:
    """Return the notes of several runs on what is not modelled, one for each layout or drive."""
    notes: dict[tuple[str, str], str] = {}
    for record in records:
        for one in record.get("unmodelled", []):
            notes.setdefault((one["what"], one["part"]), one["note"])
    return list(notes.values())


def other_notes(record: RecordDoc) -> Sequence[str]:
    """Return the notes of a run without those that are printed first."""
    first = unmodelled_notes(record)
    return [note for note in record["notes"] if note not in first]


def why_no_interval(record: RecordDoc) -> str | None:
    """Return why a run has no intervals, or None where it has."""
    whats = dict.fromkeys(one["what"] for one in record.get("unmodelled", []))
    named = " and ".join(WHATS.get(what, what) for what in whats)
    return f"no interval: the model leaves out {named}, and no study says how far off that is" if named else None
