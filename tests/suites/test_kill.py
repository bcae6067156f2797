"""Does a suite that is killed keep every run that was finished, and go on to the results of one that was not?"""

from __future__ import annotations

import importlib.util
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType

import pytest
from fake_device import fake

from forms import sized
from hotband.questions.suites.pts import Asked, Interrupted, run_pts

SCRIPT = Path(__file__).parents[2] / "scripts" / "kill_suite.py"


@pytest.fixture
def kill_suite() -> ModuleType:
    """The script, which is run by hand with a hundred kills."""
    spec = importlib.util.spec_from_file_location("kill_suite", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_kills_lose_nothing(kill_suite: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kills = sized("1", "2")
    suite = ["measure", "pts", "s4500-960", "--set", "scale=512", "--test", "latency", "--quick", "--minute", "1 s"]
    assert kill_suite.main([str(tmp_path), "--kills", kills, "--within", "2", "--", *suite]) == 0
    assert f"{kills} kills" in capsys.readouterr().out


def test_a_lost_run_is_seen(kill_suite: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="lost or changed by a kill: runs/a"):
        kill_suite.check({"runs/a": "1", "runs/b": "2"}, {"runs/b": "2"}, tmp_path)


def test_of_a_real_drive_names_are_compared_without_rounds(kill_suite: ModuleType) -> None:
    whole = {"runs/Latency-round-1-a": "1", "runs/Latency-round-1-b": "2", "runs/written-over": "3"}
    kill_suite.compare(whole, {**whole, "runs/Latency-round-2-a": "4"}, False)
    with pytest.raises(SystemExit, match="Latency-b"):
        kill_suite.compare(whole, {"runs/Latency-round-1-a": "1", "runs/written-over": "3"}, False)


def test_a_real_drive_goes_on_with_the_next_cell_and_is_not_written_over_again(tmp_path: Path) -> None:
    target, device = fake()
    asked = Asked(target, tests=("throughput",), quick=True, executor=device, out=tmp_path)
    device.stops_before = 3
    with pytest.raises(Interrupted):
        run_pts(asked, watch=lambda title: nullcontext(None))
    fill, first = device.asked
    device.stops_before, device.asked = 0, []
    run_pts(asked, watch=lambda title: nullcontext(None))
    of_first_size = device.asked[: device.asked.index(fill)]
    assert fill == "written over: written over"
    assert first.endswith("100/0 1024 KiB sequential")
    assert of_first_size[0].endswith("round 1: 0/100 1024 KiB sequential")
    assert first not in of_first_size
