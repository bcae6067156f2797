"""Records that several tests read, made once."""

from __future__ import annotations

from pathlib import Path

import pytest
from in_process import SORTS, SSD, WORKLOADS, spec_of

from hotband.data.documents.run import RunSpec
from hotband.execution.experiment.experiment import execute
from shared import shared_folder


@pytest.fixture(scope="session")
def catalog_records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A record of each workload that tests read, and of a worn SSD, by name."""
    with shared_folder(tmp_path_factory, "catalog-records") as out:
        specs = [spec_of(name, out) for name in dict.fromkeys((*WORKLOADS, *SORTS)) if name != "worn"]
        small = (("scale", "256"),)
        specs.append(RunSpec("worn", SSD, "fio-randwrite", small, duration="0.5 s", out=out / "worn"))
        made = out / "made"
        if not made.exists():
            execute(specs)
            made.touch()
    return {spec.id: out / spec.id for spec in specs}
