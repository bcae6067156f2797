"""Integrity check of a store: every file of every part against its digest, and files that belong to no part."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hotband.base.errors import UserError, reason_of
from hotband.base.text.regular import file_bytes, opened
from hotband.data.store.journal import left_behind, scanned, set_aside
from hotband.data.store.manifest import snapshot
from hotband.data.store.store_folder import JOURNAL, StoreFolder


@dataclass
class Checked:
    """Result of a check: `damaged` files, each with the problem; `strange` files that belong to no part; `journals` of
    active or ended writers."""

    runs: int = 0
    files: int = 0
    damaged: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    journals: list[str] = field(default_factory=list)


def check(store: StoreFolder) -> Checked:
    """Read every file and compare it with its digest."""
    entries: dict[Path, UserError] = {}
    now = snapshot(store, entries)
    done = Checked(runs=now.runs)
    for path, error in entries.items():
        done.damaged.append(str(UserError(str(path.relative_to(store.path)), error.key, error.value, error.accepted)))
    known = {file.path for part in (*now.parts, *now.replaced) for file in part.files}
    for part in now.parts:
        for file in part.files:
            done.files += 1
            try:
                with opened(store.path / file.path) as data:
                    is_same = hashlib.file_digest(data, "sha256").hexdigest() == file.sha256
                if not is_same:
                    done.damaged.append(f"{file.path}: has changed since it was written")
            except OSError as error:
                done.damaged.append(f"{file.path}: {reason_of(error).lower()}")
    left = left_behind(store.journal)
    done.journals = [path.name for path in left]
    done.damaged += _damaged_journals(left, set_aside(store.journal))
    present = {str(path.relative_to(store.path)) for path in store.path.glob("*/month=*/part-*.parquet")}
    # Parts in progress, and those whose entry cannot be read.
    others = {path.stem for path in (*left, *entries)}
    done.strange = sorted(path for path in present - known if Path(path).stem not in others)
    return done


def _damaged_journals(left: Sequence[Path], aside: Sequence[Path]) -> Iterator[str]:
    """Yield one line per journal problem."""
    for path in left:
        try:
            if scanned(file_bytes(path)).is_damaged:
                yield f"{JOURNAL}/{path.name}: not all of it can be read"
        except FileNotFoundError:
            continue  # its writer has made it a part in the meantime
        except OSError as error:
            yield f"{JOURNAL}/{path.name}: {reason_of(error).lower()}"
    for path in aside:
        yield f"{JOURNAL}/{path.name}: kept because parts could not be read; remove the file if you do not need it"
