"""Inputs as people write them: values drawn, each written in one of its spellings, and what the values mean.

What a form means is computed from the drawn values alone, by rules of the tool whose form it is."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import prod
from operator import mul
from pathlib import Path
from random import Random
from typing import Any

import hotband as hb
from hotband.base.text.quantities import size_bytes, span_ns
from hotband.questions.advise.prices import read_prices

sys.path.insert(0, str(Path(__file__).parents[1] / "jobs"))
from job_files import job_of

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
Values = Mapping[str, Any]
Meaning = dict[str, Any]


@dataclass(frozen=True)
class Form:
    """A form of input."""

    choices: Mapping[str, tuple[Any, ...]]
    """The values that each of its places can take."""
    write: Callable[[Values, Random], str]
    """Writes values, in spellings that are drawn."""
    means: Callable[[Values], Meaning]
    """What values mean."""
    read: Callable[[Path], Meaning]
    """What the product reads from a file."""
    name: str
    """Name of the file."""


def spelled(value: float, units: Mapping[str, float], random: Random) -> str:
    """Write a value in one of the units that give a whole number."""
    numbers = {unit: round(value / scale, 9) for unit, scale in units.items()}
    unit = random.choice([unit for unit, number in numbers.items() if number >= 1 and number % 1 == 0])
    return f"{numbers[unit]:.0f}{unit}"


def of_job(path: Path) -> Meaning:
    """What a job file means, from the workload that it becomes."""
    table = job_of(path).table
    streams = table["streams"]
    loads = [load for load in (table.get("load"), *(one.get("load") for one in streams)) if load]
    closed = [load["closed"] for load in loads if "closed" in load]
    rates = [load["open"]["rate_iops"] for load in loads if "open" in load]
    shares = [stream["read_pct"] for stream in streams]
    # Jobs in a row that mix reads and writes have streams of both, all but the first job in a script;
    # so have those that pace each direction, with loads of their own.
    weights = rates if len(rates) == len(streams) else [stream.get("share_pct", 1) for stream in streams]
    scripts = [(script["clients"], step["depth"]) for script in table.get("scripts", ()) for step in script["steps"]]
    (size,) = {size_bytes(stream["size"]) for stream in streams}
    (random,) = {stream["random_pct"] for stream in streams}
    (begin, end) = {tuple(stream.get("range", ("0 B", "100 %"))) for stream in streams}.pop()
    return {
        "size": size,
        "random_pct": random,
        "outstanding": sum(loop["threads"] * loop.get("depth", 1) for loop in closed) + sum(map(prod, scripts)),
        "rate": round(sum(rates), 6),
        # Reads and writes that are paced apart are streams of their own.
        "read_pct": sum(map(mul, shares, weights)) / sum(weights),
        "seconds": sum((span_ns(phase["duration"]) or 0) for phase in table["phases"]) / 1e9,
        "range": (size_bytes(begin) or 0, end if "%" in end else size_bytes(end)),
    }


FIO_SIZES = {"": 1, "k": KIB, "K": KIB, "kb": KIB, "m": MIB, "M": MIB, "mb": MIB, "g": GIB, "G": GIB}
"""With the default kb_base=1024; `ki` would be 1,000."""
FIO_TIMES = {"": 1, "s": 1, "ms": 1e-3, "us": 1e-6, "m": 60}


def write_fio(values: Values, random: Random) -> str:
    """Write a job of fio, its options in any order, some in [global]."""
    options = {
        "rw": values["rw"],
        "bs": spelled(values["size"], FIO_SIZES, random),
        "iodepth": str(values["depth"]),
        "numjobs": str(values["jobs"]),
        "runtime": spelled(values["seconds"], FIO_TIMES, random),
        "time_based": random.choice(["1", ""]),
        "offset": spelled(values["offset"], FIO_SIZES, random),
        "size": spelled(values["span"], FIO_SIZES, random),
    }
    if values["rw"] in ("rw", "randrw"):
        key, share = random.choice([("rwmixread", values["reads"]), ("rwmixwrite", 100 - values["reads"])])
        options[key] = str(share)
    if values["rate"]:
        options["rate_iops"] = str(values["rate"])
    lines = [f"{key}={value}" if value else key for key, value in options.items()]
    random.shuffle(lines)
    above = random.randrange(len(lines))
    head = ["[global]", "ioengine=libaio", "direct=1", "filename=/dev/sdx", *lines[:above]]
    return "\n".join([*head, "[job]", *lines[above:], ""])


def means_fio(values: Values) -> Meaning:
    """What fio does: rate_iops is per job and per direction, jobs of one file share their part of it."""
    reads = {"read": 100, "write": 0, "randread": 100, "randwrite": 0}.get(values["rw"], values["reads"])
    rate, both = values["rate"] * values["jobs"], 0 < reads < 100
    return {
        "size": values["size"],
        "random_pct": 100 if values["rw"].startswith("rand") else 0,
        "outstanding": 0 if rate else values["depth"] * values["jobs"],
        "rate": rate * (2 if both else 1),
        "read_pct": 50 if rate and both else reads,
        "seconds": values["seconds"],
        "range": (values["offset"], values["offset"] + values["span"]),
    }


def write_vdbench(values: Values, random: Random) -> str:
    """Write a parameter file of vdbench."""
    size = spelled(values["size"], {"": 1, "k": KIB, "K": KIB, "m": MIB}, random)
    seconds = spelled(values["seconds"], {"": 1, "m": 60}, random)
    rate = str(values["rate"]) if values["rate"] else "max"
    reads, seeks = str(values["reads"]), random.choice(["100", "random"]) if values["random"] else "0"
    load = [f"xfersize={size}", f"rdpct={reads}", f"seekpct={seeks}"]
    run = [f"iorate={rate}", f"elapsed={seconds}", "interval=1"]
    random.shuffle(load)
    random.shuffle(run)
    return (
        f"sd=sd1,lun=/dev/sdx,openflags=o_direct,threads={values['depth']}\n"
        f"wd=wd1,sd=sd1,{','.join(load)}\nrd=rd1,wd=wd1,{','.join(run)}\n"
    )


def means_vdbench(values: Values) -> Meaning:
    """What vdbench does."""
    return {
        "size": values["size"],
        "random_pct": 100 if values["random"] else 0,
        "outstanding": 0 if values["rate"] else values["depth"],
        "rate": values["rate"],
        "read_pct": values["reads"],
        "seconds": values["seconds"],
        "range": (0, "100 %"),
    }


SIZES = {" B": 1, " KiB": KIB, " MiB": MIB, "KiB": KIB}
SPANS = {" s": 1, " ms": 1e-3, "ms": 1e-3, " us": 1e-6}


def write_workload(values: Values, random: Random) -> str:
    """Write a workload of ours."""
    rate = values["rate"]
    load = (
        f'open = {{ rate_iops = {rate}, arrival = "fixed" }}' if rate else f"closed = {{ threads = {values['depth']} }}"
    )
    stream = [
        f"read_pct = {values['reads']}",
        f"random_pct = {values['random']}",
        f'size = "{spelled(values["size"], SIZES, random)}"',
    ]
    random.shuffle(stream)
    phase = [f'duration = "{spelled(values["seconds"], SPANS, random)}"', "measure = true"]
    return "\n".join(["[load]", load, "[[streams]]", *stream, "[[phases]]", *phase, ""])


def means_workload(values: Values) -> Meaning:
    """What a run of it leaves."""
    kind = {0: {"write"}, 100: {"read"}}.get(values["reads"], {"read", "write"})
    return {"size": values["size"], "seconds": values["seconds"], "directions": kind, "rate": values["rate"]}


def of_run(path: Path) -> Meaning:
    """What a run of a workload left, with its rate where that is bounded by the load."""
    record = hb.run(str(path), on="ent-15k", seed=3).to_dict()
    summary = record["summary"]
    directions = {name for name in ("read", "write") if summary.get(name) and summary[name]["count"]}
    is_open = "open" in path.read_text()
    seconds = summary["count"] / summary["iops"]
    return {
        "size": summary["bytes"] / summary["count"],
        "seconds": round(seconds, 6),
        "directions": directions,
        # The last I/O may end after the run.
        "rate": round(summary["iops"], -1) if is_open else 0,
    }


def write_result(values: Values, random: Random) -> str:
    """Write what fio leaves of reads: of version 2 in microseconds or 3 in nanoseconds, by job or by group."""
    is_old, is_grouped = random.random() < 0.3, random.random() < 0.5
    jobs = [values["jobs"]] if is_grouped else [1] * values["jobs"]
    return json.dumps(
        {
            "fio version": "fio-2.14" if is_old else "fio-3.33",
            "timestamp": 1_700_000_000,
            "jobs": [_job_of_result(values, count, number, is_old) for number, count in enumerate(jobs)],
        }
    )


def _job_of_result(values: Values, jobs: int, number: int, is_old: bool) -> dict[str, Any]:
    ios = values["iops"] * values["seconds"] * jobs
    scale, unit = (1, "") if is_old else (1000, "_ns")
    mean = values["mean_us"] * scale
    latency = {"min": mean // 2, "max": mean * 3, "mean": float(mean), "stddev": 0.0, "N": ios}
    percentiles = {"50.000000": mean, "99.000000": 2 * mean, "99.900000": 2 * mean}
    rate, size = values["iops"] * jobs, values["size"]
    side: dict[str, Any] = {
        "io_bytes": ios * size // (KIB if is_old else 1),
        "bw": rate * size // KIB,
        "iops": float(rate),
        "runtime": values["seconds"] * 1000,
        "total_ios": ios,
        "short_ios": 0,
        "drop_ios": 0,
        f"clat{unit}": latency | {"percentile": percentiles},
        f"lat{unit}": latency,
    }
    if not is_old:
        side |= {"bw_bytes": rate * size, "io_kbytes": ios * size // KIB}
    idle = {key: 0 for key, value in side.items() if not isinstance(value, dict)}
    asked = {"rw": "randread", "bs": str(size), "iodepth": "1", "ioengine": "libaio", "direct": "1"}
    asked |= {"numjobs": str(values["jobs"])} | ({"group_reporting": "1"} if jobs == values["jobs"] > 1 else {})
    return {"jobname": "j", "groupid": 0, "error": 0, "elapsed": values["seconds"] + 1, "job options": asked,
            "read": side, "write": idle, "trim": idle}  # fmt: skip


def means_result(values: Values) -> Meaning:
    """Sums over jobs, and a mean that all of them have."""
    rate = values["iops"] * values["jobs"]
    return {
        "iops": rate,
        "bytes_per_s": rate * values["size"],
        "count": rate * values["seconds"],
        "mean_ns": values["mean_us"] * 1000,
    }


def of_result(path: Path) -> Meaning:
    """What the product reads from a result."""
    summary = hb.load(str(path)).to_dict()["summary"]
    return {
        "iops": summary["iops"],
        "bytes_per_s": summary["bandwidth_bytes_per_s"],
        "count": summary["count"],
        "mean_ns": summary["latency_mean_ns"],
    }


TIMES = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
PLACES = {"B": 1, "sectors": 512, "KiB": KIB}


def write_trace(values: Values, random: Random) -> str:
    """Write a CSV of I/Os; its first line names units and columns, which the reader of the test takes away."""
    time, place, size = random.choice(list(TIMES)), random.choice(list(PLACES)), random.choice(list(PLACES))
    columns = ["time", "offset", "size", "op"]
    random.shuffle(columns)
    reads, writes = random.choice([("R", "W"), ("read", "write"), ("Read", "Write"), ("r", "w")])
    rows = []
    for number in range(values["count"]):
        at = Decimal(values["start_ms"] * 10**6 + number * values["gap_us"] * 10**3)
        cells = {
            "time": f"{at / TIMES[time]:f}",
            "offset": str((values["first"] + number * values["step"]) * 4096 // PLACES[place]),
            "size": str(values["size"] // PLACES[size]),
            "op": reads if number % 4 < values["reads_of_four"] else writes,
        }
        rows.append(",".join(cells[name] for name in columns))
    units = {"time": time, "offset": place, "size": size}
    said = {name: f"{columns.index(name) + 1} {units.get(name, '')}".strip() for name in columns}
    return "\n".join([json.dumps(said), *rows, ""])


def means_trace(values: Values) -> Meaning:
    """The I/Os of a trace, their times counted from the first."""
    return {
        "ios": [
            (
                number * values["gap_us"] * 1000,
                "read" if number % 4 < values["reads_of_four"] else "write",
                (values["first"] + number * values["step"]) * 4096,
                values["size"],
            )
            for number in range(values["count"])
        ]
    }


def of_trace(path: Path) -> Meaning:
    """The I/Os that the product reads."""
    said, _, rows = path.read_text().partition("\n")
    (path.parent / "rows.csv").write_text(rows)
    out = path.parent / "out.csv"
    out.unlink(missing_ok=True)
    hb.convert_trace(str(path.parent / "rows.csv"), str(out), columns=json.loads(said))
    lines = [line.split(",") for line in out.read_text().splitlines()[1:]]
    return {"ios": [(int(line[1]), line[3], int(line[4]), int(line[5])) for line in lines]}


def write_prices(values: Values, random: Random) -> str:
    """Write a table of prices as spreadsheets of several countries do."""
    comma = random.random() < 0.5
    cents = f"{values['cents'] // 100}.{values['cents'] % 100:02}"
    cell = cents.replace(".", ",") if comma else cents
    separator = random.choice(";\t") if comma else ","
    columns = {"drive": "ent-10k", "price": cell, "currency": values["currency"], "watts": str(values["watts"])}
    names = list(columns)
    random.shuffle(names)
    return f"{separator.join(names)}\n{separator.join(columns[name] for name in names)}\n"


def means_prices(values: Values) -> Meaning:
    """A price in its currency."""
    return {"price": values["cents"] / 100, "currency": values["currency"], "watts": values["watts"]}


def of_prices(path: Path) -> Meaning:
    """What the product reads."""
    prices = read_prices(path)
    price = prices.of["ent-10k"]
    return {"price": price.price, "currency": prices.currency, "watts": price.watts}


DURATIONS = (6, 30, 60, 120)
JOB = {"size": (512, 4096, 8192, 65536, MIB), "reads": (0, 25, 70, 100), "seconds": DURATIONS, "depth": (1, 4, 32)}
FORMS = {
    "a job of fio": Form(
        JOB
        | {
            "rw": ("read", "write", "randread", "randwrite", "randrw", "rw"),
            "jobs": (1, 2, 8),
            "rate": (0, 0, 50, 700),
            "offset": (MIB, 256 * MIB, 3 * GIB),
            "span": (512 * MIB, GIB, 10 * GIB),
            "reads": (25, 50, 70),
        },
        write_fio,
        means_fio,
        of_job,
        "a.fio",
    ),
    "a parameter file of vdbench": Form(
        JOB | {"rate": (0, 0, 100, 2500), "random": (False, True)}, write_vdbench, means_vdbench, of_job, "a.parm"
    ),
    "a result of fio": Form(
        {
            "iops": (100, 7500),
            "size": (4096, 131072),
            "seconds": (10, 60),
            "jobs": (1, 2, 5),
            "mean_us": (90, 130, 9000),
        },
        write_result,
        means_result,
        of_result,
        "a.json",
    ),
    "a trace": Form(
        {
            "count": (5, 12),
            "gap_us": (1, 250, 40_000),
            "start_ms": (0, 1, 86_400_000),
            "first": (0, 100),
            "step": (1, 37),
            "size": (4096, 16384),
            "reads_of_four": (0, 1, 3, 4),
        },
        write_trace,
        means_trace,
        of_trace,
        "a.csv",
    ),
    "a table of prices": Form(
        {"cents": (95, 11_550, 28_049, 99_999), "currency": ("EUR", "USD"), "watts": (5, 12)},
        write_prices,
        means_prices,
        of_prices,
        "prices.csv",
    ),
    "a workload": Form(
        {
            "size": (4096, 8192, 65536),
            "reads": (0, 40, 100),
            "random": (0, 100),
            "depth": (1, 8),
            "rate": (0, 0, 40, 80),
            "seconds": (0.25, 0.5),
        },
        write_workload,
        means_workload,
        of_run,
        "w.toml",
    ),
}
