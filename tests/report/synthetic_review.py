"""Reviews of machines that do not exist, from simple formulas: as large and as varied as real ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

PATTERNS = {"file-server": 1.0, "web-server": 1.15, "database": 1.05, "workstation": 1.2}
DEPTHS = [2**n for n in range(9)]
FILES = [2**n for n in range(17, 26, 2)]
BLOCKS = [2**n for n in range(9, 21)]


def review(
    name: str = "disk-10k",
    title: str = "Synthetic disk 10K 73.4 GB",
    *,
    rate: float = 80e6,
    access_ns: float = 8e6,
    speedup: float = 3.0,
    capacity: int = 73_400_000_000,
) -> dict[str, Any]:
    """A machine with an outer rate (bytes/s), an access time, and so many times its IOPS at great queue depth."""
    found: dict[str, Any] = {
        "schema": "hotband-review",
        "version": 1,
        "hotband": "0.1.0",
        "seed": "1",
        "quick": False,
        "machine": {
            "name": name, "title": title, "spec": "[drives.d]\nproduct = 'x'\n", "capacity_bytes": capacity,
            "drives": [name], "set": {},
        },
        "linear": _linear(rate, capacity),
        "access": {"read": _access(access_ns), "write": _access(access_ns * 0.6)},
        "block_sizes": _block_sizes(rate, access_ns),
        "streams": [
            {
                "op": op, "streams": n, "bandwidth_bytes_per_s": rate * 0.9 / n**0.4,
                "slowest_bytes_per_s": rate * 0.85 / n**1.4,
            }
            for op in ("read", "write")
            for n in range(1, 5)
        ],
        "patterns": _patterns(access_ns, speedup),
        "files": [
            {
                "op": op, "size": size, "queue_depth": depth, "files_per_s": per_s,
                "bandwidth_bytes_per_s": per_s * (32e3 if size == "small" else 1e6),
            }
            for op, cost in (("read", 1.0), ("write", 0.8), ("copy", 1.9))
            for size, more in (("small", 0.0), ("large", 1e6 / rate))
            for depth in (1, 4, 16, 64)
            if (per_s := (1 + speedup * depth / (depth + 20)) / (access_ns / 1e9 * cost + more))
        ],
        "streaming": [
            {"op": op, "blocks": blocks, "block_bytes": size, "bandwidth_bytes_per_s": rate * share}
            for op, share in (("read", 0.97), ("write", 0.91))
            for blocks, size in (("small", 2048), ("large", 65536))
        ],
        "defragmentation": {
            "extent_bytes": 65536, "extents_per_s": 0.45e9 / access_ns,
            "bandwidth_bytes_per_s": 65536 * 0.45e9 / access_ns, "latency_mean_ns": 2.2 * access_ns,
        },
        "applications": _applications(rate, access_ns),
        "energy": {
            "idle_w": 5.1,
            "patterns_w": {pattern: 5.1 + 2 * factor for pattern, factor in PATTERNS.items()},
            "patterns_low_w": {pattern: 4.5 + 2 * factor for pattern, factor in PATTERNS.items()},
            "patterns_high_w": {pattern: 6.5 + 2 * factor for pattern, factor in PATTERNS.items()},
            "joules_per_io": {pattern: 7.0 * access_ns / 1e9 / factor for pattern, factor in PATTERNS.items()},
            "joules_per_io_low": {pattern: 6.0 * access_ns / 1e9 / factor for pattern, factor in PATTERNS.items()},
            "joules_per_io_high": {pattern: 9.0 * access_ns / 1e9 / factor for pattern, factor in PATTERNS.items()},
        },
        "overall": 1e9 / access_ns,
    }  # fmt: skip
    found["summary"] = _summary(found)
    return found


def _linear(rate: float, capacity: int) -> dict[str, Any]:
    points = {
        op: [
            {
                "offset_bytes": capacity * n // 100,
                "bandwidth_bytes_per_s": share * rate * (1 - 0.4 * math.floor(n / 8) / 12),
            }
            for n in range(100)
        ]
        for op, share in (("read", 1.0), ("write", 0.97))
    }
    means = {op: sum(p["bandwidth_bytes_per_s"] for p in found) / len(found) for op, found in points.items()}
    return {**points, "block_bytes": 1 << 20, "mean": means}


def _access(mean_ns: float) -> dict[str, Any]:
    bins = [[int(mean_ns * (0.1 + n / 50)), round(1000 * math.exp(-(((n - 45) / 18) ** 2)))] for n in range(100)]
    bins = [one for one in bins if one[1]]
    return {
        "block_bytes": 512, "queue_depth": 1, "count": sum(count for _, count in bins), "mean_ns": mean_ns,
        "p50_ns": mean_ns * 0.99, "p99_ns": mean_ns * 1.55, "max_ns": bins[-1][0], "bins": bins,
    }  # fmt: skip


def _block_sizes(rate: float, access_ns: float) -> list[dict[str, Any]]:
    rows = []
    for file in FILES:
        for op in ("read", "write"):
            for block in BLOCKS:
                cost_s = 60e-6 + block / rate + (access_ns / 1e9 * min(1, file / 2**25) if op == "write" else 0)
                rows.append(
                    {
                        "file_bytes": file, "op": op, "block_bytes": block, "iops": 1 / cost_s,
                        "bandwidth_bytes_per_s": block / cost_s,
                    }
                )  # fmt: skip
    return rows


def _patterns(access_ns: float, speedup: float) -> list[dict[str, Any]]:
    rows = []
    for pattern, factor in PATTERNS.items():
        for depth in DEPTHS:
            iops = factor * 1e9 / access_ns * (1 + (speedup - 1) * (1 - math.exp(-(depth - 1) / 40)))
            mean = 1e9 * depth / iops
            rows.append(
                {
                    "pattern": pattern, "queue_depth": depth, "iops": iops, "bandwidth_bytes_per_s": iops * 8192,
                    "latency_mean_ns": mean, "latency_p99_ns": 2.7 * mean,
                }
            )  # fmt: skip
    return rows


def _applications(rate: float, access_ns: float) -> list[dict[str, Any]]:
    kinds = (("desktop-business", "Business suite", 0.2), ("desktop-boot", "Boot", 0.35), ("desktop-copy", "Copy", 1.0))
    rows = []
    for name, title, share in kinds:
        value = share * rate * 8e6 / (8e6 + access_ns)
        rows.append(
            {
                "name": name, "title": title, "bandwidth_bytes_per_s": value, "iops": value / 16384,
                "low_bytes_per_s": 0.8 * value, "high_bytes_per_s": 1.3 * value,
                "uncertainty": "share of reads 55 to 75 %",
            }
        )  # fmt: skip
    return rows


def _summary(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    def mean(values: Sequence[float]) -> float:
        return math.exp(sum(math.log(value) for value in values) / len(values))

    groups = (
        ("sequential", "Sequential transfer", "B/s", list(found["linear"]["mean"].values())),
        ("access", "Random access", "IOPS", [1e9 / found["access"][op]["mean_ns"] for op in ("read", "write")]),
        ("server", "Server patterns", "IOPS", [row["iops"] for row in found["patterns"]]),
        ("files", "Files", "files/s", [row["files_per_s"] for row in found["files"]]),
        ("streams", "Concurrent streams", "B/s", [row["bandwidth_bytes_per_s"] for row in found["streams"]]),
        ("applications", "Desktop applications", "B/s", [r["bandwidth_bytes_per_s"] for r in found["applications"]]),
    )
    return [
        {"group": group, "title": title, "geometric_mean": mean(values), "unit": unit, "of": len(values)}
        for group, title, unit, values in groups
    ]


def comparison(reviews: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Every group's mean over the first machine's."""
    names = [one["machine"]["name"] for one in reviews]
    means = [{row["group"]: row["geometric_mean"] for row in one["summary"]} for one in reviews]
    groups = [
        {
            "group": row["group"],
            "title": row["title"],
            "ratios": {
                name: mean[row["group"]] / means[0][row["group"]] for name, mean in zip(names, means, strict=True)
            },
        }
        for row in reviews[0]["summary"]
    ]
    overall = {name: math.prod(g["ratios"][name] for g in groups) ** (1 / len(groups)) for name in names}
    return {
        "schema": "hotband-review-comparison", "version": 1, "machines": names, "baseline": names[0],
        "groups": groups, "overall": overall,
    }  # fmt: skip


def five() -> list[dict[str, Any]]:
    """Three kinds of speed, a path, a long title and two equal titles."""
    return [
        review(),
        review("raid1:2xdisk-10k", "RAID 1 of 2 × Synthetic disk 10K 73.4 GB", access_ns=6.5e6, speedup=6),
        review("disk-15k", "Synthetic disk 15K 147 GB", rate=95e6, access_ns=5.6e6, capacity=147 * 10**9),
        review("/home/me/machines/with a long path/ssd one.toml", "/home/me/machines/with a long path/ssd one.toml",
               rate=520e6, access_ns=0.12e6, speedup=20, capacity=960 * 10**9),
        review("disk-10k-b", "Synthetic disk 10K 73.4 GB", rate=78e6, access_ns=8.3e6),
    ]  # fmt: skip
