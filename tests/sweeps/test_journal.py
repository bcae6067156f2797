"""Is what was finished there after any interruption, and nothing else?"""

from __future__ import annotations

from pathlib import Path

import pytest

from hotband.base.errors import UserError
from hotband.data.results import manifest
from hotband.data.results import sweep_journal as module
from hotband.data.results.sweep_journal import JOURNAL_FILE, Journal

ENTRIES = [{"key": f"k{n}", "figures": {"iops": n + 0.1}} for n in range(3)]


def written(folder: Path) -> bytes:
    """The bytes of a journal of three runs."""
    journal = Journal(folder, "a sweep")
    journal.open()
    for entry in ENTRIES:
        journal.keep(entry)
    journal.close()
    return (folder / JOURNAL_FILE).read_bytes()


def test_a_journal_that_was_cut_at_any_byte_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.os, "fsync", lambda file: None)  # a flush for each byte would take its time
    whole = written(tmp_path)
    ends = [at for at, byte in enumerate(whole, start=1) if byte == ord("\n")]
    for cut in range(len(whole) + 1):
        (tmp_path / JOURNAL_FILE).write_bytes(whole[:cut])
        journal = Journal(tmp_path, "a sweep")
        # A line that lacks nothing but its end is whole, and written again without harm.
        left = sum(end <= cut for end in ends[1:])
        assert list(journal.entries.values())[:left] == ENTRIES[:left]
        assert len(journal.entries) <= left + (cut + 1 in ends[1:])
        journal.open()
        for entry in ENTRIES:
            journal.keep(entry)
        journal.close()
        assert list(Journal(tmp_path, "a sweep").entries.values()) == ENTRIES


def test_a_line_that_was_changed_is_run_again(tmp_path: Path) -> None:
    whole = written(tmp_path)
    (tmp_path / JOURNAL_FILE).write_bytes(whole.replace(b"1.1", b"9.1"))
    assert list(Journal(tmp_path, "a sweep").entries) == ["k0", "k2"]


def test_the_later_of_two_lines_counts(tmp_path: Path) -> None:
    written(tmp_path)
    journal = Journal(tmp_path, "a sweep")
    journal.open()
    journal.keep({"key": "k1", "figures": {"iops": 7.0}})
    journal.close()
    assert Journal(tmp_path, "a sweep").entries["k1"]["figures"] == {"iops": 7.0}


def test_another_version_and_another_file_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path)
    monkeypatch.setattr(manifest, "version", lambda: "9.9+abc")
    with pytest.raises(UserError, match=r"contains a sweep of another version of Hotband, .*; this one is 9\.9"):
        Journal(tmp_path, "a sweep")
    assert Journal(tmp_path, "a sweep", fresh=True).entries == {}
    (tmp_path / JOURNAL_FILE).write_text("a shopping list\neggs\n")
    with pytest.raises(UserError, match="not the journal of a sweep"):
        Journal(tmp_path, "a sweep")
