"""Is the state of drives said everywhere in the same words, and what is not alike before anything else?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hotband as hb
from hotband.data.record.states import NOT_KNOWN, state_lines, states_of, unequal


def drives(**keys: Any) -> Any:
    """The states of one disk, or of what `keys` say."""
    usual = {
        "drives": ["d0"], "product": "x", "write_cache": "volatile", "declared_volatile": False, "write_cache_bytes": 1,
        "read_cache_bytes": 1, "read_ahead": True, "flash_cache": None, "flash_cache_bytes": 0, "scale": 1,
        "holds": None,
    }  # fmt: skip
    return {"drives": [usual | keys]}


def ssd(**keys: Any) -> Any:
    """The states of a solid-state drive."""
    return drives(**({"write_cache": "protected", "read_ahead": None, "read_cache_bytes": 0, "holds": "new"} | keys))


@pytest.mark.parametrize(
    ("states", "line"),
    [
        (drives(), "write cache on (volatile), read-ahead on"),
        (drives(write_cache="off", read_ahead=False), "write cache off, read-ahead off"),
        (drives(read_cache_bytes=0), "write cache on (volatile), read-ahead on, read cache off"),
        (drives(flash_cache=False), "write cache on (volatile), read-ahead on, flash cache off"),
        (ssd(), "write cache on (protected), new"),
        (ssd(declared_volatile=True, scale=32), "write cache on (protected, called volatile), new, scale 32"),
        (None, NOT_KNOWN),
    ],
)
def test_a_state_has_one_wording(states: Any, line: str) -> None:
    assert state_lines(states) == [line]


def test_controllers_have_a_line_of_their_own() -> None:
    cache = {"name": "c", "write_cache": "off", "read_ahead": True, "cache_bytes": 2**31}
    assert state_lines(drives() | {"controllers": [cache]})[1] == "controller c (2 GiB): write cache off, read-ahead on"


@pytest.mark.parametrize(
    ("one", "other", "beginning"),
    [
        (drives(), drives(write_cache="off"), "A writes with a volatile cache, B writes without a cache: "),
        (drives(), drives(read_ahead=False), "A reads ahead, B does not read ahead: "),
        (drives(flash_cache=True), drives(flash_cache=False), "A has its flash cache on, B has its flash cache off: "),
        (ssd(), ssd(holds="preconditioned"), "A is new flash, B is preconditioned: "),
    ],
)
def test_what_is_not_alike_is_said_and_what_is_alike_is_not(one: Any, other: Any, beginning: str) -> None:
    [said] = unequal([("A", one), ("B", other)])
    assert said.startswith(beginning)
    assert unequal([("A", one), ("B", one)]) == []


def test_what_is_not_known_or_not_there_is_not_compared() -> None:
    assert unequal([("A", drives()), ("B", None)]) == []
    assert unequal([("A", drives(write_cache="protected")), ("B", ssd())]) == [], "a disk holds nothing first"
    assert states_of({"drive_state": None}) is None


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("states")
    for name, wce, seed in (("on", True, 1), ("off", False, 2)):
        hb.run("fio-randwrite", on="ent-10k", wce=wce, warm_up="0 s", duration="2 s", seed=seed, out=folder / name)
    return folder


def test_comparing_and_reporting_say_first_what_is_not_alike(call, records: Path) -> None:
    done = call("compare", "on", "off", cwd=records)
    remarks = [line for line in done.stdout.splitlines() if line.startswith("! ")]
    assert remarks[0].startswith("! A writes with a volatile cache, B writes without a cache"), done.stdout
    data = json.loads(call("compare", "on", "off", "--json", cwd=records).stdout)["comparisons"][0]
    assert len(data["unequal_state"]) == 1
    assert (data["a"]["state"], data["b"]["state"]) == (
        ["write cache on (volatile), read-ahead on"], ["write cache off, read-ahead on"],
    )  # fmt: skip
    assert call("report", "on", "off", "-o", "r.html", cwd=records).returncode == 0
    page = (records / "r.html").read_text(encoding="utf-8")
    first, second = "Not alike: wce on writes with a volatile", "write cache on (volatile), read-ahead on"
    assert page.index(first) < page.index(second)


def test_a_run_of_flash_is_in_use_and_says_so_in_a_line(call, tmp_path: Path) -> None:
    options = ("--set", "warm_up=0 s", "--set", "scale=256", "--duration", "10 ms")
    done = call("run", "fio-randread", "--on", "s4500-960", *options, cwd=tmp_path)
    state = "fio-randread on s4500-960, 1 drive, preconditioned (1/256-size model), write"
    assert state in done.stdout.splitlines()
    assert max(len(line) for line in done.stdout.splitlines() if not line.startswith("Next: ")) <= 80
    used, new = (
        hb.run("fio-randread", on="s4500-960", scale=256, duration="10 ms", set={"warm_up": "0 s"}, **state)
        for state in ({}, {"state": "fob"})
    )
    assert (used.iops or 0.0) < (new.iops or 0.0), "new flash answers from memory"
