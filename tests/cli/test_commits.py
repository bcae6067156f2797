"""Loads that flush: machines are ranked by their commits, and what a power failure may destroy is stated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hotband as hb

WAL = "[wal]\nrw=write\nbs=8k\ndirect=1\nsize=1g\nruntime=1\ntime_based\n"
UNPROTECTED = "no power-loss protection"


@pytest.fixture
def wal(tmp_path: Path) -> str:
    path = tmp_path / "wal.fio"
    path.write_text(f"{WAL}fsync=1\n")
    return str(path)


def test_a_sweep_of_a_log_ranks_by_the_commit(wal: str, tmp_path: Path) -> None:
    # The disk's cache takes a write sooner than that of the SSD returns its flush.
    on = ("exos-15e900-512n", "980-1tb")
    sweep = hb.sweep(wal, on=list(on), duration="0.5 s")
    rows = {row["target"]: row for row in sweep.frame.iter_rows(named=True)}
    for name, record in zip(on, sweep, strict=True):
        flush, write = record.document["summary"]["flush"], record.document["summary"]["write"]
        both = flush["latency_p99_ns"] + write["latency_p99_ns"]
        assert rows[name]["commit_latency_p99_ns"] == both > write["latency_p99_ns"]
    assert sweep.answers[0].startswith("980-1tb has the lowest p99 of a commit (write and flush), ")
    assert "p99 commit latency" in sweep.report(tmp_path / "wal.html").read_text()


def test_a_sweep_without_flushes_ranks_by_rate_and_latency(tmp_path: Path) -> None:
    (tmp_path / "w.fio").write_text(WAL)
    sweep = hb.sweep(tmp_path / "w.fio", on=["exos-15e900-512n", "ent-10k"], duration="0.2 s")
    assert "commit_latency_p99_ns" not in sweep.frame.columns
    assert sweep.answers[0] == "exos-15e900-512n and ent-10k are alike in IOPS."


@pytest.mark.parametrize(
    ("job", "machine", "says"),
    [
        ("fsync=1", "exos-15e900-512n", "survive a power failure only once a later flush"),
        ("sync=1", "exos-15e900-512n", "synchronous writes reach the media before they complete"),
        ("", "exos-15e900-512n", ""),
        ("fsync=1", "7450-pro-3840", ""),
    ],
)
def test_a_load_with_syncs_on_a_volatile_cache_says_what_survives(
    tmp_path: Path, typed, job: str, machine: str, says: str
) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "w.fio").write_text(f"{WAL}{job}\n")
    for command in ("run", "sweep"):
        code, out, _ = typed(command, "w.fio", "--on", machine, "--duration", "0.1 s")
        out = " ".join(out.split())
        assert code == 0
        assert (UNPROTECTED in out) == bool(says)
        assert says in out


def test_a_machine_that_reaches_a_rate_of_writes_keeps_up_with_it(wal: str, typed) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = typed("run", wal, "--on", "7450-pro-3840", "--rate", "1000", "--set", "scale=512")
    assert (code, "does not keep up" in out) == (0, False)
    found = hb.find("IOPS at p99 < 30 ms", wal, on="7450-pro-3840", within=20.0, set={"scale": 512})
    assert found.answers[0].status == "found"


def test_an_objective_of_a_log_is_judged_by_its_commits(wal: str, typed) -> None:  # type: ignore[no-untyped-def]
    """The write alone is in the drive's cache within some microseconds, whatever its flush takes."""
    load = ("--on", "980-1tb", "--duration", "0.5 s")
    _, out, _ = typed("run", wal, *load, "--slo", "p99 < 1 ms")
    assert out.startswith("980-1tb does not meet p99 < 1 ms: commit p99 is ")
    for met in ("write.p99 < 1 ms", "flush p99 < 10 ms", "commit p99 < 10 ms", "p99 < 10 ms"):
        _, out, _ = typed("run", wal, *load, "--slo", met)
        assert out.startswith(f"980-1tb meets {met}, with ")
    sweep = hb.sweep(wal, on=["980-1tb", "7450-pro-3840"], duration="0.5 s", slo="p99.9 < 1 ms and p50 < 1 ms")
    verdicts = {row["target"]: [row["p99.9 < 1 ms"], row["p50 < 1 ms"]] for row in sweep.means.iter_rows(named=True)}
    assert verdicts == {"980-1tb": ["no", "no"], "7450-pro-3840": ["yes", "yes"]}


@pytest.mark.parametrize(
    "load",
    [
        "--rate=200",
        'open = { rate_iops = 200, arrival = "fixed" }',
        'open = { rate_iops = 200, arrival = "poisson" }',
        'open = { rate_iops = 200, arrival = "fixed", outstanding = 1 }',
        'open = { rate_iops = 200, arrival = "fixed", outstanding = 8, drain = true }',
        'arrivals = { gaps = { "5 ms" = 100 } }',
        'bursts = { ios = 20, every = "100 ms" }',
    ],
)
def test_a_rate_counts_writes_and_each_is_followed_by_its_flush(wal: str, tmp_path: Path, load: str) -> None:
    workload, rate = wal, {"rate": 200} if load.startswith("--") else {}
    if not rate:
        stream = 'read_pct = 0\nrandom_pct = 0\nsize = "8 KiB"\nflush_every = 1\n'
        text = f'[load]\n{load}\n[[streams]]\n{stream}[[phases]]\nduration = "10 s"\nmeasure = true\n'
        workload = str(tmp_path / "log.toml")
        Path(workload).write_text(text)
    summary = hb.run(workload, on="7450-pro-3840", duration="10 s", **rate).summary
    # Arrivals at random vary: five standard deviations of 2,000 are 224.
    assert summary.write.count == pytest.approx(2000, abs=224)
    assert summary.flush.count == pytest.approx(summary.write.count, abs=20)


def test_a_question_about_a_log_is_about_its_commits(wal: str) -> None:
    found = hb.find("p99 at 400 IOPS", wal, on="980-1tb")
    answer = found.answers[0]
    flush = answer.best.record.summary.flush
    assert flush is not None
    assert 0.7 * flush.p99 < answer.figures[found.question.wanted] < 1.3 * flush.p99
    assert "latency_p99_ns" not in found.frame.columns
    assert found.frame["commit_latency_p99_ns"][0] > 0
    assert "p99 is that of commits, writes with their flush; write.p99 is that of writes alone" in answer.notes
    with pytest.raises(hb.UserError, match=r"expected a latency of a commit, such as commit\.p99"):
        hb.find("commit IOPS at p99 < 1 ms", wal, on="980-1tb")
    with pytest.raises(hb.UserError, match="the load has no flushes"):
        hb.find("commit.p99 at 100 IOPS", "fio-randread", on="ent-10k")


def test_advice_for_a_log_is_by_its_commits(wal: str) -> None:
    candidates = "drives=980-1tb,7450-pro-3840,layouts=raid1,counts=2"
    needs = {"capacity": "500 GB", "protect": "one failure", "duty": "1 %", "candidates": candidates}
    advice = hb.advise([wal], slo="p99 < 1 ms", **needs)
    assert set(advice.frame["drive"]) == {"7450-pro-3840"}
    assert "not p99 < 1 ms" in str(advice.to_dict()["left_out"])


def test_a_comparison_of_logs_is_decided_by_their_commits(wal: str, tmp_path: Path, typed) -> None:  # type: ignore[no-untyped-def]
    """The volatile cache takes a write sooner, and its flush takes a hundred times longer."""
    drives = ("980-1tb", "7450-pro-3840")
    for drive in drives:
        typed("run", wal, "--on", drive, "--rate", "400", "--duration", "10 s", "--out", drive)
    _, out, _ = typed("compare", *drives, "--anyway")
    assert re.match(r"7450-pro-3840 is predicted to be [\d.]+ times faster than 980-1tb \(commit p50\s", out)
    _, out, _ = typed("compare", *reversed(drives), "--anyway")
    assert re.match(r"980-1tb is predicted to be [\d.]+ times slower than 7450-pro-3840 \(commit\s", out)
    assert "requested IOPS" not in typed("audit", drives[1])[1]


@pytest.fixture
def mixed(tmp_path: Path) -> str:
    """Reads, and a log of one write with its flush per hundred of them."""
    reads = (
        "[reads]\nrw=randread\nbs=4k\nsize=1g\nioengine=libaio\niodepth=32\nrate_iops=2000\nruntime=10\ntime_based\n"
    )
    path = tmp_path / "mixed.fio"
    path.write_text(f"{reads}[log]\nrw=write\nbs=4k\nsize=1g\nrate_iops=20\nfsync=1\nruntime=10\ntime_based\n")
    return str(path)


def test_commits_that_are_too_few_to_show_decide_nothing(mixed: str, typed) -> None:  # type: ignore[no-untyped-def]
    drives = ("980-1tb", "exos-15e900-512n")
    _, out, _ = typed("run", mixed, "--on", drives[0], "--slo", "p99 < 1 ms")
    assert out.startswith("980-1tb meets p99 < 1 ms, with ")
    _, out, _ = typed("run", mixed, "--on", drives[0], "--slo", "p99.9 < 1 ms")
    assert out.startswith("980-1tb does not meet p99.9 < 1 ms: commit p99.9 is ")
    for drive in drives:
        typed("run", mixed, "--on", drive, "--out", drive)
    # The disk misses the rate, whatever its commits take.
    _, out, _ = typed("compare", *drives, "--anyway")
    assert re.match(r"exos-15e900-512n is predicted to be [\d.,]+ (%|times) slower", out)


def test_figures_of_commits_where_there_are_none(wal: str, typed) -> None:  # type: ignore[no-untyped-def]
    load = ("fio-randread", "--on", "ent-10k", "--on", "exos-15e900-512n", "--duration", "0.2 s")
    code, out, _ = typed("sweep", *load, "--slo", "commit.p99 < 1 ms")
    assert (code, "the load has no commit.p99 on ent-10k" in " ".join(out.split())) == (0, True)
    assert "commit p99 is 1." in typed("sweep", wal, "--on", "980-1tb", "--slo", "p99 < 1 ms")[1]
    # Flushes of drives with power-loss protection take no time.
    machines = ("--protect", "one failure", "--candidates", "drives=7450-pro-3840,layouts=raid1,counts=2")
    code, out, _ = typed("advise", wal, "--slo", "flush.p99 < 1 ms", "--capacity", "500 GB", "--duty", "1 %", *machines)
    assert (code, "2 x 7450-pro-3840" in out) == (0, True)


def test_a_rate_is_reached_with_its_flushes(wal: str) -> None:
    found = hb.find("p99 at 30000 IOPS", wal, on="980-1tb", duration="0.2 s")
    assert found.answers[0].status == "found"


def test_commits_have_no_interval_of_writes(wal: str) -> None:
    found = hb.find("p99 at 60 IOPS", wal, on="exos-15e900-512n", interval=90, draws=8, duration="5 s")
    assert found.answers[0].interval is None
    assert not any("share of the most" in note for note in found.answers[0].notes)


def test_results_with_flushes_in_their_summary_alone_have_commits() -> None:
    from hotband.data.record.durability import commit_figure

    side = {"count": 10, "latency_mean_ns": 5.0, "latency_p99_ns": 9.0}
    record = {"streams": [], "summary": {"count": 10, "write": side, "flush": side}}
    assert [commit_figure(record, quantile) for quantile in (None, 99.0, 42.0)] == [10.0, 18.0, None]  # type: ignore[arg-type]
