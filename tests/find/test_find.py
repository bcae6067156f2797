"""Are questions answered on machines, by the command and from Python?"""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.text import Text

import hotband as hb
from forms import thinned
from hotband.base.text.formats import begin, csv_text
from hotband.data.inputs.loads import Load
from hotband.execution.runs.drives import family
from hotband.views.find import answer_views

if TYPE_CHECKING:
    from hotband.questions.find.found import Found

DISK = "exos-15e900-512n"
SHORT = {"ios": 3_000, "progress": False}
"""Enough for these questions: what is asked is the search, not the third digit."""
STREAMS = '[[streams]]\nname = "{}"\nsize = "{}"\nread_pct = 100\nrandom_pct = 100\n{}\n'
PHASES = '[[phases]]\nduration = "9 s"\n[[phases]]\nduration = "60 s"\nmeasure = true\n'
OPEN = "load = { open = { rate_iops = 50, arrival = 'fixed' } }"
CLOSED = "load = { closed = { threads = 1 } }"


@pytest.fixture(scope="module")
def by_rate() -> Found:
    return hb.find("IOPS at mean < 10 ms", "fio-randread", on=[DISK, "ent-10k"], **SHORT)


def test_the_highest_rate_holds_and_a_little_more_does_not(by_rate: Found) -> None:
    for answer in by_rate.answers:
        assert answer.status == "found"
        assert answer.bracket is not None
        low, high = answer.bracket
        assert low == answer.value
        assert high <= 1.021 * low
        assert len(answer.trials) <= 12
        means = {trial.value: trial.record.mean for trial in answer.trials}
        assert means[low] < 0.010 <= means[high]
    assert by_rate.asked_as.startswith("an open loop (poisson arrivals)")
    assert by_rate[DISK].value > by_rate["ent-10k"].value


def test_the_same_question_has_the_same_answer(by_rate: Found) -> None:
    again = hb.find("IOPS at mean < 10 ms", "fio-randread", on="ent-10k", jobs=1, **SHORT)
    assert again["ent-10k"].document() == by_rate["ent-10k"].document()


def test_the_frame_has_a_row_a_trial(by_rate: Found) -> None:
    assert len(by_rate.frame) == sum(len(answer.trials) for answer in by_rate.answers)
    assert set(by_rate.frame.columns) == {
        "target", "value", "text", "met", "failed", "iops", "latency_mean_ns",
    }  # fmt: skip


def test_frames_of_answers_and_sweeps_name_and_measure_alike(by_rate: Found) -> None:
    swept = hb.sweep("fio-randread", on=DISK, qd=1, duration="1 s", progress=False).frame
    common = {"target", "iops", "latency_mean_ns"}
    assert common <= {*swept.columns} & {*by_rate.frame.columns}
    (trial,) = by_rate.frame.filter(target=DISK, text="closed loop, 1 outstanding").iter_rows(named=True)
    for name in ("iops", "latency_mean_ns"):
        assert trial[name] == pytest.approx(swept[name][0], rel=0.1)
    answer = by_rate[DISK].document()
    assert set(answer["figures"]) == {"iops", "latency_mean_ns"}
    assert answer["figures"]["latency_mean_ns"] == pytest.approx(1e9 * by_rate[DISK].record.mean)


def test_json_states_a_latency_and_its_interval_in_the_unit_of_its_name() -> None:
    found = hb.find("p99 at 120 IOPS", "fio-randread", on="cheetah-15k4", draws=8, interval=90, **SHORT)
    answer = found.answers[0].document()
    interval, value = answer["interval"], answer["figures"]["latency_p99_ns"]
    assert interval["of"] == "latency_p99_ns"
    assert interval["low"] <= value <= interval["high"]
    assert value == found.answers[0].record.document["summary"]["latency_p99_ns"]


def csv_of(found: Found) -> list[list[dict[str, str]]]:
    """The rows that `--format csv` prints, by block."""
    begin("csv")
    try:
        text = csv_text([view for view in answer_views(found) if not isinstance(view, str | Text)])
    finally:
        begin()
    return [list(csv.DictReader(io.StringIO(block))) for block in text.split("\n\n")]


def test_csv_has_the_values_themselves_with_one_unit_a_column(by_rate: Found) -> None:
    answers, trials = csv_of(by_rate)
    for row, answer in zip(answers, by_rate.answers, strict=True):
        of = dict(answer.document()["figures"])
        assert (row["machine"], row["status"]) == (answer.machine, "found")
        assert float(row["IOPS"]) == pytest.approx(of["iops"], rel=1e-11)
        assert float(row["mean (ms)"]) == pytest.approx(1e-6 * of["latency_mean_ns"], rel=1e-11)
    frame = by_rate.frame
    assert len(trials) == len(frame)
    for row, trial in zip(trials, frame.iter_rows(named=True), strict=True):
        assert row["machine"] == trial["target"]
        assert float(row["mean (ms)"]) == pytest.approx(1e-6 * trial["latency_mean_ns"], rel=1e-11)
        asked = row["requested per second (IOPS)"]
        assert trial["value"] is None if asked == "" else float(asked) == pytest.approx(trial["value"], rel=1e-11)


def test_csv_of_a_value_that_is_varied_has_it_in_its_own_unit() -> None:
    found = hb.find("bs for 20 MB/s", "fio-randread", on="ent-15k", qd=4, range="64KiB..2MiB", **SHORT)
    answers, trials = csv_of(found)
    (answer,) = found.answers
    assert float(answers[0]["bs (B)"]) == answer.value
    assert float(answers[0]["MB/s"]) == pytest.approx(next(iter(answer.figures.values())) / 1e6)
    assert [float(row["bs (B)"]) for row in trials] == found.frame["value"].to_list()


def test_a_number_of_drives_is_one_that_the_layout_takes() -> None:
    found = hb.find("drives for 2000 IOPS at mean < 15 ms", "fio-randread", on=f"raid10:{{n}}x{DISK}", **SHORT)
    (answer,) = found.answers
    assert answer.value in (8, 10)
    assert {trial.value % 2 for trial in answer.trials if trial.value} == {0}
    assert answer.bracket == (answer.value - 2, answer.value)


@pytest.mark.parametrize(("machine", "first", "step"), [("raid5", 3, 1), ("raid10", 4, 2), ("raid60", 8, 2)])
def test_layouts_say_which_numbers_they_take(machine: str, first: int, step: int) -> None:
    found = family(f"{machine}:{{n}}x{DISK}:256KiB")
    assert (found.first, found.step) == (first, step)
    assert found.machine(12) == f"{machine}:12x{DISK}:256KiB"
    eights = family(f"{machine}:{{8n}}x{DISK}")
    assert (eights.first, eights.step) == (8, 8)


def test_what_is_not_reached_is_an_answer(hotband) -> None:
    call = ("find", "queue depth for 5000 IOPS", "-w", "fio-randread", "--on", DISK, "--ios", "2000")
    done = hotband(*call, "--range", "1..16")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Not reached: at most ")
    assert "(queue depth 16)" in done.stdout


def test_goals_and_limits_that_do_not_meet_say_where_they_part() -> None:
    found = hb.find("queue depth for 400 IOPS at p99 < 30 ms", "fio-randread", on=DISK, range="1..64", **SHORT)
    (answer,) = found.answers
    assert answer.status == "nowhere"
    assert "it is not p99 < 30 ms" in answer.notes[-1]


def test_bounds_lie_around_the_answer_and_say_how() -> None:
    # One of the drives with the fewest uncertain values.
    found = hb.find("bs for 20 MB/s", "fio-randread", on="cheetah-15k4", qd=8, interval=90, draws=8, **SHORT)
    (answer,) = found.answers
    interval = answer.interval
    assert interval is not None
    assert interval["low"] <= interval["values_low"] <= answer.value <= interval["values_high"] <= interval["high"]
    assert "the interval of MB/s there" in interval["how"]


def test_json_has_the_search(hotband) -> None:
    call = ("find", "queue depth for 250 IOPS", "-w", "fio-randread", "--on", DISK, "--ios", "2000", "--range", "1..8")
    document = json.loads(hotband(*call, "--json").stdout)
    (answer,) = document["answers"]
    assert (document["schema"], answer["status"]) == ("hotband-find", "found")
    assert answer["trials"][0]["text"] == "1"
    assert answer["runs"] == len(answer["trials"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["IOPS at p99 < 1 ms", "--within", "0"], "--within = '0.0': expected a percentage from 0.1 to 50"),
        (["IOPS at write.p99 < 1 ms", "--ios", "1000"], "'write.p99': the load has no writes"),
        (["IOPS at p99 < 1 ms", "--set", "qd=4"], "sets the load, which the question varies"),
        (["qd for 300 IOPS", "--set", "qd=4"], "is what the question varies"),
        (["wce for 300 IOPS"], "takes one of off, on; a question varies numbers"),
        (["bss for 300 IOPS"], 'did you mean "bs"?'),
        (["think for p99 < 1 ms"], "expected --range LOW..HIGH"),
        (["drives for 300 IOPS"], "the question asks for n"),
        (["IOPS at p99 < 1 ms", "--range", "7"], "expected LOW..HIGH"),
        (["IOPS at p99 < 1 ms", "--range", "9..7"], "the lower one first"),
        (["qd for 300 IOPS", "--range", "0..7"], "from 1 to 65536"),
        (["IOPS at p99 < 1 ms", "--set", "span=5 TB"], "ends beyond the target"),
        (["IOPS at p99 < 1 ms", "--ios", "1000", "--duration", "1 s"], "not together with --duration"),
        (["IOPS at p99 < 1 ms", "--draws", "9"], "expected --interval PERCENT"),
        (["IOPS at p99 < 1 ms", "--on", DISK], "is given twice"),
        (
            ["IOPS at p99 < 1 ms", "--on", "real:/tmp"],
            "'real:/tmp': find asks models: expected a machine without real:",
        ),
        (["IOPS at p99 < 1 ms", "--on", f"emulated:{DISK}"], "find asks models: expected a machine without emulated:"),
        (["qd for 300 IOPS", "--range", "4KiB..8KiB"], "expected LOW..HIGH of qd, each a number without a unit"),
        (["bs for 5 MB/s", "--range", "4..8"], "expected LOW..HIGH of bs, each a size with its unit"),
        (["IOPS at p99 < 1 ms", "--on", "raid10:{n}xent-10k"], "leaves the number of drives open"),
        (["drives for 9 IOPS", "--on", "single:{n}xent-10k"], "the question asks for n"),
    ],
)
def test_mistakes_are_one_line(hotband, arguments: list[str], said: str) -> None:
    question, *rest = arguments
    done = hotband("find", question, "-w", "fio-randread", "--on", DISK, *rest)
    assert done.returncode == 2
    assert said in done.stderr
    lines = [line for line in done.stderr.strip().splitlines() if line.startswith("hotband: error")]
    assert len(lines) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[scripts]]\nname = 'a'\n", "expected a single script, which repeats"),
        ("[[phases]]\nmeasure = true\n[[phases]]\nmeasure = true\n", "several phases are measured"),
        (STREAMS.format("a", "4k", CLOSED) + STREAMS.format("b", "4k", OPEN), "loops of several kinds"),
    ],
)
def test_a_load_without_one_loop_has_no_rate_to_vary(text: str, said: str) -> None:
    with pytest.raises(hb.UserError, match=said):
        Load(text, "w").expect_loop()


def test_closed_loops_share_a_rate_by_what_they_have_outstanding() -> None:
    text = STREAMS.format("a", "4k", CLOSED) + STREAMS.format("b", "4k", CLOSED.replace("threads = 1", "threads = 3"))
    streams = Load(text + PHASES, "w").with_open_loop(600.0, "poisson").table["streams"]
    rates = [stream["load"]["open"]["rate_iops"] for stream in streams]
    assert rates == [150.0, 450.0]


def test_rates_go_to_the_loop_that_streams_share() -> None:
    own = "load = { open = { rate_iops = 50, arrival = 'fixed' } }"
    shared = (
        "[load]\nclosed = { threads = 4 }\n" + STREAMS.format("data", "8 KiB", "") + STREAMS.format("log", "4k", own)
    )
    load = Load(shared + PHASES, "w").with_open_loop(700.0, "poisson")
    assert load.table["load"] == {"open": {"rate_iops": 700.0, "arrival": "poisson"}}
    assert load.table["streams"][1]["load"]["open"]["rate_iops"] == 50
    assert load.varied() == {0}
    assert load.mean_bytes() == 8192


def test_rates_of_streams_keep_their_ratio() -> None:
    rates = [f"load = {{ open = {{ rate_iops = {n}, arrival = 'fixed' }} }}" for n in (30, 10)]
    text = STREAMS.format("a", "4 KiB", rates[0]) + STREAMS.format("b", "8 KiB", rates[1]) + PHASES
    load = Load(text, "w").with_open_loop(100.0, "fixed")
    assert [one["load"]["open"]["rate_iops"] for one in load.table["streams"]] == [75.0, 25.0]


def test_trials_measure_a_number_of_ios_after_a_warm_up_of_at_most_a_fifth() -> None:
    load = Load("# hotband: converted from a.fio (fio): 1 kept\n" + STREAMS.format("a", "4k", "") + PHASES, "w")
    first, second = load.with_ios(1000).table["phases"]
    assert first == {"until": ["200 I/Os", "9 s"]}
    assert second == {"ios": 1000, "measure": True}
    assert load.with_ios(1000).text().startswith("# hotband: converted from a.fio")


def test_a_job_file_is_asked_too(tmp_path: Path) -> None:
    job = tmp_path / "job.fio"
    job.write_text("[a]\nrw=randread\nbs=8k\nfilename=/dev/sdx\niodepth=4\ndirect=1\nioengine=libaio\nruntime=60\n")
    found = hb.find("IOPS at p50 < 8 ms", job, on=DISK, **SHORT)
    assert found.answers[0].status == "found"


@pytest.mark.parametrize(
    ("question", "workload", "span", "certainty", "end"),
    thinned(
        2,
        [
            ("drives for 3000 IOPS at p99 < 10 ms", "iometer-database", "4..24", "unlikely", "low"),
            ("drives for 3000 IOPS at p99 < 1 ms", "iometer-database", "4..24", "no", ""),
            ("queue depth for 700 IOPS", "fio-randread", "1..256", "unlikely", "high"),
            ("queue depth for 300 IOPS at p99 < 25 ms", "iometer-database", "1..8", "unlikely", "low"),
            ("queue depth for 300 IOPS at p99 < 70 ms", "iometer-database", "1..8", "likely", "high"),
            ("IOPS at p99 < 20 ms", "iometer-database", "50..100", "likely", "high"),
            ("IOPS at p99 < 5 s", "iometer-database", "50..100", "yes", ""),
            ("p99 at 400 IOPS", "iometer-database", None, "likely", "low"),
            ("p99 at 900 IOPS", "iometer-database", None, "unlikely", "high"),
            ("p99 at 5000 IOPS", "iometer-database", None, "no", ""),
        ],
    ),
)
def test_an_answer_that_its_interval_contradicts_is_uncertain(
    question: str, workload: str, span: str | None, certainty: str, end: str
) -> None:
    machine = f"raid10:{{n}}x{DISK}" if question.startswith("drives") else DISK
    found = hb.find(question, workload, on=machine, range=span, interval=90, draws=8, **SHORT)
    (answer,) = found.answers
    assert answer.certainty == certainty
    document = answer.document()
    assert document["certainty"] == csv_of(found)[0][0]["certainty"] == certainty
    assert ("not reached by the prediction" in answer.text) == (certainty == "unlikely")
    assert ("reaches" in answer.text) == bool(end)
    if end:
        at, margin = next((at, one) for at, one in enumerate(document["margins"]) if one["holds"] == certainty)
        condition = answer.margins[at].condition
        bound = condition.figure.recorded(condition.bound)
        assert f"reaches {'up' if end == 'high' else 'down'} to" in answer.text
        assert min(margin["predicted"], margin[end]) <= bound <= max(margin["predicted"], margin[end])


def test_the_sentence_and_the_row_of_a_machine_say_what_is_uncertain(hotband) -> None:
    call = ("find", "p99 at 900 IOPS", "-w", "iometer-database", "--on", DISK, "--ios", "2000", "--draws", "8")
    first = " ".join(hotband(*call, "--interval", "90").stdout.split("\n\n")[0].split())
    assert re.fullmatch(
        rf"{DISK} does not reach 900 IOPS: \d+ IOPS predicted, "
        r"but the 90 % interval there reaches up to [\d,]+ IOPS\.",
        first,
    )
    both = hotband(*call, "--interval", "90", "--on", f"raid10:4x{DISK}").stdout
    assert re.search(rf"{DISK} +~ not reached by the", both)
    assert re.search(rf"! {DISK}: not reached by the prediction: \d+ IOPS, but", both)


def test_a_row_of_bandwidths_has_their_unit(hotband) -> None:
    done = hotband("find", "bs for 20 MB/s", "-w", "fio-randread", "--on", "ent-15k", "--set", "qd=4", "--ios", "2000")
    row = next(line for line in done.stdout.splitlines() if line.startswith("MB/s"))
    assert all(0.1 < float(cell) < 1000 for cell in row.split()[1:]), row


def test_without_an_interval_the_prediction_decides() -> None:
    found = hb.find("IOPS at p99 < 20 ms", "iometer-database", on=DISK, range="50..100", **SHORT)
    assert (found.answers[0].certainty, found.answers[0].margins) == ("yes", ())
    assert found.answers[0].document()["margins"] == []


def test_a_latency_at_a_rate_has_an_interval_where_it_is_asked_for() -> None:
    """Its samples take minutes on a large machine, the answer seconds."""
    (answer,) = hb.find("p99 at 120 IOPS", "fio-randread", on="cheetah-15k4", **SHORT).answers
    assert (answer.status, answer.interval) == ("found", None)


def test_a_latency_of_commits_says_that_it_has_no_interval(tmp_path: Path) -> None:
    job = tmp_path / "log.fio"
    job.write_text("[log]\nrw=randwrite\nbs=8k\nsize=1g\nioengine=libaio\nfdatasync=1\n")
    (answer,) = hb.find("commit.p99 at 40 IOPS", str(job), on=DISK, interval=90, draws=8, **SHORT).answers
    assert answer.interval is None
    assert "no interval: none is known for times of flushes, which commit.p99 has" in answer.notes


def test_a_reason_that_a_row_has_no_room_for_is_a_remark(hotband) -> None:
    call = ("IOPS at p99 < 1 ms", "-w", "fio-randread", "--range", "100..200", "--ios", "2000")
    shown = hotband("find", *call, "--on", DISK, "--on", "ent-10k").stdout
    assert not [line for line in shown.splitlines() if "…" in line]
    assert re.search(rf"^{DISK} +✗ not reached  ", shown, re.MULTILINE)
    assert re.search(rf"! {DISK}: not reached: p99 is [\d.]+ ms even at 100 a second", " ".join(shown.split()))
