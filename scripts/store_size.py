"""How large is a store of many runs, and how quickly is it listed?

Makes records of real runs (a few dozen, on disks and solid-state drives), appends them again and again with other seeds
and figures that differ by some percent, and prints bytes a run by table and the time of listing and filtering, of the
command line in a process of its own:

    .venv/bin/python scripts/store_size.py --runs 100000 DIR
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import hotband as hb
from hotband.data.record.record import Record
from hotband.data.store.manifest import snapshot
from hotband.data.store.place import opened

MACHINES = ("exos-15e900-512n", "raid5:4xent-10k", "p4510-4tb", "s4500-960")
POOL = 2100
"""Records that are made of the originals with all their buckets, which takes 40 ms each: more than a part has."""
WHERE = "qd >= 16 and bs_bytes = 4096 and target = 'p4510-4tb' and latency_p99_ns < 1e6"


def records(ios: int) -> list[Record]:
    """Runs of about so many I/Os each."""
    found: list[Record] = []
    for machine in MACHINES:
        # I/Os a second at these depths, roughly: a disk's hundreds, a flash drive's ten thousands.
        rate = 100_000 if "4tb" in machine else 40_000 if "960" in machine else 300
        seconds = max(ios / rate, 0.05)
        done = hb.sweep(
            "iometer-database",
            on=machine,
            set={"bs": "4KiB,64KiB"},
            qd="1..32",
            duration=f"{seconds:g} s",
            progress=False,
        )
        found += list(done)
    return found


def varied(record: Record, chance: random.Random) -> Record:
    """The record of another run of the same: figures, counters and buckets differ as those of another seed."""
    document = copy.deepcopy(record.to_dict())
    for key in ("summary", "parts", "energy"):
        if key in document:
            document[key] = other(document[key], chance)  # type: ignore[literal-required]
    for stream in document["streams"]:
        for direction in ("read", "write"):
            buckets = stream[direction]["histogram"]["buckets"]
            # Each sample again, with chance: a count of n is n give or take its square root.
            new = [[value, max(0, round(chance.gauss(count, count**0.5)))] for value, count in buckets]
            stream[direction]["histogram"]["buckets"] = [pair for pair in new if pair[1]]
    return Record(document, record.tables)  # type: ignore[arg-type]


def other(value: object, chance: random.Random) -> object:
    """Numbers by some percent; those of at most 1000 are parameters, most of them."""
    if isinstance(value, float):
        return value * chance.uniform(0.97, 1.03)
    if isinstance(value, int) and not isinstance(value, bool) and value > 1000:
        return int(value * chance.uniform(0.97, 1.03))
    if isinstance(value, dict):
        return {key: other(one, chance) for key, one in value.items()}
    return [other(one, chance) for one in value] if isinstance(value, list) else value


def with_seed(record: Record, seed: int, chance: random.Random) -> Record:
    """The same once more under another seed, with a summary of its own. Documents and buckets of one file repeat only
    after `POOL` runs, which is further than its compression looks."""
    document = {**record.document, "seed": str(seed), "summary": other(record.document["summary"], chance)}
    return Record(document, record.tables)  # type: ignore[arg-type]


def timed(*arguments: str, times: int = 3) -> tuple[float, str]:
    """Seconds and output of the command line in a process of its own; the quickest of several."""
    best, out = 1e9, ""
    for _ in range(times):
        begin = time.perf_counter()
        done = subprocess.run([sys.executable, "-m", "hotband", *arguments], capture_output=True, text=True, check=True)
        best, out = min(best, time.perf_counter() - begin), done.stdout
    return best, out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--ios", type=int, default=20_000, help="I/Os of the runs that are varied")
    parser.add_argument("--all", action="store_true", help="with tables over time and exact buckets")
    asked = parser.parse_args()
    originals, chance = records(asked.ios), random.Random(1)
    pool = [varied(originals[number % len(originals)], chance) for number in range(min(POOL, asked.runs))]
    spent, begin = 0.0, time.perf_counter()
    with hb.store(asked.folder, small=not asked.all) as store:
        for number in range(asked.runs):
            one = with_seed(pool[number % len(pool)], number, chance)
            before = time.process_time()
            store.append(one, experiment=f"sweep {number // 10_000}")
            spent += time.process_time() - before
    took = time.perf_counter() - begin
    print(f"{asked.runs:,} runs appended in {took:.0f} s, {1e3 * spent / asked.runs:.2f} ms of processor each")
    ios = sum(one.summary.count or 0 for one in originals) / len(originals)
    print(f"originals: {len(originals)}, {ios:,.0f} I/Os each")
    report(asked.folder, asked.runs)
    seconds, said = timed("store", "compact", str(asked.folder), times=1)
    print(f"compact: {seconds:.2f} s; {said.strip()}")
    report(asked.folder, asked.runs)


def report(folder: Path, runs: int) -> None:
    """Prints sizes and times."""
    now = snapshot(opened(folder))
    sizes: dict[str, int] = {}
    for part in now.parts:
        for file in part.files:
            sizes[file.table] = sizes.get(file.table, 0) + file.size
    each = ", ".join(f"{table} {size / runs:,.0f}" for table, size in sorted(sizes.items()))
    print(f"{len(now.parts)} parts, {sum(sizes.values()) / runs:,.0f} bytes a run: {each}")
    version = timed("--version")[0]
    whole, _ = timed("store", "list", str(folder))
    some, out = timed("store", "list", str(folder), "--where", WHERE, "--json")
    sql = "select target, qd, avg(iops), max(latency_p99_ns) from runs group by all"
    asking, _ = timed("query", sql, "--from", str(folder))
    print(f"list {whole:.2f} s, filter {some:.2f} s ({len(json.loads(out))} shown), query {asking:.2f} s", end="; ")
    print(f"--version alone {version:.2f} s")


if __name__ == "__main__":
    main()
