"""Do the beginnings by which notes of the engine are recognised still begin them?"""

from __future__ import annotations

import hotband as hb
from hotband.data.record.unmodelled import SHORT, UNFINISHED, other_notes


def test_a_short_run_has_the_note_of_a_short_run() -> None:
    record = hb.run("fio-randread", on="ent-15k", qd=8, duration="100 ms")
    assert [note for note in record.notes if note.startswith(SHORT)]


def test_an_unfinished_rebuild_has_a_note_that_its_line_replaces() -> None:
    record = hb.run("fio-randread", on="raid5:4xent-15k", duration="100 ms", fail=["d1@1 ms"], spares=1)
    assert [note for note in record.notes if note.startswith(UNFINISHED)]
    assert not [note for note in other_notes(record.to_dict()) if "rebuild" in note]
