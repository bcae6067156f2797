"""A process that is given inputs, one after the other, with little memory; what ends it is seen from outside."""

from __future__ import annotations

import os
import resource
import shutil
import sys
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

MEMORY = 2 << 30
"""Bytes of memory that an input may take beyond what the process had before."""
MOST_RESERVED = 4 << 30
"""Bytes of private memory beyond that which are refused: libraries reserve more than they use."""
THREADS = ("POLARS_MAX_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Asked(NamedTuple):
    """An input, and the way it takes."""

    kind: str
    way: int
    name: str
    data: bytes


class Outcome(NamedTuple):
    """What came of it: past the first check, taken; `fault` tells faults apart (empty where there is none), `words` are
    the whole of it."""

    past: bool
    taken: bool
    fault: str = ""
    words: str = ""


def work(link: Connection, made: Path, folder: Path) -> None:
    """Answers inputs until the link is closed."""
    for name in THREADS:
        os.environ[name] = "1"
    folder.mkdir(parents=True, exist_ok=True)
    errors = folder / "stderr"
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND), 2)
    from probe.bases import make

    make(made)
    load_all()
    limit_memory()
    link.send(None)
    while True:
        try:
            asked: Asked = link.recv()
        except EOFError:
            return
        before, had = errors.stat().st_size, memory("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # the peak is that from now on
        outcome = of_one(asked, made, folder)
        took = memory("VmHWM") - had
        with errors.open("rb") as file:
            file.seek(before)
            said = file.read().decode(errors="replace")
        if not outcome.fault and ("panicked at" in said or "Traceback (most recent call last)" in said):
            *_, last = [line for line in said.splitlines() if line.strip()]
            panic = next((line for line in said.splitlines() if "panicked at" in line), last)
            outcome = outcome._replace(fault=f"in another thread: {panic[:200]}", words=said[-4000:])
        if not outcome.fault and took > MEMORY:
            outcome = outcome._replace(fault="memory", words=f"took {took:,} bytes of memory")
        link.send(outcome)


LIBRARIES = (
    *("altair", "vl_convert", "duckdb", "pyarrow.parquet", "pyarrow.compute", "polars", "tomlkit", "uvicorn"),
    *("scipy.stats", "scipy.optimize", "scipy.special", "scipy.linalg", "scipy.interpolate"),
)
"""What Hotband imports where it needs it."""


def load_all() -> None:
    """Loads all of Hotband and what it uses: an interrupted import would be a fault of every input after it."""
    import importlib
    import pkgutil

    import hotband

    for name in LIBRARIES:
        importlib.import_module(name)
    for module in pkgutil.walk_packages(hotband.__path__, "hotband."):
        if ".studies." not in module.name:
            importlib.import_module(module.name)


def memory(of: str) -> int:
    """Bytes of memory of this process, as the system's file names them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(of))


def limit_memory() -> None:
    """Refuses more private memory than any input should ask for, so that none takes the computer's."""
    most = memory("VmData") + MOST_RESERVED
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def of_one(asked: Asked, made: Path, folder: Path) -> Outcome:
    """What comes of an input, in a folder of its own."""
    from probe.kinds import KINDS

    place = folder / "case"
    shutil.rmtree(place, ignore_errors=True)
    (place / "in").mkdir(parents=True)
    file = place / "in" / asked.name
    file.write_bytes(asked.data)
    os.chdir(place)
    out, err = sys.stdout, sys.stderr
    try:
        return Outcome(*KINDS[asked.kind].ways[asked.way](made, place, file))
    except BaseException as error:  # a panic of the engine is no Exception
        sys.stdout, sys.stderr = out, err
        return Outcome(False, False, fault_of(error), "".join(traceback.format_exception(error))[-6000:])


def fault_of(error: BaseException) -> str:
    """A line that tells faults apart: the exception and where of ours it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/hotband/" in frame.filename] or frames
    place = f"{ours[-1].filename.rsplit('/hotband/', 1)[-1]}:{ours[-1].lineno}" if ours else ""
    words = str(error) if type(error).__name__ in ("Wrong", "NoAnswer", "PanicException") else ""
    return f"{type(error).__name__} {place} {shape(words)}".strip()


def shape(words: str) -> str:
    """What was said, without what differs from input to input."""
    import re

    return re.sub(r"/\S+|\d+|'[^']*'|\"[^\"]*\"", "_", words)[:160]
