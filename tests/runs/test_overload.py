"""Is the rate that open loops request read from the workload as it runs?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hotband as hb
import hotband._core as _core
from command_line import run_hotband
from hotband.data.documents.run import RunSpec
from hotband.data.record.overload import open_rate
from hotband.execution.experiment.experiment import execute
from hotband.views.sweeps.answers import answers_of

CLOSED = "closed = { threads = 2 }"
PHASE = '[[phases]]\nduration = "1 s"\nmeasure = true\n'


def open_at(rate: int) -> str:
    return f'open = {{ rate_iops = {rate}, arrival = "poisson" }}'


def workload(*loads: str, shared: str = "", phases: str = PHASE) -> str:
    """Return a workload with a stream for each load; an empty one has that of `[load]`."""
    streams = "".join(
        f'[[streams]]\nname = "{name}"\nread_pct = 100\nrandom_pct = 100\nsize = "4 KiB"\n'
        + (f"load = {{ {load} }}\n" if load else "")
        for name, load in zip("abc", loads, strict=False)
    )
    return f"[load]\n{shared}\n{streams}{phases}" if shared else f"{streams}{phases}"


CASES = {
    "two open loops": (workload(open_at(100), open_at(300)), {}, 400.0),
    "two loops share a rate that is set": (workload(open_at(100), open_at(300)), {"rate_iops": "50"}, 50.0),
    "two closed loops with a rate": (workload(CLOSED, CLOSED), {"rate_iops": "50"}, 50.0),
    "a closed loop beside an open one": (workload(open_at(100), CLOSED), {}, None),
    "a loop of all and one of a stream": (workload(open_at(100), "", shared=open_at(30)), {}, 130.0),
    "a stream of preconditioning": (
        workload(open_at(100), open_at(7), phases='[[phases]]\nstreams = ["b"]\nduration = "1 s"\n'
                 + PHASE.replace("duration", 'streams = ["a"]\nduration')),
        {},
        100.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_rate_of_open_loops(case: str) -> None:
    text, changed, rate = CASES[case]
    assert open_rate(_core.workload(text)["table"], changed) == rate


def test_a_run_that_keeps_up_with_the_rate_of_two_loops_has_no_note() -> None:
    text = 'title = "two closed loops"\n' + workload(CLOSED, CLOSED)
    slow, fast = (
        RunSpec(rate, "ent-15k", "w.toml", (("rate_iops", rate),), duration="5 s", workload_text=text)
        for rate in ("50", "5000")
    )
    notes = [[note for note in run.record["notes"] if "keep up" in note] for run in execute([slow, fast])]
    assert notes[0] == []
    assert notes[1][0].startswith("does not keep up: ")
    assert " of 5,000 IOPS" in notes[1][0]


def test_a_loop_without_a_bound_does_not_drain() -> None:
    text = workload("", shared='open = { rate_iops = 5, arrival = "fixed", drain = true }')
    with pytest.raises(hb.UserError, match=r"drain = 'true': applies only to a loop with a bound"):
        hb.run(text, on="ent-15k")


def test_the_first_line_says_that_a_rate_is_not_kept_up_with() -> None:
    done = run_hotband("run", "randread", "--on", "ent-10k", "--rate", "20000", "--duration", "1 s")
    assert done.returncode == 0
    out = done.stdout
    first = " ".join(out.splitlines()[:2])
    assert re.match(r"ent-10k does not keep up: \d{3} of 20,000 IOPS, .* growing throughout the run\.", first)
    # The suggested rates lie within the machine's reach.
    rates = re.search(r"--rate ([\d.,]+)$", out.strip())
    assert rates
    assert max(map(float, rates[1].split(","))) < 1000


def test_latencies_of_a_bounded_loop_leave_out_how_late_its_ios_are(tmp_path: Path) -> None:
    path = tmp_path / "capped.fio"
    path.write_text(
        "[a]\nfilename=/dev/sdx\nrw=randread\ndirect=1\nioengine=libaio\niodepth=8\nrate_iops=20000\nruntime=1\ntime_based\n"
    )
    done = run_hotband("run", str(path), "--on", "ent-10k", "--details")
    out = " ".join(done.stdout.split())
    assert re.search(r"ent-10k does not keep up: \d{3} of 20,000 IOPS, .* without the wait of late I/Os\.", out)
    assert "of 20,000 IOPS; latencies leave out how late I/Os were issued" in out


@pytest.mark.parametrize(
    ("on", "rates", "words"),
    [
        (["ent-10k"], [50, 20000], r"^The machine keeps up to 50 IOPS; of 20000 requested, \d{3} are served\.$"),
        (["ent-10k"], [40, 80], r"^Every requested rate is served, 40 to 80\.$"),
        (
            ["ent-10k"],
            [20000, 30000],
            r"^The machine keeps up with no requested rate; of 20000 requested, \d{3} are served\.$",
        ),
        (
            ["ent-10k", "7450-pro-3840"],
            [50, 2000],
            r"^ent-10k keeps up to 50 IOPS; of 2000 requested, \d{3} are served\. 7450-pro-3840 keeps up to 2000 IOPS",
        ),
    ],
)
def test_a_sweep_of_rates_says_up_to_which_each_machine_keeps_up(on: list[str], rates: list[int], words: str) -> None:
    sweep = hb.sweep("randread", on=on, rate=rates, duration="2 s", progress=False)
    assert re.match(words, answers_of(sweep)[0])
