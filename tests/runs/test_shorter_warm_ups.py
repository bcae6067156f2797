"""Is a warm-up shortened with `--duration` where nothing has to fill, kept where something has, and is it said?"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import hotband as hb
from hotband.data.record.states import said_of, warm_up_words

Hotband = Callable[..., "subprocess.CompletedProcess[str]"]
WORKLOAD = "vdbench-8k-random"
NEW = {"state": "fob", "scale": "64"}
"""Nothing is written over first: tests of seconds. `tests/long` has drives in use."""


def test_a_shorter_run_says_what_it_warmed_up(hotband: Hotband) -> None:
    on = ("run", WORKLOAD, "--on", "5200-eco-960", "--set", "state=fob", "--set", "scale=64")
    done = hotband(*on, "--duration", "100 ms")
    assert done.returncode == 0, done.stderr
    assert "write cache protected, warm-up 100 ms (workload: 60 s)" in " ".join(done.stdout.split())


def test_the_same_run_takes_the_place_of_itself(hotband: Hotband, tmp_path: Path) -> None:
    on = ("run", "fio-randread", "--on", "5200-eco-960", "--set", "state=fob", "--set", "scale=64", "--set", "qd=1")
    again = (*on, "--duration", "50 ms", "--out", str(tmp_path / "out"))
    assert hotband(*again).returncode == 0
    done = hotband(*again)
    assert done.returncode == 0, done.stderr
    other = hotband(*again, "--set", "warm_up=10 ms")
    assert (other.returncode, "another run" in other.stderr) == (2, True)


def test_a_run_that_is_asked_for_a_warm_up_has_it() -> None:
    record = hb.run(WORKLOAD, on="5200-eco-960", duration="100 ms", warm_up="200 ms", set=NEW)
    assert record.document["spec"]["set"]["warm_up"] == "200 ms"
    assert warm_up_words(record.document) == ["warm-up 200 ms (workload: 60 s)"]


@pytest.mark.parametrize(
    ("machine", "settings"),
    [
        ("ent-10k", {}),
        ("ent-10k", {"wce": "off"}),
        ("980-1tb", {**NEW, "qd": "1", "bs": "64 KiB"}),
        ("raidz1:3xent-10k", {}),
    ],
)
def test_what_has_to_fill_keeps_its_warm_up(machine: str, settings: dict[str, str]) -> None:
    workload = WORKLOAD if "10k" in machine else "fio-randread"
    record = hb.run(workload, on=machine, duration="500 ms", set=settings)
    assert "warm_up" not in record.document["spec"]["set"]
    assert said_of(record.document)[-1] == f"  state: warm-up {'60 s' if '10k' in machine else '10 s'}"


def test_a_run_of_its_own_length_says_nothing_of_its_warm_up() -> None:
    record = hb.run("fio-randread", on="ent-10k", qd=1)
    assert warm_up_words(record.document) == []


def test_ten_seeds_agree_within_a_percent() -> None:
    """The short form of `tests/long/test_warm_ups_of_ten_seeds.py`."""

    def runs(**settings: object) -> list[Any]:
        where: dict[str, Any] = {"on": "5200-eco-960", "duration": "200 ms", "set": {**NEW, **settings}}
        return [hb.run(WORKLOAD, seed=seed, **where).document["summary"] for seed in range(1, 11)]

    short, long = runs(), runs(warm_up="1 s")
    for name in ("iops", "latency_mean_ns"):
        assert fmean(run[name] for run in short) == pytest.approx(fmean(run[name] for run in long), rel=0.01)
