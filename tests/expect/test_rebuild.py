"""Is the load of a result rebuilt as it was asked for, and is said what had to be assumed?"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import vdbench_folder
from fio_results import job
from result_documents import diskspd, flatfile, iometer, iometer_test, run_rows

import hotband as hb
from hotband.data.inputs.specify import Named
from hotband.questions.expect.predict import Settings, spec_of
from hotband.questions.expect.results import Row, read_rows


def rows_of(path: Path, workload: Named | None = None) -> list[Row]:
    return read_rows([path], workload)


def table(row: Row) -> dict[str, Any]:
    assert row.load is not None, row.why_not
    return tomllib.loads(row.load.text)


def test_a_fio_job_is_its_options(fio) -> None:
    (row,) = rows_of(
        fio(job("a", {"rw": "randrw", "rwmixread": "70", "iodepth": "16", "size": "10g"}, reads=7000, writes=3000))
    )
    found = table(row)
    (stream,) = found["streams"]
    assert (stream["read_pct"], stream["random_pct"], stream["size"]) == (70, 100, "4 KiB")
    assert stream["range"] == ["0 B", "10 GiB"]
    assert found["load"] == {"closed": {"threads": 1, "depth": 16}}
    assert row.load.span_bytes == 10 << 30


def test_what_is_not_said_is_told(fio) -> None:
    path = fio(job("a", {"rw": "randread", "iodepth": "4"}, reads=6000), ioengine="external", direct="0")
    (row,) = rows_of(path)
    said = " ".join(row.load.assumed)
    for words in (
        "ioengine=external issues I/Os as libaio does",
        "whole target",
        "offsets were uniform",
        "although direct=0",
        "completion latencies",
    ):
        assert words in said


def test_clones_that_fio_lists_one_by_one_are_one_job(fio) -> None:
    options = {"rw": "randread", "numjobs": "3", "iodepth": "2"}
    (row,) = rows_of(fio(*(job("a", options, reads=2000) for _ in range(3))))
    assert table(row)["load"]["closed"] == {"threads": 3, "depth": 2}


def test_jobs_beside_one_another_are_one_row_and_those_in_turn_one_each(fio) -> None:
    first, second = {"rw": "randread", "iodepth": "4"}, {"rw": "randwrite", "iodepth": "2"}
    (both,) = rows_of(fio(job("r", first, reads=6000), job("w", second, writes=3000)))
    assert [stream["read_pct"] for stream in table(both)["streams"]] == [100, 0]
    turns = rows_of(fio(job("r", first, reads=6000), job("w", second, writes=3000, group=1, elapsed=122)))
    assert [row.record["summary"]["count"] for row in turns] == [6000, 3000]
    assert [table(row)["load"]["closed"]["depth"] for row in turns] == [4, 2]


def test_a_rate_that_was_reached_is_offered_and_one_that_was_not_is_a_closed_loop(fio) -> None:
    options = {"rw": "randread", "iodepth": "8", "rate_iops": "100"}
    (reached,) = rows_of(fio(job("a", options, reads=5990, mean_ms=8.0)))
    assert table(reached)["load"]["open"]["rate_iops"] == pytest.approx(99.83, abs=0.01)
    assert reached.load.asks == "open"
    flushed = job("a", {**options, "rw": "randwrite", "fsync": "1"}, writes=5990, mean_ms=8.0)
    latency = {"min": 1_000_000, "max": 3_000_000, "mean": 2_000_000.0, "stddev": 0.0, "N": 5990}
    (logged,) = rows_of(fio({**flushed, "sync": {"total_ios": 5990, "lat_ns": latency}}))
    assert table(logged)["load"]["open"]["rate_iops"] == pytest.approx(99.83, abs=0.01)
    # 50 of 100 a second, and 7.5 of 8 outstanding: 50 x 0.15 s.
    (held,) = rows_of(fio(job("a", options, reads=3000, mean_ms=150.0)))
    assert table(held)["load"] == {"closed": {"threads": 8, "depth": 1}}
    # As few, and hardly anything outstanding: the tool did not ask for more.
    (idle,) = rows_of(fio(job("a", options, reads=3000, mean_ms=1.0)))
    assert idle.load.asks == "open"


def test_bursts_that_were_run_are_judged_by_their_latency(fio, tmp_path: Path) -> None:
    bursts = tmp_path / "bursts.toml"
    load = '[load]\nbursts = { ios = 8, every = "100 ms" }\n'
    bursts.write_text(load + '[[streams]]\nsize = "4 KiB"\n[[phases]]\nduration = "1 s"\nmeasure = true\n')
    result = fio(job("a", {"rw": "randread", "iodepth": "8"}, reads=4800))
    (row,) = rows_of(result, Named(str(bursts), bursts.read_text()))
    assert row.load is not None
    assert row.load.asks == "open", "the rate is that of the bursts, and says nothing of the drive"


def test_a_share_of_reads_is_taken_as_measured(fio) -> None:
    (row,) = rows_of(fio(job("a", {"rw": "randwrite"}, reads=3000, writes=3000)))
    assert row.load.settings == {"read_pct": "50"}
    assert "although 0 % were requested" in " ".join(row.load.assumed)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"rw": "randread", "ioengine": "null"}, "does no I/O"),
        ({"rw": "sideways"}, "expected one of"),
        ({"rw": "randread", "read_iolog": "trace"}, "trace"),
    ],
)
def test_what_cannot_be_rebuilt_says_why(fio, options: dict[str, str], why: str) -> None:
    (row,) = rows_of(fio(job("a", options, reads=100)))
    assert row.load is None
    assert why in row.why_not


def test_a_run_of_vdbench_is_the_row_of_its_flatfile(tmp_path: Path) -> None:
    path = tmp_path / "flatfile.html"
    path.write_text(flatfile(*run_rows()))
    (row,) = rows_of(path)
    found = table(row)
    (stream,) = found["streams"]
    assert (stream["size"], stream["read_pct"], stream["random_pct"]) == ("8 KiB", 75, 100)
    assert stream["range"] == ["0 B", "10 GiB"]
    assert found["load"] == {"closed": {"threads": 8, "depth": 1}}


def test_loops_of_a_run_of_vdbench_have_their_parameters(tmp_path: Path) -> None:
    runs = [vdbench_folder.Definition("rd1", [100.0] * 3, threads=threads) for threads in (8, 16)]
    rows = rows_of(vdbench_folder.write(tmp_path / "out", *runs) / "flatfile.html")
    assert [row.name for row in rows] == ["rd1 threads=8", "rd1 threads=16"]


def test_a_time_span_of_diskspd_is_its_profile(tmp_path: Path) -> None:
    path = tmp_path / "result.xml"
    path.write_text(diskspd())
    (row,) = rows_of(path)
    found = table(row)
    (stream,) = found["streams"]
    assert (stream["size"], stream["read_pct"], stream["random_pct"]) == ("4 KiB", 75, 100)
    assert found["load"]["closed"] == {"threads": 2, "depth": 4}
    assert any("file system" in text for text in row.load.assumed)


def test_a_test_of_iometer_is_its_access_specification(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(iometer(*iometer_test(800, 200)))
    (row,) = rows_of(path)
    if row.load is None:
        assert "expected -w FILE.icf" in row.why_not
    else:
        assert all(stream["align"] == "512 B" for stream in table(row)["streams"])


def test_what_was_run_may_be_said(tmp_path: Path, samples: Path) -> None:
    (row,) = rows_of(samples / "fio" / "fio_terse_v5.txt")
    assert "expected -w JOB" in row.why_not
    (row,) = rows_of(samples / "fio" / "fio_terse_v5.txt", Named("fio-randread"))
    assert row.load is not None
    assert row.load.assumed[0] == "fio-randread was run, according to you"


RESULTS = {
    "fio/Results_FIO_virtualclient.json": 1,
    "fio/fio-3.33_jsonplus_oltp.json": 1,
    "fio/fio-3.33_steadystate.json": 0,
    "fio/fio_terse_v5.txt": 0,
    "fio/fiosynth_sample_1_run1.json": 1,
    "fio/oltp_lat.1.log": 0,
    "fio/oltp_clat_hist.1.log": 0,
    "diskspd/Results_DiskSpd.xml": 1,
    "vdbench/exch_flatfile.html": 16,
    "vdbench/exch_flatfile.csv": 16,
    "vdbench/exch_summary.html": 0,
    "vdbench/exch_totals.html": 0,
    "vdbench/exch_histogram.html": 0,
    "vdbench": 16,
    "hdr/ycsb.logV1.hlog": 0,
    **{f"croit-normal/{op}-normal-{1 << n}.json": 1 for op in ("read", "write") for n in (0, 1, 2, 4, 5, 7)},
}
"""The real results, and how many rows of each have a load."""


@pytest.mark.parametrize("name", RESULTS)
def test_every_real_result_is_rebuilt_or_says_why_not(samples: Path, name: str) -> None:
    rows = rows_of(samples / name)
    assert sum(row.load is not None for row in rows) == RESULTS[name]
    assert all(row.load is not None or row.why_not for row in rows)


def recorded(kind: str) -> dict[str, Any]:
    """A record as one of a served machine or of hardware."""
    made = hb.run("fio-randread", on="ent-10k", duration="1 s", set={"warm_up": "0 s"}).to_dict()
    text = made["spec"]["workload"].replace('size = "4 KiB"', 'size = "4 KiB"\noffsets = { zipf = { exponent = 1.1 } }')
    made["target"]["kind"] = kind
    options = {"concurrency": 1, "rate_iops": None, "working_set_bytes": None, "read_pct": 100.0, "direct": None}
    made["source"] = {"tool": "fio", "file": "fio.json", "asked": options, "target": "ent-10k", "latency": "lat"}
    made["spec"] |= {"global": {"ioengine": "nbd"}, "jobs": {"j": {"rw": "randread", "bs": "4096"}}, "workload": text}
    return made


@pytest.mark.parametrize("kind", ["emulated", "real"])
def test_a_record_of_hotband_without_ios_has_no_load(kind: str, tmp_path: Path) -> None:
    made = recorded(kind)
    made["summary"]["count"] = 0
    (tmp_path / "record.json").write_text(json.dumps(made))
    [row] = read_rows([tmp_path], None)
    assert (row.load, row.why_not) == (None, "no read or write was measured")


@pytest.mark.parametrize(
    ("kind", "state", "of_model", "assumed"),
    [
        ("emulated", "fob", "fob", 0),
        ("emulated", "trimmed", "trimmed", 0),
        ("real", "purged", "fob", 0),
        ("real", "preconditioned", "preconditioned", 0),
        ("real", "filled", "preconditioned", 1),
    ],
)
def test_a_record_of_hotband_has_the_state_of_its_drives(
    kind: str, state: str, of_model: str, assumed: int, tmp_path: Path
) -> None:
    made = recorded(kind)
    made["spec"]["set"] = {"state": state}
    (tmp_path / "record.json").write_text(json.dumps(made))
    [row] = read_rows([tmp_path], None)
    assert row.load is not None
    assert row.load.settings["state"] == of_model
    assert len(row.load.assumed) == assumed
    assert dict(spec_of(row, Named("s4500-960"), Settings()).set)["state"] == of_model


@pytest.mark.parametrize("kind", ["emulated", "real"])
def test_a_record_of_hotband_has_its_workload(kind: str, tmp_path: Path) -> None:
    """Options of fio state neither the distribution of offsets nor the target: nothing of them is assumed."""
    made = recorded(kind)
    (tmp_path / "record.json").write_text(json.dumps(made))
    [row] = read_rows([tmp_path], None)
    assert row.load is not None
    assert "zipf" in row.load.text
    assert row.load.assumed == []
