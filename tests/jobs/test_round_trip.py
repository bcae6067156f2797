"""The catalog through fio and vdbench and back: the same workload, or a line that says what is not."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from job_files import job_of

import hotband as hb
from forms import thinned
from hotband.base.errors import UserError
from hotband.base.text.quantities import span_ns
from hotband.data.catalog import CATALOG_DIR
from hotband.data.jobs.job_file import converted, written
from hotband.data.jobs.loss import Fate, LossReport
from hotband.data.jobs.returned import plain

ALL = sorted(path.stem for path in (CATALOG_DIR / "workloads").glob("*.toml"))
BLOCK = [name for name in ALL if not {"app", "scripts"} & tomllib.loads(hb.workload(name)).keys()]
ENDING = {"fio": "a.fio", "vdbench": "a.parm"}


def test_there_is_something_to_convert() -> None:
    assert len(BLOCK) >= 20


def outstanding(table: dict[str, Any]) -> float:
    """I/Os that all loops keep outstanding."""
    loads = [table.get("load", {}), *(one.get("load", {}) for one in table["streams"])]
    return sum(one["closed"]["threads"] * one["closed"].get("depth", 1) for one in loads if "closed" in one)


def measured_s(table: dict[str, Any]) -> list[float]:
    return [(span_ns(one["duration"]) or 0) / 1e9 for one in table["phases"] if one.get("measure")]


def told(report: LossReport, index: int, key: str) -> bool:
    """Whether the report says that a key is not kept; sizes and alignment are told together."""
    keys = {"sizes": ["size"], "align": ["align", "size"], "random_mode": ["random_"]}.get(key, [key])
    if key == "cursor" and any(loss.option.startswith("load.") for loss in report.losses if loss.fate is not Fate.KEPT):
        return True
    lost = [loss.option for loss in report.losses if loss.fate is not Fate.KEPT]
    if key == "data":
        # It is that of the workload, or of writes that are a job of their own.
        keys = ("data", f"streams[{index}].data", f"streams[{index}].read_pct")
        return any(option.startswith(keys) for option in lost)
    return any(one.startswith(f"streams[{index}].{key}") for one in lost for key in keys)


@pytest.mark.parametrize("tool", ENDING)
@pytest.mark.parametrize("name", BLOCK)
def test_the_catalog_through_a_job_file_and_back(tmp_path: Path, name: str, tool: str) -> None:
    text = hb.workload(name)
    table = tomllib.loads(text)
    if name == "idle" and tool == "vdbench":
        with pytest.raises(UserError, match="below vdbench's minimum rate"):
            written(name, text, tool)
        return
    job, report = written(name, text, tool)
    path = tmp_path / ENDING[tool]
    path.write_text(job)
    back = job_of(path).table
    measured = [one for one in table["phases"] if one.get("measure")]
    asked = [
        one for one in table["streams"] if any(one.get("name") in p.get("streams", [one.get("name")]) for p in measured)
    ]
    assert len(back["streams"]) >= len(asked)
    for index, (before, after) in enumerate(zip(asked, back["streams"], strict=False)):
        one, other = plain(before, table), plain(after, back)
        differ = [key for key in one if one[key] != other[key]]
        assert [key for key in differ if not told(report, index, key)] == [], (one, other)
    assert measured_s(back) == measured_s(table) or any("phases[" in line for line in report.matters())
    single = len(table["streams"]) == 1 and "load" in table and "closed" in table["load"]
    if single and len(measured_s(table)) == 1:
        assert outstanding(back) == outstanding(table)


@pytest.mark.parametrize("tool", ENDING)
def test_what_a_job_can_say_comes_back_without_loss(tmp_path: Path, tool: str) -> None:
    for name in ("fio-randread", "iometer-4k-rand-70-30", "vdbench-8k-random", "vdbench-128k-seq-read", "fio-write"):
        _, report = written(name, hb.workload(name), tool)
        assert [loss for loss in report.losses if loss.fate is not Fate.KEPT] == []


@pytest.mark.parametrize("name", sorted(set(ALL) - set(BLOCK)))
def test_apps_and_scripts_are_more_than_a_job(name: str) -> None:
    with pytest.raises(UserError, match=r"more than block I/O|cannot express a script"):
        written(name, hb.workload(name), "fio")


def test_from_fio_to_vdbench_and_back(tmp_path: Path) -> None:
    source = tmp_path / "a.fio"
    source.write_text(
        "[a]\nfilename=/dev/sdx\nrw=randread:5\nbs=8k\nsize=4g\nruntime=20\ntime_based\niodepth=6\nioengine=libaio\n"
    )
    other = tmp_path / "a.parm"
    other.write_text(hb.convert(source, to="vdbench").text)
    first, second = job_of(source).table, job_of(other).table
    assert plain(first["streams"][0], first) == plain(second["streams"][0], second)
    assert outstanding(first) == outstanding(second) == 6


@pytest.mark.parametrize(
    "load", ['[load.open]\nrate_iops = 100\narrival = "fixed"', '[load]\nopen = { rate_iops = 100, arrival = "fixed" }']
)
def test_what_a_load_loses_is_said_however_it_is_written(load: str) -> None:
    stream = '[[streams]]\nread_pct = 70\nrandom_pct = 100\nsize = "8 KiB"'
    text = f'{load}\n{stream}\n[[phases]]\nmeasure = true\nduration = "5 s"\n'
    _, report = written("a.toml", text, "fio")
    assert {loss.why.partition(":")[0] for loss in report.of(Fate.APPROXIMATED)} == {
        "fio has one clock for reads and one for writes"
    }


@pytest.mark.parametrize(
    ("load", "stream"),
    [
        ('open = { rate_iops = 300, arrival = "poisson", outstanding = 12, drain = true }', "read_pct = 100"),
        ('open = { rate_iops = 300, arrival = "fixed", outstanding = 1 }', "read_pct = 0\ntrim_first = true"),
        ("closed = { threads = 1, depth = 1 }", "read_pct = 0\ntrim_first = true"),
    ],
)
def test_bounded_rates_and_writes_after_their_trims_come_back_from_fio(tmp_path: Path, load: str, stream: str) -> None:
    text = f'[load]\n{load}\n[[streams]]\n{stream}\nrandom_pct = 100\nsize = "8 KiB"\n'
    text += "[[phases]]\nmeasure = true\nios = 500\n"
    job, report = written("a.toml", text, "fio")
    back = tmp_path / "back.fio"
    back.write_text(job)
    first, second = tomllib.loads(text), job_of(back).table
    assert not report.of(Fate.IGNORED)
    assert plain(first["streams"][0], first) == plain(second["streams"][0], second)
    assert (first["load"], first["phases"][0]["ios"]) == (second["load"], second["phases"][0]["ios"])


def calls(work: Callable[[], object]) -> int:
    """How many functions of Python are called, or gone on with, while it is done."""
    count = 0

    def seen(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


SIZES = '"4 KiB" = 33.3, "8 KiB" = 66.7'
STREAMS = [
    f"[[streams]]\nread_pct = 70\nrandom_pct = 100\nsizes = {{ {SIZES} }}",
    "[[streams]]\nread_pct = 70\nrandom_pct = 100\n[streams.sizes]\n" + SIZES.replace(", ", "\n"),
    "[[ streams ]]\nread_pct = 70\nrandom_pct = 100\n[ streams . 'sizes' ]\n" + SIZES.replace(", ", "\n"),
    '[[streams]]\nread_pct = 70\nrandom_pct = 100\nsizes."4 KiB" = 33.3\nsizes."8 KiB" = 66.7',
    f"streams = [ {{ read_pct = 70, random_pct = 100, sizes = {{ {SIZES} }} }} ]",
]


@pytest.mark.parametrize("streams", STREAMS)
def test_all_that_sizes_lose_is_said_however_they_are_written(streams: str) -> None:
    phases = '[[phases]]\nduration = "10 s"\nmeasure = true\n'
    _, report = written("a.toml", f"load.closed = {{ threads = 1, depth = 2 }}\n{streams}\n{phases}", "fio")
    lost = " ".join(report.matters())
    assert "whole percentages" in lost, lost
    assert "smallest size" in lost, lost


PHASES = [
    '[[phases]]\nmeasure = true\nduration = "{}"\n',
    'phases = [{{ "measure" = true, "duration" = "{}" }}]\n',
]


@pytest.mark.parametrize("phases", PHASES)
def test_only_a_rounding_that_changes_a_phase_is_said(phases: str) -> None:
    """fio counts milliseconds; phases of a quick test last 4.81818182 s, which is not a loss."""
    streams = 'streams = [{ read_pct = 100, random_pct = 100, size = "4 KiB" }]\n'
    load = "[load.closed]\nthreads = 1\ndepth = 1\n"
    for time, is_said in (("4.81818182 s", False), ("1.23456789 s", False), ("2.4 ms", True)):
        phase = phases.format(time)
        text = streams + (load + phase if phase.startswith("[[") else phase + load)
        _, report = written("a.toml", text, "fio")
        assert bool(report.matters()) == is_said, (time, report.matters())


@pytest.mark.parametrize("shared", thinned(2, ["flow=1\n", ""]))
@pytest.mark.parametrize("tool", ["fio", "vdbench"])
def test_a_file_of_many_jobs_takes_no_longer_by_the_job(tool: str, shared: str) -> None:
    def both_ways(jobs: int) -> None:
        file = f"[global]\nsize=1g\n{shared}" + "".join(f"[j{job}]\nrw=randread\nbs=4k\n" for job in range(jobs))
        written("x", converted(Path("x.fio"), file.encode())[0], tool)

    both_ways(1)
    few, many = (calls(lambda jobs=jobs: both_ways(jobs)) for jobs in (25, 200))
    assert many < 9 * few, "eight times as many jobs"


@pytest.mark.parametrize("tool", ["fio", "vdbench"])
def test_a_range_of_bytes_and_a_share_is_written(tool: str) -> None:
    text = (
        '[load]\nclosed = { threads = 1 }\n[[streams]]\nread_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\n'
        'range = ["1 GiB", "1 GiB + 80 %"]\n[[phases]]\nduration = "1 s"\nmeasure = true\n'
    )
    job, report = written("w.toml", text, tool)
    if tool == "fio":
        assert "offset=1073741824\nsize=80%\n" in job
        assert report.matters() == []
    else:
        assert any("range" in line for line in report.matters())


def test_a_job_of_fio_repeats_no_offsets() -> None:
    """As a workload of another seed does not; fio does unless told not to."""
    job, _ = written("w", hb.workload("fio-randread"), "fio")
    assert "randrepeat=0" in job.partition("\n[fio-")[0].splitlines()
