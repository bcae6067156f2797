"""Do the examples of the guides run as they stand there?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def example(guide: str, holding: str) -> str:
    """The one TOML example of a guide that has `holding` in it."""
    text = (DOCS / "guides" / f"{guide}.md").read_text(encoding="utf-8")
    found = [block for block in re.findall(r"```toml\n(.*?)```", text, re.DOTALL) if holding in block]
    assert len(found) == 1, (guide, holding, len(found))
    return found[0]


def test_the_first_workload_runs_on_the_machine_of_the_machine_guide(hotband, tmp_path: Path) -> None:
    (tmp_path / "machine.toml").write_text(example("machines", "[links.sas]"))
    (tmp_path / "workload.toml").write_text(example("workloads", "[load]"))
    done = hotband("run", "workload.toml", "--on", "machine.toml", "--duration", "10 s", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert {stream["name"] for stream in record["streams"]} == {"data", "log"}
    # 50 writes a second for 10 s, and a flush after each eighth.
    log = record["streams"][1]
    assert log["write"]["count"] == pytest.approx(500, abs=2)
    assert log["flush"]["count"] == pytest.approx(500 / 8, abs=1)
    assert log["write"]["count"] / log["flush"]["count"] == pytest.approx(8, abs=0.2)


def test_its_steps_and_its_loss_of_power_fit_into_it(hotband, tmp_path: Path) -> None:
    whole = example("workloads", "[load]")
    parts = whole[: whole.index("[[phases]]")], example("workloads", "8 threads"), example("workloads", "[power_loss]")
    (tmp_path / "machine.toml").write_text(example("machines", "[links.sas]"))
    (tmp_path / "workload.toml").write_text("\n".join(parts))
    done = hotband("run", "workload.toml", "--on", "machine.toml", "--duration", "20 s", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert [step["threads"] for step in record["steps"]] == [8, 16]
    assert record["power_loss"]["at_ns"] == record["duration_ns"] == 30_000_000_000


def test_the_drive_that_wears_is_trimmed_and_a_disk_is_not(hotband, tmp_path: Path) -> None:
    (tmp_path / "wear.toml").write_text(example("workloads", "trim_pct"))
    disk = hotband("run", "wear.toml", "--on", "ent-15k")
    assert disk.returncode == 2
    assert "wear.toml: streams[0].trim_pct = '5': \"d0\" is on disks without TRIM" in disk.stderr
    done = hotband("run", "wear.toml", "--on", "s4500-960", "--duration", "1 s", "--set", "scale=512", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["data"] == [{"stream": "pages", "mean": 0.4, "low": 0.1, "high": 1.0}]
    counts = {side: record["streams"][0][side]["count"] for side in ("write", "trim")}
    # A twentieth of some thousand: within 5 standard errors.
    spread = 5 * (sum(counts.values()) * 0.05 * 0.95) ** 0.5
    assert counts["trim"] == pytest.approx(sum(counts.values()) / 20, abs=spread)


def test_the_script_runs_on_any_drive(hotband, tmp_path: Path) -> None:
    (tmp_path / "script.toml").write_text(example("workloads", "detached_limit"))
    done = hotband("run", "script.toml", "--on", "ent-15k", "--duration", "20 s", "--json")
    assert done.returncode == 0, done.stderr
    (script,) = json.loads(done.stdout)["scripts"]
    assert (script["unit"], script["clients"]) == ("transaction", 48)
    assert script["completed"] > 48


def test_files_and_a_network_fit_into_the_script(hotband, tmp_path: Path) -> None:
    script = '[[scripts]]\nname = "pages"\nclients = 5\nrepeat = true\n[[scripts.steps]]\nname = "fetch"\nfiles = 1\n'
    phase = '[[phases]]\nduration = "5 s"\nmeasure = true\n'
    parts = (example("workloads", "files ="), example("workloads", "[network]"), script)
    (tmp_path / "w.toml").write_text("\n".join([*parts, 'stream = "files"\n', phase]))
    done = hotband("run", "w.toml", "--on", "raid0:2xexos-15e900-512n", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["scripts"][0]["completed"] > 5


@pytest.mark.parametrize("switch", ["on", "off"])
def test_the_oltp_machine_takes_its_workload(hotband, switch: str) -> None:
    call = ("run", "oltp", "--on", str(DOCS / "examples" / "oltp.toml"), "--set", f"awc={switch}", "--duration", "5 s")
    done = hotband(*call, "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    cached = sum(part["counters"]["cached_writes"] for part in record["parts"] if part["id"] in ("d0", "d1", "d2"))
    assert (cached > 0) == (switch == "on"), "the controller forces writes past a volatile cache"


def test_the_steady_state_example_runs_on_any_drive(hotband, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text(example("steady-state", "until_steady").replace('"60 s"', '"5 s"'))
    done = hotband("run", "w.toml", "--on", "ent-15k", "--duration", "10 s", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steady_state"]["phase"] == "settle"


def test_until_steady_and_limits_fit_into_the_first_workload(hotband, tmp_path: Path) -> None:
    whole = example("workloads", "[load]")
    limits, _, settle = (
        example("workloads", "[[limits]]"),
        *example("steady-state", "until_steady").split("[[phases]]")[:2],
    )
    phase = f"[[phases]]{settle}"
    (tmp_path / "machine.toml").write_text(example("machines", "[links.sas]"))
    at = whole.index("[[phases]]")
    parts = [whole[:at], limits, phase.replace("60 s", "2 s"), whole[at:]]
    (tmp_path / "w.toml").write_text("\n".join(parts))
    done = hotband("run", "w.toml", "--on", "machine.toml", "--duration", "10 s", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert [limit["figure"] for limit in record["limits"]] == ["latency_mean_ns", "iops"]
    assert record["steady_state"]["phase"] == "settle"


def test_a_machine_may_name_logical_units(hotband, tmp_path: Path) -> None:
    (tmp_path / "machine.toml").write_text(example("machines", "d*.lun0"))
    load = "load = { closed = { threads = 1, depth = 1 } }"
    stream = f'read_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\n{load}'
    streams = [f'[[streams]]\nname = "{name}"\nvolume = "{name}"\n{stream}' for name in ("osd0", "data")]
    phase = '[[phases]]\nduration = "10 s"\nmeasure = true'
    (tmp_path / "workload.toml").write_text("\n".join([*streams, phase]))
    done = hotband("run", "workload.toml", "--on", "machine.toml", "--json")
    assert done.returncode == 0, done.stderr
    first = json.loads(done.stdout)["parts"][0]
    # Unit 0 is in the stripe and unit 1 in the volume: both arms of the first drive are at work.
    assert first["counters"]["actuator_0_busy_ns"] > 0
    assert first["counters"]["actuator_1_busy_ns"] > first["counters"]["actuator_0_busy_ns"]
    assert first["power"]["idle_w"] < first["power"]["mean_w"] < first["power"]["active_w"]
