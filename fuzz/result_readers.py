#!/usr/bin/env python
"""Fuzz the importers of other tools' results: any bytes give records or a UserError, nothing else.

The first byte of an input chooses the importer. Run it with atheris (kept out of the project's dependencies):
    python -m pip install atheris
    PYTHONPATH=python python fuzz/result_readers.py -max_total_time=60 NEW_INPUTS fuzz/corpus/results
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

# The name that a file of the tool has: fio's logs tell by it what they are.
NAMES = {
    b"f": "x.json",
    b"b": "x_bw.1.log",
    b"c": "x_clat.1.log",
    b"h": "x_clat_hist.1.log",
    b"v": "flatfile.html",
    b"d": "x.xml",
    b"i": "x.csv",
    b"l": "x.hlog",
}


def one_input(data: bytes) -> None:
    """One fuzz input: raises only on a defect of ours."""
    # Imported here, so that main can have atheris instrument them first.
    from hotband.base.errors import UserError
    from hotband.data.importers import load, loaded, tools
    from hotband.data.record.files import save_imported

    name = NAMES.get(data[:1], "x")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data[1:])
        readers = [load, *(lambda file, tool=tool: tool.read([file]) for tool in tools().values())]
        for read in readers:
            try:
                records = read(path)
            except UserError as error:
                line = str(error)
                assert len(line.splitlines()) == 1, line
                line.encode()
                continue
            for one in records:
                json.dumps(one.record, ensure_ascii=False, allow_nan=False).encode()
                loaded(one)
            save_imported(Path(folder) / "out", records)


def main() -> None:
    import atheris

    with atheris.instrument_imports(include=["hotband"]):
        import hotband.data.importers.diskspd
        import hotband.data.importers.fio.importer
        import hotband.data.importers.hdr
        import hotband.data.importers.iometer
        import hotband.data.importers.vdbench  # noqa: F401
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
