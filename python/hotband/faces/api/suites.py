"""`hb.pts`: a suite from Python (docs/guides/pts.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.data.inputs.specify import changes, settings_of, texts
from hotband.execution.experiment import watch
from hotband.execution.targets.real_asked import RealAsked
from hotband.questions.suites.asking import Suite, pts_of
from hotband.questions.suites.left import written
from hotband.questions.suites.pts import Interrupted, run_pts
from hotband.questions.suites.pts.suite import PTS_FILE
from hotband.views.suites.page import write_page

if TYPE_CHECKING:
    import polars as pl

    from hotband.data.documents.pts import PtsDoc
    from hotband.execution.experiment.watch import Wanted


@dataclass(frozen=True)
class PtsResult:
    """A PTS run. `document` is its JSON (docs/guides/pts.md)."""

    document: PtsDoc

    @property
    def answer(self) -> list[str]:
        """A sentence a test."""
        return self.document["answer"]

    @property
    def compliant(self) -> bool:
        """Whether it is a result by the specification; `document["specification"]["departures"]` says why not."""
        return self.document["specification"]["compliant"]

    @property
    def figures(self) -> pl.DataFrame:
        """A row a figure: test, name, value, unit (IOPS, B/s, ns, s)."""
        import polars as pl

        rows = [
            {"test": test["id"], "name": one["name"], "value": one["value"], "unit": one["unit"]}
            for test in self.document["tests"]
            for one in test["figures"]
        ]
        return pl.DataFrame(rows, schema={"test": pl.Utf8, "name": pl.Utf8, "value": pl.Float64, "unit": pl.Utf8})

    @public
    def report(self, path: str | PathLike[str]) -> Path:
        """Writes the report as one HTML page. Raises UserError for a path that cannot be written."""
        return write_page(self.document, Path(path))

    def write(self, out: Path | None, page: Path | None) -> list[Path]:
        """Writes what a run leaves: `pts.json` and `report.html` into a folder, and a page anywhere. Raises UserError,
        OSError."""
        return written(PTS_FILE, self.document, self.report, out, page)

    def to_dict(self) -> PtsDoc:
        """What `hotband pts --json` prints."""
        return self.document


@public
def pts(
    on: str,
    *,
    drive_class: str = "enterprise",
    tests: str | Sequence[str] = (),
    quick: bool = False,
    minute: str | None = None,
    threads: int | None = None,
    depth: int | None = None,
    sponsor: str = "",
    set: Mapping[str, object] | None = None,
    erase: str | None = None,
    size: str | None = None,
    purge_by: str | None = None,
    set_write_cache: bool = False,
    seed: int = 1,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    progress: Wanted = None,
) -> PtsResult:
    """SNIA's performance test of solid-state storage (PTS 2.0.2) on a machine, or on `real:PATH`.

    `drive_class` is "enterprise" or "client"; `tests` are iops, throughput, latency, write-saturation, idle-recovery,
    cross-stimulus (all where none is named). `quick` takes a tenth of all times and `minute` ("1 s") is what a minute
    of the specification takes, neither of which is a result by it. `threads` and `depth` are those of random loads.
    `set` has values of a model. Of hardware, `erase` is the serial number of a device that may be written, `size` that
    of the file which is made in a folder, `purge_by` (discard, format, sanitize, secure-erase) how it is purged;
    `set_write_cache` turns its write cache as the class has it, and back. With `out` every run is kept there as it
    ends, and the same call goes on after a stop. Raises UserError for a mistake, KeyboardInterrupt where it is stopped.
    """
    try:
        asked = pts_of(
            _suite(on, set, RealAsked(erase, size, purge_by=purge_by), seed, out, fresh),
            drive_class=drive_class,
            tests=texts(tests, "tests") if tests else (),
            quick=quick,
            minute=minute,
            threads=threads,
            depth=depth,
            sponsor=sponsor,
            set_write_cache=set_write_cache,
        )
        return PtsResult(run_pts(asked, watch=lambda title: watch.watch(title, progress)))
    except Interrupted:
        raise KeyboardInterrupt from None


def _suite(
    on: str,
    set: Mapping[str, object] | None,
    real: RealAsked,
    seed: int,
    out: str | PathLike[str] | None,
    fresh: bool,
) -> Suite:
    return Suite(on, settings_of(changes(set, {})), real, seed, None if out is None else Path(out), fresh)
