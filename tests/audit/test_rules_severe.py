"""Does a report find every severe finding of a result without the rules that have none?"""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any, cast

import pytest

import hotband as hb
from hotband.inference.audit import alike, exhaustion, interference, lengths, pauses, thermal
from hotband.inference.audit.audited import Audited
from hotband.inference.audit.facts import of_record
from hotband.inference.audit.rules import findings, severe_of


@pytest.mark.parametrize("module", [alike, exhaustion, interference, pauses, thermal])
def test_rules_that_a_report_leaves_out_are_never_severe(module: ModuleType) -> None:
    assert '"severe"' not in inspect.getsource(module)


def test_percentiles_of_few_ios_are_never_severe() -> None:
    assert '"severe"' not in inspect.getsource(lengths._support) + inspect.getsource(lengths.support)
    assert '"severe"' in inspect.getsource(lengths), "the word is searched for as the modules write it"


@pytest.mark.parametrize("key", ["iops", "bandwidth_bytes_per_s", "latency_mean_ns", "latency_p99_ns", "count"])
def test_a_wrong_figure_is_found_as_by_all_rules(key: str) -> None:
    record = hb.run("fio-randread", on="ent-10k", qd=4, duration="1 s", progress=False).to_dict()
    cast("Any", record["summary"])[key] *= 3
    run = Audited("a", cast("Any", record))
    every = [finding for finding in findings([run], None) if finding.severity == "severe"]
    assert every
    assert severe_of(run) == every


def test_records_of_a_sweep_share_no_facts_that_differ() -> None:
    """Facts of a machine are cached by its text, its drives and its settings."""
    fast, slow = (
        hb.run("fio-randread", on="ent-10k", duration="0.2 s", progress=False, set={"rpm": f"{rpm} rpm"}).document
        for rpm in (15000, 7200)
    )
    assert of_record(fast) != of_record(slow)
    assert of_record(fast) == of_record(fast)
