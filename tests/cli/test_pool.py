"""Do replicated pools run from the command line, and has every value of their daemons a source?"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

Hotband = Callable[..., "subprocess.CompletedProcess[str]"]

OSDS = files("hotband") / "data" / "catalog" / "osds"
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "machines.md"


def number(text: object) -> float:
    """The number of a quantity or count; its unit is checked where it is read."""
    return float(str(text).split()[0])


def test_every_value_of_a_daemon_has_a_source_and_estimates_have_a_range_around_them() -> None:
    names = [file for file in OSDS.iterdir() if file.name.endswith(".toml")]
    assert names
    for file in names:
        values = tomllib.loads(file.read_text(encoding="utf-8"))["values"]
        assert len(values) >= 24, file.name
        for key, value in values.items():
            assert value["source"].strip(), key
            assert value["confidence"] in {"high", "medium", "low"}, key
            assert "range" in value or not value.get("estimate"), key
            if "range" in value:
                low, high = map(number, value["range"])
                assert low <= number(value["value"]) <= high, key


def test_the_short_form_of_a_pool_runs(hotband: Hotband) -> None:
    done = hotband("run", "fio-randread", "--on", "replicated:6xmg06sca-10tb", "--duration", "5 s", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    daemons = [part for part in record["parts"] if part["kind"] == "osd"]
    assert [part["id"] for part in daemons] == [f"data.osd{number}" for number in range(6)]
    reads = sum(part["counters"]["reads"] for part in daemons)
    assert record["summary"]["count"] <= reads <= record["summary"]["count"] + 200, "the warm-up is counted apart"
    assert record["summary"]["iops"] > 10


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        ("replicated:2xmg06sca-10tb", ("layouts.data", "replicas", "at most 2")),
        ("replicated:6xmg06sca-10tb:64KiB", ("layouts.data", "chunk")),
    ],
)
def test_a_short_form_that_is_no_pool_is_one_line(hotband: Hotband, machine: str, words: tuple[str, ...]) -> None:
    done = hotband("run", "fio-randread", "--on", machine)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert all(word in done.stderr for word in words), done.stderr


def test_the_pools_of_the_guide_run_and_the_degraded_one_recovers(hotband: Hotband, tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    pools = [block for block in blocks if "replicated" in block]
    assert len(pools) == 2
    for name, block in zip(("whole", "degraded"), pools, strict=True):
        (tmp_path / f"{name}.toml").write_text(block, encoding="utf-8")
    call = ("run", "fio-randread", "--json", "--duration")
    assert hotband(*call, "2 s", "--on", "whole.toml").returncode == 0
    record = json.loads(hotband(*call, "90 s", "--on", "degraded.toml").stdout)
    parts = {part["id"]: part for part in record["parts"]}
    assert parts["pool.recovery"]["at_end"]["objects_misplaced"] == 0
    assert parts["pool.recovery"]["at_end"]["time_to_recover_ns"] > 0
    assert parts["pool.osd1"]["at_end"]["objects"] == 0
