"""Does a record come back from disk, and does bad input say what is wrong with it?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import synthetic

from hotband.base.errors import UserError
from hotband.views.report import load_record


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return synthetic.save(tmp_path / "run", synthetic.record("a run"), synthetic.series())


def refusal(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        load_record(path)
    return str(caught.value)


def change(folder: Path, **values: Any) -> Path:
    file = folder / "record.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))
    return folder


def test_a_folder_and_its_file_are_the_same_record(folder: Path) -> None:
    by_folder, by_file = load_record(folder), load_record(folder / "record.json")
    assert by_folder.record == by_file.record
    assert by_folder.label == "a run"
    assert by_folder.series is not None
    assert by_folder.series.height == 120


def test_a_record_without_series_has_none(folder: Path) -> None:
    assert load_record(change(folder, series=None)).series is None


def test_a_lost_series_is_a_remark(folder: Path) -> None:
    (folder / "series.parquet").unlink()
    found = load_record(folder)
    assert found.series is None
    assert "series.parquet is missing" in found.remarks[0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"schema": "something-else"}, "schema = 'something-else': not a record"),
        ({"schema": None}, "not a record"),
        ({"schema_version": 2}, "schema_version = '2': written by a newer Hotband"),
        ({"schema_version": "1"}, "expected a whole number"),
        ({"schema_version": True}, "expected a whole number"),
        ({"summary": []}, "summary = '[]': expected an object"),
        ({"streams": None}, "streams = 'nothing': expected a list"),
        ({"streams": [3]}, "streams[0] = '3': expected an object"),
        ({"streams": [{"read": {"histogram": {"buckets": [[1]]}}}]}, "streams[0].read"),
        ({"streams": [{"write": {"histogram": {"buckets": [[1, -2]]}}}]}, "streams[0].write"),
        ({"streams": [{"read": {"histogram": [1]}}]}, "streams[0].read"),
        ({"parts": ["d0"]}, "parts[0]"),
        ({"duration_ns": "60 s"}, "duration_ns = '60 s': expected a number of nanoseconds"),
        ({"series": {"file": ""}}, "series.file"),
        ({"series": {"file": "../../secret.parquet"}}, "expected a file in the record's folder"),
        ({"series": {"file": "/etc/passwd"}}, "expected a file in the record's folder"),
    ],
)
def test_a_wrong_key_is_named(folder: Path, values: dict[str, Any], words: str) -> None:
    assert words in refusal(change(folder, **values))


def test_no_file(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "nowhere.json")
    assert "contains no record and no result of a tool that Hotband recognises" in refusal(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "not json", '{"schema": NaN}', "[" * 100_000])
def test_not_json(tmp_path: Path, text: str) -> None:
    file = tmp_path / "record.json"
    file.write_text(text)
    assert "not JSON" in refusal(file)


def test_not_text(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    file.write_bytes(b"\xff\xfe\x00")
    assert "not JSON" in refusal(file)


def test_json_but_not_an_object(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    file.write_text("[]")
    assert "expected a JSON object" in refusal(file)


def test_a_corrupt_series(folder: Path) -> None:
    (folder / "series.parquet").write_bytes(b"PAR1 but no more")
    assert "not a readable Parquet file" in refusal(folder)


def test_a_series_without_its_columns(folder: Path) -> None:
    pl.DataFrame({"time_ns": [0]}).write_parquet(folder / "series.parquet")
    assert "missing from a record's series" in refusal(folder)


def test_a_meter_may_read_below_zero(folder: Path) -> None:
    names = {"file": "series.parquet", "power_file": "power.parquet"}
    row = {"time_ns": 0, "length_ns": 10**9, "drive": "a", "power_w": -0.1, "low_w": -0.3, "high_w": 0.2}
    pl.DataFrame([row]).write_parquet(folder / "power.parquet")
    loaded = load_record(change(folder, series=names))
    assert loaded.power is not None
    assert loaded.power["power_w"].to_list() == [-0.1]
    pl.DataFrame([row | {"length_ns": -1}]).write_parquet(folder / "power.parquet")
    assert "power_file: length_ns = '-1': expected finite numbers of 0 or more" in refusal(folder)


def test_a_series_whose_numbers_are_words(folder: Path) -> None:
    words = synthetic.series().with_columns(iops=pl.lit("many"))
    words.write_parquet(folder / "series.parquet")
    assert "expected numbers" in refusal(folder)
