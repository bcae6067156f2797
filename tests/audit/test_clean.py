"""Is the auditor quiet on results that are right, whatever the tool and the target?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from made_up import (
    CACHED_WRITE,
    DISK,
    FAST,
    SSD,
    Shape,
    clock,
    deep,
    result,
    series,
    table,
)

from hotband.data.documents.run import RunSpec
from hotband.execution.experiment.experiment import execute
from hotband.inference.audit import Audited, findings, load_results
from hotband.inference.audit.facts import MachineFacts, of_machine, of_media

Case = tuple[list[Audited], MachineFacts | None]
SEVENTY_TWO = of_media("7200rpm")
# 300 s at about 90 us and depth 32 write 428 GB: a first result fills a drive of 200 GB.
SMALL_SSD = MachineFacts("an SSD", "--on", "ssd", 1, capacity_bytes=2e11, raw_bytes=2e11, read_time_ns=60e3)


def sweep() -> list[Audited]:
    """Three repeats of four depths, fresh seeds, in the order of depth."""
    depths = [depth for depth in (1, 4, 16, 64) for _ in range(3)]
    return [
        result(f"qd{depth}-{place}", deep(depth), concurrency=depth, ended=clock(place / 4), slower=1 + place % 3 / 200)
        for place, depth in enumerate(depths)
    ]


def two_targets() -> list[Audited]:
    """Three repeats on each of two disks, one 20 % slower."""
    return [
        result(f"{target[-1]}-{place}", deep(4), concurrency=4, target=target, slower=slower * (1 + place / 300))
        for target, slower in (("/dev/sda", 1.0), ("/dev/sdb", 1.2))
        for place in range(3)
    ]


CASES: dict[str, Callable[[], Case]] = {
    "fio, disk, depth 1, bins and percentiles": lambda: ([result("a", DISK, kind="json")], SEVENTY_TWO),
    "fio, disk, depth 1, target not known": lambda: ([result("a", DISK, kind="json")], None),
    "fio JSON+, disk, depth 32": lambda: ([result("a", deep(32), concurrency=32)], SEVENTY_TWO),
    "fio, fast SSD at depth 1, the host takes 15 % of the time": lambda: ([result("a", FAST, busy=0.85)], None),
    "fio, SSD, filled before": lambda: (
        [
            result("fill", None, SSD, concurrency=32, read_pct=0.0, ended=clock(0), pattern="sequential"),
            result("mix", SSD, SSD, concurrency=32, read_pct=70.0, ended=clock(1)),
        ],
        SMALL_SSD,
    ),
    "vdbench, 16 threads, samples": lambda: (
        [
            result(
                "v",
                deep(16),
                concurrency=16,
                jobs=16,
                tool="vdbench",
                version="5.04.07",
                kind="mean",
                over_time=series([190.0], 300, 84e6, 0.03),
            )
        ],
        SEVENTY_TWO,
    ),
    "vdbench at a fixed rate": lambda: ([result("v", SSD, tool="vdbench", rate=2000.0, concurrency=None)], None),
    "diskspd, percentiles alone": lambda: (
        [result("d", SSD, concurrency=32, jobs=4, tool="diskspd", version="2.0.21", kind="percentiles")],
        of_media("ssd"),
    ),
    "Iometer, means alone": lambda: ([result("i", deep(4), concurrency=4, tool="iometer", kind="mean")], SEVENTY_TWO),
    "HdrHistogram log of a service": lambda: (
        [result("h", SSD, tool="hdrhistogram", rate=500.0, concurrency=None, pattern=None, block_bytes=None)],
        None,
    ),
    "fio, sequential reads from look-ahead": lambda: (
        [result("s", [(1.0, Shape(300 * 1e3, 200 * 1e3))], size=131072, pattern="sequential")],
        SEVENTY_TWO,
    ),
    "sweep, three repeats, fresh seeds": lambda: (sweep(), SEVENTY_TWO),
    "two targets, three repeats": lambda: (two_targets(), SEVENTY_TWO),
    "fio, writes to a disk with write cache": lambda: (
        [result("w", None, CACHED_WRITE, read_pct=0.0)],
        of_machine("ent-10k"),
    ),
    "fio, writes to a write-through disk": lambda: (
        [result("w", None, DISK, read_pct=0.0)],
        of_machine("cheetah-15k4"),
    ),
    "fio 2.1, disk": lambda: ([result("o", DISK, version="2.1.10", kind="json")], SEVENTY_TWO),
    "fixed seed, one run": lambda: ([result("f", DISK, seed="fixed")], SEVENTY_TWO),
    "mixed reads and writes of a disk": lambda: (
        [result("m", deep(16), deep(16), concurrency=16, read_pct=70.0)],
        SEVENTY_TWO,
    ),
    "large working set, cache stated": lambda: (
        [result("c", DISK, working_set_bytes=10**12)],
        of_media("hdd", "8 GiB"),
    ),
    "a random order of depths": lambda: (
        [
            result(f"r{depth}-{again}", deep(depth), concurrency=depth, ended=clock(hour + 10 * again))
            for again in range(2)
            for hour, depth in enumerate((16, 1, 64, 4, 32, 2))
        ],
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_clean_result_has_no_finding(name: str) -> None:
    results, machine = CASES[name]()
    assert [(one.rule, one.title) for one in findings(results, machine)] == []


def test_a_clean_table_has_no_finding(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    words = "vdbench 8KB 100% random, 16 threads, 75% read"
    cell = {
        "IOPS": ("597.11", "IOPS", ""),
        "bandwidth": ("4.9", "MB/s", ""),
        "mean response time": ("26.8", "ms", ""),
    }
    path.write_text(table(("one disk", words, cell)), encoding="utf-8")
    assert findings(load_results([path]), None) == []


MODELS = {
    "disk": RunSpec("disk", "exos-15e900-512n", "fio-randread", (("qd", "16"),), duration="60 s"),
    "slow disk": RunSpec("slow", "mg06sca-10tb", "fio-randread", (("qd", "1"),), duration="100 s"),
    "raid": RunSpec("raid", "raid10:4xent-10k", "iometer-database", (("qd", "8"),), duration="60 s"),
    "writes": RunSpec("writes", "cheetah-15k4", "fio-randwrite", (("qd", "4"),), duration="60 s"),
    "stream": RunSpec("stream", "ent-10k", "fio-read", (("qd", "4"),), duration="30 s"),
    "ssd": RunSpec(
        "ssd",
        "s4500-960",
        "fio-randwrite",
        (("scale", "256"), ("state", "preconditioned"), ("qd", "8")),
        duration="30 s",
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_run_of_a_model_has_no_finding(name: str) -> None:
    from hotband.views.report import loaded_run

    loaded = loaded_run(execute([MODELS[name]])[0])
    found = findings([Audited(name, loaded.record, loaded.series)], None)
    assert [(one.rule, one.title) for one in found] == []
