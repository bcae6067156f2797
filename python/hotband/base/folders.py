"""Names of folders."""

from __future__ import annotations

import re


def folder_name(name: str) -> str:
    """A folder for a machine of this name: the same for its review and for its charts."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "machine"
