"""Is a run one run in a store, whichever way it comes there?"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hotband as hb
from hotband.data.record.record import Record
from hotband.data.store.folders import Added
from hotband.questions.sweeps.sweep import Sweep

Hotband = Callable[..., "subprocess.CompletedProcess[str]"]


def swept(out: Path | None, *, records: bool = False, **settings: Any) -> Sweep:
    """A sweep of two runs."""
    asked: dict[str, Any] = {"qd": [1, 4], **settings}
    return hb.sweep("fio-randread", on="ent-10k", duration="1 s", out=out, records=records, progress=False, **asked)


def with_intervals(run: Record, low: float) -> Record:
    """The same run with intervals of its rate."""
    figures = [{"figure": "iops", "low": low, "high": 500.0}]
    document = {**run.document, "intervals": {"level": 90.0, "figures": figures}}
    return Record(json.loads(json.dumps(document)), run.tables)


def test_a_saved_sweep_is_added_once(tmp_path: Path) -> None:
    swept(None, records=True).save(tmp_path / "saved")
    with hb.store(tmp_path / "s") as store:
        assert store.append_folder(tmp_path / "saved") == Added(2, 0)
        assert store.append_folder(tmp_path) == Added(0, 2)


def test_a_saved_sweep_without_records_has_its_rows(tmp_path: Path) -> None:
    swept(None).save(tmp_path / "saved")
    with hb.store(tmp_path / "s") as store:
        assert store.append_folder(tmp_path / "saved") == Added(2, 0)


@pytest.mark.parametrize("is_closed", [False, True], ids=["in the journal", "in a part"])
def test_rows_of_runs_that_are_there_are_not_added(tmp_path: Path, is_closed: bool) -> None:
    store = hb.store(tmp_path / "s")
    with store.taking():
        swept(tmp_path / "w", bs=["4KiB", "64KiB"])
    if is_closed:
        store.close()
    assert store.append_folder(tmp_path / "w") == Added(0, 4)
    # Another version, another point of the same figures: other runs.
    swept(tmp_path / "other", bs=["4KiB"], read_pct=[100])
    assert store.append_folder(tmp_path / "other") == Added(2, 0)
    assert len(store) == 6
    store.close()


def test_rows_of_another_version_are_other_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hb.store(tmp_path / "s") as store, store.taking():
        swept(tmp_path / "w")
    monkeypatch.setattr("hotband.data.store.folders._version_of_sweep", lambda frame: "0.0.1")
    with hb.store(tmp_path / "s") as store:
        assert store.append_folder(tmp_path / "w") == Added(2, 0)
        assert store.runs("hotband = '0.0.1'").height == 2


def test_rows_with_further_columns_are_the_same_rows(tmp_path: Path) -> None:
    swept(tmp_path / "w")
    frame = tmp_path / "w/sweep.parquet"
    with hb.store(tmp_path / "s") as store:
        assert store.append_folder(tmp_path / "w") == Added(2, 0)
        pl.read_parquet(frame).with_columns(pl.lit(None, pl.Float64).alias("iops_interval_low")).write_parquet(frame)
        assert store.append_folder(tmp_path / "w") == Added(0, 2)


def test_records_of_rows_that_are_there_are_not_added_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    swept(tmp_path / "w")
    with hb.store(tmp_path / "s") as store:
        assert store.append_folder(tmp_path / "w") == Added(2, 0)
    with hb.store(tmp_path / "s") as store, store.taking():
        swept(None)
        swept(None, read_pct=[100])
    assert len(hb.store(tmp_path / "s")) == 4
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "2 runs were there already without these records, which were not added" in said


@pytest.mark.parametrize("is_closed", [False, True], ids=["in the journal", "in a part"])
def test_intervals_of_a_run_that_is_there_are_not_added_and_that_is_said(
    runs: list[Record], tmp_path: Path, capsys: pytest.CaptureFixture[str], is_closed: bool
) -> None:
    store = hb.store(tmp_path / "s")
    store.append(with_intervals(runs[1], 100.0))
    store.append(runs[0])
    if is_closed:
        store.close()
    # The same intervals, or none, are nothing that is left out.
    assert not store.add(with_intervals(runs[1], 100.0))[1]
    assert not store.add(runs[1])[1]
    store.close()
    assert capsys.readouterr().err == ""
    assert not store.add(with_intervals(runs[0], 100.0))[1]
    store.close()
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "1 run was there already without these intervals, which were not added" in said
    assert "use a new store" in said


def test_a_record_and_a_sweep_in_one_folder_are_both_added(runs: list[Record], tmp_path: Path) -> None:
    swept(tmp_path / "rows")
    runs[0].save(tmp_path / "rows")
    runs[1].save(tmp_path / "saved")
    swept(None, records=True, qd=[2, 8]).save(tmp_path / "saved")
    with hb.store(tmp_path / "s") as store:
        assert store.append_folder(tmp_path / "rows") == Added(3, 0)
        assert store.append_folder(tmp_path / "saved") == Added(3, 0)


def test_into_and_add_count_a_run_once(hotband: Hotband) -> None:
    sweep = ("fio-randread", "--on", "ent-10k", "--set", "qd=1,4", "--duration", "1 s", "--into", "s", "--out", "w")
    assert hotband("sweep", *sweep).returncode == 0
    assert hotband("store", "add", "s", "w").stdout.splitlines()[0] == (
        "0 runs were added; 2 were already in the store."
    )
