#!/usr/bin/env python
"""Fuzz what reads a record that others made: whatever is in it, the auditor and the comparison say something, or
refuse it.

Half of the changes keep the structure, as those of `make probe` do (scripts/probe/mutate.py); the records it starts
from are the probe's. Run it with atheris (kept out of the project's dependencies), or with `make fuzz`:
    python -m pip install atheris
    PYTHONPATH=python:scripts python fuzz/records.py --seeds INPUTS
    PYTHONPATH=python:scripts python fuzz/records.py -max_total_time=60 INPUTS
"""

from __future__ import annotations

import random
import sys
import tempfile
from functools import cache
from pathlib import Path

WAYS = ("audit {file} --json", "audit {file}", "compare {other} {file} --anyway", "compare {file} {other} --json")


@cache
def folder() -> Path:
    """A folder of this process with the probe's records, one of which others are compared with."""
    # Imported here, so that main can have atheris instrument what is fuzzed first.
    import atexit
    import shutil

    made = Path(tempfile.mkdtemp(prefix="hotband-fuzz-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    write_seeds(made)
    return made


def one_input(data: bytes) -> None:
    """One fuzz input: raises only on a defect of ours."""
    from probe.command import expect_well, hotband

    file = folder() / "record.json"
    file.write_bytes(data)
    for way in WAYS:
        words = [word.format(file=file, other=folder() / "other") for word in way.split()]
        said = hotband(words)
        expect_well(said, is_json="--json" in words)
        if said.code == 2 and "audit" in words:
            return


def write_seeds(into: Path) -> None:
    """The probe's records, a file each."""
    from probe.bases import RECORDS
    from probe.command import hotband

    into.mkdir(parents=True, exist_ok=True)
    for name, arguments in RECORDS.items():
        with tempfile.TemporaryDirectory() as out:
            said = hotband(["run", *arguments, "--out", f"{out}/run"])
            assert said.code == 0, said.error
            (into / name).write_bytes(Path(out, "run/record.json").read_bytes())


class Mutator:
    """Changes of a record: half of them in its structure, with what stands in the records it starts from."""

    def __init__(self, seeds: list[bytes]) -> None:
        from probe.mutate import Donors

        self.donors = Donors([("json", data) for data in seeds])

    def __call__(self, data: bytes, most: int, seed: int) -> bytes:
        import atheris
        from probe.mutate import damaged, drawn

        rng = random.Random(seed)
        if rng.random() < 0.5:
            return bytes(atheris.Mutate(data, most))
        found = damaged("json", data, drawn("json", rng), self.donors)
        return found if len(found) <= most else bytes(atheris.Mutate(data, most))


def main() -> None:
    if sys.argv[1:2] == ["--seeds"]:
        return write_seeds(Path(sys.argv[2]))
    import atheris

    with atheris.instrument_imports(include=["hotband"]):
        pass
    mutator = Mutator([path.read_bytes() for path in sorted(folder().iterdir())])
    atheris.Setup(sys.argv, one_input, custom_mutator=mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
