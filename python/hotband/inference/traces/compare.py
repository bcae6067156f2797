"""Compare two traces with latencies: the differences of the second from the first."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import NotRequired, TypedDict, cast

import hotband._core as _core
from hotband.base.arguments import listed, plain, public
from hotband.base.errors import UserError
from hotband.base.heavy import pl
from hotband.base.question import Way, asks
from hotband.base.shown import Shown
from hotband.base.temporary import TemporaryFolder
from hotband.base.text.html import frame_html
from hotband.base.views import Report, view_of
from hotband.data.documents.record import ComparisonDoc
from hotband.data.inputs.kinds import Columns, TomlTable
from hotband.data.traces.files import format_of, make_rows
from hotband.inference.traces.asked import TraceQuestion
from hotband.inference.traces.convert import asked_of, expect_trace

SIDES = ("A", "B")
SCHEMA, SCHEMA_VERSION = "hotband-trace-compare", 1


class ComparedSideDoc(TypedDict):
    """One of the two traces: its file and format (added in Python), its I/Os, those that failed or have no latency,
    those before the first measured one (compared, too), and notes of its reader."""

    file: NotRequired[str]
    format: NotRequired[str]
    ios: int
    left_out: int
    unmeasured: int
    notes: list[str]


class ComparedIoDoc(TypedDict):
    """The fields by which two I/Os are the same."""

    op: str
    offset_bytes: int
    size_bytes: int


class DifferenceDoc(TypedDict):
    """The first I/O that differs, from 1 in order of issue; None for a trace that has ended."""

    io: int
    measured: ComparedIoDoc | None
    replayed: ComparedIoDoc | None


class TracesComparedDoc(ComparisonDoc):
    """Two traces compared: the keys of `comparison` in a record, the first trace as the measurement."""

    schema: str
    schema_version: int
    same_ios: bool
    first_difference: DifferenceDoc | None
    measured: ComparedSideDoc
    replayed: ComparedSideDoc


@dataclass(frozen=True)
class TracesCompared:
    """Two traces compared, with the first (A) as the measured one: `demerit_pct` (RMS horizontal distance of the two
    distributions of latencies in percent of A's mean), `mean_error_pct`, `rms_ns` (of single I/Os; None unless both
    have the same I/Os in the same order, `same_ios`)."""

    document: TracesComparedDoc

    demerit_pct = Shown[float | None]("Demerit in percent of A's mean; None if that is zero.")
    mean_error_pct = Shown[float | None]("Difference of B's mean from A's, in percent of A's.")
    rms_ns = Shown[float | None]("Root of the mean square of the differences of single I/Os.")
    same_ios = Shown[bool]("Whether both have the same I/Os (operation, offset, length) in the same order of issue.")

    @property
    def frame(self) -> pl.DataFrame:
        """One row for all I/Os and one per class: direction ("all", "read", "write"), distance ("all", "continuing",
        "near", "far"), ios, mean_measured_ns, mean_replayed_ns, mean_error_pct, demerit_ns, demerit_pct, rms_ns."""
        figures = ("mean_measured_ns", "mean_replayed_ns", "mean_error_pct", "demerit_ns", "demerit_pct", "rms_ns")
        rows: list[Mapping[str, object]] = [{**self.document, "direction": "all", "distance": "all"}]
        rows += [{**of_class} for of_class in self.document["classes"]]
        kinds: dict[str, type[pl.DataType]] = {"direction": pl.String, "distance": pl.String, "ios": pl.Int64}
        kinds |= dict.fromkeys(figures, pl.Float64)
        return pl.DataFrame([{name: row[name] for name in kinds} for row in rows], schema=kinds)

    @property
    def report(self) -> Report:
        """The page: `.save("page.html")`, and both distributions in `.charts`."""
        report: Report = view_of(self, "report")(self)
        return report

    def to_dict(self) -> TracesComparedDoc:
        """Return a copy of what `hotband trace compare --json` prints."""
        return copy.deepcopy(self.document)

    @public
    def write_html(self, path: str | Path) -> Path:
        """Write the page. Raises UserError, OSError."""
        return self.report.save(path)

    def _repr_html_(self) -> str:
        both = " and ".join(escape(self.document[side].get("file", "")) for side in ("measured", "replayed"))
        return f"<div><strong>{both}</strong>{frame_html(self.frame)}</div>"


@dataclass(frozen=True, kw_only=True)
class CompareTracesQuestion(TraceQuestion):
    """Compare the latencies of two traces: means, percentiles, demerit, and I/O by I/O if both have the same I/Os.

    The result has `demerit_pct`, `mean_error_pct`, `rms_ns` (None unless both have the same I/Os in the same
    order: `same_ios`), a `frame` by class of I/O and a page with both distributions. Raises UserError for a mistake,
    such as a trace without latencies; OSError.
    """

    name = "trace compare"
    schema = "hotband-trace-compare"
    answers = "hotband.inference.traces.compare:TracesCompared"
    has_page = True
    page_field = "page"

    a: Path = asks("The measured trace, with latencies.", metavar="A", positional=True)
    b: Path = asks("The trace to compare with it.", metavar="B", positional=True)
    format_b: str | None = asks("Format of B, if different.", default=None, metavar="NAME", hidden=True)
    columns_b: Columns | None = asks("Columns of B, if different.", default=None, metavar="KEY=COLUMN,...", hidden=True)
    of_b: TomlTable | None = asks("Keys of B that differ, such as format and columns.", default=None, only_python=True)

    def traces(self) -> list[tuple[Path, Mapping[str, object]]]:
        """Return both traces, with the keys of `[trace]` for each."""
        return [(self.a, self.keys()), (self.b, self.keys_of_b())]

    def keys_of_b(self) -> dict[str, object]:
        """Return the keys of `[trace]` for the second trace."""
        other = {
            name.rstrip("_"): plain(value) if listed(value) is None else listed(value)
            for name, value in (self.of_b or {}).items()
        }
        if self.format_b is not None or self.columns_b is not None:
            other |= {"format": self.format_b, "columns": self.columns_b}
        return {**self.keys(), **other}


def answer(question: CompareTracesQuestion, _: Way) -> TracesCompared:
    """Return the two traces compared. Raises UserError, OSError."""
    return compare_traces(question.a, question.b, question.keys(), question.keys_of_b())


def compare_traces(
    first: Path, second: Path, keys: Mapping[str, object], of_second: Mapping[str, object] | None = None
) -> TracesCompared:
    """Compare two traces, of which `keys` (those of `[trace]`) select a part; `of_second` has keys that differ for the
    second. Raises UserError for a mistake and for a trace without latencies, and OSError."""
    sides = []
    with TemporaryFolder("traces") as folder:
        rows = []
        for name, path, asked_keys in zip(SIDES, (first, second), (keys, {**keys, **(of_second or {})}), strict=True):
            request = asked_of(path, asked_keys)
            expect_trace(f"question.{name.lower()}", path, request)
            rows.append(Path(folder) / f"{name}.rows")
            make_rows(path, request, str(path), rows[-1])
            sides.append({"file": str(path), "format": request.format or format_of(path) or ""})
        document = json.loads(_core.compare_traces(*rows))
    for side, side_key, path in zip(sides, ("measured", "replayed"), (first, second), strict=True):
        if document[side_key]["left_out"] == document[side_key]["ios"] and "demerit_ns" not in document:
            raise UserError(str(path), "", "", "has no latencies: there is nothing to compare")
        document[side_key] = {**side, **document[side_key]}
    if "demerit_ns" not in document:
        raise UserError(str(second), "", "", "has no I/O with a latency in common with the other trace")
    return TracesCompared(cast("TracesComparedDoc", {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, **document}))
