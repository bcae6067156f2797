"""Folder names of machines, and the user's folders."""

from __future__ import annotations

import os
import re
from pathlib import Path


def folder_name(name: str) -> str:
    """Return the folder name of a machine, which its review and its charts share."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "machine"


def cache_folder() -> Path:
    """Return Hotband's cache folder: in XDG_CACHE_HOME, or ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "hotband")


def real_path(path: Path) -> Path:
    """Return the absolute path without symbolic links. For links that lead to one another, return the path up to them:
    opening it reports what is wrong, whereas `Path.resolve` raises RuntimeError."""
    return Path(os.path.realpath(path))
