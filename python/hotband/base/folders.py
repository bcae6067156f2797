"""Names of folders for machines."""

from __future__ import annotations

import re


def folder_name(name: str) -> str:
    """Return the folder name of a machine: the same for its review and for its charts."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "machine"
