"""Does a run stop when its figures are known, and say so?"""

from __future__ import annotations

from typing import Any

import pytest

import hotband as hb
from hotband.base.errors import UserError
from hotband.data.documents.run import RunSpec
from hotband.data.record.stopped import stopped_lines, stopped_words
from hotband.execution.experiment.point import keys_of

DRIVE = "7450-pro-3840"
SMALL = {"scale": 512, "qd": 16, "progress": False}


def test_a_plain_run_stops_at_one_percent_and_off_or_a_duration_runs_whole() -> None:
    small = {**SMALL, "warm_up": "100 ms"}
    plain = hb.run("fio-randread", on=DRIVE, **small)
    (stopped,) = plain.document["stopped"]
    assert (stopped["by"], stopped["precision_pct"]) == ("precision", 1.0)
    assert 0.9375e9 <= plain.document["duration_ns"] < 2e9, "a 64th of a minute"
    timed = hb.run("fio-randread", on=DRIVE, duration="200 ms", **small)
    assert timed.document["duration_ns"] == 200_000_000
    assert "stopped" not in timed.document
    off = hb.run("fio-randread", on=DRIVE, duration="200 ms", precision="off", **small)
    assert off.document["summary"] == timed.document["summary"]
    assert off.document["spec"]["precision"] == "off"


def test_a_stated_precision_has_the_duration_as_its_end() -> None:
    run = hb.run("fio-randread", on=DRIVE, duration="4 s", precision="5 %", **SMALL)
    assert 62_500_000 <= run.document["duration_ns"] < 4_000_000_000
    assert stopped_words(run.document)[0].endswith(" at 5 % precision")


@pytest.mark.parametrize("precision", ["1", "30 %", "0.01 %", "whole"])
def test_what_is_no_precision_is_refused(precision: str) -> None:
    with pytest.raises(UserError, match=r"expected a percentage from 0\.1 % to 20 %, or off"):
        hb.run("fio-randread", on=DRIVE, precision=precision, **SMALL)


def test_a_run_with_another_precision_is_another_run() -> None:
    specs = [RunSpec(f"{n}", DRIVE, "fio-randread", precision=of) for n, of in enumerate((None, "off", "1 %"))]
    assert len(set(keys_of([[spec] for spec in specs]).values())) == 3


def test_the_line_names_each_half_width() -> None:
    phase: dict[str, Any] = {"phase": "measure", "by": "amount", "precision_pct": 1.0, "batches": 0, "batch_ios": 0}
    record: Any = {"stopped": [phase], "duration_ns": 1_000_000_000}
    few = "Phase measure ended by its time or number of I/Os, with too few I/Os for confidence intervals."
    assert stopped_lines(record) == [few]
    assert stopped_words(record) == []
    phase |= {"by": "precision", "batches": 40, "batch_ios": 1024, "iops_pct": 0.51, "bandwidth_pct": 0.52}
    phase |= {"latency_mean_pct": 0.001, "latency_p99_pct": 2.9}
    assert stopped_lines(record) == [
        "Phase measure ended by 1 % precision: IOPS ±0.5 %, MB/s ±0.5 %, mean ±0.1 %, p99 ±2.9 % "
        "(95 % confidence, 40 batches of 1,024 I/Os)."
    ]
    assert stopped_words(record) == ["stopped after 1 s at 1 % precision"]
