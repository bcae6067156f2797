"""Machines that nobody would draw, under loads of many kinds, with what may happen to them: their records contradict
nothing in themselves, and what should not matter to a run does not.

Hypothesis makes machine, load and events, and the smallest of them that fails. `make probe-machines CASES=2000` asks
longer.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import polars as pl
import tomlkit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from probe.at_random import DISKS, LARGEST, Happening, Spec, cases, drives_of, loads, machines
from probe.identities import contradictions

import hotband as hb
from forms import sized

QUICK = sized(12, 60)
CASES = int(os.environ.get("CASES", QUICK))
"""A case takes 50 ms or so; of those with seven runs each a third are asked."""
of_all = settings(
    max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=CASES == QUICK
)
of_some = settings(of_all, max_examples=max(CASES // 3, 1))
SEED = 5


def slower(text: str) -> str:
    """A time in ms, or those of an event, ten times as long."""
    return re.sub(r"\d+(?= ms)", lambda ms: f"{10 * int(ms[0])}", text)


def at_ten_times(workload: Spec, happens: Happening) -> tuple[Spec, Happening]:
    """The same with ten times the time."""
    phases = [{**phase, "duration": slower(phase["duration"])} for phase in workload["phases"]]
    return {**workload, "phases": phases}, happens._replace(events=tuple(map(slower, happens.events)))


def records(workload: Spec, machine: Spec, happens: Happening, follows: bool) -> Sequence[hb.Record]:
    """Of a run, or of two in a row on one machine where nothing keeps them from it."""
    options: dict[str, Any] = {"on": machine, "seed": SEED, "events": happens.events, "progress": False}
    if follows and not happens.needs_one_run and not happens.spares:
        return hb.sequence([workload, workload], **options)
    return [hb.run(workload, spares=happens.spares, **options)]


def told(workload: Spec, machine: Spec, most: int, happens: Happening, follows: bool) -> list[str]:
    """What contradicts itself in its records."""
    made = records(workload, machine, happens, follows)
    return [line for record in made for line in contradictions(record, None, most, LARGEST)]


@of_all
@given(cases(), st.booleans())
def test_records_of_machines_at_random_contradict_nothing(
    case: tuple[Spec, tuple[Spec, int], Happening], follows: bool
) -> None:
    machine, (workload, most), happens = case
    # In a short run what is under way at the end may be older than all that was answered; in ten times the time what
    # stands still is standing still.
    found = told(workload, machine, most, happens, follows)
    if found:
        slow, later = at_ten_times(workload, happens)
        found = told(slow, machine, most, later, follows)
    assert found == [], f"{found}\n{happens}\n{tomlkit.dumps(machine)}\n{tomlkit.dumps(workload)}"


def figures(summary: Spec, of: str = "") -> Iterator[tuple[str, Any]]:
    """All figures of a summary but the parts of the latency: of two members that end together either may be told."""
    for name, value in summary.items():
        if isinstance(value, dict):
            yield from figures(value, f"{of}{name}.") if name != "times_mean_ns" else ()
        else:
            yield f"{of}{name}", value


def unlike(what: str, one: Spec, other: Spec) -> list[str]:
    """Lines for the figures in which two summaries differ."""
    first, second = dict(figures(one)), dict(figures(other))
    return [
        f"{what}: {name} {first.get(name)}, not {second.get(name)}"
        for name in sorted(first.keys() | second.keys())
        if first.get(name) != second.get(name)
    ]


SAME = ("summary", "steps", "streams", "parts", "energy", "repair", "power_loss", "drive_state")
"""Sections of a record that a repeated run has alike; its notes say what was chosen for it, and need not be."""


@of_some
@given(cases())
def test_a_run_is_repeated_from_its_record(case: tuple[Spec, tuple[Spec, int], Happening]) -> None:
    machine, (workload, _), happens = case
    events, spares = happens.events, happens.spares
    record = hb.run(workload, on=machine, seed=SEED, events=events, spares=spares, progress=False).document
    spec = record["spec"]
    repair = spec.get("repair", {"fail": [], "spare": 0})
    again = hb.run(
        tomlkit.parse(spec["workload"]).unwrap(),
        on=tomlkit.parse(spec["machine"]).unwrap(),
        set=spec["set"],
        duration=spec["duration"],
        seed=int(record["seed"]),
        events=spec.get("events", []),
        fail=repair["fail"],
        spares=repair["spare"],
        power_loss=spec.get("power_loss"),
        progress=False,
    ).document
    assert {name: again.get(name) for name in SAME} == {name: record.get(name) for name in SAME}, spec


def with_steps(workload: Spec, *durations: str) -> Spec:
    """The workload with measured phases of these times."""
    before = [phase for phase in workload["phases"] if not phase.get("measure")]
    steps = [{"name": f"step {n}", "duration": text, "measure": True} for n, text in enumerate(durations)]
    return {**workload, "phases": [*before, *steps]}


@of_some
@given(machines(), loads())
def test_what_should_not_matter_to_a_run_does_not(machine: Spec, load: tuple[Spec, int]) -> None:
    workload = load[0]
    whole = with_steps(workload, "300 ms")

    def summary(workload: Spec = whole, on: Spec = machine, **options: Any) -> Spec:
        return hb.run(workload, on=on, seed=SEED, progress=False, **options).document["summary"]

    asked = summary()
    steps = hb.run(with_steps(workload, "100 ms", "200 ms"), on=machine, seed=SEED, progress=False).document
    first = steps["steps"][0]["summary"]
    found = unlike("two steps of the time", steps["summary"], asked)
    found += unlike("a run that ends with the first step", summary(with_steps(workload, "100 ms")), first)
    followed = hb.sequence([whole, whole], on=machine, seed=SEED, progress=False)[0].document["summary"]
    found += unlike("the first of two runs", followed, asked)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ios.parquet"
        found += unlike("with an I/O log", summary(out=f"{folder}/record", io_log=log), asked)
        found += of_log(pl.read_parquet(log), asked)
    drives = drives_of(machine)
    # Solid-state drives beside disks are not written over first (docs/guides/steady-state.md).
    if drives["product"] in DISKS:
        other = deepcopy(machine)
        other["drives"]["unused"] = {"product": "savvio-10k1", "count": 2}
        found += unlike("beside drives that nobody uses", summary(on=other), asked)
        stays = [f"at 100 ms: set d0.wce={drives['set']['wce']}"]
        found += unlike("a switch that stands so already", summary(events=stays), asked)
    assert found == [], f"{found}\n{tomlkit.dumps(machine)}\n{tomlkit.dumps(workload)}"


def of_log(log: pl.DataFrame, summary: Spec) -> list[str]:
    """What a log of all I/Os says otherwise than the summary."""
    served = log.filter(pl.col("measured") & pl.col("error").is_null() & pl.col("direction").is_in(["read", "write"]))
    figures = {
        "count": served.height,
        "bytes": int(served["size_bytes"].sum()),
        "latency_max_ns": served["latency_ns"].max(),
        "latency_min_ns": served["latency_ns"].min(),
    }
    return [
        f"the I/O log: {name} {value}, not {summary[name]}" for name, value in figures.items() if value != summary[name]
    ]
