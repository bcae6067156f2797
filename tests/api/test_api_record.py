"""`Record`: figures, units, tables, what a notebook shows, and that it is what was saved."""

from __future__ import annotations

import copy
import json
import pickle
import re
from dataclasses import replace
from pathlib import Path

import pytest

import hotband as hb
from hotband.data.documents.run import RunSpec
from hotband.data.record.quantity import BytesPerSecond, Seconds
from hotband.data.record.record import Record
from hotband.data.record.written import record_text
from hotband.execution.experiment.experiment import execute


def test_latencies_are_seconds(disk: Record) -> None:
    """The document's nanoseconds, as floats that show their unit."""
    document = disk.to_dict()["summary"]["read"]
    assert document["latency_p99_ns"] is not None
    assert disk.read.p99 == document["latency_p99_ns"] / 1e9
    assert disk.read.p99 is not None
    assert disk.read.p99.ms == pytest.approx(document["latency_p99_ns"] / 1e6)
    assert repr(disk.read.p99).endswith(" ms")
    assert type(disk.read.p99 * 2) is float


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Seconds(0.00406), "4.06 ms"),
        (Seconds(36.8e-6), "36.8 us"),
        (Seconds(0), "0 ns"),
        (Seconds(-0.5), "-500 ms"),
        (Seconds(7200), "7,200 s"),
        (BytesPerSecond(1.01e6), "1.01 MB/s"),
        (BytesPerSecond(12), "12 B/s"),
    ],
)
def test_a_quantity_shows_its_unit(value: float, shown: str) -> None:
    """Three digits, in the unit that fits."""
    assert str(value) == shown


def test_a_quantity_is_a_number_of_json_and_frames() -> None:
    """It goes where a float goes."""
    import polars as pl

    assert json.loads(json.dumps({"p99": Seconds(0.25)})) == {"p99": 0.25}
    assert pl.DataFrame({"p99": [Seconds(0.25)]}).schema == {"p99": pl.Float64}
    assert f"{Seconds(0.25):.1f}" == "0.2"


def test_figures_of_all_are_those_of_both_directions(disk: Record) -> None:
    """Counts add up, and a percentile of all comes from the merged histogram."""
    assert disk.summary.count == (disk.read.count or 0) + (disk.write.count or 0)
    assert disk.summary.percentile(99) == disk.p99
    assert disk.read.percentile(99.9) == disk.read.p999
    assert disk.write.percentile(0) == disk.write.percentile(100)


@pytest.mark.parametrize("q", [101, -1, float("nan"), "99", None])
def test_a_percentile_out_of_range_is_refused(disk: Record, q: float) -> None:
    """Percent, not a share above one hundred."""
    with pytest.raises(hb.UserError, match=f"q = '{q}': expected a percentage from 0 to 100"):
        disk.read.percentile(q)


def test_where_the_time_went_adds_up(disk: Record) -> None:
    """The parts are the mean."""
    times = disk.read.times
    assert times is not None
    assert sum(vars(times).values()) == pytest.approx(disk.read.mean)


def test_columns_of_texts_are_text(disk: Record) -> None:
    """Streams and directions by name, whole numbers whole."""
    import polars as pl

    series, caches, power = disk.series, disk.caches, disk.power
    assert series is not None
    assert caches is not None
    assert power is not None
    assert series.schema["stream"] == series.schema["direction"] == pl.String
    assert set(series["direction"]) == {"read", "write"}
    assert series.schema["time_ns"] == pl.UInt64
    assert caches.schema["state"] == power.schema["drive"] == pl.String
    assert (disk.smart, disk.operations) == (None, None)


def test_an_app_has_operations_by_name() -> None:
    """As a table and as figures."""
    small = {"app.records": 100_000, "app.cache": "32 MB"}
    record = hb.run("ycsb-a", on="exos-15e900-512n", duration="1 s", set=small)
    assert record.app is not None
    assert record.operations is not None
    assert set(record.operations["operation"]) == {one["name"] for one in record.app["operations"]}


def test_steps_have_figures_of_their_own() -> None:
    """One for each measured phase."""
    load = {
        "title": "two steps",
        "source": "a test",
        "confidence": "high",
        "load": {"closed": {"threads": 1, "depth": 2}},
        "streams": [{"read_pct": 100, "random_pct": 100, "size": "4 KiB"}],
        "phases": [{"name": f"{n} threads", "threads": n, "duration": "1 s", "measure": True} for n in (1, 4)],
    }
    record = hb.run(load, on="ent-10k")
    assert [(one.name, one.threads) for one in record.steps] == [("1 threads", 1), ("4 threads", 4)]
    assert sum(one.duration for one in record.steps) == pytest.approx(record.duration)
    assert all(one.summary.iops is not None for one in record.steps)


def test_a_record_is_frozen_and_hands_out_copies(disk: Record) -> None:
    """What a program does with its parts does not change it."""
    before = copy.deepcopy(disk.document)
    with pytest.raises(AttributeError, match="frozen"):
        disk.iops = 1.0  # type: ignore[misc]
    disk.to_dict()["notes"].append("mine")
    assert disk.energy is not None
    disk.energy["mean_w"] = 0.0
    assert disk.document == before


def test_what_was_saved_is_what_is_loaded(disk: Record, tmp_path: Path) -> None:
    """Document and every table, types of columns too."""
    loaded = hb.load(disk.save(tmp_path / "a" / "b"))
    assert loaded == disk
    assert sorted(loaded.tables) == sorted(disk.tables) == ["caches", "power", "series"]
    assert all(loaded.tables[name].equals(disk.tables[name]) for name in disk.tables)
    assert all(loaded.tables[name].schema == disk.tables[name].schema for name in disk.tables)


def test_a_record_is_saved_as_the_command_line_saves_it(tmp_path: Path, hotband: object) -> None:
    """Byte for byte, every file."""
    asked = ("fio-randread", "ent-10k", "200 ms")
    done = hotband("run", asked[0], "--on", asked[1], "--duration", asked[2], "--out", str(tmp_path / "a"))  # type: ignore[operator]
    assert done.returncode == 0, done.stderr
    hb.run(asked[0], on=asked[1], duration=asked[2], progress=False).save(tmp_path / "b")
    hb.load(tmp_path / "a").save(tmp_path / "c")
    saved = {one: {file.name: file.read_bytes() for file in (tmp_path / one).iterdir()} for one in "abc"}
    assert saved["a"] == saved["b"] == saved["c"]


def test_a_record_of_runs_that_follow_each_other_is_written_as_one_of_a_run_alone() -> None:
    """What Python adds to it changes nothing else: every histogram stands on a line."""
    first = RunSpec("1", "ent-10k", "fio-randread", duration="200 ms")
    _, second = execute([first, replace(first, id="2", after="1")])
    assert second.text == record_text(second.record)
    assert '"buckets": [[' in second.text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1e-5, "0.00001"),
        (-1.25e-5, "-0.0000125"),
        (1e-7, "1e-7"),
        (2.5e-10, "2.5e-10"),
        (1e16, "1e+16"),
        (1e-4, "0.0001"),
    ],
)
def test_numbers_of_a_record_are_written_as_the_engine_writes_them(number: float, text: str) -> None:
    """As its serializer has them (zmij, formats -5 to 15 without an exponent)."""
    assert record_text({"a": [number]}) == f'{{\n  "a": [\n    {text}\n  ]\n}}'


def test_a_saved_record_is_read_by_the_command_line(disk: Record, tmp_path: Path, hotband: object) -> None:
    """The API leaves what every command reads."""
    disk.save(tmp_path / "saved")
    done = hotband("audit", "--steady", str(tmp_path / "saved"), "--round", "1 s")  # type: ignore[operator]
    assert done.returncode == 0, done.stderr


def test_a_record_survives_pickling_and_copying(disk: Record) -> None:
    """With its tables, for other processes."""
    again = pickle.loads(pickle.dumps(disk))
    assert again == copy.copy(disk) == disk
    assert hash(again) == hash(disk)
    assert again.series.equals(disk.series)


@pytest.mark.parametrize(
    "question", ["queue depth at mean < 10 ms", "IOPS at mean < 10 ms", "bs for 50 MB/s", "random_pct for 300 IOPS"]
)
def test_the_answer_of_a_search_survives_pickling(question: str) -> None:
    found = hb.find(question, "fio-randread", on="ent-10k", ios=1000, within=50)
    again = pickle.loads(pickle.dumps(found))
    assert again.to_dict() == found.to_dict()
    assert again.frame.equals(found.frame)


def test_a_table_outside_the_folder_is_refused(disk: Record, tmp_path: Path) -> None:
    """A record from elsewhere names files beside it only."""
    document = disk.to_dict()
    assert document["series"] is not None
    document["series"]["power_file"] = "../secret.parquet"
    (tmp_path / "record.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(hb.UserError, match="expected a file in the record"):
        hb.load(tmp_path)


def test_one_line_shows_a_record(disk: Record) -> None:
    """Name, rate and latencies; control characters of a name are shown, not sent."""
    assert repr(disk).startswith("<Record 'iometer-database on exos-15e900-512e': 416 IOPS, mean 19.2 ms")
    hostile = Record({**disk.document, "name": "a\x1b[2Jb\nc"})
    assert "\x1b" not in repr(hostile)
    assert "\n" not in repr(hostile)


def test_a_notebook_shows_a_table_and_a_picture(disk: Record) -> None:
    """The chart is an image that needs no script."""
    html = disk._repr_html_()
    assert "<table>" in html
    assert "data:image/svg+xml;base64," in html
    assert "<script" not in html
    assert len(html) < 120_000


def test_hostile_names_and_notes_are_escaped(disk: Record) -> None:
    """A record is somebody else's text."""
    evil = "<img src=x onerror=alert(1)>"
    html = Record({**disk.document, "name": evil, "notes": [evil]}, disk.tables)._repr_html_()
    assert "<img src=x" not in html
    assert html.count("&lt;img src=x onerror=alert(1)&gt;") == 2


def test_a_record_without_ios_is_shown_without_a_picture() -> None:
    """And says that nothing was measured."""
    idle = hb.run("idle", on="ent-10k", duration="1 s")
    assert idle.mean is None
    assert "<img" not in idle._repr_html_()
    assert repr(idle).endswith(" 0 IOPS>")
    with pytest.raises(hb.UserError, match="neither histograms nor percentiles"):
        idle.plot()


@pytest.mark.parametrize("kind", ["latency", "iops", "latency_mean", "latency_p99", "queue_depth"])
def test_every_plot_is_a_chart(disk: Record, kind: str) -> None:
    """Drawn by the charts of reports."""
    assert disk.plot(kind).to_dict()["$schema"].startswith("https://vega")  # type: ignore[arg-type]


def test_an_unknown_plot_names_those_there_are(disk: Record) -> None:
    """As any other mistake."""
    with pytest.raises(hb.UserError, match="expected one of latency, iops"):
        disk.plot("pie")  # type: ignore[arg-type]


@pytest.mark.long
def test_a_chart_saved_as_a_page_loads_nothing(disk: Record, tmp_path: Path) -> None:
    """Its libraries are in it, also where the chart was changed first."""
    chart = disk.plot("iops").properties(width=200)
    chart.save(tmp_path / "chart.html")
    page = (tmp_path / "chart.html").read_text()
    assert "vegaEmbed" in page
    assert not re.search(r"<(script|link)[^>]* (src|href)=|import\(?\s*[\"']https?:", page)
    chart.save(tmp_path / "chart.json")
    assert json.loads((tmp_path / "chart.json").read_text())["width"] == 200


def test_a_result_of_fio_is_a_record_too() -> None:
    """Of the same type; several in one file are read together."""
    samples = Path(__file__).parents[1] / "fio" / "samples"
    found = [record for path in sorted(samples.glob("*.json"))[:3] for record in hb.load_all(path)]
    assert found
    assert all(record.document["target"]["kind"] == "fio" for record in found)
    assert all(record._repr_html_() for record in found)
