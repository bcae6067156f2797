#!/usr/bin/env python
"""Fuzz the fio importer: any bytes give records or a UserError, nothing else.

Run it with atheris (kept out of the project's dependencies):
    python -m pip install atheris
    PYTHONPATH=python python fuzz/fio_reader.py -max_total_time=60 NEW_INPUTS fuzz/corpus/fio
"""

from __future__ import annotations

import json
import sys


def one_input(data: bytes) -> None:
    """One fuzz input: raises only on a defect of ours."""
    # Imported here, so that main can have atheris instrument them first.
    from hotband.base.errors import UserError
    from hotband.data.importers.fio.documents import read_fio

    try:
        records = read_fio(data, "fuzz.json")
    except UserError as error:
        line = str(error)
        assert len(line.splitlines()) == 1, line
        line.encode()
        return
    for record in records:
        json.dumps(record, ensure_ascii=False, allow_nan=False).encode()


def main() -> None:
    import atheris

    with atheris.instrument_imports(include=["hotband"]):
        import hotband.data.importers.fio.documents  # noqa: F401
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
