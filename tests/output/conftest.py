"""Records that several tests read, made once."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from in_process import SSD, spec_of

from hotband.data.catalog import entries
from hotband.data.documents.run import RunSpec
from hotband.execution.experiment.experiment import execute


@pytest.fixture(scope="session")
def catalog_records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A record of every workload of the catalog, and of a worn SSD, by name. The processes of one run of the tests
    share them: the first makes them, the others wait."""
    base = tmp_path_factory.getbasetemp()
    out = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "catalog-records"
    out.mkdir(exist_ok=True)
    specs = [spec_of(one["name"], out) for one in entries.workloads()]
    small = (("scale", "256"),)
    specs.append(RunSpec("worn", SSD, "fio-randwrite", small, duration="0.5 s", out=out / "worn"))
    made = out / "made"
    with (out / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            execute(specs)
            made.touch()
    return {spec.id: out / spec.id for spec in specs}
