"""Do lists of keys and programs have one line per entry, without boxes and folded cells?"""

from __future__ import annotations

import json

import pytest
from rich.console import Console

from hotband.views.text import lists
from hotband.views.text.lists import entry_lines


def test_cells_are_aligned_and_complete_when_piped() -> None:
    lines = entry_lines([("qd", "1", "outstanding I/Os"), ("threads", "16", "x" * 100)])
    assert lines == ["qd       1   outstanding I/Os", f"threads  16  {'x' * 100}"]
    assert entry_lines([]) == []


@pytest.mark.parametrize(("workload", "drive"), [("randread", "ent-10k"), ("ycsb-a", "s4500-960")])
def test_every_key_is_one_complete_line(hotband, workload: str, drive: str) -> None:
    call = ("keys", workload, "--on", drive)
    done = hotband(*call)
    assert (done.returncode, "…" in done.stdout) == (0, False), done.stderr
    lines = done.stdout.splitlines()
    keys = json.loads(hotband(*call, "--json").stdout)
    assert lines[0] == f"{len(keys)} keys that --set accepts, with the current values."
    for key in keys:
        (line,) = (line for line in lines if line.split("  ")[0] == key["key"])
        assert line.endswith(f"; {key['accepted']}")


def test_a_terminal_shows_every_cell_of_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut at 80 columns, 62 of 63 keys of a disk lost the values that they accept, some of them their meaning."""
    monkeypatch.setattr(lists, "console", lambda: Console(force_terminal=True, width=40))
    meaning = "order in which queued commands are served; one of fcfs, sstf, clook, positioning"
    first, *others = entry_lines([("queue_order", "positioning", meaning)])
    assert first.startswith("queue_order  positioning  order in")
    assert others
    assert all(len(line) <= 40 and line.startswith("    ") for line in others)
    assert " ".join(" ".join([first, *others]).split()) == f"queue_order positioning {meaning}"


@pytest.mark.parametrize(
    ("call", "entry"),
    [
        (("program",), "pgbench  "),
        (("program", "pgbench"), "mix  "),
        (("keys", "randread", "--on", "ent-10k"), "qd  "),
    ],
)
def test_lists_have_no_boxes(hotband, call: tuple[str, ...], entry: str) -> None:
    shown = hotband(*call).stdout
    assert not set("┃│━") & set(shown)
    assert any(line.startswith(entry) for line in shown.splitlines())
