"""`trace fit`: fit a workload to a trace, compare their properties, and run both on a machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.foreign import json_text
from hotband.base.question import Way, asks, seed
from hotband.base.temporary import TemporaryFolder
from hotband.base.text.numbers import number
from hotband.base.text.values import Json
from hotband.base.text.write import expect_other_file, write_file
from hotband.data.inputs.kinds import Machine
from hotband.data.inputs.specify import Named
from hotband.data.traces.files import format_of, make_rows
from hotband.data.traces.rows import head_of
from hotband.inference.audit.fields import target
from hotband.inference.traces.asked import TraceQuestion
from hotband.inference.traces.convert import asked_of, expect_trace
from hotband.inference.traces.fit.arrivals import Clock, Loop, clock_of, loop_of
from hotband.inference.traces.fit.ios import Ios, ios_of
from hotband.inference.traces.fit.made import made, service_of
from hotband.inference.traces.fit.replay import AFTER, RECORDED, Replayed, replayed
from hotband.inference.traces.fit.streams import READ, WRITE, in_a_row, streams_of
from hotband.inference.traces.fit.table import Kept, table_of
from hotband.inference.traces.fit.text import workload_text
from hotband.inference.traces.properties import BLOCK, SAMPLE, Properties, properties_of

SCHEMA, SCHEMA_VERSION = "hotband-trace-fit", 1
SLOWEST_S = 3600.0
"""Largest mean latency in seconds: a larger one has another unit."""
UNRELATED = 20.0
"""Error in bounds from which a property counts as lost, whatever its size."""
NEVER = (
    "which I/O waits for which completion",
    "which blocks are accessed again soon",
    "areas that move with time",
)
"""Properties of a trace that no workload preserves."""


@dataclass(frozen=True)
class TraceFit:
    """A workload fitted to a trace: its text and file, the properties of both with their errors, and their runs on a
    machine, if one was named."""

    source: Path
    output: Path | None
    format: str
    workload: str
    trace: Properties
    synthetic: Properties
    rows: tuple[Kept, ...]
    replayed: Replayed | None
    notes: tuple[str, ...]

    @property
    def kept(self) -> list[str]:
        """Names of the preserved properties."""
        return [row.property.strip() for row in self.rows if row.kept]

    @property
    def lost(self) -> list[str]:
        """Names of the properties that are not preserved."""
        return [row.property.strip() for row in self.rows if not row.kept]

    def to_dict(self) -> dict[str, Json]:
        """Return the JSON that `hotband trace fit --json` prints."""
        doc = {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "source": str(self.source),
            "output": None if self.output is None else str(self.output),
            "format": self.format,
            "workload": self.workload,
            "properties": [{**asdict(row), "property": row.property.strip()} for row in self.rows],
            "kept": len(self.kept),
            "not_kept": len(self.lost),
            "never_kept": list(NEVER),
            "replayed": None if self.replayed is None else asdict(self.replayed),
            "notes": list(self.notes),
        }
        return cast("dict[str, Json]", json.loads(json.dumps(doc)))

    def to_json(self) -> str:
        """Return the JSON as text."""
        return json_text(self.to_dict())

    def __str__(self) -> str:
        return f"{self.source.name}: {len(self.kept)} of {len(self.rows)} properties preserved"


@dataclass(frozen=True, kw_only=True)
class FitTraceQuestion(TraceQuestion):
    """Fit a synthetic workload to a trace, and report how well it matches.

    The result has the text of the `workload`, `rows` with the properties of both and their errors, and the names of
    those `kept` and `lost`. On a machine both run (`replayed`). Raises UserError for a mistake, such as a trace of
    several devices; OSError.
    """

    name = "trace fit"
    schema = "hotband-trace-fit"
    answers = "hotband.inference.traces.fit.fit:TraceFit"

    source: Path = asks("A trace, plain or compressed by gzip or zstd.", metavar="FILE", positional=True)
    output: Path | None = asks(
        "Write the workload here, as TOML.", default=None, metavar="FILE", short="-o", ordered=True
    )
    on: Machine | None = target()
    issue: str | None = asks(
        "With question.on: issue the trace's I/Os as recorded or after-completion.", default=None, metavar="WHEN"
    )
    seed: int = seed()

    def traces(self) -> list[tuple[Path, Mapping[str, object]]]:
        """Return the trace that it reads, with the keys of `[trace]`."""
        return [(self.source, self.keys())]


def answer(question: FitTraceQuestion, _: Way) -> TraceFit:
    """Return the fit. Raises UserError, OSError."""
    if question.issue is not None and question.on is None:
        raise UserError("question.issue", "", question.issue, "needs a machine: expected question.on MACHINE with it")
    return fit_trace(question.source, question.output, question.keys(), question.on, question.issue, question.seed)


def fit_trace(
    source: Path,
    output: Path | None,
    keys: Mapping[str, object],
    on: Named | None = None,
    issue: str | None = None,
    seed: int = 1,
) -> TraceFit:
    """Fit a workload to the trace `source`, of which `keys` (those of `[trace]`) select a part, and write it to
    `output`. With a machine, run both on it; `issue` sets the times of the trace's I/Os ("recorded" or
    "after-completion", the default for a closed loop). Raises UserError, OSError."""
    if issue not in (None, RECORDED, AFTER):
        raise UserError("question.issue", "", str(issue), f"expected {RECORDED} or {AFTER}")
    if output is not None:
        expect_other_file("question.output", output, [source])
    with TemporaryFolder("fit") as folder:
        rows = Path(folder) / "0.rows"
        name, notes = rows_of(source, keys, rows)
        ios = ios_of(rows, str(source))
        trace = properties_of(_core.trace_properties(rows, BLOCK, SAMPLE))
        slowest_s = max(service_of(trace)) / 1e9
        if slowest_s > SLOWEST_S:
            accepted = (
                f"its I/Os take {number(slowest_s)} s on average; expected at most an hour: check the unit of latencies"
            )
            raise UserError(str(source), "", "", accepted)
        load = loop_of(ios) or clock_of(ios, trace)
        tries = [_tried(source.name, ios, trace, load, together, seed, Path(folder)) for together in _ways(ios)]
    text, synthetic, table = max(tries, key=lambda attempt: _merit(attempt[2]))
    if isinstance(load, Loop) and issue is None:
        issue = AFTER
    both = None if on is None else replayed(source, keys, text, on, issue or RECORDED, seed)
    if output is not None:
        write_file(output, text)
    return TraceFit(source, output, name, text, trace, synthetic, tuple(table), both, notes)


def _ways(ios: Ios) -> list[bool]:
    """Return whether to try reads and writes together, too."""
    both = bool((ios.direction == READ).any() and (ios.direction == WRITE).any())
    return [False, True] if both else [False]


def _merit(table: list[Kept]) -> tuple[int, float]:
    """Return the merit of a workload: the number of preserved properties, then the errors relative to their bounds."""
    from math import log1p

    errors = (UNRELATED if row.error is None else abs(row.error) / row.within for row in table)
    return sum(row.kept for row in table), -sum(log1p(min(error, UNRELATED)) for error in errors)


def _tried(
    name: str, ios: Ios, trace: Properties, load: Loop | Clock, together: bool, seed: int, folder: Path
) -> tuple[str, Properties, list[Kept]]:
    """Fit a workload with reads and writes apart or together; return its text, properties and table."""
    streams, stream_of = streams_of(ios, together=together)
    text = workload_text(name, len(ios), ios.span_s, load, in_a_row(streams, stream_of), streams)
    service = service_of(trace) if ios.has_latencies else None
    rows = made(text, max(stream.high for stream in streams), service, seed, folder)
    synthetic = properties_of(_core.trace_properties(rows, BLOCK, SAMPLE))
    return text, synthetic, table_of(trace, synthetic)


def rows_of(source: Path, keys: Mapping[str, object], rows: Path) -> tuple[str, tuple[str, ...]]:
    """Write the trace's rows; return its format and notes of the reader. Raises UserError, OSError."""
    request = asked_of(source, keys)
    expect_trace("question.source", source, request)
    make_rows(source, request, str(source), rows)
    return request.format or format_of(source) or "", tuple(head_of(rows)["notes"])
