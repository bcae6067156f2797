#!/usr/bin/env python
"""Fuzz the page's server: whatever a client says gets an answer that is no error of the server, or is hung up on.

The requests it starts from are those of scripts/probe. Run it with atheris (kept out of the project's dependencies), or
with `make fuzz`:
    python -m pip install atheris
    PYTHONPATH=python:scripts python fuzz/page.py --seeds INPUTS
    PYTHONPATH=python:scripts python fuzz/page.py -max_total_time=60 INPUTS
"""

from __future__ import annotations

import sys
import tempfile
from functools import cache
from pathlib import Path


@cache
def folder() -> Path:
    """Where the page's runs and dropped files are, for this process."""
    # Imported here, so that main can have atheris instrument the server first.
    import atexit
    import shutil

    made = Path(tempfile.mkdtemp(prefix="hotband-fuzz-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def one_input(data: bytes) -> None:
    """One fuzz input: raises only on a defect of ours."""
    from probe.sockets import http

    said = folder() / "said"
    said.write_bytes(data)
    http(folder(), folder() / "work", said)


def write_seeds(into: Path) -> None:
    """The requests that are right, a file each."""
    from probe.sockets import http_bases

    into.mkdir(parents=True, exist_ok=True)
    for name, data in http_bases(into):
        (into / f"seed-{name}").write_bytes(data)


def main() -> None:
    if sys.argv[1:2] == ["--seeds"]:
        write_seeds(Path(sys.argv[2]))
        return
    import atheris

    with atheris.instrument_imports(include=["hotband", "h11", "probe"]):
        import probe.sockets  # noqa: F401

        import hotband.faces.ui.server  # noqa: F401
    # Else the first request of a report takes as long as loading what draws it.
    from probe.worker import load_all

    load_all()
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
