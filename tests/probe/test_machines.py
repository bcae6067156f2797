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
SOLID = ("s4500-960", "nytro-1351-960-plain", "pm9a3-3840")
NEEDS = {"raid0": 2, "concat": 2, "raid1": 2, "raid10": 4, "raid5": 3, "raid6": 4, "raidz1": 3, "raidz2": 4}
"""Members that a layout needs."""
OVER_ONE = ("controller",)
POOL = "replicated"
DEPTHS = st.sampled_from((1, 2, 3, 8, 32, 64))


@st.composite
def machines(draw: st.DrawFn) -> dict[str, Any]:
    """A machine of one volume: a drive, or layouts upon one another, with a queue, cores or a wire where it comes so."""
    product = draw(st.sampled_from(DISKS + SOLID))
    layouts: dict[str, Any] = {}
    kind = draw(st.sampled_from(("", *NEEDS, *OVER_ONE, POOL)))
    drives = 1
    if kind in NEEDS:
        each = draw(st.sampled_from(("", "", "controller", "raid1", "raid0"))) if not kind.startswith("raidz") else ""
        wide = NEEDS.get(each, 1)
        parts = NEEDS[kind] + 2 * draw(st.integers(0, 1))
        drives = parts * wide
        members = "d*"
        if each:
            for part in range(parts):
                layouts[f"m{part}"] = {each: {"members": f"d{part * wide}..d{part * wide + wide - 1}"}}
            members = ",".join(f"m{part}" for part in range(parts))
        layouts["data"] = {kind: {"members": members}}
    elif kind == POOL:
        drives = 4
        layouts["data"] = {kind: {"members": "d*", "replicas": draw(st.integers(2, 3)), "image": "1 GiB"}}
    if kind in OVER_ONE or (layouts and kind != POOL and draw(st.booleans())):
        over = "data" if layouts else "d0"
        cached = "md" if kind in ("raid5", "raid6") and draw(st.booleans()) else "controller"
        options = {"cache": draw(st.sampled_from(("16 MiB", "1 GiB")))} if cached == "controller" else {}
        layouts["top"] = {cached: {"members": over, **options}}
    top = ("top" if "top" in layouts else "data") if layouts else "d0"
    volume: dict[str, Any] = {"on": top}
    if draw(st.booleans()):
        volume["queue"] = draw(st.sampled_from((1, 2, 8)))
    own = {"scale": 256} if product in SOLID else {"wce": draw(st.sampled_from(("on", "off")))}
    if product == "st14000nm0001":
        own["exposes"] = "one"
    machine: dict[str, Any] = {"drives": {"d": {"product": product, "count": drives, "set": own}}}
    if layouts:
        machine["layouts"] = layouts
    machine["volumes"] = {"v": volume}
    if draw(st.integers(0, 3)) == 0:
        machine["host"] = {"cores": draw(st.integers(1, 3)), "submit": "3 us", "complete": "5 us"}
    if draw(st.integers(0, 3)) == 0:
        wire = {"lanes": 1, "rate": "600 MB/s", "per_command": "2 us", "carries": "d*"}
        machine["links"] = {"wire": wire}
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


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=CASES == 60)
@given(machines(), loads())
def test_records_of_machines_at_random_contradict_nothing(
    machine: dict[str, Any], load: tuple[dict[str, Any], int, int]
) -> None:
    workload, most, largest = load
    try:
        record = hb.run(workload, on=machine, seed=5, progress=False)
    except hb.UserError as error:
        assert "flush" in str(error), error
        return
    # Drives of pools and RAID-Z begin new, of which the auditor warns.
    found = [one for one in contradictions(record, "layers", most, largest) if "not-preconditioned" not in one]
    assert found == [], f"{found}\n{tomlkit.dumps(machine)}\n{tomlkit.dumps(workload)}"
