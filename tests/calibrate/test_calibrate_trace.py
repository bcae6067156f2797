"""A disk fitted to a trace: what is told of a disk whose values are known, real ones, and what is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import hotband as hb
from forms import LONG
from hotband.base.errors import UserError
from hotband.questions.calibrate import run as calibrating
from hotband.questions.calibrate.calibrated import Calibrated, Value
from hotband.questions.calibrate.model import Product
from hotband.questions.calibrate.trace.replay import variant
from hotband.questions.calibrate.trace.unknowns import in_unit

Hotband = Callable[..., CompletedProcess[str]]
LIKE = "cheetah-15k4"
TRUTH = {
    "command_overhead": "0.40 ms",
    "cache_overhead": "0.15 ms",
    "command_overhead_write": "0.70 ms",
    "seek_read_average": "3.7 ms",
    "seek_read_full": "7.3 ms",
    "read_ahead": "always",
    "zero_latency": "on",
}
LOAD = """
title = "near and far, one at a time"
[load]
closed = { threads = 1, depth = 1, think = "2 ms" }
[[streams]]
read_pct = 70
random_pct = 60
random_mode = "coin"
size = "8 KiB"
[[phases]]
name = "measured"
ios = 4000
measure = true
"""
REAL = Path(os.environ.get("HOTBAND_SAMPLES", Path(__file__).parents[3] / "shared" / "samples")).parent / "traces"


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fitted")
    (folder / "truth.toml").write_text(variant(Product(LIKE), TRUTH))
    (folder / "load.toml").write_text(LOAD)
    hb.run(folder / "load.toml", on=folder / "truth.toml", io_log=folder / "seen.parquet")
    return folder / "seen.parquet"


@pytest.fixture(scope="module")
def found(trace: Path) -> Calibrated:
    return hb.calibrate(trace, like=LIKE, output=trace.with_name("mine.toml"))


def value(found: Calibrated, key: str) -> Value:
    return next(one for one in found.values if one.key == key)


@pytest.mark.parametrize("key", [key for key, text in TRUTH.items() if text.endswith("ms")])
def test_a_value_that_is_told_is_near_the_true_one(found: Calibrated, key: str) -> None:
    one = value(found, key)
    assert one.state != "unknown"
    low, high, true = (in_unit(text, "ms") for text in (one.low, one.high, TRUTH[key]))
    # One interval of 90 % may miss; twice its width holds the truth but in one case of a thousand.
    assert low - (high - low) / 2 <= true <= high + (high - low) / 2


def test_how_the_disk_works_is_told(found: Calibrated) -> None:
    assert value(found, "read_ahead").value == TRUTH["read_ahead"]
    assert value(found, "read_ahead").state == "told"


def test_the_second_half_comes_out(found: Calibrated) -> None:
    assert found.comparison is not None
    demerit = found.comparison["demerit_pct"]
    assert isinstance(demerit, float)
    # The model is the true one: what is left is what half of the trace does not tell.
    assert demerit < 2.0
    assert max(abs(one.error_pct) for one in found.checks) < 3.0
    assert max(abs(one.before_pct) for one in found.checks) > 5.0


def test_what_is_checked_is_what_is_written(found: Calibrated, trace: Path, tmp_path: Path) -> None:
    workload = tmp_path / "second.toml"
    workload.write_text(
        f'[trace]\nfile = "{trace}"\nissue = "after-completion"\n'
        '[[phases]]\nname = "a"\nios = 2000\nmeasure = false\n[[phases]]\nname = "b"\nios = 2000\nmeasure = true\n'
    )
    record = hb.run(workload, on=trace.with_name("mine.toml")).to_dict()
    assert record["comparison"] == found.comparison


def test_the_command_says_the_same(
    trace: Path, hotband: Hotband, found: Calibrated, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the short form the command is given the fit that Python made of the same."""
    if not LONG:
        monkeypatch.setattr(calibrating, "of_trace", lambda *_: (found, 4000))
    done = hotband("measure", "calibrate", str(trace), "--like", LIKE, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["comparison"] == found.comparison
    assert [one["key"] for one in told["values"]] == [one.key for one in found.values]


@pytest.mark.parametrize(
    ("like", "words"),
    [("s4500-960", "expected a disk"), ("black-box", "expected a target to measure"), ("nothing", "expected one of")],
)
def test_what_is_no_disk_is_refused(trace: Path, like: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        hb.calibrate(trace, like=like)


def test_a_trace_without_latencies_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bare.spc"
    path.write_text("".join(f"0,{100 * number},4096,R,{number * 0.01:.6f}\n" for number in range(1000)))
    with pytest.raises(UserError, match="has no latencies"):
        hb.calibrate(path, like=LIKE)


def test_a_short_trace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "short.trace"
    path.write_text("R unknown 100 8 5000.0 1000.0\n" * 50)
    with pytest.raises(UserError, match="are too few"):
        hb.calibrate(path, like=LIKE)


def test_a_trace_beyond_the_disk_is_refused_by_its_name(trace: Path) -> None:
    with pytest.raises(UserError, match="ends beyond volume") as refused:
        hb.calibrate(trace, like=LIKE, set={"capacity": "10 GB"})
    assert refused.value.file == str(trace)


def test_a_trace_beside_others_and_a_plan_are_refused(trace: Path, hotband: Hotband) -> None:
    two = hotband("measure", "calibrate", str(trace), str(trace), "--like", LIKE)
    plan = hotband("measure", "calibrate", str(trace), "--like", LIKE, "--plan")
    assert (two.returncode, plan.returncode) == (2, 2)
    assert "expected no other target with it" in two.stderr
    assert "nothing is measured" in plan.stderr


@pytest.mark.long
def test_real_disks_are_met() -> None:
    """Two of the five, from data sheets: the issue asks for a median of 4 % on the second half."""
    folder = REAL / "real-disks"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    for name in ("barracuda", "hp_c3323a"):
        found = hb.calibrate(folder / f"{name}.trace", like=folder / f"{name}.datasheet.toml")
        assert found.comparison is not None
        assert isinstance(demerit := found.comparison["demerit_pct"], float)
        assert demerit <= 4.0, (name, demerit)
