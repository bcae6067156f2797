#!/usr/bin/env python
"""Fuzz what the other targets do not reach: drives, machines, workloads, studies, fleets, prices, stores, folders of
results, and the words of a command, each through the commands that read it.

An input is a line, `KIND WAY NAME`, and the file that `make probe` would damage: the same kinds, ways and changes
(scripts/probe), but what reaches new code of Hotband is kept and changed further. Run it with atheris (kept out of the
project's dependencies), or with `make fuzz`:
    python -m pip install atheris
    PYTHONPATH=python:scripts python fuzz/commands.py --seeds INPUTS
    PYTHONPATH=python:scripts python fuzz/commands.py -max_total_time=60 INPUTS
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probe.worker import Asked

KINDS = (
    *("drive", "machine", "workload", "study", "fleet", "prices", "store", "sweep-folder", "study-folder", "words"),
    *("job", "result", "trace"),
)
"""Those of the probe; the last three are read by targets of their own, but not run."""
MADE = "made"
"""Where it is kept for the next process, beside the inputs: making it takes half a minute. Commands may change it."""
MOST = 12
"""Inputs of a kind that it starts from, evenly out of those of the probe: all are read before one is changed, some five
a second."""
LONGEST = 1 << 16
"""Bytes of one: libFuzzer is told to make none longer."""
OTHER_WAY = 0.1
"""How often a change is another way that the same file takes."""


@cache
def folder() -> Path:
    """A folder of this process, where what kinds start from is made."""
    # Imported here, so that main can have atheris instrument what is fuzzed first.
    import atexit

    from probe.bases import make

    made = Path(tempfile.mkdtemp(prefix="hotband-fuzz-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    if Path(MADE).is_dir():
        shutil.copytree(MADE, made / "made")
    make(made / "made")
    return made


def asked(data: bytes) -> Asked | None:
    """What an input asks for; None where its line does not."""
    from probe.kinds import KINDS as ALL
    from probe.worker import Asked

    line, _, file = data.partition(b"\n")
    kind, way, name = ([*line.decode("latin-1").split(" "), "", "", ""])[:3]
    if kind not in KINDS or not way.isdecimal() or len(way) > 3 or int(way) >= len(ALL[kind].ways):
        return None
    is_name = 0 < len(name) < 200 and not set(name) & set("/\0") and name not in (".", "..")
    return Asked(kind, int(way), name, file) if is_name else None


def written(one: Asked) -> bytes:
    """An input that asks for this."""
    return f"{one.kind} {one.way} {one.name}\n".encode("latin-1") + one.data


def one_input(data: bytes) -> None:
    """One fuzz input: raises only on a defect of ours."""
    from probe.worker import of_one

    wanted = asked(data)
    if wanted is None:
        return
    before = Path.cwd()
    try:
        came = of_one(wanted, folder() / "made", folder())
    finally:
        os.chdir(before)
    if came.fault:
        raise RuntimeError(f"{came.fault}\n{came.words}")


def inputs() -> dict[str, bytes]:
    """What kinds start from, by a name for it: each takes one way, all ways of a kind in turn."""
    from probe.kinds import KINDS as ALL
    from probe.worker import Asked

    found = {}
    for kind in KINDS:
        bases = [one for one in ALL[kind].bases(folder() / "made") if len(one[1]) < LONGEST]
        for number, (name, data) in enumerate(bases[:: -(-len(bases) // MOST)]):
            found[f"{kind}-{number}"] = written(Asked(kind, number % len(ALL[kind].ways), name, data))
    return found


def write_seeds(into: Path) -> None:
    """The inputs that are right, a file each."""
    into.mkdir(parents=True, exist_ok=True)
    for name, data in inputs().items():
        (into / name).write_bytes(data)
    shutil.rmtree(into.parent / MADE, ignore_errors=True)
    shutil.copytree(folder() / "made", into.parent / MADE)


class Mutator:
    """Changes of an input in its structure, or of its way; some are atheris's own, of bytes."""

    def __init__(self) -> None:
        from probe.kinds import KINDS as ALL
        from probe.kinds import form_of
        from probe.mutate import Donors

        self.ways = {kind: len(ALL[kind].ways) for kind in KINDS}
        self.donors = {
            kind: Donors([(form_of(ALL[kind], name), data) for name, data in ALL[kind].bases(folder() / "made")])
            for kind in KINDS
        }

    def __call__(self, data: bytes, most: int, seed: int) -> bytes:
        import atheris

        rng, one = random.Random(seed), asked(data)
        if one is None:
            return bytes(atheris.Mutate(data, most))
        is_bytes = rng.random() < 0.2
        changed = written(
            one._replace(data=bytes(atheris.Mutate(one.data, most))) if is_bytes else self.changed(one, rng)
        )
        return changed if len(changed) <= most else data

    def changed(self, one: Asked, rng: random.Random) -> Asked:
        """Another way, or a file changed in its structure."""
        from probe.kinds import KINDS as ALL
        from probe.kinds import form_of
        from probe.mutate import damaged, drawn

        if rng.random() < OTHER_WAY:
            return one._replace(way=rng.randrange(self.ways[one.kind]))
        form = form_of(ALL[one.kind], one.name)
        return one._replace(data=damaged(form, one.data, drawn(form, rng), self.donors[one.kind]))


def main() -> None:
    if sys.argv[1:2] == ["--seeds"]:
        return write_seeds(Path(sys.argv[2]))
    import atheris

    with atheris.instrument_imports(include=["hotband"]):
        from probe.worker import load_all

        load_all()
    mutator = Mutator()
    atheris.Setup(sys.argv, one_input, custom_mutator=mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
