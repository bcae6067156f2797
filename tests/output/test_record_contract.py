"""Does every command that reads records take every record that hotband leaves?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from in_process import WORKLOADS, command_line


def commands(record: Path, out: Path) -> dict[str, list[str]]:
    """Commands that read a record; it is compared with its copy."""
    again = shutil.copytree(record, out / "again")
    return {
        "audit": ["audit", str(record), "--json"],
        "compare": ["compare", str(record), str(again), "--json"],
        "steady": ["audit", "--steady", str(record), "--json"],
        "report": ["report", str(record), "-o", str(out / "r.html"), "--audit"],
        "plot": ["report", "--latency", str(record), "--out", str(out / "c.svg")],
    }


# What a command may say of a record that has nothing to be compared or drawn.
EMPTY = {"plot": "no latencies in it", "compare": "nothing to compare"}


@pytest.mark.sized
@pytest.mark.parametrize("workload", [*WORKLOADS, "worn"])
def test_every_command_reads_the_record(workload: str, catalog_records: dict[str, Path], tmp_path: Path) -> None:
    record = catalog_records[workload]
    idle = json.loads((record / "record.json").read_text())["summary"]["count"] == 0
    for name, command in commands(record, tmp_path).items():
        code, _, said = command_line(*command)
        # 1 is the auditor's for a severe finding, which such a short run may well have.
        fine = code == 0 or (name == "audit" and code == 1) or (idle and name in EMPTY and EMPTY[name] in said)
        assert fine, (name, code, said)
