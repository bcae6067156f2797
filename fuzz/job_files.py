#!/usr/bin/env python
"""Fuzz the readers and writers of job files: any bytes give a workload or a UserError, nothing else, and so does
what is written of that workload.

It starts from the job files of scripts/probe, and from what the catalog's workloads become. Run it with atheris (kept
out of the project's dependencies), or with `make fuzz`:
    python -m pip install atheris
    PYTHONPATH=python:scripts python fuzz/job_files.py --seeds INPUTS
    PYTHONPATH=python python fuzz/job_files.py -max_total_time=60 INPUTS
"""

from __future__ import annotations

import sys
from pathlib import Path

WRITTEN = {"fio": "x.fio", "vdbench": "x.parm"}


def one_input(data: bytes) -> None:
    """One fuzz input: raises only on a defect of ours."""
    # Imported here, so that main can have atheris instrument them first.
    from hotband import _core
    from hotband.base.errors import UserError
    from hotband.data.jobs.job_file import converted, written

    try:
        text = converted(Path("x.fio"), data)[0]
    except UserError as error:
        said(error)
        return
    try:
        _core.workload(text, "x")
    except _core.SpecError as error:
        said(error)
        return
    for tool, name in WRITTEN.items():
        try:
            job = written("x", text, tool)[0]
            converted(Path(name), job.encode())
        except UserError as error:
            said(error)


def said(error: Exception) -> None:
    """Expects an error of one line."""
    line = str(error)
    assert len(line.splitlines()) == 1, line
    line.encode()


def write_seeds(into: Path) -> None:
    """Job files that are right, a file each."""
    from probe.written_by_hand import JOBS

    from hotband.base.errors import UserError
    from hotband.data.catalog import CATALOG_DIR
    from hotband.data.jobs.job_file import written

    into.mkdir(parents=True, exist_ok=True)
    for name, text in JOBS.items():
        (into / name).write_text(text)
    for path in sorted((CATALOG_DIR / "workloads").glob("*.toml")):
        for tool in WRITTEN:
            try:
                (into / f"{path.stem}-{tool}").write_text(written(path.stem, path.read_text(), tool)[0])
            except UserError:
                # An app is more than a job file can say.
                continue


def main() -> None:
    if sys.argv[1:2] == ["--seeds"]:
        return write_seeds(Path(sys.argv[2]))
    import atheris

    with atheris.instrument_imports(include=["hotband"]):
        import hotband.data.jobs.diskspd
        import hotband.data.jobs.fio_form
        import hotband.data.jobs.fio_write
        import hotband.data.jobs.iometer
        import hotband.data.jobs.job_file
        import hotband.data.jobs.vdbench_form
        import hotband.data.jobs.vdbench_write  # noqa: F401
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
