"""Does a study run whole or in part, heaviest first, with machines and workloads of its own?"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hotband.data.documents.run import RunSpec
from hotband.execution.experiment.experiment import execute
from hotband.execution.runs import run as runs
from hotband.questions.study.asked import StudyRunQuestion
from hotband.questions.study.study import run_study
from ways import quiet

TINY = Path(__file__).parent / "tiny"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    out = tmp_path_factory.mktemp("tiny") / "out"
    return run_study(StudyRunQuestion(study=str(TINY), out=out), quiet())[0], out


def figure(result: dict[str, Any], name: str) -> dict[str, Any]:
    return next(row for row in result["figures"] if row["id"] == name)


def test_the_machine_of_the_load_has_the_product_of_the_configuration(tiny: tuple[dict[str, Any], Path]) -> None:
    record = json.loads((tiny[1] / "runs/ten.mixed.qd8/record.json").read_text())
    assert list(record["spec"]["drives"]) == ["exos-10e2400-512n"]
    assert 'product = "exos-10e2400-512n"' in record["spec"]["machine"]
    assert "70 % reads of 4 KiB" in record["spec"]["workload"]
    assert [part["id"] for part in record["parts"] if "media_reads" in part["counters"]] == ["d0", "d1"]


def test_comparisons_are_figures_with_the_error_of_their_published_row(tiny: tuple[dict[str, Any], Path]) -> None:
    result = tiny[0]
    times = {row["config"]: row["predicted"] for row in result["figures"] if row["metric"] == "mean response time"}
    published = figure(result, "tiny-2")
    assert published["predicted"] == pytest.approx(times["10K"] / times["15K"])
    assert (published["published"], published["metric"]) == (1.4, "response time reduction")
    assert published["error_pct"] == pytest.approx((published["predicted"] / 1.4 - 1) * 100)
    own = figure(result, "tiny-own")
    assert own["published"] is None
    assert own["unit"] == "%"


def test_the_response_curve_the_rule_and_the_published_point(tiny: tuple[dict[str, Any], Path]) -> None:
    found = tiny[0]["response"]
    assert [(row["variant"], row["concurrency"]) for row in found["points"]] == [
        ("15K", 1), ("15K", 8), ("10K", 1), ("10K", 8)
    ]  # fmt: skip
    assert found["rules"] == [{"group": "mixed on a file's machine", "latency_mean_ms": 12.0}]
    assert [(row["iops"], row["latency_mean_ms"]) for row in found["published"]] == [(400.0, 12.0)]


def test_part_of_a_study_has_no_claims_and_says_so(hotband, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = hotband("study", "run", str(TINY), "--only", "read", "--json", "--out", str(out))
    result = json.loads(done.stdout)
    assert [run["id"] for run in result["runs"]] == ["fifteen.read", "ten.read"]
    assert result["only"] == ["read"]
    assert {row["id"] for row in result["figures"]} == {
        "tiny/fifteen/read/response",
        "tiny/ten/read/response",
        "tiny-2",
    }
    assert "--only read" in result["command"]
    assert (out / "report.html").is_file()


def test_an_unknown_load_is_the_users_mistake(hotband) -> None:
    done = hotband("study", "run", str(TINY), "--only", "reed,mixed")
    assert done.returncode == 2
    assert 'did you mean "read"?' in done.stderr


def test_the_report_is_drawn_from_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise AssertionError(f"{path} is in memory")

    monkeypatch.setattr("hotband.data.record.load._read_json", refuse)
    result = run_study(StudyRunQuestion(study=str(TINY), out=tmp_path, only=("read",)), quiet())[0]
    assert Path(result["report"]).stat().st_size > 500_000


def test_a_report_from_memory_is_that_from_disk(tiny: tuple[dict[str, Any], Path]) -> None:
    from hotband.questions.study.file import load
    from hotband.questions.study.runs import specs_of
    from hotband.views.report import load_record, loaded_run

    study = load(str(TINY))
    spec = specs_of(study, (study.configs[0], study.load("read")), None, 1)[0]
    memory, disk = loaded_run(execute([spec])[0]), load_record(tiny[1] / "runs/fifteen.read")
    assert memory.record == disk.record
    assert memory.series is not None
    assert disk.series is not None
    assert memory.series.equals(disk.series.select(memory.series.columns))


def test_the_heaviest_run_begins_first_and_the_order_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    lock = threading.Lock()
    original = runs.execute_one

    def note(line: Sequence[runs.Prepared], place: int) -> runs.Finished:
        with lock:
            begun.append(line[place].spec.id)
        return original(line, place)

    monkeypatch.setattr(runs, "execute_one", note)
    specs = [
        RunSpec(name, "exos-15e900-512n", "fio-randread", duration="1 s", weight=weight)
        for name, weight in (("light", 1.0), ("heavy", 9.0), ("middle", 3.0))
    ]
    assert [one.spec.id for one in execute(specs, jobs=1)] == ["light", "heavy", "middle"]
    assert begun == ["heavy", "middle", "light"]
