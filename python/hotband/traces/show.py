"""`trace show`: what a trace is like, of a file to the answer."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband import _core
from hotband.errors import UserError
from hotband.traces.convert import asked_of
from hotband.traces.files import IO_LOG, format_of, is_trace, make_rows
from hotband.traces.properties import SCHEMA, SCHEMA_VERSION, Properties, decoded

if TYPE_CHECKING:
    from hotband.text.values import Json

BLOCK = 4096
"""Bytes of a block where nothing is said: a page of memory, and the physical sector of most drives."""
SAMPLE = 1 << 18
"""Blocks that are followed at most: 1 GiB of blocks of 4 KiB is exact. SHARDS has 8,192 for an error of 0.006."""


@dataclass(frozen=True)
class TraceShown:
    """What a trace is like, and as which format it was read."""

    source: Path
    format: str
    properties: Properties

    def to_dict(self) -> dict[str, Json]:
        """As `hotband trace show --json` prints it."""
        head: dict[str, Json] = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION}
        return {**head, "source": str(self.source), "format": self.format, **self.properties.to_dict()}

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=2)


def show_trace(source: Path, keys: Mapping[str, object], block: int = BLOCK, sample: int = SAMPLE) -> TraceShown:
    """What the trace `source` is like, of which `keys` (those of `[trace]`) take some: in blocks of `block` bytes, at
    most `sample` of which are followed. Raises UserError, OSError."""
    asked = asked_of(source, keys)
    if not source.is_file():
        what = "is a folder" if source.is_dir() else "is not there"
        raise UserError("FILE", "", str(source), f"{what}; expected a trace")
    if asked.format is None and not is_trace(source):
        accepted = f"is no trace of a known format; expected one of {', '.join([IO_LOG, *_core.trace_formats()])}"
        raise UserError("FILE", "", str(source), f"{accepted}; of any CSV say --columns")
    with tempfile.TemporaryDirectory(prefix="hotband-traces-") as folder:
        rows = Path(folder) / "0.rows"
        make_rows(source, asked, str(source), rows)
        text = _core.trace_properties(rows, block, sample)
    return TraceShown(source, asked.format or format_of(source) or "", properties_of(text))


def properties(source: Path, *, block: int = BLOCK, sample: int = SAMPLE, **keys: object) -> Properties:
    """The same without its file; keys as in `[trace]` (`from_` and `for_` are times)."""
    return show_trace(source, {key.rstrip("_"): value for key, value in keys.items()}, block, sample).properties


def properties_of(text: str) -> Properties:
    """What the core found, with Zipf's law."""
    from hotband.traces.properties import CountClass
    from hotband.traces.zipf import zipf_of

    found = json.loads(text)
    popularity = found["popularity"]
    zipf = zipf_of(decoded(tuple[CountClass, ...], popularity["counts"]))
    popularity["zipf"] = None if zipf is None else vars(zipf)
    return decoded(Properties, found)
