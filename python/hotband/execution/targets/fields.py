"""Fields of questions that are about hardware."""

from __future__ import annotations

from typing import Any

from hotband.base.question import asks


def erase() -> Any:
    """Return the field `erase`."""
    return asks("real: what may be overwritten; the drive's serial number.", default=None, metavar="SERIAL")


def size() -> Any:
    """Return the field `size`."""
    return asks("real:DIR: size of the file that is made in it.", default=None, metavar="SIZE")


def purge_by() -> Any:
    """Return the field `purge_by`."""
    return asks("real: discard, format, sanitize or secure-erase; best first.", default=None, metavar="WAY")


def yes() -> Any:
    """Return the field `yes`: a program that names a file has said that it may be written."""
    return asks("real: do not ask before writing.", default=False, hidden=True)
