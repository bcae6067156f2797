"""What the published tables of content-hdd say about themselves, and what the model says about them."""

from __future__ import annotations

import re
from typing import Any

from hotband.measures import error_pct
from hotband.study import Conclusion, Results, figure
from hotband.studyfile import Published

THREADS = 16
"""Threads of every run, as published: a closed loop keeps this many I/Os outstanding."""
KEPT = 0.95
"""Share of the threads below which a cell does not keep its I/Os outstanding (rounding explains 2 % at most)."""

Cells = dict[tuple[str, str], dict[str, Published]]


def published_cells(results: Results) -> Cells:
    """Measured rows by (configuration, load), then by metric."""
    cells: Cells = {}
    for row in results.study.published:
        if row.kind == "measured":
            cells.setdefault((row.config, row.workload), {})[row.metric] = row
    return cells


def value(cell: dict[str, Published], metric: str) -> float:
    """A published number."""
    number = cell[metric].value
    assert number is not None, "published numbers of this study are plain"
    return number


def outstanding(cell: dict[str, Published]) -> tuple[float, float, float]:
    """I/Os outstanding by Little's law if the response time is in milliseconds: least, as printed, most.

    The printed response time is rounded to a tenth, so the true one lies within 0.05 of it.
    """
    iops, response = value(cell, "IOPS"), value(cell, "mean response time")
    least, middle, most = (iops * (response + shift) / 1e3 for shift in (-0.05, 0.0, 0.05))
    return least, middle, most


def size_of(workload: str) -> int:
    """Bytes of an I/O, from the load's published description."""
    found = re.search(r"(\d+)KB", workload)
    assert found is not None, "every load of this study names its size"
    return int(found.group(1)) * 1024


def unit_finding(cells: Cells) -> dict[str, Any]:
    """The response-time column reads seconds and is milliseconds."""
    rows: list[list[Any]] = []
    for (config, workload), cell in cells.items():
        _, middle, _ = outstanding(cell)
        iops, response = value(cell, "IOPS"), value(cell, "mean response time")
        rows.append([config, workload, iops, response, round(middle * 1e3), round(middle, 1)])
    worst = max(row[5] for row in rows)
    return {
        "id": "response-time-unit",
        "title": "The response-time column reads seconds and is milliseconds",
        "text": (
            f"Little's law: I/Os outstanding = IOPS x response time. With {THREADS} threads there are at most "
            f"{THREADS}. Read as seconds the column asks for up to {round(worst * 1e3):,}; as milliseconds for at "
            f"most {worst}."
        ),
        "table": {
            "columns": ["configuration", "load", "IOPS", "printed", "outstanding if s", "outstanding if ms"],
            "rows": rows,
        },
    }


def concurrency_finding(cells: Cells) -> dict[str, Any]:
    """Which cells do not keep 16 I/Os outstanding."""
    rows: list[list[Any]] = []
    for (config, workload), cell in cells.items():
        least, middle, most = outstanding(cell)
        if most < KEPT * THREADS:
            rows.append([config, workload, round(middle, 1), f"{least:.1f} to {most:.1f}"])
    return {
        "id": "idle-threads",
        "title": f"{len(rows)} of {len(cells)} visible cells do not keep {THREADS} I/Os outstanding",
        "text": (
            f"IOPS x response time is below {KEPT:.0%} of the {THREADS} threads, even at the ends of the printed "
            "rounding: threads were idle, so something other than the disks limited these cells. All of them are "
            "8 KB sequential."
            if all("8KB 100% sequential" in row[1] for row in rows)
            else "IOPS x response time is below what the threads allow."
        ),
        "table": {"columns": ["configuration", "load", "outstanding", "within rounding"], "rows": rows},
    }


def bandwidth_finding(cells: Cells) -> dict[str, Any]:
    """ "MB/sec" is MiB/s."""
    rows, binary, decimal = [], 0, 0
    for (config, workload), cell in cells.items():
        printed, moved = value(cell, "bandwidth"), value(cell, "IOPS") * size_of(workload)
        mib, mb = moved / 2**20, moved / 1e6
        # Printed to one decimal, some cut off rather than rounded.
        binary += abs(mib - printed) <= 0.1
        decimal += abs(mb - printed) <= 0.1
        rows.append([config, workload, printed, round(mib, 2), round(mb, 2)])
    return {
        "id": "bandwidth-unit",
        "title": '"MB/sec" is MiB/s',
        "text": (
            f"IOPS x size gives the printed bandwidth within 0.1 in {binary} of {len(cells)} cells if a MB is 2^20 "
            f"bytes, and in {decimal} if it is 10^6."
        ),
        "table": {"columns": ["configuration", "load", "printed", "MiB/s", "MB/s"], "rows": rows},
    }


def derived(results: Results, config: str, load: str, metric: str = "") -> float | None:
    """A derived row of the published table (device I/Os a drive)."""
    for row in results.study.published:
        if row.kind == "derived" and row.config == config and load in row.workload and metric in row.metric:
            return row.value
    return None


def level_finding(results: Results) -> dict[str, Any]:
    """Which level the five-drive software array fits."""
    array = next(config for config in results.study.configs if config.id == "ecap-raid0")
    rows = []
    for level in ("raid0", "concat", "raid5", "raid6"):
        for load, name in (("8k-random-75r", "75% read"), ("8k-random-25r", "25% read")):
            a_drive = derived(results, array.label, name, "plain stripe")
            published = None if a_drive is None else a_drive * array.drives
            predicted = results.iops(f"ecap-{level}", load)
            error = error_pct(published, predicted)
            shown = None if published is None else round(published)
            rows.append([level, name, shown, round(predicted), None if error is None else f"{error:+.0f} %"])
    grows = results.iops("ecap-raid0", "8k-random-25r") > results.iops("ecap-raid0", "8k-random-75r")
    falls = results.iops("ecap-raid5", "8k-random-25r") < results.iops("ecap-raid5", "8k-random-75r")
    trend = "In the model only levels without parity get faster with more writes. " if grows and falls else ""
    return {
        "id": "software-raid-level",
        "title": "The five-drive software array fits a layout without parity, not RAID 5 or 6",
        "text": (
            "The level is not stated. The published array gets faster with more writes; parity would make each of "
            f"them four or six device I/Os. {trend}A plain stripe and a concatenation cannot be told apart by random "
            "I/O. The published IOPS are the derived device I/Os a drive (plain stripe) times five."
        ),
        "table": {"columns": ["level", "load", "published", "predicted", "error"], "rows": rows},
    }


def write_cache_finding(results: Results) -> dict[str, Any]:
    """The drives answer writes from a cache."""
    rows = []
    for drive, config in (("15k", "ent-15k-raid1"), ("10k", "ent-10k-raid1"), ("cap", "ent-cap-raid1")):
        through = f"{config}-through"
        label = next(one.label for one in results.study.configs if one.id == config)
        for load, name in (("8k-random-75r", "75% read"), ("8k-random-25r", "25% read")):
            predicted = [
                results.iops(one, load) * (2 - (0.75 if "75" in name else 0.25)) / 2 for one in (through, config)
            ]
            rows.append([drive, name, derived(results, label, name), *(round(number) for number in predicted)])
    return {
        "id": "write-cache",
        "title": "The drives acknowledged writes from a cache",
        "text": (
            "Device I/Os a drive and second rise by a third to a half from 75 % to 25 % reads. With write-through they "
            "would hardly change: each drive has more queued, but a write seeks and settles longer than a read. The "
            "predictions are device I/Os a drive with write-through and with write-back."
        ),
        "table": {"columns": ["drive", "load", "published", "write-through", "write-back"], "rows": rows},
    }


def derived_figures(results: Results) -> list[dict[str, Any]]:
    """Device I/Os a drive, published as derived from the tables, beside the model's."""
    listed = []
    loads = {"8KB random 75% read": ("8k-random-75r", 0.75), "8KB random 25% read": ("8k-random-25r", 0.25)}
    for row in results.study.published:
        config = next((one for one in results.study.configs if one.label == row.config), None)
        if row.kind != "derived" or config is None or row.workload not in loads or "RAID5 RMW" in row.metric:
            continue
        load, read = loads[row.workload]
        per_drive = 1.0 if "plain stripe" in row.metric else read + 2 * (1 - read)
        predicted = results.iops(config.id, load) * per_drive / config.drives
        label = next(one.label for one in results.study.loads if one.id == load)
        listed.append(
            figure(
                id=row.id,
                config=row.config,
                label=label,
                workload=row.workload,
                metric="device I/Os a drive",
                published=row.value,
                unit=row.unit,
                predicted=predicted,
                source=row.id,
                caveat=row.caveat,
                note=f"derived: {row.metric}",
                group="derived",
            )
        )
    return listed


def claims(results: Results) -> list[dict[str, Any]]:
    """Statements of the evaluation that the model can check."""
    ranks = [results.iops(f"ent-{drive}-raid1", "8k-random-75r") for drive in ("15k", "10k", "cap")]
    single = results.iops("ent-15k-raid1", "128k-read") * 131072 / 1e6
    mirror = results.iops("ent-15k-raid1", "8k-random-75r")
    four = results.iops("ent-10k-raid10", "8k-random-75r")
    through = [results.iops("ent-10k-raid1", load) for load in ("128k-read", "128k-write")]
    return [
        {
            "id": "faster-spindles",
            "text": "In a mirror of two, 15K disks do more random I/O than 10K, and 10K more than 7.2K",
            "holds": ranks == sorted(ranks, reverse=True),
            "measured": " > ".join(f"{rank:.0f}" for rank in ranks) + " IOPS at 75 % reads",
            "source": results.study.source,
        },
        {
            "id": "four-10k-beat-two-15k",
            "text": "Four 10K disks in RAID 10 do more random I/O than two 15K disks in RAID 1",
            "holds": four > mirror,
            "measured": f"{four:.0f} against {mirror:.0f} IOPS at 75 % reads",
            "source": results.study.source,
        },
        {
            "id": "mirror-reads-at-one-drive",
            "text": "A mirror reads a sequential stream at the rate of one drive (236 MB/s for the 15K)",
            "holds": abs(single / 236 - 1) < 0.05,
            "measured": f"{single:.0f} MB/s",
            "source": results.study.source,
        },
        {
            "id": "sequential-writes-as-reads",
            "text": "Sequential writes of 128 KB run within 2 % of sequential reads (10K mirror)",
            "holds": abs(through[1] / through[0] - 1) < 0.02,
            "measured": f"{through[0]:.0f} reads/s, {through[1]:.0f} writes/s",
            "source": results.study.source,
        },
    ]


def conclude(results: Results) -> Conclusion:
    """Claims, findings and derived figures of the study."""
    cells = published_cells(results)
    findings = [
        unit_finding(cells),
        concurrency_finding(cells),
        bandwidth_finding(cells),
        level_finding(results),
        write_cache_finding(results),
    ]
    return Conclusion(claims(results), findings, derived_figures(results))
