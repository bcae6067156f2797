"""Machines that nobody would draw, under loads of many kinds: their records contradict nothing in themselves.

Hypothesis makes machine and load, and the smallest of them that fails. `make probe-machines CASES=2000` asks longer.
"""

from __future__ import annotations

import os
from typing import Any

import tomlkit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from probe.identities import contradictions

import hotband as hb

CASES = int(os.environ.get("CASES", "60"))
"""A case takes 20 ms or so."""
DISKS = ("savvio-10k1", "exos-15e900-512n", "exos-x18-18tb", "cheetah-15k4", "st14000nm0001")
SEVERAL_ACTUATORS = ("st14000nm0001",)
SOLID = ("s4500-960", "nytro-1351-960-plain", "pm9a3-3840")
NEEDS = {"raid0": 2, "concat": 2, "raid1": 2, "raid10": 4, "raid5": 3, "raid6": 4, "raidz1": 3, "raidz2": 4}
"""Members that a layout needs."""
POOL = "replicated"
DEPTHS = st.sampled_from((1, 2, 3, 8, 32, 64))


@st.composite
def stacked(draw: st.DrawFn) -> tuple[int, dict[str, Any]]:
    """Layouts upon one another, the last on top, and the drives that they need; none where there is a drive alone."""
    kind = draw(st.sampled_from(("", *NEEDS, "controller", POOL)))
    if kind == POOL:
        return 4, {"data": {kind: {"members": "d*", "replicas": draw(st.integers(2, 3)), "image": "1 GiB"}}}
    layouts: dict[str, Any] = {}
    drives = 1
    if kind in NEEDS:
        each = "" if kind.startswith("raidz") else draw(st.sampled_from(("", "", "controller", "raid1", "raid0")))
        wide, parts = NEEDS.get(each, 1), NEEDS[kind] + 2 * draw(st.integers(0, 1))
        drives = parts * wide
        if each:
            for part in range(parts):
                layouts[f"m{part}"] = {each: {"members": f"d{part * wide}..d{part * wide + wide - 1}"}}
        layouts["data"] = {kind: {"members": ",".join(layouts) or "d*"}}
    if kind == "controller" or (layouts and draw(st.booleans())):
        cached = "md" if kind in ("raid5", "raid6") and draw(st.booleans()) else "controller"
        options = {"cache": draw(st.sampled_from(("16 MiB", "1 GiB")))} if cached == "controller" else {}
        layouts["top"] = {cached: {"members": "data" if layouts else "d0", **options}}
    return drives, layouts


@st.composite
def machines(draw: st.DrawFn) -> dict[str, Any]:
    """A machine of one volume, with a queue, cores or a wire where it comes so."""
    product = draw(st.sampled_from(DISKS + SOLID))
    drives, layouts = draw(stacked())
    own = {"scale": 256} if product in SOLID else {"wce": draw(st.sampled_from(("on", "off")))}
    if product in SEVERAL_ACTUATORS:
        own["exposes"] = "one"
    volume: dict[str, Any] = {"on": [*layouts, "d0"][max(len(layouts) - 1, 0)]}
    if draw(st.booleans()):
        volume["queue"] = draw(st.sampled_from((1, 2, 8)))
    machine = {"drives": {"d": {"product": product, "count": drives, "set": own}}}
    machine |= {"layouts": layouts} if layouts else {}
    machine["volumes"] = {"v": volume}
    if draw(st.integers(0, 3)) == 0:
        machine["host"] = {"cores": draw(st.integers(1, 3)), "submit": "3 us", "complete": "5 us"}
    if draw(st.integers(0, 3)) == 0:
        machine["links"] = {"wire": {"lanes": 1, "rate": "600 MB/s", "per_command": "2 us", "carries": "d*"}}
    return machine


@st.composite
def loads(draw: st.DrawFn) -> tuple[dict[str, Any], int, int]:
    """A workload, its I/Os outstanding at most, and the bytes of its largest."""
    kib = draw(st.sampled_from((4, 16, 64, 256)))
    stream = {
        "read_pct": draw(st.sampled_from((0, 50, 100))),
        "random_pct": draw(st.sampled_from((0, 30, 100))),
        "random_mode": "coin",
        "size": f"{kib} KiB",
    }
    if draw(st.integers(0, 3)) == 0 and stream["read_pct"] < 100:
        stream["flush_every"] = draw(st.sampled_from((1, 8)))
    if draw(st.integers(0, 2)) == 0:
        stream["range"] = ["0 GB", "1 GB"]
    if draw(st.integers(0, 3)) > 0:
        threads, depth = draw(st.sampled_from((1, 2, 4))), draw(DEPTHS)
        closed: dict[str, Any] = {"threads": threads, "depth": depth}
        if draw(st.integers(0, 3)) == 0:
            closed["think"] = "1 ms"
        load: dict[str, Any] = {"closed": closed}
        most = threads * depth
    else:
        arrival = draw(st.sampled_from(("fixed", "poisson")))
        load, most = {"open": {"rate_iops": draw(st.sampled_from((20, 500, 3000))), "arrival": arrival}}, 10**6
    phases = [{"name": "measured", "duration": "500 ms", "measure": True}]
    if draw(st.booleans()):
        phases.insert(0, {"name": "before", "duration": "200 ms"})
    workload = {"title": "made", "source": "made", "load": load, "streams": [stream], "phases": phases}
    return workload, most, kib << 10


def told(workload: dict[str, Any], machine: dict[str, Any], most: int, largest: int, time: str) -> list[str]:
    """What contradicts itself in a record of that time."""
    record = hb.run(workload, on=machine, seed=5, duration=time, progress=False)
    return contradictions(record, None, most, largest)


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=CASES == 60)
@given(machines(), loads())
def test_records_of_machines_at_random_contradict_nothing(
    machine: dict[str, Any], load: tuple[dict[str, Any], int, int]
) -> None:
    workload, most, largest = load
    # In a short run what is under way at the end may be older than all that was answered; in ten times the time what
    # stands still is standing still.
    found = told(workload, machine, most, largest, "500 ms") and told(workload, machine, most, largest, "5 s")
    assert found == [], f"{found}\n{tomlkit.dumps(machine)}\n{tomlkit.dumps(workload)}"
