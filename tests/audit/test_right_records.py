"""Does the auditor find nothing severe in Hotband's own records, however they are divided into phases and drives?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from made_up import Shape, result

from hotband.data.documents.run import RunSpec
from hotband.data.record.load import LoadedRecord, loaded_frames, loaded_run
from hotband.execution.experiment.experiment import execute
from hotband.inference.audit import Audited, findings
from hotband.inference.audit.consistency import ordered
from hotband.inference.audit.contradictions import check
from hotband.inference.audit.facts import of_record
from hotband.inference.audit.rules import contradicted
from hotband.questions.compare_folders import _folder
from hotband.views.report import record_page
from hotband.views.report.page import render

TWO_PHASES = """
title = "two measured phases, and one that waits for their last I/Os"
source = "made up for this test"
[load]
closed = { threads = 1, depth = 4 }
[[streams]]
name = "main"
read_pct = 70
random_pct = 100
size = "4 KiB"
[[phases]]
name = "first"
duration = "1.5 s"
measure = true
[[phases]]
name = "second"
duration = "1.5 s"
measure = true
[[phases]]
name = "drain"
streams = []
until = "drained"
measure = true
"""


def run_of(machine: str, workload: str, duration: str | None = "2.5 s", *settings: tuple[str, str]) -> Audited:
    """Return a fresh record with its tables over time."""
    loaded = loaded_run(execute([RunSpec("right", machine, workload, settings, 1, duration)])[0])
    return Audited("right", loaded.record, loaded.series, over_time=loaded.over_time)


@pytest.fixture(scope="module")
def two_phases(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    path = Path(tmp_path_factory.mktemp("phases")) / "two.toml"
    path.write_text(TWO_PHASES)
    return run_of("ent-10k", str(path), None)


def test_each_measured_phase_ends_with_an_interval_of_its_own(two_phases: Audited) -> None:
    assert [step["name"] for step in two_phases.record["steps"]] == ["first", "second", "drain"]
    assert check([two_phases]) == []


@pytest.mark.parametrize("table", ["series", "power", "caches"])
def test_an_interval_of_two_phases_that_is_left_out_is_found(two_phases: Audited, table: str) -> None:
    tables = {"series": two_phases.series, **two_phases.over_time}
    frame = tables[table]
    assert frame is not None
    begins = frame["time_ns"].unique().sort()
    tables[table] = frame.filter(pl.col("time_ns") != begins[1])
    series = tables.pop("series")
    over_time = {name: frame for name, frame in tables.items() if frame is not None}
    (finding,) = check([replace(two_phases, series=series, over_time=over_time)])
    assert f"begin of an interval of the {table}" in finding.title


def test_an_interval_of_no_length_is_found(two_phases: Audited) -> None:
    record = {**two_phases.record, "series": {**(two_phases.record["series"] or {}), "interval_ns": 0}}
    (finding,) = check([replace(two_phases, record=record)])  # type: ignore[arg-type]
    assert "interval of the series, ns is 0, but a length of time makes at least 1" in finding.title


RIGHT = {
    "shingled disk": ("st8000as0002", "randwrite"),
    "shingled disks": ("raid5:4xst8000as0002", "randrw"),
    "files, whose last reads are short": ("ent-10k", "web-server"),
}


@pytest.mark.parametrize("name", list(RIGHT))
def test_a_right_record_has_no_severe_finding(name: str) -> None:
    run = run_of(*RIGHT[name])
    found = findings([run], of_record(run.record))
    assert [finding.title for finding in found if finding.severity == "severe"] == []


def test_drives_of_unknown_power_are_counted_among_all_kinds() -> None:
    run = run_of("st8000as0002", "randwrite")
    energy = {**run.record["energy"], "drives_unknown": 1}
    (finding,) = check([replace(run, record={**run.record, "energy": energy})])  # type: ignore[arg-type]
    assert "drives of unknown power is 1" in finding.title


def test_a_phase_that_drains_the_queue_is_not_idle(two_phases: Audited) -> None:
    """The load issues no I/O in the third phase, here as long as the others, which waits for those of the second."""
    summary = two_phases.record["summary"]
    halves = {key: (summary.get(key) or 0.0) / 2 for key in ("iops", "queue_depth_mean")}
    run = replace(two_phases, record={**two_phases.record, "summary": {**summary, **halves}})  # type: ignore[arg-type]
    assert "idle-concurrency" not in {finding.rule for finding in findings([run], None)}


def test_a_model_that_kept_its_depth_is_not_idle() -> None:
    """Some of its few I/Os took a second of the 2.5 s, so that IOPS x latency is 8 % less than the depth."""
    run = run_of("ent-10k", "seqread")
    summary = {**run.record["summary"], "iops": 213.6, "latency_mean_ns": 34473952.4, "queue_depth_mean": 8.0}
    found = findings([replace(run, record={**run.record, "summary": summary})], None)  # type: ignore[arg-type]
    assert "idle-concurrency" not in {finding.rule for finding in found}


@pytest.mark.parametrize(("share", "is_found"), [(0.9999, False), (0.99, True)])
def test_a_pass_of_whole_ios_fills_a_drive(share: float, is_found: bool) -> None:
    """A pass ends before a remainder that is smaller than an I/O."""
    run = run_of("s4500-960", "randwrite", "0.1 s")
    facts = of_record(run.record)
    assert facts is not None
    begin = {"host_bytes": round(share * (facts.raw_bytes or 0))}
    end = {"host_bytes": round(2 * (facts.raw_bytes or 0))}
    record = {**run.record, "smart": [{"drive": "d0", "at_begin": begin, "at_end": end}]}
    found = findings([replace(run, record=record)], facts)  # type: ignore[arg-type]
    assert ("not-preconditioned" in {finding.rule for finding in found}) is is_found


BINNED: dict[str, object] = {
    "count": 1000,
    "latency_mean_ns": 90_000.0,
    "latency_p50_ns": 500_000,
    "latency_p99_ns": 1_000_000,
    "latency_max_ns": 1_000_000,
}
"""The percentiles of vdbench are upper edges of bins of 500 us, and most I/Os took less than a fifth of the first."""


@pytest.mark.parametrize(("is_exact", "count"), [(True, 2), (False, 0)])
def test_no_mean_follows_from_edges_of_wide_bins(is_exact: bool, count: int) -> None:
    made = [claim for claim in ordered("", BINNED, is_exact=is_exact) if claim.figure == "mean latency"]
    assert len(made) == count
    assert [claim.source for claim in made if not claim.holds] == ["its percentiles, min and max"] * is_exact


def test_a_result_of_wide_bins_does_not_contradict_itself() -> None:
    run = result("v", [(1.0, Shape(90e3, 80e3))], tool="vdbench", version="5.04.07", kind="mean")
    edges = {"latency_min_ns": None, "latency_p50_ns": 500_000, "latency_p99_ns": 500_000, "latency_p999_ns": 500_000}
    both, reads = run.record["summary"], run.record["summary"]["read"]
    summary = {**both, **edges, "read": {**(reads or {}), **edges}}
    assert check([replace(run, record={**run.record, "summary": summary})]) == []  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def doubled_power(two_phases: Audited) -> LoadedRecord:
    """A record whose table of power contradicts its energy, and nothing else does."""
    assert two_phases.series is not None
    power = two_phases.over_time["power"].with_columns(pl.col("power_w", "low_w", "high_w") * 2)
    tables = {"series": two_phases.series, **two_phases.over_time, "power": power}
    return loaded_frames(two_phases.record, tables)


def test_a_page_marks_a_record_whose_tables_contradict_it(two_phases: Audited, doubled_power: LoadedRecord) -> None:
    right = replace(doubled_power, power=two_phases.over_time["power"])
    assert ["energy_j is" in _page(loaded) for loaded in (right, doubled_power)] == [False, True]
    assert [_page(right, loaded).count("contradicts itself") for loaded in (right, doubled_power)] == [0, 1]


def _page(*records: LoadedRecord) -> str:
    return render(record_page(records, audit=len(records) == 1))


def test_folders_are_compared_with_their_tables_over_time(doubled_power: LoadedRecord) -> None:
    entry = SimpleNamespace(series="s", test="t", shared_test="t", name="s/t", record=doubled_power, path=Path("t"))
    folder = _folder("s", SimpleNamespace(folder=Path("s"), results=[entry], skipped_words=""))  # type: ignore[arg-type]
    (run,) = folder.tests["t"]
    assert contradicted(run)


BEFORE = """
[[phases]]
name = "deep"
threads = 32
duration = "1 s"
measure = true
[[phases]]
name = "shallow"
threads = 1
duration = "1 s"
measure = true
"""


@pytest.mark.parametrize("machine", ["ent-10k", "st8000as0002"])
def test_a_shallow_phase_completes_ios_of_a_deep_one(machine: str, tmp_path: Path) -> None:
    """I/Os in flight at a change of phase are as many as the deeper phase has, and belong to both."""
    path = tmp_path / "deep.toml"
    path.write_text(TWO_PHASES.split("[[phases]]")[0].replace("depth = 4", "depth = 1") + BEFORE)
    assert check([run_of(machine, str(path), None)]) == []


def test_ends_of_energy_are_those_of_the_whole_run() -> None:
    """The values of a drive that draw least differ between a quiet interval and a busy one."""
    assert check([run_of("ent-10k", "ycsb-b")]) == []
