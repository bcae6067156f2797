"""Runs that depend on an unmodelled mechanism that changes their figures: they have no intervals."""

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
"""Mechanisms that the model leaves out, in words."""

UNFINISHED = "the run ended before the rebuild of "
"""Beginning of the engine's note on a rebuild."""

SHORT = "short run ("
"""Beginning of the engine's note on a run of few I/Os."""


def unmodelled_notes(record: RecordDoc) -> list[str]:
    """Return the notes on unmodelled parts that change the figures of a run."""
    return [entry["note"] for entry in record.get("unmodelled", [])]


def unmodelled_notes_of(records: Iterable[RecordDoc]) -> list[str]:
    """Return the notes of several runs on unmodelled parts, one for each layout or drive."""
    notes: dict[tuple[str, str], str] = {}
    for record in records:
        for entry in record.get("unmodelled", []):
            notes.setdefault((entry["what"], entry["part"]), entry["note"])
    return list(notes.values())


def other_notes(record: RecordDoc) -> Sequence[str]:
    """Return the notes of a run except those that are printed first and those on rebuilds, whose lines state the
    time left."""
    first = unmodelled_notes(record)
    return [note for note in record["notes"] if note not in first and not note.startswith(UNFINISHED)]


def why_no_interval(record: RecordDoc) -> str | None:
    """Return why a run has no intervals, or None if it has."""
    whats = dict.fromkeys(entry["what"] for entry in record.get("unmodelled", []))
    named = " and ".join(WHATS.get(what, what) for what in whats)
    return f"no interval: the model leaves out {named}, and no study measured the resulting error" if named else None
