"""What is a question, what does it ask, and what is said of one that is none?"""

from __future__ import annotations

import pytest

from hotband.base.errors import UserError
from hotband.questions.find.figures import Figure
from hotband.questions.find.question import Condition, ShareOfMost, read_question


@pytest.mark.parametrize(
    ("text", "varied", "wanted", "conditions"),
    [
        ("IOPS at p99 < 10 ms", "rate", "IOPS", [("p99", 0.010)]),
        ("the most read.IOPS with p99.9 <= 500us?", "rate", "read.IOPS", [("p99.9", 0.0005)]),
        (
            "MB/s at read p99 below 2 ms and write.mean < 1 s",
            "rate",
            "MB/s",
            [("read.p99", 0.002), ("write.mean", 1.0)],
        ),
        ("iops at p95 < 3 ms by queue depth", "qd", "IOPS", [("p95", 0.003)]),
        ("drives needed for 50,000 IOPS at p99 < 2 ms", "drives", None, [("IOPS", 50_000.0), ("p99", 0.002)]),
        ("number of disks for 2 GB/s", "drives", None, [("MB/s", 2e9)]),
        ("queue depth for 50k IOPS", "qd", None, [("IOPS", 50_000.0)]),
        ("the highest queue depth at p99 < 5 ms", "qd", None, [("p99", 0.005)]),
        ("bs for 500 MiB/s of writes", "bs", None, [("write.MB/s", 500 * 2.0**20)]),
        ("iodepth for IOPS > 300", "qd", None, [("IOPS", 300.0)]),
        ("p99.9 at 60k IOPS", "nothing", "p99.9", [("IOPS", 60_000.0)]),
        ("app.cache for p50 < 1 ms", "app.cache", None, [("p50", 0.001)]),
        ("qd for MB/s > 500", "qd", None, [("MB/s", 500e6)]),
        ("qd for read.GB/s > 2", "qd", None, [("read.MB/s", 2e9)]),
    ],
)
def test_questions_are_read(text: str, varied: str, wanted: str | None, conditions: list[tuple[str, float]]) -> None:
    found = read_question(text)
    assert found.varied == varied
    assert (str(found.wanted) if found.wanted else None) == wanted
    bounds = [(str(one.figure), one.bound) for one in found.conditions if isinstance(one, Condition)]
    assert bounds == [(name, pytest.approx(bound)) for name, bound in conditions]


def test_a_share_of_the_most() -> None:
    (condition,) = read_question("queue depth for 90 % of the most").conditions
    assert condition == ShareOfMost(Figure("", "iops"), 0.9, "90 % of the most")
    (condition,) = read_question("threads for 95% of the maximum MB/s").conditions
    assert condition == ShareOfMost(Figure("", "bandwidth"), 0.95, "95% of the maximum MB/s")


@pytest.mark.parametrize(
    ("text", "value", "accepted"),
    [
        ("IPOS at p99 < 10 ms", "IPOS", 'did you mean "iops"?'),
        ("IOPS at p99 < 10", "p99 < 10", "a time with its unit"),
        ("IOPS at p99 < 0 ms", "p99 < 0 ms", "a time with its unit"),
        ("IOPS at p99 < 1,5 ms", "p99 < 1,5 ms", "a time with its unit"),
        ("bs for 500 Mb/s", "500 Mb/s", "a small b is a bit"),
        ("qd for MB/s > 2 Gb/s", "2 Gb/s", "a small b is a bit"),
        ("drives for 50.000 IOPS", "50.000 IOPS", "expected 50000 IOPS or 50 IOPS"),
        ("qd for IOPS > 1.500", "IOPS > 1.500", "expected 1500 IOPS or 1.5 IOPS"),
        ("IOPS at p100 < 1 ms", "p100", "expected IOPS, MB/s, mean, p50"),
        ("IOPS at p99 > 10 ms", "p99 > 10 ms", "expected <"),
        ("queue depth for IOPS < 300", "IOPS < 300", "expected >"),
        ("IOPS at p99 < 1 ms and p99 < 2 ms", "p99 < 2 ms", "has two conditions"),
        ("p99 at p50 < 1 ms", "p99 at p50 < 1 ms", 'expected one rate, such as "p99 at 60000 IOPS"'),
        ("p99 at 600 IOPS by qd", "qd", 'a rate decides how much is issued: expected "p99 at 60000 IOPS"'),
        ("IOPS at 500 MB/s", "500 MB/s", "expected limits of latencies"),
        ("IOPS at p99 < 1 ms by drives", "drives", "drives for 50000 IOPS"),
        ("drives for p99 < 2 ms", "drives for p99 < 2 ms", "is for a rate"),
        ("rate for p99 < 2 ms", "rate", "ask for a rate as a figure"),
        ("queue depht for 90 % of the most", "queue depht", 'did you mean "queue depth"?'),
        ("queue depth for 100 % of the most", "100 % of the most", "less than 100 %"),
        ("queue depth for 300", "300", "with its unit"),
        ("queue depth for 10 ms", "10 ms", "expected a latency, such as"),
        ("queue depth for 0 IOPS", "0 IOPS", "above zero"),
        ("which drive is best", "which drive is best", "expected a question such as"),
        ("", "", "expected a question such as"),
    ],
)
def test_what_is_no_question_is_answered_with_what_is(text: str, value: str, accepted: str) -> None:
    with pytest.raises(UserError) as caught:
        read_question(text)
    assert (caught.value.where, caught.value.value) == ("question.question", value)
    assert accepted in caught.value.accepted
