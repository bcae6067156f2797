"""Do the workloads of whole servers on one drive ask for what their descriptions say, and are they passed or failed?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hotband import _core
from hotband.data.catalog import CATALOG_DIR

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "oltp-one-ssd.toml"
SMALL = 64


def smaller(machine: str) -> str:
    """The machine of the example with every size divided by SMALL."""
    return re.sub(r"(\d+) GB", lambda found: f"{int(found[1]) * 10**9 // SMALL // 4096 * 4096} B", machine)


def stream(record: dict[str, Any], name: str, side: str) -> dict[str, Any]:
    [found] = [stream for stream in record["streams"] if stream["name"] == name]
    return found[side]


def counts(record: dict[str, Any], side: str, *names: str) -> int:
    return sum(stream(record, name, side)["count"] for name in names)


@pytest.fixture(scope="module")
def jetstress(tmp_path_factory: pytest.TempPathFactory, call) -> dict[str, Any]:
    return run(call, tmp_path_factory, "exchange-jetstress", "nytro-1351-960", "30 s")


@pytest.fixture(scope="module")
def oltp(tmp_path_factory: pytest.TempPathFactory, call) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("oltp")
    (folder / "m.toml").write_text(smaller(EXAMPLE.read_text()))
    return run(call, tmp_path_factory, "oltp-one-ssd", str(folder / "m.toml"), "4 s")


def run(call, factory: pytest.TempPathFactory, workload: str, machine: str, duration: str) -> dict[str, Any]:
    folder = factory.mktemp("run")
    # Both programs run on Windows, taken to pass FUA on: a flush after each write of a log would write the cache out.
    settings = ("--set", f"scale={SMALL}", "--set", "forced_writes=fua")
    done = call("run", workload, "--on", machine, *settings, "--duration", duration, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    record: dict[str, Any] = json.loads(done.stdout)
    return record


DATABASES = ("db1", "db2", "db3", "db4")


def test_a_drive_of_flash_passes_jetstress(jetstress) -> None:
    assert jetstress["passed"] is True
    [target] = [limit for limit in jetstress["limits"] if limit["figure"] == "iops"]
    assert (target["limit"], target["streams"]) == (2175, list(DATABASES))
    reads = [limit for limit in jetstress["limits"] if limit["figure"] == "latency_mean_ns" and limit["op"] == "read"]
    assert [(limit["streams"], limit["limit"]) for limit in reads] == [([name], 20_000_000) for name in DATABASES]


def test_a_disk_fails_jetstress(hotband) -> None:
    done = hotband("run", "exchange-jetstress", "--on", "ent-15k", "--duration", "2 s")
    assert done.returncode == 0, done.stderr
    assert "Limits: failed" in done.stdout


def test_jetstress_asks_in_its_proportions(jetstress) -> None:
    reads, writes = counts(jetstress, "read", *DATABASES), counts(jetstress, "write", *DATABASES)
    assert reads / (reads + writes) == pytest.approx(0.5, abs=0.01)
    assert (reads + writes) / counts(jetstress, "write", "log") == pytest.approx(10, rel=0.05)
    assert counts(jetstress, "write", "create") == 0, "databases are created before the test"
    for number in range(1, 5):
        read = stream(jetstress, f"maintenance{number}", "read")
        assert read["bytes"] / 30 == pytest.approx(1e6, rel=0.06), "1 MB/s a database"
    assert {data["mean"] for data in jetstress["data"]} == {0.0126}


@pytest.mark.long
def test_a_workload_of_little_entropy_wears_little(jetstress, oltp) -> None:
    for record in (jetstress, oltp):
        [smart] = record["smart"]
        assert smart["write_amplification"] < 1
        assert smart["at_begin"]["trimmed_bytes"] > 0, "TRIM is on: the volumes were formatted"


def test_oltp_reads_90_percent_without_its_log(oltp) -> None:
    reads, writes = (counts(oltp, side, "data", "data-writes", "tempdb") for side in ("read", "write"))
    assert reads / (reads + writes) == pytest.approx(0.90, abs=0.003)
    [script] = oltp["scripts"]
    # A commit a transaction, but for those under way at either end.
    assert counts(oltp, "write", "log") == pytest.approx(script["completed"], abs=2 * script["clients"])
    assert {data["mean"] for data in oltp["data"]} == {0.19}


def test_oltp_in_time_is_its_transactions_alone(oltp) -> None:
    names = [stream["name"] for stream in oltp["streams"] if re.match("load|age", stream["name"])]
    assert len(names) == 5
    assert all(counts(oltp, side, name) == 0 for name in names for side in ("read", "write"))
    assert oltp["steady_state"]["reached"] is True


def test_the_example_of_full_size_is_a_valid_machine() -> None:
    _core.Run(CATALOG_DIR, str(EXAMPLE), "oltp-one-ssd", machine_text=EXAMPLE.read_text())
