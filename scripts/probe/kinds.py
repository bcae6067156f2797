"""Kinds of inputs: what is damaged, and the ways in which Hotband is given it, each through its own entry point."""

from __future__ import annotations

import re
import shutil
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from probe import bases, hostile, sockets, written_by_hand
from probe.bases import Base
from probe.command import hotband
from probe.ways import Came, Way, came, filled

RUN_S = 0.4
"""Seconds of the processor that a run has before it is interrupted, which it must obey."""


class Kind(NamedTuple):
    """A kind: its valid inputs, ways, and its share of all inputs."""

    bases: Callable[[Path], list[Base]]
    ways: Sequence[Way]
    weight: float
    form: str | None = None
    """None where each name's ending says it."""


def form_of(kind: Kind, name: str) -> str:
    """What an input's structure is."""
    if kind.form is not None:
        return kind.form
    ending = name.rsplit(".", 1)[-1]
    return {"toml": "toml", "json": "json", "parquet": "bytes", "gz": "bytes", "zst": "bytes"}.get(ending, "lines")


def command(words: str, seconds: float | None = None) -> Way:
    """A command; {file} is the input, {out} a new file or folder, {record}, {store} and others are what was made."""

    def way(made: Path, folder: Path, file: Path) -> Came:
        given = filled(words, made, folder, file)
        return came(hotband(given, seconds), "--json" in given)

    return way


def in_folder(whole: str, words: Sequence[str], seconds: float | None = None) -> Way:
    """Commands on a folder of what was made, of which one file is damaged: which one its name says."""

    def way(made: Path, folder: Path, file: Path) -> Came:
        copy = folder / "copy"
        source = bases.ROOT / "tests/study/tiny" if whole == "tiny" else made / whole
        name = file.name
        if whole == "tiny" and "+" in name:
            source, name = bases.CATALOG / "studies" / name.split("+")[0], name.split("+")[1]
        shutil.copytree(source, copy)
        (copy / name.replace("+", "/")).write_bytes(file.read_bytes())
        past, taken = True, True
        for one in words:
            given = filled(one, made, folder, copy)
            first, whole_way = came(hotband(given, seconds), "--json" in given)
            past, taken = past and first, taken and whole_way
        return past, taken

    return way


def record(words: str) -> Way:
    """A command on a record, whose other files are those of the run that it comes from."""

    def way(made: Path, folder: Path, file: Path) -> Came:
        copy = folder / "r"
        shutil.copytree(made / "records" / file.stem, copy)
        (copy / "record.json").write_bytes(file.read_bytes())
        given = filled(words, made, folder, copy)
        return came(hotband(given, RUN_S if "reliability" in words else None), "--json" in given)

    return way


def words(made: Path, folder: Path, file: Path) -> Came:
    """The input is a command, a word a line."""
    text = file.read_bytes().decode("utf-8", "replace").replace("\0", "")
    given = [word for line in text.split("\n") for word in filled_word(line, made, folder)]
    if not given or given[0] not in COMMANDS:
        return False, False
    return came(hotband(given, RUN_S), "--json" in given)


def filled_word(word: str, made: Path, folder: Path) -> list[str]:
    """A word of a command, with places filled; none for an empty one."""
    file = made / "records/closed/record.json"
    places = {"out": folder / "out", "record": made / "records/closed", "store": made / "store", "file": file}
    places |= {"other": made / "records/other", "trace": made / "traces/own.csv"}
    return [re.sub(r"{([a-z]+)}", lambda one: str(places.get(one[1], one[0])), word)] if word else []


def commands(_: Path) -> list[Base]:
    lines = written_by_hand.COMMANDS.splitlines()
    return [(f"{n}.words", "\n".join(written_by_hand.arguments(line)).encode()) for n, line in enumerate(lines)]


COMMANDS = {line.split()[0] for line in written_by_hand.COMMANDS.splitlines()}
SMALL = "--duration '1 ms'"
KINDS: dict[str, Kind] = {
    "drive": Kind(
        bases.drives,
        [command("drives {file} --json"), command("drives {file}"),
         command(f"run fio-randread --on {{file}} --set qd=4 {SMALL} --json", RUN_S),
         command(f"run iometer-4k-rand-50-50 --on {{file}} {SMALL}", RUN_S),
         command(f"run fio-write --on raid5:3x{{file}} {SMALL}", RUN_S),
         command("keys fio-randread --on {file} --json")],
        12,
    ),
    "machine": Kind(
        bases.machines,
        [command(f"run fio-randread --on {{file}} {SMALL} --json", RUN_S),
         command("run iometer-database --on {file} --set scale=512 --duration '5 ms'", RUN_S),
         command("keys fio-randread --on {file} --json"),
         command("reliability {file} --arrays 1000 --json", RUN_S)],
        12,
    ),
    "workload": Kind(
        bases.workloads,
        [command(f"run {{file}} --on ent-15k {SMALL} --json", RUN_S),
         command(f"run {{file}} --on raid0:4xexos-15e900-512n {SMALL}", RUN_S),
         command(f"run {{file}} --on s4500-960 --set scale=512 {SMALL}", RUN_S),
         command("workloads convert {file} -o {out.fio}"), command("workloads convert {file} -o {out.parm}"),
         command("keys {file} --on ent-15k --json")],
        12,
    ),
    "study": Kind(
        bases.studies,
        [in_folder("tiny", ["studies {file}"]), in_folder("tiny", ["study run {file} --out {out}"], RUN_S)],
        6,
    ),
    "fleet": Kind(bases.fleets, [command("fleet {file} --repetitions 2 --json", RUN_S)], 6),
    "prices": Kind(
        lambda _: [("prices.csv", written_by_hand.PRICES.encode())],
        [command("advise fio-randread --slo 'p99 < 60 ms' --capacity '5 TB' --protect 'one failure' --candidates "
                 "drives=ent-10k,counts=8,layouts=raid5 --prices {file} --json", RUN_S)],
        1,
    ),
    "job": Kind(
        bases.jobs,
        [command("workloads convert {file} -o {out.toml}"), command(f"run {{file}} --on ent-15k {SMALL} --json", RUN_S),
         command("workloads convert {file} -o {out.parm}")],
        10,
    ),
    "result": Kind(
        bases.results,
        [command("import auto {file} --json"), command("import auto {file} --out {out}"),
         command("audit {file} --json"),
         command("compare {record} {file} --anyway"), command("report {file} -o {out.html}"),
         command("expect {file} --on ent-15k --draws 8 --duration '1 ms' --json", RUN_S),
         command("workloads convert {file} -o {out.toml}")],
        14,
    ),
    "trace": Kind(
        bases.traces,
        [command("trace show {file} --json"), command("trace convert {file} {out.csv}"),
         command("trace convert {file} {out.spc}"), command("trace show {file} --skip-bad 5"),
         command("trace compare {file} {trace} --json"), command("trace fit {file} -o {out.toml}"),
         command(f"run {{file}} --on ent-15k {SMALL}", RUN_S)],
        10,
    ),
    "record": Kind(
        bases.records,
        [record("audit {file} --json"), record("audit {file}"), record("compare {other} {file} --anyway --json"),
         record("steady {file} --json"), record("report {file} -o {out.html} --audit"),
         record("plot latency {file} --out {out.html}"), record("store add {out} {file}"),
         record("reliability raid1:2xent-15k --record {file} --arrays 1000")],
        12,
        "json",
    ),
    "store": Kind(
        lambda made: bases.kept(made / "store"),
        [in_folder("store", ["store list {file} --json"]), in_folder("store", ["store check {file}"]),
         in_folder("store", ["store add {file} {record}", "store compact {file}", "store list {file} --json"]),
         in_folder("store", ["query 'select count(*), max(iops) from runs' --from {file} --json"])],
        5,
    ),
    "sweep-folder": Kind(
        lambda made: bases.kept(made / "sweep"),
        [in_folder("sweep", [f"{bases.SWEEP} --out {{file}} --json"])],
        4,
    ),
    "study-folder": Kind(
        lambda made: bases.kept(made / "study"),
        [in_folder("study", ["report {file} -o {out.html}"]),
         in_folder("study", ["study run {tiny} --out {file} --json"], 2.0)],
        2,
    ),
    "words": Kind(commands, [words], 8, "lines"),
    "nbd": Kind(sockets.nbd_bases, [sockets.nbd], 8, "bytes"),
    "http": Kind(sockets.http_bases, [sockets.http], 4, "lines"),
    "name": Kind(hostile.name_bases, hostile.NAME_WAYS, 4, "bytes"),
    "bomb": Kind(hostile.bomb_bases, hostile.BOMB_WAYS, 0.05, "lines"),
}  # fmt: skip


def chosen_way(kind: Kind, number: int) -> int:
    """Which way an input takes: all in turn, whatever base it comes from."""
    return zlib.crc32(str(number).encode()) % len(kind.ways)
