"""Are the figures those that the programs printed? Each file of `data` is what a program printed here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hotband.data.documents.program import FigureDoc
from hotband.execution.programs import (
    db_bench,
    fio_files,
    jetstress,
    oltp,
    pgbench,
    postgres,
    specsfs,
    sysbench,
    web,
    ycsb,
)
from hotband.execution.programs.processes import ProgramFailed
from hotband.execution.programs.program import percentile

DATA = Path(__file__).parent / "data"


def sample(name: str) -> str:
    """What a program printed."""
    return (DATA / name).read_text(encoding="utf-8")


def values(figures: list[FigureDoc]) -> dict[str, tuple[float, str]]:
    """Figures by name."""
    found = {one["name"]: (one["value"], one["unit"]) for one in figures}
    assert len(found) == len(figures), "no name is there twice"
    return found


def test_pgbench() -> None:
    assert values(pgbench.figures_of(sample("pgbench.txt"))) == {
        "transactions": (748.253699, "transactions/s"),
        "processed": (1494, "transactions"),
        "failed": (0, "transactions"),
        "transaction latency mean": (2.664, "ms"),
    }


def test_percentiles_of_transactions_are_those_of_the_log() -> None:
    log = sample("pgbench.log").splitlines()
    found = pgbench.percentiles_of(log)
    times = sorted(int(line.split()[2]) / 1000 for line in log)
    assert len(times) == 200
    assert found == {50: times[99], 95: times[189], 99: times[197]}
    failed = ["0 201 failed 0 1795428074 661070", "0 202 skipped 0 1795428074 661070", "cut off"]
    assert pgbench.percentiles_of([*log, *failed]) == found
    assert pgbench.percentiles_of([]) == {}


def test_transactions_of_oltp_are_told_apart() -> None:
    found = values(oltp.of_transactions(["0 1 2000 6 5 0", "1 1 4000 6 5 0", "0 2 7000 9 5 0", "0 3 failed 9 5 0"]))
    assert found == {
        "trade-order run": (2, "transactions"),
        "trade-order latency mean": (3.0, "ms"),
        "trade-order latency p99": (4.0, "ms"),
        "trade-update run": (1, "transactions"),
        "trade-update latency mean": (7.0, "ms"),
        "trade-update latency p99": (7.0, "ms"),
    }


def test_pages_of_postgres() -> None:
    found = values(postgres.page_figures("970|100|5000000", 10.0))
    assert found["pages read"] == (97.0, "pages/s")
    assert found["pages written"] == (10.0, "pages/s")
    assert found["log written"] == (0.5, "MB/s")
    assert found["pages read per page written"] == (9.7, "to 1")
    assert "pages read per page written" not in values(postgres.page_figures("970|0|0", 10.0))


def test_sysbench() -> None:
    found = values(sysbench.figures_of(sample("sysbench.txt")))
    assert found["reads"] == (5259.45, "reads/s")
    assert found["writes"] == (3507.12, "writes/s")
    assert found["flushes"] == (1457.91, "flushes/s")
    assert found["data read"] == (pytest.approx(82.18 * 1.048576), "MB/s")
    assert found["event latency mean"] == (0.77, "ms")
    # sysbench itself says 6.79 ms for the 99th.
    assert "99th percentile:                        6.79" in sample("sysbench.txt")
    assert [found[f"event latency p{rank}"] for rank in (50, 95, 99)] == [(0.238, "ms"), (4.101, "ms"), (6.79, "ms")]


def test_db_bench() -> None:
    text = sample("db_bench.txt")
    reads, writes = values(db_bench.figures_of(text, "readrandom")), values(db_bench.figures_of(text, "fillsync"))
    assert reads == {
        "reads": (31573.0, "reads/s"),
        "read latency mean": (pytest.approx(0.1255084), "ms"),
        "read latency p50": (pytest.approx(0.00396), "ms"),
        "read latency p99": (pytest.approx(3.02949), "ms"),
    }
    assert writes["writes"] == (791.0, "writes/s")
    assert writes["write latency p99"] == (pytest.approx(21.97156), "ms")


def test_wrk() -> None:
    found = values(web.figures_of(sample("web.txt")))
    # wrk's own line says the same: Requests/sec.
    (said,) = (line.split()[1] for line in sample("web.txt").splitlines() if line.startswith("Requests/sec"))
    assert found["requests"] == (pytest.approx(float(said), abs=0.01), "requests/s")
    assert found["request latency p95"] == (10.186, "ms")
    assert found["failed"] == (0, "requests")


def test_go_ycsb() -> None:
    found = values(ycsb.figures_of(sample("ycsb.txt")))
    assert next(iter(found)) == "operations"
    # Of the last report, not of those on the way.
    assert found["operations"] == (1635.9, "operations/s")
    assert found["update latency p99"] == (36.831, "ms")
    assert found["errors"] == (37, "operations")


def test_jetstress() -> None:
    version, groups = fio_files.groups_of(sample("jetstress.json"))
    assert version == "fio-3.33"
    found = values(jetstress.figures_of(groups))
    assert found["transactional I/O"] == (pytest.approx(2172.913543 + 2152.423788), "IOPS")
    assert found["database I/Os per log write"][0] == pytest.approx(10, rel=0.01)
    assert found["maintenance reads"][0] == pytest.approx(2 * jetstress.MAINTENANCE_PER_S, rel=0.2)
    assert found["database read latency p99"] == (4.01408, "ms")


def test_jetstress_limits_are_kept_and_missed() -> None:
    figures: list[FigureDoc] = [
        {"name": "database read latency mean", "value": 20.1, "unit": "ms"},
        {"name": "log write latency mean", "value": 9.9, "unit": "ms"},
    ]
    assert [line.rpartition(" ")[2] for line in jetstress.verdicts(figures)] == ["missed", "met"]


def test_specsfs() -> None:
    _, groups = fio_files.groups_of(sample("specsfs.json"))
    found = values(specsfs.figures_of(groups, specsfs.MIXES["swbuild"], 1))
    assert found["operations asked for"] == (500, "operations/s")
    assert found["operations"][0] == pytest.approx(500, rel=0.01)
    # fio has no total latency of what only names files: it is that of the completion.
    assert found["stat latency mean"] == (pytest.approx(0.006036941), "ms")
    assert found["create latency p99"] == (3.293184, "ms")


def test_mixes_add_up() -> None:
    assert [sum(mix.percent.values()) for mix in specsfs.MIXES.values()] == [100, 100]
    assert sum(web.CLASSES) == 100
    assert sum(specsfs.SIZES.values()) == 100


@pytest.mark.parametrize(
    ("parse", "file"),
    [
        (pgbench.figures_of, "pgbench.txt"),
        (sysbench.figures_of, "sysbench.txt"),
        (lambda text: db_bench.figures_of(text, "readrandom"), "db_bench.txt"),
        (web.figures_of, "web.txt"),
        (ycsb.figures_of, "ycsb.txt"),
        (fio_files.groups_of, "jetstress.json"),
    ],
)
def test_what_is_cut_off_is_refused(parse: Callable[[str], object], file: str) -> None:
    text = sample(file)
    parse(text)
    for cut in ("", text[: len(text) // 4]):
        with pytest.raises(ProgramFailed, match="printed no"):
            parse(cut)


def test_a_job_that_failed_is_a_failure() -> None:
    with pytest.raises(ProgramFailed, match="job db1 ended with error 5"):
        fio_files.groups_of(sample("jetstress.json").replace('"error" : 0', '"error" : 5', 1))


def test_requests_that_all_failed_are_a_failure() -> None:
    text = sample("web.txt").replace('"failed": 0', '"failed": 99999999')
    with pytest.raises(ProgramFailed, match="requests failed"):
        web.figures_of(text)


@pytest.mark.parametrize(("count", "rank", "expected"), [(1, 99, 1), (100, 99, 99), (100, 50, 50), (101, 99, 100)])
def test_percentiles_are_of_the_nearest_rank(count: int, rank: int, expected: float) -> None:
    assert percentile([float(n + 1) for n in range(count)], rank) == expected
