"""Are the samples of fio's own search for steady state carried over where they mean something?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from fio_documents import document, job, reads

from hotband.base.errors import UserError
from hotband.data.importers.fio.documents import read_fio


def steadystate(**more: Any) -> dict[str, Any]:
    data = {"bw_mean": 8192, "iops_mean": 2, "iops": [1, 2, 3, 2], "bw": [4096, 8192, 12288, 8192]}
    return {"ss": "iops:10%", "duration": 8, "attained": 1, "criterion": "1%", "data": data} | more


def read(*jobs: dict[str, Any]) -> dict[str, Any]:
    [record] = read_fio(json.dumps(document(*jobs)), "f.json")
    return record


def test_the_samples_of_a_job_alone_are_in_the_record() -> None:
    record = read(job("a", reads(None), steadystate=steadystate()))
    assert record["samples"] == {
        "source": "fio steadystate",
        "rule": "iops:10%",
        "attained": True,
        "interval_ns": 2_000_000_000,
        "iops": [1.0, 2.0, 3.0, 2.0],
        "bandwidth_bytes_per_s": [4096.0, 8192.0, 12288.0, 8192.0],
    }


def test_those_of_several_jobs_are_left_out_and_noted() -> None:
    record = read(job("a", reads(None), steadystate=steadystate()), job("b", reads(None)))
    assert "samples" not in record
    assert "not carried over: steady-state data of a" in record["notes"]


@pytest.mark.parametrize("broken", [{"data": {}}, {"duration": 0}, {"data": {"iops": [1], "bw": []}}])
def test_data_without_samples_are_none(broken: dict[str, Any]) -> None:
    assert "samples" not in read(job("a", reads(None), steadystate=steadystate(**broken)))


@pytest.mark.parametrize("iops", [5, [1, "x"], [1, -1], [True]])
def test_samples_that_are_no_numbers_are_refused(iops: Any) -> None:
    with pytest.raises(UserError, match=r"steadystate\.data\.iops"):
        read(job("a", reads(None), steadystate=steadystate(data={"iops": iops, "bw": [1.0, 1.0]})))
