"""Does every command that quotes a result say what its tool reports of failed I/Os and other trouble?"""

from __future__ import annotations

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from made_up import changed
from planted_in_itself import gap

from command_line import run_hotband
from hotband.data.documents.run import RunSpec
from hotband.data.importers.fio.documents import read_fio
from hotband.execution.experiment.experiment import execute
from hotband.inference.audit import Audited, pauses, trouble
from hotband.inference.audit.trouble import troubles

LATENCY = {"min": 80_000, "max": 400_000, "mean": 100_000.0, "stddev": 9000.0}
IDLE = {"io_bytes": 0, "io_kbytes": 0, "bw_bytes": 0, "iops": 0.0, "runtime": 0, "total_ios": 0}


def document(total: int, measured: int, errors: int, **further: Any) -> dict[str, Any]:
    """Return a result of fio whose reads are this many, of which some failed."""
    read = {
        "io_bytes": 4096 * measured,
        "io_kbytes": 4 * measured,
        "bw_bytes": 4096 * measured // 10,
        "iops": total / 10,
        "runtime": 10_000,
        "total_ios": total,
        "short_ios": 0,
        "drop_ios": 0,
        "clat_ns": {**LATENCY, "N": measured, "percentile": {"50.000000": 99_000, "99.000000": 200_000}},
        "lat_ns": {**LATENCY, "N": measured},
    }
    options = {"rw": "randread", "bs": "4k", "iodepth": "1", "ioengine": "psync", "direct": "1", "filename": "/dev/x"}
    job = {"jobname": "a", "groupid": 0, "error": 5 if errors else 0, "elapsed": 11, "job options": options}
    job |= {"read": read | further, "write": IDLE, "usr_cpu": 1.0, "sys_cpu": 2.0, "total_err": errors}
    return {"fio version": "fio-3.36", "timestamp": 1_700_000_000, "global options": {}, "jobs": [job]}


def test_failed_ios_are_not_in_rates() -> None:
    record = read_fio(json.dumps(document(90_000, 60_000, 30_000)), "a.json")[0]
    assert (record["summary"]["count"], record["summary"]["errors"]) == (60_000, 30_000)
    assert record["summary"]["iops"] == pytest.approx(6000)
    assert troubles(record) == ["30,000 of 90,000 I/Os failed (33.3 %); a ended with error 5 (EIO)"]


def test_without_samples_of_latency_bytes_tell_which_succeeded() -> None:
    result = document(90_000, 60_000, 30_000)
    del result["jobs"][0]["read"]["clat_ns"], result["jobs"][0]["read"]["lat_ns"]
    record = read_fio(json.dumps(result), "a.json")[0]
    assert (record["summary"]["count"], record["summary"]["errors"]) == (60_000, 30_000)


def test_the_error_that_ended_a_job_is_in_no_count() -> None:
    record = read_fio(json.dumps(document(60_000, 60_000, 1)), "a.json")[0]
    assert (record["summary"]["count"], record["summary"]["errors"]) == (60_000, 1)
    assert troubles(record) == ["1 of 60,001 I/Os failed (0.00167 %); a ended with error 5 (EIO)"]


def test_failed_ios_of_a_mixed_job_belong_to_the_direction_that_lacks_them() -> None:
    result = document(90_000, 60_000, 30_500)
    job = result["jobs"][0]
    job["job options"]["rw"] = "randrw"
    job["write"] = copy.deepcopy(job["read"]) | {"total_ios": 60_500}
    record = read_fio(json.dumps(result), "a.json")[0]
    errors = [record["summary"]["read"]["errors"], record["summary"]["write"]["errors"], record["summary"]["errors"]]
    assert errors == [30_000, 500, 30_500]


def test_short_ios_and_lines_around_the_result_are_trouble() -> None:
    text = f"fio: io_u error on file /dev/x\n{json.dumps(document(60_000, 60_000, 0, short_ios=7))}"
    record = read_fio(text, "a.json")[0]
    assert troubles(record) == ["fio reports trouble: 7 short and 0 dropped I/Os; fio: io_u error on file /dev/x"]


def flat(*arguments: str) -> str:
    """Return what a command prints, in one line."""
    return " ".join(run_hotband(*arguments).stdout.split())


def test_compare_import_report_and_audit_say_it(tmp_path: Path) -> None:
    whole, failing = tmp_path / "whole.json", tmp_path / "failing.json"
    whole.write_text(json.dumps(document(60_000, 60_000, 0)), encoding="utf-8")
    failing.write_text(json.dumps(document(90_000, 60_000, 30_000)), encoding="utf-8")
    words = "30,000 of 90,000 I/Os failed (33.3 %)"
    assert words in flat("compare", str(whole), str(failing))
    assert words in flat("import", "auto", str(failing))
    page = tmp_path / "page.html"
    flat("report", str(failing), "-o", str(page))
    assert words in page.read_text(encoding="utf-8")
    assert words in flat("audit", str(failing))


OPEN = """[load]
open = { rate_iops = 5000, arrival = "poisson" }
[[streams]]
read_pct = 100
size = "4 KiB"
random_pct = 100
[[phases]]
duration = "2 s"
measure = true
"""


def test_an_open_loop_that_a_disk_does_not_keep_up_with_is_said(tmp_path: Path) -> None:
    (done,) = execute([RunSpec("r", "ent-15k", "open", workload_text=OPEN)])
    (note,) = [note for note in done.record["notes"] if "keep up" in note]
    assert note.startswith("does not keep up: ")
    assert note.endswith(" of 5,000 IOPS; latencies grow throughout the run")
    assert [finding.rule for finding in trouble.check([Audited("a", done.record)])] == ["overload"]
    (slow,) = execute([RunSpec("r", "ent-15k", "open", (("rate_iops", "100"),), workload_text=OPEN)])
    assert trouble.check([Audited("a", slow.record)]) == []
    assert not any("keep up" in note for note in slow.record["notes"])
    file = tmp_path / "open.toml"
    file.write_text(OPEN, encoding="utf-8")
    said = flat("sweep", str(file), "--on", "ent-15k", "--set", "rate_iops=100,5000")
    assert "does not keep up: " in said


def test_a_rate_that_the_generator_misses_is_not_the_targets_fault() -> None:
    (done,) = execute([RunSpec("r", "ent-15k", "open", workload_text=OPEN)])
    record = copy.deepcopy(done.record)
    record["summary"]["queue_depth_mean"] = 0.0169
    (finding,) = [one for one in trouble.check([Audited("a", record)]) if one.rule == "overload"]
    assert finding.title.startswith("The load generator issued ")
    assert finding.title.endswith(" of 5,000 requested IOPS, with 0.0169 I/Os outstanding in the mean")


def test_reads_from_a_cache_are_troubles_of_a_measured_result_and_not_of_a_model() -> None:
    bimodal = document(60_000, 60_000, 0)
    bimodal["jobs"][0]["read"] |= {
        "iops": 6000.0,
        "clat_ns": {
            **LATENCY,
            "max": 40_000_000,
            "mean": 5_000_000.0,
            "N": 60_000,
            "bins": {"100000": 36_000, "12000000": 24_000},
        },
        "lat_ns": {**LATENCY, "max": 40_000_000, "mean": 5_000_000.0, "N": 60_000},
    }
    record = read_fio(json.dumps(bimodal), "a.json")[0]
    (words,) = [words for words in troubles(record, "a") if "cache" in words]
    assert words.startswith("a: 60 % of the random reads completed within 0.1 ms, faster than the media allow")
    assert words.endswith("; they came from a cache")
    as_model = {**record, "target": {**record["target"], "kind": "model"}}
    assert not any("cache" in words for words in troubles(as_model))
    assert not any(
        "cache" in words for words in troubles(read_fio(json.dumps(document(60_000, 60_000, 0)), "a.json")[0])
    )


def test_a_log_that_lacks_its_end_is_no_stall() -> None:
    whole = gap()
    assert whole.series is not None
    logged = whole.series.filter(pl.col("time_ns") < 250e9)
    rates = [round(rows["iops"].sum()) for rows in (whole.series, logged)]
    short = changed(dataclasses.replace(whole, series=logged), "summary", "count", to=rates[0])
    assert not [finding for finding in pauses.check([short]) if finding.rule == "stall"]
    # With all I/Os before, the device stopped.
    done = changed(short, "summary", "count", to=rates[1])
    (stall,) = [finding for finding in pauses.check([done]) if finding.rule == "stall"]
    assert stall.numbers["intervals_without_io"] == 50
