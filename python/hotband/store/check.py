"""Whether a store is as it was written: every file of every part against its digest, and what is in no part."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from hotband.store.journal import left_behind
from hotband.store.manifest import snapshot
from hotband.store.place import Place


@dataclass
class Checked:
    """What a check found: `damaged` files with what is wrong with them; `strange` ones, which are in no part;
    `journals` of writers that are at work or were ended."""

    runs: int = 0
    files: int = 0
    damaged: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    journals: list[str] = field(default_factory=list)


def check(place: Place) -> Checked:
    """Reads every file. Raises UserError for an entry that is none."""
    now = snapshot(place)
    done = Checked(runs=now.runs)
    known = {file.path for part in (*now.parts, *now.replaced) for file in part.files}
    for part in now.parts:
        for file in part.files:
            done.files += 1
            try:
                with (place.path / file.path).open("rb") as data:
                    is_same = hashlib.file_digest(data, "sha256").hexdigest() == file.sha256
                if not is_same:
                    done.damaged.append(f"{file.path}: is not as it was written")
            except OSError as error:
                done.damaged.append(f"{file.path}: {(error.strerror or str(error)).lower()}")
    done.journals = [path.name for path in left_behind(place.journal)]
    there = {str(path.relative_to(place.path)) for path in place.path.glob("*/month=*/part-*.parquet")}
    at_work = {path.stem for path in left_behind(place.journal)}
    done.strange = sorted(
        one for one in there - known if one.rpartition("/")[2].removesuffix(".parquet") not in at_work
    )
    return done
