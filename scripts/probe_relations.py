"""Asks of every drive and of layouts what must hold whatever the figures are: `python scripts/probe_relations.py`.

A deeper queue completes no fewer I/Os, larger ones move no fewer bytes, more drives are no slower, and so on
(scripts/probe/relations.py); and what a record counts twice, it counts alike
(scripts/probe/identities.py). What does not hold is printed with the command that shows it; where the cause is known,
scripts/probe/exceptions.csv has it with the place where it is described. Answers are kept in FOLDER/relations.jsonl:
interrupted, it goes on from there; those of another build of the engine are not taken, and `--fresh` takes none.

    python scripts/probe_relations.py --drive ent-15k,s4500-960 --relation depth,size
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from probe.identities import accusations, contradictions
from probe.relations import WHY, WRAPPED, Relation, Setup, of_layouts, of_loads, of_values, times

import hotband as hb
from hotband.base.engine import version

ROOT = Path(__file__).resolve().parent.parent
EXCEPTIONS = ROOT / "scripts/probe/exceptions.csv"
LAYOUTS_OF = ("exos-15e900-512n", "exos-x18-18tb", "nytro-1351-960-plain")
"""Drives of which layouts are made: disks with and without a protected write cache, and an SSD."""
SLACK = {"disk": 0.05, "ssd": 0.04}
"""What chance takes from a rate, in the same seed and with so many I/Os."""


class Known(NamedTuple):
    """What is known not to hold: patterns of the relation, machine and load, the least ratio, and why."""

    relation: str
    machine: str
    load: str
    least: float
    why: str

    def takes(self, relation: Relation, ratio: float) -> bool:
        """Whether it is this one."""
        more = relation.more
        load = f"{more.access} {more.kib} KiB qd={more.depth}"
        return (
            fnmatchcase(relation.name, self.relation)
            and fnmatchcase(more.machine, self.machine)
            and fnmatchcase(load, self.load)
            and ratio >= self.least
        )


class Answer(NamedTuple):
    """Of one run: I/Os a second, and what does not hold within its record."""

    iops: float
    broken: tuple[str, ...] = ()


class Answers:
    """The answer to each setup; kept in a file."""

    def __init__(self, path: Path, kinds: dict[str, str]) -> None:
        self.path, self.kinds = path, kinds
        lines = path.read_text().splitlines() if path.is_file() else []
        self.known: dict[str, Answer] = {}
        for line in lines:
            # A line may be cut off where a process was ended, or be of an older version of this.
            with suppress(ValueError, KeyError):
                one = json.loads(line)
                if one.get("version") == version():
                    self.known[one["setup"]] = Answer(one["iops"], tuple(one["broken"]))

    def is_disk(self, setup: Setup) -> bool:
        """Whether it has disks."""
        return self.kinds[drive_of(setup.machine)] == "disk"

    def missing(self, setups: Iterable[Setup]) -> list[Setup]:
        """Those without an answer, once each."""
        return list(dict.fromkeys(setup for setup in setups if str(setup) not in self.known))

    def measure(self, setups: list[Setup]) -> Iterator[Setup]:
        """Runs them, and gives each as it ends."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file, ThreadPoolExecutor(os.cpu_count()) as pool:
            try:
                for setup, answer in pool.map(lambda one: (one, self.ask(one)), setups):
                    self.known[str(setup)] = answer
                    line = {"setup": str(setup), **answer._asdict(), "version": version()}
                    file.write(json.dumps(line) + "\n")
                    file.flush()
                    yield setup
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)
                raise

    def ask(self, setup: Setup) -> Answer:
        """Runs it."""
        is_disk = self.is_disk(setup)
        warm, measured = times(is_disk)
        values: dict[str, object] = {
            "qd": setup.depth, "bs": f"{setup.kib} KiB", "warm_up": warm, **dict(setup.values)
        }  # fmt: skip
        fail = [f"{setup.fail}@0 s"] if setup.fail else []
        on = machine_of(setup.machine)
        record = hb.run(f"fio-{setup.access}", on=on, duration=measured, seed=3, set=values, fail=fail, progress=False)
        operation = record.write if setup.access.endswith("write") else record.read
        lines = contradictions(record, layout_of(setup.machine), setup.depth, setup.kib * 1024) + accusations(record)
        return Answer(0.0 if operation is None else operation.iops, tuple(lines))


def drive_of(machine: str) -> str:
    """The drive of a machine in short form."""
    form = machine.split(":")[-1]
    count, x, drive = form.partition("x")
    return drive if x and count.isdigit() and ":" in machine else form


def layout_of(machine: str) -> str | None:
    """The layout of a machine in short form, or what stands before it; "" of one drive, None of a controller."""
    before = machine.partition(":")[0] if ":" in machine else ""
    return None if before == "controller" else before


def machine_of(form: str) -> Any:
    """A machine in short form, or with a controller or md before its layout: `controller:raid5:6xent-15k`."""
    before, _, rest = form.partition(":")
    if before not in WRAPPED:
        return form
    layout, _, members = rest.partition(":")
    count, _, drive = members.partition("x")
    # A cache that is full after some seconds.
    options = {"cache": "64 MiB"} if before == "controller" else {}
    return {
        "drives": {"d": {"product": drive, "count": int(count)}},
        "layouts": {"array": {layout: {"members": "d*"}}, "all": {before: {"members": "array", **options}}},
        "volumes": {"all": {"on": "all"}},
    }


def relations(drives: list[str], layouts_of: list[str], kinds: dict[str, str]) -> list[Relation]:
    """All that is asked."""
    asked: list[Relation] = []
    for drive in drives:
        slack, keys = SLACK[kinds[drive]], set(hb.drive(drive).values["key"])
        # Of a disk with several actuators the host sees one address space, so that a load has one place to go to.
        always = (("exposes", "one"),) if "exposes" in keys else ()
        one = Setup(drive, "read", values=always)
        asked += of_loads(one, slack)
        asked += of_values(one, keys, slack)
    for drive in layouts_of:
        # Many solid-state drives are a lot of memory: a 64th of each, with the same shares.
        values = (("scale", "64"),) if kinds[drive] == "ssd" else ()
        asked += of_layouts(Setup(drive, "read", values=values), SLACK[kinds[drive]])
    return asked


def judged(asked: list[Relation], answers: Answers, exceptions: list[Known]) -> tuple[Counter[str], list[str]]:
    """How many of each relation hold, are known not to, or do not; a line for each of the last, worst first, and for
    each record that contradicts itself."""
    counts: Counter[str] = Counter()
    broken: list[tuple[float, str]] = []
    for relation in asked:
        less, more = (answers.known[str(setup)].iops for setup in (relation.less, relation.more))
        ratio = more / less * (relation.more.kib / relation.less.kib if relation.in_bytes else 1) if less else math.inf
        known = next((one for one in exceptions if one.takes(relation, ratio)), None)
        if ratio >= 1 - relation.slack:
            counts["hold"] += 1
        elif known is not None:
            counts[f"known: {known.why}"] += 1
        else:
            counts["DO NOT HOLD"] += 1
            command = relation.more.command(answers.is_disk(relation.more))
            broken.append(
                (ratio, f"{relation.name} {ratio:.3f}: {relation.more} against {relation.less}\n    {command}")
            )
    lines = [line for _, line in sorted(broken)]
    for setup in dict.fromkeys(setup for relation in asked for setup in (relation.less, relation.more)):
        wrong = answers.known[str(setup)].broken
        counts["RECORDS CONTRADICT THEMSELVES" if wrong else "records are sound"] += 1
        lines += [f"{setup}: {line}\n    {setup.command(answers.is_disk(setup))}" for line in wrong]
    return counts, lines


def main(given: list[str] | None = None) -> int:
    """Asks; exit code 1 where something does not hold and no one knows why, or a record contradicts itself."""
    found = hb.drives()
    kinds: dict[str, str] = dict(zip(found["name"], found["kind"], strict=True))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drive", default=",".join(kinds), help="of these alone")
    parser.add_argument("--layouts-of", default=",".join(LAYOUTS_OF), help="drives of which layouts are made")
    parser.add_argument("--relation", default=",".join(WHY), help=f"these alone: {', '.join(WHY)}")
    parser.add_argument("--folder", type=Path, default=ROOT / "out/probe")
    parser.add_argument("--fresh", action="store_true", help="ask anew what was asked")
    words = parser.parse_args(given)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    drives, layouts_of, names = (
        [one for one in text.split(",") if one] for text in (words.drive, words.layouts_of, words.relation)
    )
    for what, given_names, takes in (("drive", [*drives, *layouts_of], kinds), ("relation", names, WHY)):
        if wrong := [name for name in given_names if name not in takes]:
            parser.error(f"--{what}: {wrong[0]!r} is none of {', '.join(takes)}")
    asked = [one for one in relations(drives, layouts_of, kinds) if one.name in names]
    path = words.folder / "relations.jsonl"
    if words.fresh:
        path.unlink(missing_ok=True)
    answers = Answers(path, kinds)
    missing = answers.missing(setup for relation in asked for setup in (relation.less, relation.more))
    begin = time.monotonic()
    try:
        for number, setup in enumerate(answers.measure(missing), 1):
            if number % 10 == 0:
                gone = time.monotonic() - begin
                left = gone / number * (len(missing) - number) / 60
                print(
                    f"\r\033[K{number:,} of {len(missing):,} runs, {left:.0f} min left: {setup}"[:110],
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on from here", file=sys.stderr)
        return 130
    with EXCEPTIONS.open() as lines:
        exceptions = [Known(**{**row, "least": float(row["least"])}) for row in csv.DictReader(lines)]
    counts, broken = judged(asked, answers, exceptions)
    print("\n".join(["", *broken]))
    for name, number in counts.most_common():
        print(f"{number:7,} {name}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
