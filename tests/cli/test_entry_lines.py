"""Do lists of keys and programs have one line per entry, without boxes and folded cells?"""

from __future__ import annotations

import json

import pytest

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


@pytest.mark.parametrize("call", [("program",), ("program", "pgbench"), ("keys", "randread", "--on", "ent-10k")])
def test_lists_have_no_boxes(hotband, call: tuple[str, ...]) -> None:
    shown = hotband(*call).stdout
    assert not set("┃│━") & set(shown)
    assert "tpcb" in shown or "pgbench  " in shown or "\nqd  " in shown
