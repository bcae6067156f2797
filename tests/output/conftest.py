"""Records that several tests read, made once."""

from __future__ import annotations

from pathlib import Path

import pytest
from in_process import SSD, spec_of

from hotband.catalog import entries
from hotband.runs.run import RunSpec, execute


@pytest.fixture(scope="session")
def catalog_records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A record of every workload of the catalog, and of a worn SSD, by name."""
    out = tmp_path_factory.mktemp("records")
    specs = [spec_of(one["name"], out) for one in entries.workloads()]
    small = (("scale", "256"),)
    specs.append(RunSpec("worn", SSD, "fio-randwrite", small, duration="0.5 s", out=out / "worn"))
    execute(specs)
    return {spec.id: out / spec.id for spec in specs}
