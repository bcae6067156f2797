"""Are rates and latencies of transactions found, requested and judged as those of I/Os are?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hotband as hb
from hotband.base.errors import UserError
from hotband.data.inputs.loads import Load
from hotband.data.record.overload import missed_rate
from hotband.questions.find.figures import Figure
from hotband.questions.find.question import read_question
from hotband.questions.slo import slo_of

DISK = "ent-15k"
SCRIPT = """
[[streams]]
name = "pages"
read_pct = 100
random_pct = 100
size = "8 KiB"
[[scripts]]
name = "orders"
unit = "order"
clients = 4
repeat = true
think = "5 ms"
[[scripts.steps]]
name = "read"
stream = "pages"
ios = 2
[[phases]]
name = "warm-up"
duration = "2 s"
[[phases]]
name = "measure"
duration = "30 s"
measure = true
"""


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    path = tmp_path / "orders.toml"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("TPS at p99 < 10 ms", ["TPS", "transaction.p99"]),
        ("transactions per second at p99.9 < 10 ms", ["TPS", "transaction.p99.9"]),
        ("p50 at 3000 tps", ["transaction.p50", "TPS"]),
        ("p99 of transactions at 3,000 transactions/s", ["transaction.p99", "TPS"]),
        ("drives for 3k TPS at commit.p99 < 2 ms", ["TPS", "commit.p99"]),
        ("TPS at write.p99 < 1 ms", ["TPS", "write.p99"]),
        ("IOPS at transaction.p99 < 1 ms", ["IOPS", "transaction.p99"]),
    ],
)
def test_latencies_in_a_question_about_transactions_are_theirs(text: str, figures: list[str]) -> None:
    assert [str(figure) for figure in read_question(text).figures] == figures


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("transaction.IOPS at p99 < 1 ms", "expected a latency of a transaction, such as transaction.p99"),
        ("p99 at 300 read TPS", 'a transaction reads and writes: expected a rate such as "3000 TPS"'),
        ("TPS at p95 < 3 ms", "expected one of mean, p50, p99, p99.9 of transactions"),
        ("IOPS at transaction.p90 < 3 ms", "expected one of mean, p50, p99, p99.9 of transactions"),
        ("p99 at 30.000 TPS", "a point starts decimals: expected 30000 TPS or 30 TPS"),
    ],
)
def test_rates_of_transactions_that_cannot_be_meant(text: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        read_question(text)
    assert said in str(error.value)


def test_a_load_of_a_script_is_set_by_its_own_keys() -> None:
    load = Load(SCRIPT, "orders")
    script = load.with_open_loop(20.0, "fixed").script
    assert script is not None
    assert (script["rate"], script["arrival"], script["clients"]) == (20.0, "fixed", 4)
    assert "think" not in script
    assert [load.with_closed_loop(count).closed_text(count) for count in (1, 256)] == [
        "closed loop, 1 client",
        "closed loop, 4 clients",
    ]


def test_the_highest_rate_of_transactions_holds_and_the_next_does_not(orders: Path) -> None:
    found = hb.find("TPS at p99 < 60 ms", orders, on=DISK, progress=False)
    answer = found.answers[0]
    assert answer.status == "found"
    assert answer.best is not None
    assert answer.bracket is not None
    tps, p99 = (answer.figures[Figure(*name)] for name in (("", "tps"), ("transaction", "p99")))
    assert tps is not None
    assert p99 is not None
    # Two reads take about 10 ms, of one disk that serves 190 in a second alone and more with a queue.
    assert 30 < tps < 200
    assert p99 < 0.06
    script = answer.best.record.document["scripts"][0]
    assert script["requested_per_second"] == pytest.approx(answer.value)
    assert script["per_second"] == tps
    missed = {trial.value: trial.figures[Figure("transaction", "p99")] for trial in answer.trials if trial.met is False}
    assert (missed[answer.bracket[1]] or 0.0) >= 0.06
    assert {"transactions_per_s", "transaction_latency_p99_ns"} <= set(found.frame.columns)


def test_a_latency_at_a_rate_of_transactions(orders: Path) -> None:
    served = hb.find("p99 at 40 TPS", orders, on=DISK, progress=False).answers[0]
    assert served.status == "found"
    beyond = hb.find("p99 at 5000 TPS", orders, on=DISK, progress=False).answers[0]
    assert beyond.status == "nowhere"
    assert beyond.text.startswith("not reached: ")
    assert beyond.text.endswith(" TPS")


@pytest.mark.parametrize(
    ("question", "workload", "said"),
    [
        ("IOPS at p99 < 5 ms", "postgres-oltp", 'the load is of transactions: ask for them, such as "TPS at p99'),
        ("TPS at p99 < 5 ms", "fio-randread", 'the load has no transactions: ask for I/Os, such as "IOPS at p99'),
        ("clients for 90 % of the most TPS", "fio-randread", "clients"),
    ],
)
def test_a_rate_that_the_load_does_not_have(question: str, workload: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        hb.find(question, workload, on=DISK, progress=False)
    assert said in str(error.value)


def test_an_answer_about_transactions_has_no_interval(orders: Path) -> None:
    answer = hb.find("p99 at 40 TPS", orders, on=DISK, interval=90, draws=8, progress=False).answers[0]
    assert answer.interval is None
    assert "no interval: none is known for transactions" in answer.notes


def test_a_run_begins_with_its_transactions_and_judges_them(hotband, orders: Path) -> None:
    on = ("--on", DISK, "--duration", "20 s")
    kept = hotband("run", str(orders), *on, "--rate", "30", "--slo", "transaction.p99 < 1 s and TPS > 20")
    assert kept.stdout.startswith(f"{DISK} meets transaction.p99 < 1 s and TPS > 20 at 30 orders/s")
    plain = hotband("run", str(orders), *on)
    assert " orders/s, p99 " in plain.stdout.splitlines()[0]
    missed = hotband("run", str(orders), *on, "--rate", "3000", "--slo", "p99 < 1 s")
    assert f"{DISK} does not keep up: " in " ".join(missed.stdout.split())
    assert " of 3,000 orders/s, p99 " in " ".join(missed.stdout.split())
    assert missed.stdout.startswith(f"{DISK} does not meet p99 < 1 s and the requested rate at 3,000 orders/s")


def test_latencies_beside_a_rate_of_transactions_are_theirs_in_an_objective_too() -> None:
    assert [str(each.figure) for each in slo_of("p99 < 1 ms and TPS > 20")] == ["transaction.p99", "TPS"]
    assert [str(each.figure) for each in slo_of("p99 < 1 ms and IOPS > 20")] == ["p99", "IOPS"]


def test_an_overload_in_which_no_transaction_ends_is_one(orders: Path) -> None:
    slow = SCRIPT.replace("ios = 2", 'ios = 2\ncpu = "20 s"').replace('duration = "2 s"', 'duration = "1 ms"')
    orders.write_text(slow, encoding="utf-8")
    record = hb.run(orders, on=DISK, rate=2000, duration="5 s", slo="p99 < 1 s", progress=False)
    assert record.document["scripts"][0]["completed"] == 0
    missed = missed_rate(record.document)
    assert missed is not None
    assert missed.words == "does not keep up: 0 of 2,000 orders/s"
    with pytest.raises(UserError) as error:
        Figure("transaction", "p99").needed(record)
    assert "no transaction ended in the time" in str(error.value)


def test_runs_under_way_at_the_end_are_not_late(orders: Path) -> None:
    text = SCRIPT.replace("ios = 2", 'ios = 2\ncpu = "2 s"').replace("clients = 4", "clients = 400")
    orders.write_text(text.replace('duration = "2 s"', 'duration = "1 ms"', 1), encoding="utf-8")
    record = hb.run(orders, on=DISK, rate=20, duration="10 s", progress=False).document
    script = record["scripts"][0]
    assert script["per_second"] < 0.8 * script["requested_per_second"]
    assert (script["backlog_ns"], missed_rate(record)) == (0, None)


def test_a_script_that_pauses_in_a_measured_phase_keeps_up(orders: Path) -> None:
    pause = '[[phases]]\nname = "pause"\nduration = "10 s"\nscripts = []\nmeasure = true\n'
    orders.write_text(SCRIPT.replace('[[phases]]\nname = "measure"', f'{pause}[[phases]]\nname = "measure"'))
    record = hb.run(orders, on=DISK, rate=20, progress=False).document
    assert record["scripts"][0]["per_second"] < 18
    assert missed_rate(record) is None


def test_a_phase_with_fewer_clients_stays_within_those_of_a_trial(orders: Path) -> None:
    orders.write_text(SCRIPT.replace('duration = "2 s"', 'duration = "2 s"\nclients = 3'), encoding="utf-8")
    assert hb.find("TPS at p99 < 60 ms", orders, on=DISK, progress=False).answers[0].status == "found"


def test_the_auditor_finds_a_missed_rate_of_transactions(orders: Path, tmp_path: Path) -> None:
    hb.run(orders, on=DISK, rate=3000, duration="20 s", out=tmp_path / "run", progress=False)
    finding = next(each for each in hb.audit(tmp_path / "run").findings if each.rule == "overload")
    assert " of 3,000 orders/s" in finding.title


def test_a_sweep_ranks_machines_by_transactions(hotband, orders: Path) -> None:
    machines = ("--on", DISK, "--on", "ent-10k")
    options = ("--rate", "20,3000", "--duration", "10 s", "--slo", "transaction.p99 < 500 ms")
    done = hotband("sweep", str(orders), *machines, *options, "--json")
    rows = json.loads(done.stdout)["points"]
    assert all(row["transactions_per_s"] > 0 for row in rows)
    assert {row["requested_transactions_per_s"] for row in rows} == {None, 3000}
    shown = " ".join(hotband("sweep", str(orders), *machines, *options).stdout.split())
    assert "transaction.p99 < 500 ms" in shown
    assert "has the lowest p99 of a transaction" in shown
    assert " TPS" in shown
