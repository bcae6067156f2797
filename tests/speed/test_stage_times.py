"""Does `make test` know what its stages cost, and fail where they cost more than recorded?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import python_tests  # noqa: E402
import stage_times  # noqa: E402

COMPILED = [
    stage_times.Row("compile: tests", "serde v1", 30.0, None),
    stage_times.Row("compile: engine", "zstd-sys build-script", 20.0, None),
    stage_times.Row("compile: tests", "hotband-engine", 70.0, None),
]
"""Crates of a run that takes the same time as the recorded one."""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table and a budget of 100 s of their own."""
    monkeypatch.setattr(stage_times, "TABLE", tmp_path / "out" / "times.csv")
    monkeypatch.setattr(stage_times, "BUDGET", tmp_path / "loop.csv")
    (tmp_path / "loop.csv").write_text("processor_s,yardstick_s\n100,50\n")
    stage_times.main(["begin"])
    return tmp_path


def test_a_command_leaves_its_cost_and_its_exit_code(table: Path) -> None:
    burn = "import time\nwhile time.process_time() < 0.2: pass\nraise SystemExit(3)"
    assert stage_times.main(["run", "burn", "--", sys.executable, "-c", burn]) == 3
    [row] = stage_times.read()
    assert (row.stage, row.part) == ("burn", "")
    assert row.processor_s is not None
    assert row.processor_s >= 0.2


@pytest.mark.parametrize(("spent", "code"), [(99.0, 0), (109.9, 0), (110.1, 1)])
def test_ten_per_cent_more_than_recorded_fail(table: Path, spent: float, code: int) -> None:
    stage_times.append(
        [
            *COMPILED,
            stage_times.Row("pytest", "", 1.0, spent),
            stage_times.Row("pytest", "a.py::test[a,b]", 1.0, 500.0),
            stage_times.Row("download: crates", "", 1.0, 500.0),
        ]
    )
    assert stage_times.main(["budget"]) == code


def test_a_computer_of_half_the_speed_takes_twice_the_time(table: Path) -> None:
    stage_times.append([*COMPILED, *COMPILED, stage_times.Row("pytest", "", 1.0, 199.0)])
    assert stage_times.main(["budget"]) == 0
    stage_times.append([stage_times.Row("mypy", "", 1.0, 22.0)])
    assert stage_times.main(["budget"]) == 1


def test_a_fast_computer_gains_nothing(table: Path) -> None:
    crates = stage_times.Row("compile: tests", "serde v1", 25.0, None)
    stage_times.append([crates, stage_times.Row("pytest", "", 1.0, 109.0)])
    assert stage_times.main(["budget"]) == 0
    stage_times.append([stage_times.Row("mypy", "", 1.0, 2.0)])
    assert stage_times.main(["budget"]) == 1


def test_without_crates_to_compile_there_is_nothing_to_measure_by(table: Path) -> None:
    stage_times.append([stage_times.Row("compile", "hotband-engine", 90.0, None), stage_times.Row("a", "", 1.0, 999.0)])
    assert stage_times.main(["budget"]) == 0


def test_the_slowest_parts_are_shown_with_their_files(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stage_times.append([stage_times.Row("python test", f"a.py::t[{n},x]", 1.0, float(n)) for n in range(60)])
    assert stage_times.main(["show"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "python file  a.py" in lines[lines.index(f"The slowest {stage_times.SLOWEST} parts:") + 1]
    assert len(lines[lines.index(f"The slowest {stage_times.SLOWEST} parts:") + 1 :]) == stage_times.SLOWEST


def test_crates_are_read_from_the_page_of_their_profile_alone(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARGO_TARGET_DIR", str(table))
    (table / "cargo-timings").mkdir()
    for profile in ("dev", "release"):
        units = json.dumps([{"name": profile, "target": " v1", "duration": 2.5}])
        page = f"<td>Profile:</td><td>{profile}</td>\n<script>const UNIT_DATA = {units};\n</script>"
        (table / "cargo-timings" / f"cargo-timing-{profile}.html").write_text(page)
    assert stage_times.crates("engine", "release", 0.0) == [stage_times.Row("engine", "release v1", 2.5, None)]
    assert stage_times.crates("engine", "release", 1e12) == []


def test_every_test_file_is_in_one_lane() -> None:
    lanes = {name: [Path(path) for path in paths] for name, paths in python_tests.lanes().items()}
    for file in (ROOT / "tests").rglob("test_*.py"):
        holding = [name for name, paths in lanes.items() if any(path in (file, *file.parents) for path in paths)]
        assert len(holding) == 1, file


def test_lanes_leave_the_cache_of_the_user_alone(tmp_path: Path) -> None:
    env = python_tests.environment(tmp_path)
    assert Path(env["XDG_CACHE_HOME"]).parent == Path(env["HOTBAND_TEST_RUNS"]) == tmp_path
    assert "PYTHONDONTWRITEBYTECODE" not in env
