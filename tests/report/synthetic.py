"""Small records and study results that look like the real ones, made from nothing but a seed."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from hotband.views.report import LoadedRecord

HOSTILE = "</script><b onmouseover=alert(1)>&\"'{{ 7*7 }}"


def buckets(rng: random.Random, median_ns: float, count: int) -> list[list[int]]:
    """A lognormal histogram with rounded values."""
    values: dict[int, int] = {}
    for _ in range(count):
        value = int(float(f"{median_ns * math.exp(rng.gauss(0, 0.5)):.3g}"))
        values[value] = values.get(value, 0) + 1
    return [[value, values[value]] for value in sorted(values)]


def side(rng: random.Random, median_ns: float, count: int) -> dict[str, Any]:
    """One direction of a stream; a count of 0 has null latencies."""
    found = buckets(rng, median_ns, count)
    total = sum(value * n for value, n in found)
    return {
        "count": count,
        "bytes": count * 4096,
        "errors": 0,
        "latency_sum_ns": str(total),
        "latency_min_ns": found[0][0] if found else None,
        "latency_max_ns": found[-1][0] if found else None,
        "histogram": {"kind": "hdr3", "buckets": found},
    }


def summary(found: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """The summary of one direction."""
    count = found["count"]
    mean = int(found["latency_sum_ns"]) / count if count else None
    median = found["histogram"]["buckets"][len(found["histogram"]["buckets"]) // 2][0] if count else None
    return {
        "iops": count / seconds,
        "bandwidth_bytes_per_s": found["bytes"] / seconds,
        "count": count,
        "bytes": found["bytes"],
        "errors": 0,
        "latency_mean_ns": mean,
        "latency_min_ns": found["latency_min_ns"],
        "latency_p50_ns": median,
        "latency_p99_ns": found["latency_max_ns"],
        "latency_p999_ns": found["latency_max_ns"],
        "latency_max_ns": found["latency_max_ns"],
        "queue_depth_mean": 16.0 if count else 0.0,
    }


def record(name: str = "fio-randread on disk", seed: int = 1, reads: int = 400, writes: int = 200) -> dict[str, Any]:
    """A record of one stream on a machine of two disks."""
    rng, seconds = random.Random(seed), 60
    read, write = side(rng, 4e6 * (1 + seed % 7), reads), side(rng, 9e6, writes)
    parts = [
        {
            "id": f"d{n}",
            "kind": "disk",
            "counters": {
                "busy_ns": 55 * 10**9,
                "seek_ns": 25 * 10**9,
                "rotation_ns": 20 * 10**9,
                "transfer_ns": 10**9,
            },
        }
        for n in range(2)
    ]
    both = summary({**read, "count": reads or writes, "latency_sum_ns": read["latency_sum_ns"]}, seconds)
    return {
        "schema": "hotband-record",
        "schema_version": 1,
        "versions": {"hotband": "0.1.0"},
        "name": name,
        "target": {"kind": "model", "machine": "exos-15e900-512n"},
        "seed": str(seed),
        "spec": {
            "workload": '[streams.main]\nsize = "4 KiB"',
            "machine": "",
            "drives": {"exos": "rpm = 15000"},
            "set": {"qd": "16"},
        },
        "duration_ns": seconds * 10**9,
        "concurrency": 16,
        "summary": {**both, "read": summary(read, seconds), "write": summary(write, seconds)},
        "streams": [{"name": "main", "read": read, "write": write}],
        "parts": parts,
        "series": {"interval_ns": 10**9, "file": "series.parquet"},
        "notes": [],
    }


def series(seed: int = 1, seconds: int = 60, write: bool = True, streams: tuple[str, ...] = ("main",)) -> pl.DataFrame:
    """A series whose every tenth interval is idle."""
    rng = random.Random(seed)
    rows = []
    for stream in streams:
        for direction in ("read", "write"):
            for second in range(seconds):
                idle = second % 10 == 9 or (direction == "write" and not write)
                mean = rng.uniform(3e6, 9e6) * (1 + seed % 7)
                rows.append(
                    {
                        "time_ns": second * 10**9,
                        "stream": stream,
                        "direction": direction,
                        "iops": 0.0 if idle else rng.uniform(200, 260),
                        "bandwidth_bytes_per_s": 0.0 if idle else 1e6,
                        "latency_mean_ns": None if idle else mean,
                        "latency_p99_ns": None if idle else int(mean * rng.uniform(2, 5)),
                        "queue_depth": 0.0 if idle else rng.uniform(7, 9),
                    }
                )
    return pl.DataFrame(rows, schema_overrides={"latency_mean_ns": pl.Float64, "latency_p99_ns": pl.Int64})


def save(folder: Path, made: Mapping[str, Any], frame: pl.DataFrame | None = None) -> Path:
    """Write a record's folder as a run does."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "record.json").write_text(json.dumps(made), encoding="utf-8")
    if frame is not None:
        frame.write_parquet(folder / "series.parquet")
    return folder


def loaded(label: str = "run", seed: int = 1, seconds: int = 60, **how: Any) -> LoadedRecord:
    """A record in memory, with its series."""
    return LoadedRecord(record(label, seed, **how), series(seed, seconds), label)


CONFIGS = ("24x ST900MP0006 512n, Advanced Write Cache off", "24x ST900MP0146 512e, AWC + TurboBoost")
QUANTITIES = (("IOPS", "IOPS", 400.0), ("mean response time", "ms", 8.0), ("bandwidth", "MiB/s", 4.7))


def figures(count: int, name: str = "") -> list[dict[str, Any]]:
    """Figures of two configurations; every fifth is withheld, every eleventh unpredicted."""
    rng = random.Random(7)
    made = []
    for n in range(count):
        metric, unit, size = QUANTITIES[n % 3]
        published = None if n % 5 == 4 else size * rng.uniform(0.3, 3)
        predicted = None if n % 11 == 10 else (published or size) * rng.uniform(0.85, 1.15)
        error = (predicted / published - 1) * 100 if published and predicted else None
        made.append(
            {
                "id": f"fig-{n}",
                "label": f"{name}8 KB random, {25 * (n % 4 + 1)} % read, {metric}",
                "config": CONFIGS[n % 2],
                "workload": "vdbench 8KB 100% random, 16 threads, direct I/O to NTFS, whole disk, 75% read",
                "metric": metric,
                "published": published,
                "unit": unit,
                "predicted": predicted,
                "error_pct": error,
                "source": f"StorageIO part 6, table {n % 4 + 1}",
                "caveat": "unit printed as seconds; Little's law shows milliseconds" if n % 3 == 1 else "",
                "note": "",
            }
        )
    return made


def curves() -> list[dict[str, Any]]:
    """Random read of three machines, from queue depth 1 to 64."""
    return [
        {
            "group": group,
            "machine": machine,
            "qd": 2**step,
            "iops": base * (1 + step * 0.5),
            "latency_mean_ns": 2**step / (base * (1 + step * 0.5)) * 1e9,
            "latency_p99_ns": None if step == 0 else 4 * 2**step / (base * (1 + step * 0.5)) * 1e9,
        }
        for group in ("random read", "random write")
        for machine, base in (
            ("ENT 15K RAID1 (2 drives)", 210.0),
            ("ENT 10K RAID1", 150.0),
            ("SSD, SATA", 9000.0),
        )
        for step in range(7)
    ]


def misses(name: str = "") -> list[dict[str, Any]]:
    """Two cells that share an explanation, and one with its own."""
    why = f"The tester's file system wrote its journal too.{name}"
    pairs = [("fig-1", "a", why), ("fig-2", "b", why), ("fig-3", "c", "The link is not described.")]
    found = [(one, f"{CONFIGS[0]}, {load}: IOPS +20 %", reason) for one, load, reason in pairs]
    return [{"id": one, "text": f"{what}. {reason}", "what": what, "why": reason} for one, what, reason in found]


def answer(name: str = "") -> dict[str, Any]:
    """An answer with a row a machine."""
    points = [
        {"machine": f"{config}{name}", "row": "8 KB random", "qd": None, "published": 100.0 * n, "predicted": 110.0 * n}
        for n, config in enumerate(CONFIGS, 1)
    ]
    chart = {"title": "IOPS of both", "quantity": "IOPS", "caption": "", "points": points, "rule": None}
    return {
        "text": f"The second does 200 IOPS (predicted 220).{name}",
        "further": f"That is all.{name}",
        "chart": chart,
    }


def machines(name: str = "") -> list[dict[str, Any]]:
    """Both configurations; the second has another state under one load."""
    return [
        {
            "id": f"c{n}",
            "name": f"{config}{name}",
            "label": f"{config}{name}",
            "what_if": bool(n),
            "built": "raid10:24xexos-15e900-512n",
            "state": "write cache on (protected)",
            "varying": [{"text": "flash cache on", "loads": ["web"]}] if n else [],
        }
        for n, config in enumerate(CONFIGS)
    ]


def result(figure_count: int = 24, runs: int = 3, name: str = "") -> dict[str, Any]:
    """A study's result with something in every section; `name` goes into every text."""
    made = figures(figure_count, name)
    errors = sorted(abs(f["error_pct"]) for f in made if f["error_pct"] is not None)
    return {
        "study": f"content-hdd{name}",
        "title": f"Content servers on hard disks{name}",
        "question": f"Which of three generations of enterprise disks serves a content library best?{name}",
        "summary": {
            "figures": len(made),
            "compared": len(errors),
            "median_abs_error_pct": errors[len(errors) // 2] if errors else None,
            "max_abs_error_pct": errors[-1] if errors else None,
        },
        "figures": made,
        "claims": [
            {
                "id": "c1",
                "text": f"15K is faster than 10K.{name}",
                "holds": True,
                "measured": "597 over 514 IOPS",
                "source": "part 6",
            },
            {
                "id": "c2",
                "text": f"The cache doubles writes.{name}",
                "holds": False,
                "measured": "+70 %",
                "source": "table 2",
            },
            {"id": "c3", "text": f"Power halves.{name}", "holds": None, "measured": "", "source": ""},
        ],
        "findings": [
            {
                "id": "f1",
                "title": f"The unit is wrong{name}",
                "text": f"By Little's law, the printed seconds are ms.{name}",
                "table": {
                    "columns": ["Drive", "IOPS", "Outstanding"],
                    "rows": [[f"15K{name}", 597.11, 15.46], ["10K", 514, None]],
                },
            },
            {
                "id": "f2",
                "title": "Short strokes",
                "text": "Half of the seeks are shorter than a tenth.",
                "table": None,
            },
        ],
        "assumptions": [
            {
                "part": "ST900MP0006",
                "key": "seek_average",
                "value": "2.9 ms",
                "range": None,
                "source": f"data sheet{name}",
                "confidence": "high",
                "estimate": False,
                "note": "",
            },
            {
                "part": "ST900MP0006",
                "key": "settle",
                "value": 0.2,
                "range": [0.1, 0.4],
                "source": "physics",
                "confidence": "low",
                "estimate": True,
                "note": f"no source states it{name}",
            },
        ],
        "misses": misses(name),
        "answer": answer(name),
        "machines": machines(name),
        "curves": curves(),
        "runs": [
            {
                "id": f"r{n}",
                "label": f"Run {n}: 8 KB random, RAID 1, {2 ** (n % 7)} deep{name}",
                "record": f"runs/r{n}/record.json",
            }
            for n in range(runs)
        ],
        "command": "hotband study content-hdd --seed 1",
    }


def runs_of(made: Mapping[str, Any], seconds: int = 60) -> dict[str, LoadedRecord]:
    """A record for every run of a result."""
    return {run["id"]: loaded(run["label"], n + 1, seconds) for n, run in enumerate(made["runs"])}
