"""Are figures as near to their long-run values as the stated precision and the printed half widths promise?"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import pytest

import hotband as hb
from forms import sized

SEEDS = sized(8, 250)
"""Runs of each load: the long form has 1,000 in all."""
PRECISION_PCT = 2.0
HALF_WIDTHS = {"iops": "iops_pct", "latency_mean_ns": "latency_mean_pct", "latency_p99_ns": "latency_p99_pct"}


class Load(NamedTuple):
    """A workload on a machine: its longest time, and a time after which its figures no longer change."""

    workload: str
    on: str
    longest: str
    whole: str
    whole_runs: int
    sets: dict[str, Any]

    def run(self, seed: int, duration: str, precision: str) -> Any:
        """Return the record of a run."""
        asked = {"seed": seed, "duration": duration, "precision": precision, "progress": False}
        return hb.run(self.workload, on=self.on, **self.sets, **asked).document

    def expected(self) -> list[dict[str, float]]:
        """Return the long-run values of each seed.

        The seed sets the rotational offsets between the disks of an array for the whole run: p99 of RAID 5 differs by
        1 % between seeds, which no batch of one run shows. Runs on SSDs cost more and differ less.
        """
        whole = [self.run(seed, self.whole, "off")["summary"] for seed in range(self.whole_runs)]
        if self.whole_runs == SEEDS:
            return whole
        return [{figure: sum(run[figure] for run in whole) / self.whole_runs for figure in HALF_WIDTHS}] * SEEDS


SMALL = {"scale": 512, "warm_up": "200 ms"}
LOADS = {
    "disk": Load("fio-randread", "ent-10k", "600 s", "2400 s", SEEDS, {"qd": 8}),
    "raid5": Load("iometer-database", "raid5:4xent-10k", "600 s", "2400 s", SEEDS, {}),
    "reads-ssd": Load("fio-randread", "7450-pro-3840", "4 s", "12 s", sized(2, 8), {"qd": 16, **SMALL}),
    "mix-ssd": Load("vdbench-8k-random", "7450-pro-3840", "4 s", "12 s", 8, SMALL),
}
LONG_ALONE = dict.fromkeys(("disk", "mix-ssd", "raid5"), pytest.mark.long)


@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG_ALONE.get(name, ())) for name in LOADS])
def test_figures_are_as_near_as_stated(name: str) -> None:
    """Both claims hold in 95 % of the runs, less three standard errors, because the runs are few."""
    load = LOADS[name]
    expected = load.expected()
    runs = [load.run(seed, load.longest, f"{PRECISION_PCT:g} %") for seed in range(SEEDS)]
    least = 0.95 - 3 * sqrt(0.95 * 0.05 / SEEDS)
    for figure, half_width in HALF_WIDTHS.items():
        off = [abs(run["summary"][figure] / whole[figure] - 1) * 100 for run, whole in zip(runs, expected, strict=True)]
        claimed = PRECISION_PCT * (3 if half_width == "latency_p99_pct" else 1)
        assert sum(error <= claimed for error in off) >= least * SEEDS, figure
        inside = sum(error <= run["stopped"][-1][half_width] for error, run in zip(off, runs, strict=True))
        assert inside >= least * SEEDS, figure
