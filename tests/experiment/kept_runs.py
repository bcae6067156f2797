"""What a folder of runs holds."""

from __future__ import annotations

from pathlib import Path


def records(out: Path) -> dict[str, bytes]:
    """Every record and table in a folder, by its place there."""
    found = [path for path in out.rglob("*") if path.name == "record.json" or path.suffix == ".parquet"]
    return {str(path.relative_to(out)): path.read_bytes() for path in found}


def finished(out: Path) -> dict[str, int]:
    """The runs that are whole, with the number of their record's file, which another file would not have."""
    return {
        str(mark.parent.relative_to(out)): (mark.parent / "record.json").stat().st_ino
        for mark in out.rglob("finished.json")
    }
