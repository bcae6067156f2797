"""Is a run the same, bit for bit, on how many threads and in which process it is made? Every drive of the catalog and
every layout, under workloads that ask differently; what a cluster of Ray leaves is compared in `test_on_ray.py`, other
processors by `scripts/cpu_levels.py`."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from forms import sized
from hotband import _core
from hotband.data.catalog import CATALOG_DIR, entries
from hotband.data.documents.run import RunSpec
from hotband.execution.experiment.experiment import execute


def volumes(drive: str) -> list[tuple[str, int]]:
    """Those of a drive; of several a workload would have to name one."""
    return _core.machine_offer(CATALOG_DIR, drive, None, [("scale", "64")] if is_flash(drive) else [])["volumes"]


def is_flash(drive: str) -> bool:
    return _core.drive(CATALOG_DIR, drive)["kind"] == "ssd"


WORKLOADS = ("fio-randread", "iometer-4k-rand-50-50", "vdbench-128k-seq-write")
DRIVES = [one["name"] for one in entries.drives() if len(volumes(one["name"])) == 1]
MACHINES = [
    *("raid0:4xent-15k", "raid1:2xent-15k", "raid10:4xent-15k", "raid5:4xent-15k", "raid6:5xent-15k"),
    *sized(DRIVES[::6], DRIVES),
]
DIGEST = """
import json, sys
from test_bit_identity import digests, specs
print(json.dumps(digests(specs(json.loads(sys.argv[1])), jobs=2)))
"""


def specs(machines: list[str]) -> list[RunSpec]:
    """Runs of a moment; solid-state drives are small, and new."""
    found = []
    for machine in machines:
        ssd = ":" not in machine and is_flash(machine)
        pairs = (("scale", "64"), ("state", "fob"), ("warm_up", "1 ms")) if ssd else ()
        found += [RunSpec(f"{machine} {one}", machine, one, pairs, seed=3, duration="20 ms") for one in WORKLOADS]
    return found


def digests(runs: list[RunSpec], jobs: int) -> dict[str, str]:
    """A digest of the record and of every table of each run."""
    found = {}
    for one in execute(runs, jobs=jobs):
        tables = {name: table.columns for name, table in sorted(one.tables.items())}
        found[one.spec.id] = hashlib.sha256(json.dumps([one.text, tables]).encode()).hexdigest()
    return found


@pytest.fixture(scope="module")
def alone() -> dict[str, str]:
    """One run after the other."""
    return digests(specs(MACHINES), jobs=1)


def test_threads_change_nothing(alone: dict[str, str]) -> None:
    assert len(set(alone.values())) == len(alone) == 3 * len(MACHINES)
    assert digests(specs(MACHINES[::-1]), jobs=4) == alone


def test_another_process_changes_nothing(alone: dict[str, str]) -> None:
    some = MACHINES[::4]
    command = [sys.executable, "-c", DIGEST, json.dumps(some)]
    here = Path(__file__).parent
    found = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here.parent), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, capture_output=True, text=True, cwd=here, env=found, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {name: one for name, one in alone.items() if name.rpartition(" ")[0] in some}
