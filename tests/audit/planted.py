"""All planted faults; here those of rule groups 5 to 9: lengths, steadiness, caches, comparisons, tools."""

from __future__ import annotations

from dataclasses import replace

from faulty import (
    SLOW_SSD,
    SMALL_SSD,
    Fault,
    equal,
    fio_group,
    lasting,
    pair,
    points,
    slow_submission,
    smart,
    sweep,
    with_spec,
    with_streams,
)
from made_up import CACHED_WRITE, DISK, FAST, SSD, changed, clock, deep, result, series
from planted_in_devices import DEVICE_FAULTS
from planted_in_figures import FLOWS, LAWS, PHYSICS, REPLAY
from planted_in_itself import ITSELF

from hotband.inference.audit.facts import of_machine, of_media

LENGTHS = [
    Fault(
        "short-run",
        "ten seconds of fifteen minutes",
        lambda: [result("a", SSD, seconds=10, duration_ns=900 * 10**9)],
        {"duration_s": 10.0, "asked_s": 900.0},
        None,
        "severe",
    ),
    Fault(
        "short-run",
        "the size was used up",
        lambda: [result("a", DISK, seconds=270, duration_ns=300 * 10**9, time_based=False)],
        {"share_pct": 90.0},
        None,
        "warning",
    ),
    Fault(
        "short-run",
        "stopped by hand",
        lambda: [result("a", deep(16), concurrency=16, seconds=200, duration_ns=600 * 10**9)],
        {"asked_s": 600.0},
        None,
        "severe",
    ),
    Fault(
        "shorter-than-others",
        "ten seconds among 900",
        lambda: lasting(900, 900, 10, 900),
        {"runs": 4, "runs_shorter": 1, "duration_s": 10.0, "others_s": 900.0, "share_pct": 1.11},
        None,
        "severe",
    ),
    Fault(
        "shorter-than-others",
        "two of five a third as long",
        lambda: lasting(300, 100, 300, 100, 300),
        {"runs": 5, "runs_shorter": 2, "others_s": 300.0},
        None,
        "warning",
    ),
    Fault(
        "shorter-than-others",
        "one target for a minute, the other for ten",
        lambda: [
            result(f"{target[-1]}{again}", deep(4), concurrency=4, target=target, seconds=seconds, slower=slower * late)
            for target, seconds, slower in (("/dev/sda", 600, 1.0), ("/dev/sdb", 90, 2.0))
            for again, late in enumerate((1.0, 1.01))
        ],
        {"runs": 4, "runs_shorter": 2, "share_pct": 15.0},
        None,
        "warning",
        frozenset({"percentile-support"}),
    ),
    Fault(
        "percentile-support",
        "p99.9 of 30 s at depth 1",
        lambda: [result("a", DISK, seconds=30)],
        {"percentile": 99.9, "ios_needed": 3688},
        None,
        "note",
    ),
    Fault(
        "percentile-support",
        "p99.9 of 600 I/Os",
        lambda: [result("a", DISK, seconds=7)],
        {"percentile": 99.9, "ios_above": 0.6},
        None,
        "warning",
    ),
    Fault(
        "percentile-support",
        "p99 of 300 reads beside many writes",
        lambda: [result("a", SSD, SSD, seconds=3, read_pct=1.0, direct=True)],
        {"percentile": 99.9},
    ),
    Fault(
        "out-of-sequence",
        "two of six made again a night later",
        lambda: points(2, 4),
        {"runs": 6, "runs_out_of_sequence": 2, "hours_apart": 9.0},
        None,
        "warning",
        frozenset({"one-repeat"}),
    ),
    Fault(
        "out-of-sequence",
        "the first again at the end",
        lambda: points(1),
        {"runs_out_of_sequence": 1},
        None,
        "",
        frozenset({"one-repeat"}),
    ),
    Fault(
        "out-of-sequence",
        "one of a falling sweep",
        lambda: points(8, depths=(64, 32, 16, 8, 4, 2, 1)),
        {"runs": 7, "runs_out_of_sequence": 1},
        None,
        "",
        frozenset({"one-repeat"}),
    ),
]
STEADY = [
    Fault(
        "no-steady-state",
        "falls all the time",
        lambda: [result("a", SSD, concurrency=32, over_time=series([100.0 * 0.93**n for n in range(25)], 300, 9e4))],
        {"tracked": "iops"},
    ),
    Fault(
        "no-steady-state",
        "swings by half",
        lambda: [result("a", SSD, concurrency=32, over_time=series([100.0, 150.0] * 5, 300, 9e4))],
        {"tracked": "iops"},
    ),
    Fault(
        "no-steady-state",
        "fio's own rule was not attained",
        lambda: [changed(result("a", SSD), "samples", to={"rule": "iops:5%", "attained": False})],
        {"rule": "iops:5%"},
    ),
    Fault(
        "no-steady-state",
        "a phase that was to end when steady",
        lambda: [changed(result("a", SSD), "steady_state", to={"reached": False, "rounds": [1.0] * 25})],
        {"rounds": 25},
    ),
    Fault(
        "warm-up-measured",
        "40 % less for a tenth of the time",
        lambda: [result("a", SSD, concurrency=32, over_time=series([60.0] * 3 + [100.0] * 22, 300, 9e4))],
        {"level_pct": -40.0, "warm_up_s": 36.0},
    ),
    Fault(
        "warm-up-measured",
        "a fresh drive's burst",
        lambda: [result("a", SSD, concurrency=32, over_time=series([300.0, *[100.0] * 9], 300, 9e4))],
        {"steady_mean": 100.0},
    ),
    Fault(
        "warm-up-measured",
        "a cache fills for 100 s",
        lambda: [result("a", SSD, concurrency=32, over_time=series([50.0, 65.0, 85.0, *[100.0] * 7], 300, 9e4))],
        {"tracked": "iops"},
    ),
    Fault(
        "drift",
        "a third less from the middle on",
        lambda: [result("a", SSD, concurrency=32, over_time=series([100.0, 67.0], 300, 9e4))],
        {"level_pct": -33.0, "since_s": 144.0},
    ),
    Fault(
        "drift",
        "twice as fast at the end",
        lambda: [result("a", SSD, concurrency=32, over_time=series([100.0] * 7 + [200.0] * 3, 300, 9e4))],
        {"level_pct": 100.0},
    ),
    Fault(
        "drift",
        "creeps down after a steady start",
        lambda: [
            result(
                "a",
                SSD,
                concurrency=32,
                over_time=series([100.0] * 10 + [100.0 - 2.5 * n for n in range(15)], 300, 9e4),
            )
        ],
        {"tracked": "iops"},
    ),
    Fault("not-preconditioned", "a new drive in a model", lambda: smart(0.2), {"fills": 0.2}, SMALL_SSD, "severe"),
    Fault(
        "not-preconditioned",
        "five minutes of writes to 1 TB",
        lambda: [result("a", None, SSD, read_pct=0.0, concurrency=4)],
        {"fills_needed": 1.0},
        SMALL_SSD,
        "warning",
    ),
    Fault(
        "not-preconditioned",
        "half filled first",
        lambda: [
            result("fill", None, SSD, concurrency=16, read_pct=0.0, ended=clock(0), pattern="sequential"),
            result("a", None, SSD, read_pct=0.0, ended=clock(1)),
        ],
        {"fills_needed": 1.0},
        SMALL_SSD,
        "warning",
    ),
]
CACHES = [
    Fault(
        "working-set-in-cache",
        "64 MB on a disk of 128 MB cache",
        lambda: [result("a", DISK, working_set_bytes=64 * 10**6)],
        {"share_pct": 100.0, "cache_bytes": 128e6},
        of_machine("ent-10k"),
        "severe",
    ),
    Fault(
        "working-set-in-cache",
        "10 GB of a pool with 8 GiB",
        lambda: [result("a", DISK, working_set_bytes=10**10)],
        {"share_pct": 100 * 8 * 2**30 / 1e10},
        of_media("hdd", "8 GiB"),
        "severe",
    ),
    Fault(
        "working-set-in-cache",
        "1 GB on four disks",
        lambda: [result("a", DISK, working_set_bytes=5 * 10**9)],
        {"cache_bytes": 512e6, "share_pct": 10.24},
        of_machine("raid10:4xent-10k"),
        "warning",
    ),
    Fault(
        "working-set-in-cache",
        "writes that the write cache holds",
        lambda: [result("a", None, CACHED_WRITE, read_pct=0.0, working_set_bytes=16 * 10**6)],
        {"cache_bytes": 32e6, "direction": "write"},
        of_machine("ent-10k"),
        "severe",
    ),
]
COMPARISONS = [
    Fault(
        "unequal-concurrency",
        "depth 4 against 16",
        lambda: pair({}, {"concurrency": 16}),
        {"least": 4, "most": 16, "targets": 2},
    ),
    Fault(
        "unequal-concurrency",
        "threads against queue depth",
        lambda: pair({"concurrency": 1}, {"concurrency": 32}),
        {"least": 1, "most": 32},
    ),
    Fault(
        "unequal-concurrency",
        "three targets, none alike",
        lambda: [
            *pair({"concurrency": 2}, {"concurrency": 4}),
            *(result(f"c{n}", deep(8), concurrency=8, target="/dev/sdc", ended=clock(n)) for n in range(2)),
        ],
        {"targets": 3},
    ),
    Fault(
        "unequal-data",
        "10 GB against 100 GB",
        lambda: pair({"working_set_bytes": 10**10}, {"working_set_bytes": 10**11}),
        {"least": 1e10, "most": 1e11},
    ),
    Fault(
        "unequal-data",
        "zeros against random data",
        lambda: [
            with_spec(one, ioengine="libaio", buffer_compress_percentage="90" if one.target.endswith("a") else "40")
            for one in pair({}, {})
        ],
        {"what": "buffer_compress_percentage", "least": 40.0, "most": 90.0},
    ),
    Fault(
        "unequal-data",
        "entropy of 100 % against 37 %",
        lambda: [
            changed(one, "data", to=[{"stream": "main", "mean": 1.0 if one.target.endswith("a") else 0.37}])
            for one in pair({}, {})
        ],
        {"what": "entropy", "least": 0.37, "most": 1.0},
    ),
    Fault(
        "one-repeat",
        "a sweep, each depth once",
        lambda: points(),
        {"points": 6, "points_measured_once": 6},
        None,
        "note",
    ),
    Fault(
        "one-repeat",
        "two targets, once each",
        lambda: [result(t, deep(4), concurrency=4, target=t, slower=s) for t, s in (("a", 1.0), ("b", 1.5))],
        {"points": 2, "points_measured_once": 2},
    ),
    Fault("one-repeat", "one point of four", lambda: sweep()[:-2], {"points": 4, "points_measured_once": 1}),
    Fault(
        "copied-result",
        "a file in two folders",
        lambda: [result(name, DISK) for name in ("a/qd1", "b/qd1")],
        {"results": 2},
    ),
    Fault(
        "copied-result",
        "three names",
        lambda: [result(name, DISK) for name in ("a", "b", "c")],
        {"results": 3},
        None,
        "severe",
    ),
    Fault(
        "copied-result",
        "a repeat of a sweep that is none",
        lambda: [*sweep(), replace(sweep()[0], name="qd1-3")],
        {"results": 2},
    ),
    Fault(
        "within-interval",
        "one per cent, one run each",
        lambda: equal(1.005, 0.1, 1),
        {"how": "samples over time: 300 and 300, one run each"},
        None,
        "note",
        frozenset({"one-repeat"}),
    ),
    Fault(
        "within-interval",
        "two per cent, repeats 5 % apart",
        lambda: equal(1.02, 0.05, 3),
        {"change_pct": 2.0, "how": "repeats: 3 and 3 runs, Welch's t"},
    ),
    Fault(
        "within-interval",
        "no samples, 5,000 I/Os each",
        lambda: [result(t, DISK, seconds=60, target=t, slower=s) for t, s in (("a", 1.0), ("b", 1.01))],
        {"how": "no series: Poisson distribution, I/Os assumed independent"},
        None,
        "",
        frozenset({"one-repeat"}),
    ),
]
TOOLS = [
    Fault(
        "averaged-percentiles",
        "p99 of two clients",
        lambda: [with_streams(SSD, SLOW_SSD, weights=(0.9, 0.1), pct="latency_p99_ns", plain=True)],
        {"percentile": 99.0, "parts": 2},
    ),
    Fault(
        "averaged-percentiles",
        "p99.9 weighted by I/Os",
        lambda: [with_streams(SSD, SLOW_SSD, weights=(0.9, 0.1), pct="latency_p999_ns", plain=False)],
        {"percentile": 99.9},
    ),
    Fault(
        "averaged-percentiles",
        "a note that says so",
        lambda: [changed(result("a", SSD), "notes", to=["avg p99 over 4 drives"])],
        {"said": "avg p99 over 4 drives"},
    ),
    Fault(
        "mixed-jobs",
        "writes in a group of reads",
        lambda: [fio_group({"read_pct": 100.0}, writes=DISK, read_pct=70.0)],
        {"jobs": 4},
    ),
    Fault("mixed-jobs", "two sizes", lambda: [fio_group({"block_bytes": 4096}, size=10240)], {"jobs": 4}),
    Fault(
        "mixed-jobs",
        "more outstanding than the first job's",
        lambda: [changed(fio_group({"concurrency": 4}, concurrency=16), "concurrency", to=4)],
        {"group_reporting": "True"},
        None,
        "warning",
    ),
    Fault(
        "tool-version",
        "percentiles without submission",
        lambda: [slow_submission(0.4)],
        {"trap": "clat-percentiles", "submission_pct": 40.0},
    ),
    Fault(
        "tool-version",
        "whole microseconds of fio 2",
        lambda: [result("a", FAST, version="2.1.10")],
        {"trap": "microseconds", "p50_us": 12.0},
    ),
    Fault(
        "tool-version",
        "vdbench's hot band",
        lambda: [result("a", SSD, tool="vdbench", version="5.04.06", spec={"workload": "wd=w1,sd=*,hotband=(10,18)"})],
        {"trap": "hotband-unit", "version": "5.4.6"},
    ),
    Fault(
        "tool-version",
        "direct not asked for",
        lambda: [with_spec(result("a", SSD, direct=None), ioengine="libaio")],
        {"trap": "buffered"},
    ),
    Fault(
        "tool-version",
        "diskspd with caching",
        lambda: [result("a", SSD, tool="diskspd", kind="percentiles", direct=False)],
        {"trap": "buffered"},
    ),
    Fault(
        "tool-version",
        "a queue for an engine that has none",
        lambda: [
            changed(result("a", DISK), "notes", to=["job: iodepth=32 counts as 1, psync has one I/O outstanding"])
        ],
        {"trap": "synchronous-engine"},
    ),
]
FAULTS = [*LAWS, *FLOWS, *PHYSICS, *REPLAY, *LENGTHS, *STEADY, *CACHES, *COMPARISONS, *TOOLS, *DEVICE_FAULTS, *ITSELF]
