"""Files whose names a user typed without their ending."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence


def file_beside(name: str, endings: Sequence[str] = ()) -> str | None:
    """Return the file that `name` means without its ending, `./x.toml` for `x`; None without one. `endings` are the
    accepted ones, by default all."""
    if not name or name.endswith(("/", ".")) or "\0" in name:
        return None
    files = sorted(path for path in glob.glob(f"{glob.escape(name)}.*") if os.path.isfile(path))
    accepted = [path for path in files if not endings or path[len(name) :].lower().endswith(tuple(endings))]
    if not accepted:
        return None
    return accepted[0] if "/" in name else f"./{accepted[0]}"
