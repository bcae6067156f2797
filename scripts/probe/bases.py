"""Valid inputs that are damaged: those of the repository, those made by commands, samples of others where they lie.

Everything made is made once a checkout, into a folder of its own, from fixed seeds.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from hotband.base.engine import version
from probe import written_by_hand
from probe.command import hotband

ROOT = Path(__file__).resolve().parents[2]
CATALOG = ROOT / "python/hotband/data/catalog"
CORPUS = ROOT / "fuzz/corpus"
SHARED = Path(os.environ.get("HOTBAND_SAMPLES", ROOT.parent / "shared" / "samples"))
LARGEST = 100_000
"""Bytes of an input that is damaged: longer ones take longer and hold nothing else."""
RECORDS = {
    "closed": ["fio-randread", "--on", "ent-15k", "--set", "qd=4", "--duration", "200 ms"],
    "mixed": ["iometer-database", "--on", "raid5:4xent-15k", "--duration", "200 ms"],
    "failed": [
        "iometer-database",
        "--on",
        "raid1:2xent-15k",
        "--fail",
        "d0@50 ms",
        "--spares",
        "1",
        "--duration",
        "300 ms",
    ],
    "flash": [
        "fio-randwrite",
        "--on",
        "s4500-960",
        "--set",
        "scale=512",
        "--set",
        "warm_up=10 ms",
        "--duration",
        "50 ms",
    ],
    "app": ["ycsb-a", "--on", "ent-15k", "--set", "app.records=100000", "--duration", "50 ms"],
    "other": ["fio-randread", "--on", "ent-10k", "--set", "qd=4", "--duration", "200 ms"],
}
SWEEP = "sweep fio-randread --on ent-15k --set qd=1..4 --repeat 2 --duration '50 ms'"
TRACE_FORMATS = (
    *("fio-v2", "fio-v3", "blkparse", "disksim-validate", "disksim-ascii", "mqsim"),
    *("msr", "spc", "alibaba", "systor", "tencent"),
)
Base = tuple[str, bytes]
"""Name and content. The name's ending tells programs what it is."""


def of_files(paths: Iterator[Path] | list[Path]) -> list[Base]:
    """Files that are not too long, sorted."""
    return [
        (path.name, path.read_bytes()) for path in sorted(paths) if path.is_file() and path.stat().st_size < LARGEST
    ]


def drives(_: Path) -> list[Base]:
    found = of_files((CATALOG / "drives").glob("*.toml"))
    return [*found, *((f"{name}.toml", data) for name, data in of_files(CORPUS.glob("spec/product-*")))]


def machines(_: Path) -> list[Base]:
    found = [*of_files((ROOT / "docs/examples").glob("*.toml")), *of_files(ROOT.glob("tests/study/tiny/mirror.toml"))]
    found += [(path, text) for path, text in of_files(CATALOG.glob("studies/*/*.toml")) if b"[volumes]" in text]
    found += [(f"{name}.toml", data) for name, data in of_files(CORPUS.glob("spec/machine-*"))]
    found += [(f"{name}.toml", text.encode()) for name, text in written_by_hand.MACHINES.items()]
    filled = [(name, data.replace(b"{product}", b"ent-15k")) for name, data in found]
    return [(name, data) for name, data in filled if b"[drives" in data]


def workloads(_: Path) -> list[Base]:
    found = of_files((CATALOG / "workloads").glob("*.toml"))
    found += [(name, text) for name, text in of_files(CATALOG.glob("studies/*/*.toml")) if b"[[streams]]" in text]
    return [*found, *((f"{name}.toml", data) for name, data in of_files(CORPUS.glob("spec/workload-*")))]


def studies(_: Path) -> list[Base]:
    """Files of the small study, by their name; of the catalog's the study alone."""
    tiny = [(name, data) for name, data in of_files((ROOT / "tests/study/tiny").iterdir())]
    large = [(f"{path.parent.name}+study.toml", path.read_bytes()) for path in CATALOG.glob("studies/*/study.toml")]
    return [*tiny * 3, *sorted(large)]


def fleets(_: Path) -> list[Base]:
    return [(f"{name}.toml", text.encode()) for name, text in written_by_hand.FLEETS.items()]


def jobs(made: Path) -> list[Base]:
    """Job files written by hand, those that workloads of the catalog become, and samples."""
    found = [(name, text.encode()) for name, text in written_by_hand.JOBS.items()]
    found += of_files([*(made / "jobs").iterdir()])
    endings = (".fio", ".icf", ".vdb", ".cfg", ".jobfile")
    return [*found, *of_files([path for path in SHARED.rglob("*") if path.suffix in endings])]


def results(_: Path) -> list[Base]:
    found = [(f"{name}.json", data) for name, data in of_files(CORPUS.glob("fio/*"))]
    endings = {"diskspd": ".xml", "hdr": ".hlog", "iometer": ".csv", "vdbench": ".html", "fio": ".json"}
    for name, data in of_files(CORPUS.glob("results/*")):
        tool = name.split("-")[0]
        log = {
            "fio-averaged-log": "x_bw.1.log",
            "fio-clat-log": "x_clat.1.log",
            "fio-coarse-histograms": "x_clat_hist.1.log",
        }
        found.append((log.get(name, f"{name}{endings.get(tool, '')}"), data[1:]))
    found += of_files([path for path in (ROOT / "tests/fio/samples").rglob("*") if path.is_file()])
    endings_of_results = (".json", ".xml", ".log", ".hlog", ".csv", ".html", ".txt")
    tools = ("fio", "diskspd", "hdr", "iometer", "vdbench", "croit-normal")
    return [
        *found,
        *of_files([p for one in tools for p in (SHARED / one).rglob("*") if p.suffix in endings_of_results]),
    ]


def traces(made: Path) -> list[Base]:
    found = [(f"{name}.csv" if "csv" in name else name, data) for name, data in of_files(CORPUS.glob("traces/*"))]
    found += of_files([*(made / "traces").iterdir()])
    return [
        *found,
        *of_files([*(SHARED / "msr").glob("*"), *(SHARED / "spc").glob("*"), *(SHARED / "blktrace").glob("*")]),
    ]


def records(made: Path) -> list[Base]:
    return [(f"{name}.json", (made / "records" / name / "record.json").read_bytes()) for name in RECORDS]


def kept(folder: Path) -> list[Base]:
    """Every file of a folder that a command goes on from, by its path with + for /."""
    return sorted(
        (str(path.relative_to(folder)).replace("/", "+"), path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file() and 0 < path.stat().st_size < LARGEST
    )


def make(made: Path) -> None:
    """Makes what is made, where it is not there yet, or was by another build: its folders would all be refused."""
    done = made / "done"
    if done.is_file() and done.read_text() == version():
        return
    shutil.rmtree(made, ignore_errors=True)
    for name in ("records", "jobs", "traces", "sweep", "study", "store"):
        (made / name).mkdir(parents=True)
    for name, arguments in RECORDS.items():
        _must(["run", *arguments, "--out", str(made / "records" / name)])
        _must(["store", "add", str(made / "store"), str(made / "records" / name)])
    for path in (CATALOG / "workloads").glob("*.toml"):
        # An app is more than a job file can say: it is refused, and leaves none.
        for ending in ("fio", "parm"):
            hotband(["workloads", "convert", path.stem, "-o", str(made / "jobs" / f"{path.stem}.{ending}")])
    log = made / "traces" / "own.csv"
    _must(["run", "fio-randread", "--on", "ent-15k", "--set", "qd=2", "--duration", "500 ms", "--io-log", str(log)])
    for form in TRACE_FORMATS:
        hotband(["trace", "convert", str(log), str(made / "traces" / f"own.{form}"), "--to", form])
    _must([*shlex.split(SWEEP), "--out", str(made / "sweep")])
    _must(["study", "run", str(ROOT / "tests/study/tiny"), "--out", str(made / "study")])
    done.write_text(version())


def _must(arguments: list[str]) -> None:
    said = hotband(arguments)
    if said.code:
        raise SystemExit(f"probe: hotband {' '.join(arguments)} failed: {said.error[-500:]}")
