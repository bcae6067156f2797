"""Records with everything that a model may tell (steps, scripts, caches, times, a power loss), and a study of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import polars as pl
import synthetic

from hotband.questions.study.definition import Config, Load, Measure, Published, Study
from hotband.questions.study.measures import Parameters, Reading
from hotband.questions.study.runs import Cell, Results, run_id
from hotband.questions.study.study import Conclusion, result_of
from hotband.views.report import LoadedRecord

SHARES = {"queue": 0.3, "overhead": 0.02, "seek": 0.33, "rotation": 0.2, "transfer": 0.05, "flash": 0.06, "link": 0.04}
THREADS = (1, 2, 4, 8, 16, 32)
VARIANTS = ("15K 512n, write cache off", "15K 512e, write cache on", "15K 512e, write cache and flash")


def times(mean_ns: float) -> dict[str, float]:
    """`times_mean_ns` that add up to a mean."""
    return {name: share * mean_ns for name, share in SHARES.items()}


def figures(iops: float, latency_ms: float | None) -> dict[str, Any]:
    """A Figures object."""
    mean = None if latency_ms is None else latency_ms * 1e6
    keys = ("latency_min_ns", "latency_p50_ns", "latency_p99_ns", "latency_p999_ns", "latency_max_ns")
    return {
        "iops": iops,
        "bandwidth_bytes_per_s": iops * 4096,
        "count": int(iops * 60),
        "bytes": int(iops * 60) * 4096,
        "errors": 0,
        "latency_mean_ns": mean,
        **dict.fromkeys(keys, mean),
        "queue_depth_mean": 0.0 if mean is None else iops * mean / 1e9,
        "times_mean_ns": None if mean is None else times(mean),
    }


def step(threads: int, speed: float, begin_s: int) -> dict[str, Any]:
    """A measured phase of a closed loop on a machine that saturates at `speed`."""
    iops = speed * threads / (threads + 3)
    whole = figures(iops, threads / iops * 1e3)
    return {
        "name": f"users-{threads}",
        "threads": threads,
        "clients": None,
        "begin_ns": begin_s * 10**9,
        "duration_ns": 60 * 10**9,
        "summary": {**whole, "read": whole, "write": figures(0.0, None)},
    }


def script(name: str = "boot", clients: int = 40, seconds: float = 30.0) -> dict[str, Any]:
    """A script that every client runs once, the later clients the slower."""
    runs = [
        {"client": n, "begin_ns": 0, "end_ns": int((0.4 + 0.6 * (n + 1) / clients) * seconds * 1e9)}
        for n in range(clients)
    ]
    return {
        "name": name,
        "unit": name,
        "clients": clients,
        "completed": clients,
        "per_second": clients / seconds,
        "duration_mean_ns": 20e9,
        "duration_p50_ns": 20 * 10**9,
        "duration_p99_ns": 29 * 10**9,
        "duration_max_ns": int(seconds * 1e9),
        "first_begin_ns": 0,
        "last_end_ns": int(seconds * 1e9),
        "runs": runs,
    }


def caches(seconds: int, warm_s: float) -> pl.DataFrame:
    """Flash that fills: hits rise until `warm_s`."""
    rows = []
    for second in range(seconds):
        share = 0.85 * (1 - math.exp(-3 * second / warm_s))
        rows.append(
            {
                "time_ns": second * 10**9,
                "flash_hits": int(1000 * share),
                "flash_misses": 1000 - int(1000 * share),
                "flash_promoted_bytes": 4096,
                "flash_used_bytes": second * 4096,
                "destages": 10,
                "write_cache_extents": 16,
                "write_cache_bytes": 65536,
                "media_ios": 200,
                "state": "warm" if second >= warm_s else "warming",
            }
        )
    return pl.DataFrame(rows)


def series(seconds: int, speed: float, warm_s: float) -> pl.DataFrame:
    """IOPS that rise as a cache warms."""
    rates = [speed * (0.3 + 0.7 * (1 - math.exp(-3 * second / warm_s))) for second in range(seconds)]
    rows = [
        {
            "time_ns": second * 10**9,
            "stream": "main",
            "direction": "read",
            "iops": rate,
            "bandwidth_bytes_per_s": rate * 4096,
            "latency_mean_ns": 16 / rate * 1e9,
            "latency_p99_ns": 64 / rate * 1e9,
            "queue_depth": 16.0,
        }
        for second, rate in enumerate(rates)
    ]
    return pl.DataFrame(rows)


def rich(label: str = "a run", speed: float = 900.0, seconds: int = 600) -> LoadedRecord:
    """A record with everything."""
    made = synthetic.record(label)
    steps = [step(threads, speed, 60 * n) for n, threads in enumerate(THREADS)]
    whole = figures(speed, 16.0)
    made |= {
        "steps": steps,
        "scripts": [script(seconds=30.0 * 900 / speed)],
        "summary": {**whole, "read": whole, "write": figures(0.0, None)},
        "caches": {
            "state_begin": "cold",
            "state_end": "warm",
            "flash_hit_ratio": 0.62,
            "warm_after_ns": 200 * 10**9,
        },
        "power_loss": {
            "at_ns": 90 * 10**9,
            "acknowledged_writes": 1200,
            "lost_bytes": 65536,
            "lost_writes": 16,
            "torn_sectors": 0,
            "streams": [{"name": "main", "lost_bytes": 65536, "lost_writes": 16}],
            "stale_copy_bytes": 8192,
        },
        "series": {"interval_ns": 10**9, "file": "series.parquet", "caches_file": "caches.parquet"},
    }
    for part in made["parts"]:
        part["counters"] |= {
            "media_reads": 9000,
            "command_ns": 150 * 10**9,
            "destages": 600,
            "flash_written_bytes": 2 * 10**9,
        }
        part["at_end"] = {"write_cache_extents": 16}
    warm_s = 250 * 900 / speed
    return LoadedRecord(made, series(seconds, speed, warm_s), label, caches=caches(seconds, warm_s))


def study() -> Study:
    """Three variants under a stepped load and one that warms up."""
    measures = (
        Measure("at-5", "IOPS at 5 ms", "iops_at_latency", "IOPS", Parameters(at_ns=5e6)),
        Measure("most", "most IOPS", "max_step_iops", "IOPS"),
        Measure("last", "response time of the last step", "step_latency_ms", "ms"),
    )
    stepped = Load("stepped", "OLTP, 1 to 32 users", "OLTP", "w", measures=("at-5", "most", "last"))
    warming = Load("warming", "hot band, from cold", "hot band", "w", warm_up=True)
    rows = [
        Published(f"p-{n}-{m}", VARIANTS[n], "OLTP", metric, "", value, "", "measured", "")
        for n, (at, most, last) in enumerate(((410.0, 780.0, 42.0), (700.0, 1150.0, 27.0)))
        for m, (metric, value) in enumerate(
            (("IOPS at 5 ms", at), ("most IOPS", most), ("response time of the last step", last))
        )
    ]
    configs = tuple(Config(f"c{n}", label, "m", machine="exos-15e900-512n") for n, label in enumerate(VARIANTS))
    named = {"name": "variants", "title": "Three variants", "question": "Which?", "source": "made", "id_format": "{}"}
    return Study(
        **named, folder=Path("/nowhere"), seed=1, configs=configs, loads=(stepped, warming), measures=measures,
        published=tuple(rows),
    )  # fmt: skip


def result() -> tuple[dict[str, Any], dict[str, LoadedRecord]]:
    """The result of `study`, and its runs' records."""
    made, loaded, cells = study(), {}, {}
    for n, config in enumerate(made.configs):
        for load in made.loads:
            one = rich(config.label, 900.0 + 350 * n)
            if load.warm_up:
                del one.record["steps"]
            else:
                del one.record["scripts"]
            loaded[run_id(config, load, 0)] = one
            cells[config.id, load.id] = Cell(config, load, {0: Reading(one.record, None)})
    found = result_of(Results(made, cells), Conclusion(), 1)
    found["swings"] = SWINGS
    return found, loaded


SWINGS = {
    "command": "hotband study swings variants --seed 1",
    "text": "2 assumptions were run at both ends of their ranges.",
    "stale": False,
    "refused": [{"name": "d: zones", "end": "low", "text": "expected at least 3"}],
    "moved": [
        {
            "name": "study: extents",
            "low": "8",
            "high": "32",
            "largest_pct": -22.0,
            "largest_end": "low",
            "figure": "p-0-0",
            "label": "15K, OLTP, IOPS at 5 ms",
            "low_pct": -22.0,
            "high_pct": 13.0,
            "figures_moved": 3,
            "figures": {},
        }
    ],
}
