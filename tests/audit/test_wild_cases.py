"""Do the cases that others found get the answer that their `expect.txt` asks for?"""

from __future__ import annotations

from pathlib import Path

import pytest
from faulty import fio_group, with_spec
from made_up import DISK

from command_line import run_hotband
from hotband.inference.audit import findings, load_results

CASES = [
    ("wild/18-fio-error", ["audit", "fio.json"], "ended with error 5 (EIO)"),
    ("wild/22-faster-than-the-link", ["audit", "fio.json", "--on", "exos-x16-16tb"], "more than the ports"),
    ("wild/22-faster-than-the-link", ["audit", "fio.json", "--on", "s4500-960"], "can do, 600 MB/s"),
    ("wild/30-jobs-ended-apart", ["audit", "1575.json"], "132,163 on average over its samples"),
    ("wild/30-jobs-ended-apart", ["audit", "stall.json"], "The reads stalled"),
    # Its mean cannot be: every I/O at the upper edge of its bin would make 12.6 ms.
    ("wild/38-utf16-of-powershell", ["audit", "iometer.csv"], "mean latency is 20 ms, but its histogram makes at most"),
    ("faults/01-fio-errors-ignored", ["audit", "real_err40.json"], "43,599 of 109,046 I/Os failed"),
    ("faults/01-fio-errors-ignored", ["compare", "real_err0.json", "real_err40.json"], "43,599 of 109,046 I/Os failed"),
    ("faults/01-fio-errors-ignored", ["import", "auto", "real_err40.json"], "21,808"),
    ("faults/02-asked-rate-numjobs", ["compare", "nj.json", "gr.json"], "900 against 900 IOPS"),
    ("faults/03-stale-fio-logs", ["audit", "d1"], "its options write no log named L"),
    ("faults/04-overloaded-open-loop", ["run", "p1.toml", "--on", "ent-15k", "--duration", "2 s"], "does not keep up"),
    ("faults/18-compare-unequal-spans", ["compare", "whole", "s10"], "span differs"),
    ("faults/18-compare-unequal-spans", ["compare", "whole", "think"], "think differs"),
    ("faults/18-compare-unequal-spans", ["compare", "whole", "ten10"], "span differs"),
]


def test_normal_output_that_is_right_contradicts_nothing(samples: Path) -> None:
    rules = {found.rule for found in findings(load_results([samples / "wild/15-fio-normal-output/fio.txt"]), None)}
    assert "contradiction" not in rules


@pytest.mark.parametrize(("case", "arguments", "words"), CASES, ids=lambda value: str(value))
def test_a_case_is_answered(samples: Path, case: str, arguments: list[str], words: str) -> None:
    folder = samples / case
    done = run_hotband(*arguments, cwd=folder)
    assert words in " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    ("options", "is_mixed"), [({}, True), ({"verify": "crc32c"}, False), ({"verify": "md5", "do_verify": "0"}, True)]
)
def test_reads_that_verify_are_of_the_job_that_wrote(options: dict[str, str], is_mixed: bool) -> None:
    group = with_spec(fio_group({"read_pct": 0.0}, writes=DISK, read_pct=50.0), rw="randwrite", **options)
    assert ("mixed-jobs" in [finding.rule for finding in findings([group], None)]) is is_mixed


@pytest.mark.parametrize(
    ("options", "is_short"),
    [({}, True), ({"latency_target": "2ms"}, False), ({"latency_target": "2ms", "latency_run": "1"}, True)],
)
def test_a_search_for_a_latency_ends_when_it_is_found(options: dict[str, str], is_short: bool) -> None:
    run = with_spec(fio_group({"duration_ns": 1e15}), **options)
    assert ("short-run" in [finding.rule for finding in findings([run], None)]) is is_short
