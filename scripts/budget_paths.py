"""The paths of which instructions and misses are counted (`scripts/budgets.py`): machines and loads on them."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DISK = "exos-15e900-512n"
RAID10 = "raid10:24xexos-15e900-512n"
RAID5 = "raid5:6xexos-15e900-512n"
SSD = "s4500-960"
COMPRESSING = "nytro-1351-960"
NVME = "pm9a3-3840"
POOL = str(ROOT / "python/hotband/data/catalog/studies/mach2_ceph/normal.toml")
WORN = ("scale=512", "state=preconditioned")
SCALE_64 = ("scale=64", "state=preconditioned")
COMPRESSED = ("scale=128", "state=preconditioned")
"""Whole SSDs are not counted: writing 960 GB three times over before the load is some 700 million pages, an hour under
callgrind. What a page of that costs is the path `ssd-precondition`."""


class Budget(NamedTuple):
    """A machine, a load of so many I/Os on it, and how many I/Os are counted."""

    name: str
    machine: str
    workload: Callable[[int], str]
    ios: int = 6_000
    set: tuple[str, ...] = ()
    is_trace: bool = False
    """Replays a trace of as many I/Os."""
    is_long: bool = False
    """`make test-long` alone counts it: it preconditions a large model first, which takes minutes under callgrind, or
    another path goes through the same code."""


def asking(depth: int, read_pct: int, random_pct: int = 100, size: str = "4 KiB") -> Callable[[int], str]:
    """A closed loop."""
    return lambda ios: (
        f"[load]\nclosed = {{ threads = 1, depth = {depth} }}\n"
        f'[[streams]]\nread_pct = {read_pct}\nrandom_pct = {random_pct}\nsize = "{size}"\n{counted(ios)}'
    )


def counted(ios: int) -> str:
    """So many I/Os after a warm-up."""
    return f'[[phases]]\nname = "warm-up"\nios = 1000\n[[phases]]\nios = {ios}\nmeasure = true\n'


def scripts(ios: int) -> str:
    """Transactions that read pages and then write a log."""
    return f"""
[[streams]]
name = "pages"
read_pct = 100
random_pct = 100
size = "8 KiB"
[[streams]]
name = "log"
read_pct = 0
random_pct = 0
size = "8 KiB"
[[scripts]]
name = "transactions"
clients = 48
repeat = true
[[scripts.steps]]
name = "read"
stream = "pages"
ios = [20, 40]
cpu = "0.05 ms"
[[scripts.steps]]
name = "commit"
stream = "log"
ios = 1
{counted(ios)}"""


def database(ios: int) -> str:
    """Half reads, half updates of documents in a B-tree ten times as large as its cache."""
    return f"""
[app]
kind = "btree"
operations = {{ read = 50, update = 50 }}
requests = "zipfian"
zipf_exponent = 0.99
fields = 10
field_length = "100 B"
write_all_fields = false
insert_order = "hashed"
records = 200_000
data = 0.73
clients = 64
processors = 16
cpu = "0.1 ms"
cache = "26 MB"
warm_cache = true
{counted(ios)}"""


def replay(_: int) -> str:
    """All of a trace, one I/O after the other."""
    return '[trace]\nfile = "trace.csv"\nissue = "as-fast-as-possible"\ndepth = 1\n'


def trace_rows(ios: int) -> bytes:
    """Random reads of 4 KiB from 100 GB, as the engine has traces (`crates/workloads/src/sources/trace/file.rs`)."""
    draw = random.Random(1)
    of_row = struct.Struct("<6Q")
    rows = (of_row.pack(n * 1000, 2**64 - 1, 0, draw.randrange(24_000_000) * 4096, 4096, n + 1) for n in range(ios))
    head = f'file = "trace.csv"\nios = {ios}\nunmeasured = 0\nnotes = []\nstreams = [{{ name = "main" }}]\n'
    return b"hbtrace2" + struct.pack("<Q", 16 + ios * of_row.size) + b"".join(rows) + head.encode()


PATHS = (
    Budget("disk-qd1-read", DISK, asking(1, 100), ios=12_000),
    Budget("disk-qd32-read", DISK, asking(32, 100), is_long=True),
    Budget("disk-qd32-write", DISK, asking(32, 0)),
    Budget("disk-sequential-read", DISK, asking(16, 100, 0, "128 KiB")),
    Budget("disk-sequential-write", DISK, asking(16, 0, 0, "128 KiB"), is_long=True),
    Budget("raid10-read", RAID10, asking(64, 100), is_long=True),
    Budget("raid10-mixed", RAID10, asking(64, 70)),
    Budget("raid10-write", RAID10, asking(64, 0), is_long=True),
    Budget("raid5-read", RAID5, asking(16, 100), is_long=True),
    Budget("raid5-write", RAID5, asking(16, 0)),
    Budget("ssd-read", SSD, asking(32, 100), set=WORN, is_long=True),
    Budget("ssd-write", SSD, asking(32, 0), set=WORN),
    Budget("ssd-64th-read", SSD, asking(32, 100), set=SCALE_64, is_long=True),
    Budget("ssd-64th-write", SSD, asking(32, 0), set=SCALE_64, is_long=True),
    Budget("nvme-read", NVME, asking(256, 100), set=WORN),
    Budget("ssd-compressing-read", COMPRESSING, asking(32, 100), set=COMPRESSED, is_long=True),
    Budget("ssd-compressing-write", COMPRESSING, asking(32, 0), set=COMPRESSED, is_long=True),
    Budget("pool-read", POOL, asking(16, 100), ios=2_000, is_long=True),
    Budget("pool-write", POOL, asking(16, 0), ios=2_000),
    Budget("scripts", DISK, scripts),
    Budget("database", DISK, database),
    Budget("trace-replay", DISK, replay, ios=12_000, is_trace=True),
)
