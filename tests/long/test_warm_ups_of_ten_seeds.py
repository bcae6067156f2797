"""Are the results of a run within 1 % where `--duration` shortens the warm-up, too? Over ten seeds.

Means over ten seeds of a 99th percentile differ by 1.5 to 3 % where writes come in bursts: what chance explains (three
standard errors of the difference) is no effect of the warm-up."""

from __future__ import annotations

import math
from statistics import fmean, variance

import pytest

import hotband as hb

SEEDS = range(1, 11)
SHARE = 0.01
FIGURES = ("iops", "latency_mean_ns", "latency_p99_ns")
DURATION = "2 s"
MACHINES = {"pm893-3840": "512", "7450-pro-3840": "512", "5200-eco-960": "64", "p5336-61440": "1024"}
"""Drives in use, and the scale at which they are written over in a second; ten minutes of a core in all."""
LOADS = {"fio-randwrite": "10 s", "iometer-4k-rand-70-30": "10 s", "fio-randread": "10 s", "vdbench-8k-random": "60 s"}
"""Workloads, and how long they warm up where nothing is shortened."""


def seeds_of(machine: str, workload: str, **settings: object) -> tuple[list[list[float]], set[str | None]]:
    """Every figure of each seed, and the warm-ups that were set."""
    runs = [hb.run(workload, on=machine, duration=DURATION, seed=seed, **settings).document for seed in SEEDS]
    warm_ups = {run["spec"]["set"].get("warm_up") for run in runs}
    return [[run["summary"][name] for run in runs] for name in FIGURES], warm_ups


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("workload", LOADS)
def test_ten_seeds_agree(machine: str, workload: str) -> None:
    short, chosen = seeds_of(machine, workload, scale=MACHINES[machine])
    long, said = seeds_of(machine, workload, scale=MACHINES[machine], warm_up=LOADS[workload])
    assert (chosen, said) == ({DURATION}, {LOADS[workload]})
    for name, one, other in zip(FIGURES, short, long, strict=True):
        chance = 3 * math.sqrt((variance(one) + variance(other)) / len(SEEDS)) if name == "latency_p99_ns" else 0.0
        assert abs(fmean(one) - fmean(other)) <= max(SHARE * fmean(other), chance), name
