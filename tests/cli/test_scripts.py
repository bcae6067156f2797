"""Do the scripts of the catalog run where they are meant to, and is the terminal told what they did?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hotband.base.text.numbers import number

DRIVES = """
[drives.d]
product = "exos-15e900-512n"
count = 8
[layouts.data]
raid0 = { members = "d0..d3" }
[layouts.log]
raid10 = { members = "d4..d7" }
[volumes]
"""
VOLUMES = {
    "oltp": """
db1 = { on = "data", from = "0 GB", size = "300 GB" }
db2 = { on = "data", from = "300 GB", size = "300 GB" }
db3 = { on = "data", from = "600 GB", size = "300 GB" }
log = { on = "log", from = "0 GB", size = "225 GB" }
""",
    "web-server": 'web = { on = "data", from = "0 GB", size = "1200 GB" }',
    "boot-storm": 'images = { on = "data", from = "0 GB", size = "2400 GB" }',
}


def machine(folder: Path, name: str) -> str:
    """A machine with the volumes that a workload is written for."""
    file = folder / f"{name}.toml"
    file.write_text(DRIVES + VOLUMES[name], encoding="utf-8")
    return str(file)


def record_of(hotband, folder: Path, name: str, *arguments: str) -> dict[str, Any]:
    done = hotband("run", name, "--on", machine(folder, name), "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_transaction_reads_29_pages_and_a_data_write_follows_9_7_reads(hotband, tmp_path: Path) -> None:
    record = record_of(hotband, tmp_path, "oltp", "--duration", "120 s")
    (script,) = record["scripts"]
    count = {stream["name"]: stream["read"]["count"] + stream["write"]["count"] for stream in record["streams"]}
    data = [sum(count[f"db{n}{kind}"] for n in (1, 2, 3)) for kind in ("", "-writes")]
    assert script["completed"] > 5000
    # Runs cut by the ends of the measured time: at most 48 of 5,000 and more, and what is left to be written.
    assert data[0] / data[1] == pytest.approx(29 / 3, rel=0.01)
    assert data[0] / script["completed"] == pytest.approx(29, rel=0.01)
    assert count["log"] / script["completed"] == pytest.approx(1, rel=0.01)


@pytest.mark.long
def test_pages_are_as_large_as_stated(hotband, tmp_path: Path) -> None:
    record = record_of(hotband, tmp_path, "web-server")
    (script,) = record["scripts"]
    # A page has a standard deviation of 1.2 MB, and 10,000 are read and more: four standard errors are 48 kB.
    assert script["completed"] > 10_000
    assert record["summary"]["bytes"] / script["completed"] == pytest.approx(1_672_000, abs=48_000)
    (network,) = (part for part in record["parts"] if part["kind"] == "network")
    assert network["counters"]["bytes"] == pytest.approx(record["summary"]["bytes"], rel=0.001)


def test_a_boot_has_the_sums_of_its_sources(hotband, tmp_path: Path) -> None:
    record = record_of(hotband, tmp_path, "boot-storm", "--set", "clients=2")
    (script,) = record["scripts"]
    assert [run["begin_ns"] for run in script["runs"]] == [0, 3_000_000_000]
    assert record["duration_ns"] == script["last_end_ns"]
    read, write = record["summary"]["read"], record["summary"]["write"]
    assert read["count"] + write["count"] == 2 * 30_300
    assert 500e6 < read["bytes"] / 2 < 600e6
    assert 20e6 < write["bytes"] / 2 < 30e6
    assert write["count"] >= 0.1 * (read["count"] + write["count"])


def test_the_terminal_shows_a_line_for_each_script(hotband, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    done = hotband("run", "boot-storm", "--on", machine(tmp_path, "boot-storm"), "--set", "clients=3", "--details")
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("│ boot"))
    cells = [cell.strip() for cell in line.strip("│").split("│")]
    assert cells[:4] == ["boot", "boot", "3", "3"]
    first, last = (float(cell.removesuffix(" s")) for cell in cells[9:11])
    assert first < last, "the first boot ends before the last"


def test_too_small_a_volume_is_told_with_both_sizes(hotband) -> None:
    done = hotband("run", "web-server", "--on", "exos-15e900-512n")
    assert done.returncode == 2
    assert "600000 files need 100" in done.stderr.replace("\n", " ")
    done = hotband("run", "boot-storm", "--on", "exos-15e900-512n")
    assert done.returncode == 2
    assert "60 clients with 40000000000 B each" in done.stderr.replace("\n", " ")


SMALL = """
[drives.d]
product = "exos-15e900-512e"
count = 2
[volumes]
"""
SHORTER: list[tuple[str, str, dict[str, str], int]] = [
    (
        "web-server",
        'web = { on = "d0" }\n',
        {'duration = "10 min"': 'duration = "5 s"', "count = 600000": "count = 5000"},
        4,
    ),
    (
        "oltp",
        'db1 = { on = "d0", size = "100 GB" }\ndb2 = { on = "d0", from = "100 GB", size = "100 GB" }\n'
        'db3 = { on = "d0", from = "200 GB", size = "100 GB" }\nlog = { on = "d1" }\n',
        {'"40 min"': '"10 s"', '"300 s"': '"10 s"'},
        0,
    ),
    (
        "boot-storm",
        'images = { on = "d0" }\n',
        {"clients = 60": "clients = 2", 'per_client = "40 GB"': 'per_client = "4 GB"'},
        0,
    ),
]


@pytest.mark.parametrize(("name", "volumes", "changes", "steps"), [pytest.param(*one, id=one[0]) for one in SHORTER])
def test_a_copy_of_the_printed_text_runs_on_a_small_machine(
    hotband, tmp_path: Path, name: str, volumes: str, changes: dict[str, str], steps: int
) -> None:
    text = hotband("workloads", name).stdout
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "copy.toml").write_text(text)
    (tmp_path / "small.toml").write_text(SMALL + volumes)
    done = hotband("run", "copy.toml", "--on", "small.toml", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["scripts"][0]["completed"] > 0
    assert len(record.get("steps", [])) == steps
    assert all(step["scripts"][0]["completed"] > 0 for step in record.get("steps", []))


def test_the_terminal_shows_pages_a_second_in_every_step(
    hotband, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    call = ("run", "web-server", "--on", machine(tmp_path, "web-server"), "--duration", "5 s")
    shown = hotband(*call, "--details").stdout
    assert "pages/s" in shown
    steps = json.loads(hotband(*call, "--json").stdout)["steps"]
    for step in steps:
        (line,) = (line for line in shown.splitlines() if line.startswith(f"│ {step['name']} "))
        assert line.strip("│ ").endswith(number(step["scripts"][0]["per_second"]))
    # No client ends its last run: nothing to say about ends.
    assert "first end s" not in shown
