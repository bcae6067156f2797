"""What a folder of runs holds."""

from __future__ import annotations

from pathlib import Path


def records(out: Path) -> dict[str, bytes]:
    """Every record and table in a folder, by its place there."""
    found = [path for path in out.rglob("*") if path.name == "record.json" or path.suffix == ".parquet"]
    return {str(path.relative_to(out)): path.read_bytes() for path in found}


def finished(out: Path) -> dict[str, tuple[int, int]]:
    """The runs that are whole, each with what another record in its place would have different."""
    found = {}
    for mark in out.rglob("finished.json"):
        file = (mark.parent / "record.json").stat()
        found[str(mark.parent.relative_to(out))] = (file.st_ino, file.st_mtime_ns)
    return found
