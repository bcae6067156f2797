"""The catalog: drives, workloads and studies as data files, each value with unit and source."""

import re
from pathlib import Path

CATALOG_DIR = Path(__file__).resolve().parent
"""The folder that holds `drives/`, `workloads/` and `studies/`."""

SHORT_FORM = re.compile(r"[a-z0-9]+:\d+x")
"""The beginning of a machine in short form; its drives may be a file: raid5:8x./x16.toml."""


JOB_ENDINGS = (".fio", ".job", ".jobfile", ".parm", ".vdb", ".cfg", ".icf", ".xml")
"""Endings of job files of fio, vdbench, Iometer and DiskSpd; files with other names are recognised by content."""


TRACE_ENDINGS = (".parquet", ".trace", ".csv", ".spc", ".blkparse", ".iolog", ".gz", ".zst")
"""Endings of I/O logs and traces of other tools, which a workload can replay; files with other names are recognised
by content, as in ./NAME."""


def is_file(name: str) -> bool:
    """Return whether a name is that of a file, not of an entry of the catalog, of a machine in short form or of
    hardware."""
    from hotband.data.catalog.named import is_real

    if is_real(name):
        return False
    return (name.lower().endswith((".toml", *JOB_ENDINGS, *TRACE_ENDINGS)) or "/" in name) and not SHORT_FORM.match(
        name
    )


STUDIES_DIR = CATALOG_DIR / "studies"
