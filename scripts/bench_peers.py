"""Our speed beside that of other simulators, on pairs of equal work.

    DISKSIM=.../disksim MQSIM=.../MQSim LIBCACHESIM=.../cachesim python scripts/bench_peers.py

Nothing is fetched: each variable names a built program; without it our side runs alone, and the table says how to give
it. Ours and theirs run in turn, five times each; what is compared are medians of I/Os (or requests) a second of
processor time (user and system), so that what else runs disturbs less than a clock would show.

Pairs: one disk under random reads of 4 KiB, four outstanding, against DiskSim with its validated Cheetah 15K.5; one SSD
under random reads and writes of 4 KiB, 16 outstanding, against MQSim with the configuration that comes with it; a
trace of popular blocks through a memory, against an LRU of libCacheSim. Work is equal in I/Os, sizes and depth, not in
what is modelled: that the devices are others is said beside each ratio.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from budget_paths import trace_rows

ROOT = Path(__file__).resolve().parents[1]
SIMULATE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "simulate"
ROUNDS = 5


class Side(NamedTuple):
    """One program: its words, and what it reads on stdin."""

    command: list[str]
    env: dict[str, str]


class Pair(NamedTuple):
    """Equal work for ours and a peer."""

    name: str
    variable: str
    ios: int
    ours: Callable[[Path, int], Side]
    theirs: Callable[[Path, int, str], Side]
    differs: str


def workload(depth: int, read_pct: int, ios: int) -> str:
    """Random I/Os of 4 KiB, so many outstanding."""
    return (
        f"[load]\nclosed = {{ threads = 1, depth = {depth} }}\n"
        f'[[streams]]\nread_pct = {read_pct}\nrandom_pct = 100\nsize = "4 KiB"\n'
        f"[[phases]]\nios = {ios}\nmeasure = true\n"
    )


def simulate(folder: Path, machine: str, text: str, *settings: str, trace: Path | None = None) -> Side:
    """Ours."""
    file = folder / "load.toml"
    file.write_text(text)
    return Side([str(SIMULATE), machine, str(file), *settings], {} if trace is None else {"TRACE": str(trace)})


def our_disk(folder: Path, ios: int) -> Side:
    """A 15K disk that answers in order of arrival, as DiskSim's does."""
    return simulate(folder, "ent-15k", workload(4, 100, ios), "queue_order=fcfs")


def disksim(folder: Path, ios: int, program: str) -> Side:
    """DiskSim reads a parameter file; the one of its validated disk lies beside the program in `valid`."""
    parameters = Path(program).resolve().parent.parent / "valid" / "cheetah15k5.parv"
    trace = folder / "disksim.trace"
    rows = blocks(trace_rows(ios))
    # Time in ms, device, block of 512 B, blocks, flags (1: a read).
    trace.write_text("".join(f"{n * 0.5:.6f} 0 {offset // 512} 8 1\n" for n, offset in enumerate(rows)))
    return Side([program, str(parameters), str(folder / "disksim.out"), "ascii", str(trace), "0"], {})


def our_ssd(folder: Path, ios: int) -> Side:
    """Half reads, half writes of a drive that was written over."""
    return simulate(folder, "s4500-960", workload(16, 50, ios), "scale=512", "state=preconditioned")


def mqsim(folder: Path, ios: int, program: str) -> Side:
    """MQSim reads its device beside the program and a workload of ours, made of its own example."""
    here = Path(program).resolve().parent
    text = f"""<?xml version="1.0" encoding="us-ascii"?>
<MQSim_IO_Scenarios><IO_Scenario><IO_Flow_Parameter_Set_Synthetic>
<Priority_Class>HIGH</Priority_Class><Device_Level_Data_Caching_Mode>WRITE_CACHE</Device_Level_Data_Caching_Mode>
<Channel_IDs>0,1,2,3,4,5,6,7</Channel_IDs><Chip_IDs>0,1,2,3</Chip_IDs><Die_IDs>0,1</Die_IDs><Plane_IDs>0,1</Plane_IDs>
<Initial_Occupancy_Percentage>70</Initial_Occupancy_Percentage><Working_Set_Percentage>85</Working_Set_Percentage>
<Synthetic_Generator_Type>QUEUE_DEPTH</Synthetic_Generator_Type><Read_Percentage>50</Read_Percentage>
<Address_Distribution>RANDOM_UNIFORM</Address_Distribution>
<Percentage_of_Hot_Region>0</Percentage_of_Hot_Region><Generated_Aligned_Addresses>true</Generated_Aligned_Addresses>
<Address_Alignment_Unit>16</Address_Alignment_Unit><Request_Size_Distribution>FIXED</Request_Size_Distribution>
<Average_Request_Size>8</Average_Request_Size><Variance_Request_Size>0</Variance_Request_Size><Seed>798</Seed>
<Average_No_of_Reqs_in_Queue>16</Average_No_of_Reqs_in_Queue><Intensity>32768</Intensity><Stop_Time>0</Stop_Time>
<Total_Requests_To_Generate>{ios}</Total_Requests_To_Generate>
</IO_Flow_Parameter_Set_Synthetic></IO_Scenario></MQSim_IO_Scenarios>
"""
    (folder / "workload.xml").write_text(text)
    return Side([program, "-i", str(here / "ssdconfig.xml"), "-w", str(folder / "workload.xml")], {})


def our_replay(folder: Path, ios: int) -> Side:
    """A trace replayed on one disk, an I/O after the other."""
    rows = folder / "rows"
    rows.write_bytes(trace_rows(ios))
    text = '[trace]\nfile = "trace.csv"\nissue = "as-fast-as-possible"\ndepth = 1\n'
    return simulate(folder, "ent-15k", text, "beyond=wrap", trace=rows)


def cachesim(folder: Path, ios: int, program: str) -> Side:
    """The same blocks through an LRU."""
    trace = folder / "trace.csv"
    rows = blocks(trace_rows(ios))
    trace.write_text("".join(f"{n},{offset // 4096},4096\n" for n, offset in enumerate(rows)))
    columns = "time-col=1,obj-id-col=2,obj-size-col=3,has-header=false"
    return Side([program, str(trace), "csv", "lru", "1GB", "-t", columns], {})


def blocks(rows: bytes) -> list[int]:
    """The offsets of a trace as the engine has it: the fourth of the six numbers of each row."""
    end = int.from_bytes(rows[8:16], "little")
    return [int.from_bytes(rows[at + 24 : at + 32], "little") for at in range(16, end, 48)]


PAIRS = (
    Pair("disk, random reads, 4 deep", "DISKSIM", 1_000_000, our_disk, disksim, "another 15K disk, open loop"),
    Pair("SSD, half writes, 16 deep", "MQSIM", 1_000_000, our_ssd, mqsim, "MQSim's own device"),
    Pair("trace replayed", "LIBCACHESIM", 1_000_000, our_replay, cachesim, "an LRU has no time: hits and misses only"),
)


def seconds(side: Side, folder: Path) -> float:
    """Processor time of one run. Raises SystemExit with what the program said where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        side.command, capture_output=True, text=True, check=False, cwd=folder, env=os.environ | side.env
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(side.command)}: exit code {done.returncode}: {(done.stderr or done.stdout)[-500:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rates(pair: Pair, program: str | None, rounds: int) -> tuple[float, float | None]:
    """Medians of I/Os a second of ours and theirs, which run in turn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sides = [pair.ours(folder, pair.ios)]
        sides += [] if program is None else [pair.theirs(folder, pair.ios, program)]
        took = [[seconds(side, folder) for side in sides] for _ in range(rounds)]
    medians = [pair.ios / max(statistics.median(of), 1e-3) for of in zip(*took, strict=True)]
    return medians[0], medians[1] if len(medians) > 1 else None


def given(pair: Pair) -> str | None:
    """The peer's program; none where it was not given. Raises SystemExit where there is none of that name."""
    said = os.environ.get(pair.variable)
    if not said:
        return None
    found = shutil.which(said)
    if found is None:
        sys.exit(f"{pair.variable}={said}: no program; expected the path of one that was built")
    return found


def main() -> None:
    """What the module's text says."""
    if not SIMULATE.exists():
        sys.exit("first: cargo build --release --locked -p hotband-engine --bin simulate")
    programs = [given(pair) for pair in PAIRS]
    print(f"{'thousand I/Os a second':<28}{'ours':>10}{'theirs':>10}{'ratio':>8}")
    for pair, program in zip(PAIRS, programs, strict=True):
        ours, theirs = rates(pair, program, ROUNDS)
        if theirs is None:
            print(f"{pair.name:<28}{ours / 1e3:>10.0f}", flush=True)
            print(f"    against {pair.variable.lower()}: {pair.variable}=PATH make bench-peers", flush=True)
        else:
            row = f"{pair.name:<28}{ours / 1e3:>10.0f}{theirs / 1e3:>10.0f}{ours / theirs:>8.2f}"
            print(f"{row}\n    against {pair.variable.lower()}: {pair.differs}", flush=True)


if __name__ == "__main__":
    main()
