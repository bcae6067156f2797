"""`hb.pts` and `hb.quick`: suites from Python (docs/guides/pts.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.errors import UserError
from hotband.runs.specify import in_python, settings_of, texts

if TYPE_CHECKING:
    import polars as pl

    from hotband.suites.pts.documents import PtsDoc


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

    def report(self, path: str | PathLike[str]) -> Path:
        """Writes the report as one HTML page. Raises UserError for a path that cannot be written."""
        from hotband.suites.pts.page import write_page

        return write_page(self.document, Path(path))

    def to_dict(self) -> PtsDoc:
        """What `hotband pts --json` prints."""
        return self.document


def pts(
    on: str,
    *,
    drive_class: str = "enterprise",
    tests: str | Sequence[str] = (),
    quick: bool = False,
    threads: int | None = None,
    depth: int | None = None,
    sponsor: str = "",
    set: Mapping[str, object] | None = None,
    erase: str | None = None,
    seed: int = 1,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    progress: bool | None = None,
) -> PtsResult:
    """SNIA's performance test of solid-state storage (PTS 2.0.2) on a machine, or on `real:PATH`.

    `drive_class` is "enterprise" or "client"; `tests` are iops, throughput, latency, write-saturation, idle-recovery,
    cross-stimulus (all where none is named). `quick` takes a tenth of all times, which is no result by the
    specification. `threads` and `depth` are those of random loads. `set` has values of a model. `erase` is the serial
    number of a real device that may be written. With `out` every run is kept there as it ends, and the same call goes
    on after a stop. Raises UserError for a mistake, KeyboardInterrupt where it is stopped.
    """
    from hotband.runs.watch import watch
    from hotband.suites.pts import Interrupted, run_pts
    from hotband.suites.pts.asking import asked_of

    try:
        asked = asked_of(
            on,
            drive_class=drive_class,
            tests=texts(tests, "tests") if tests else (),
            quick=quick,
            threads=threads,
            depth=depth,
            sponsor=sponsor,
            set=settings_of(set or {}),
            erase=erase,
            seed=seed,
            out=None if out is None else Path(out),
            fresh=fresh,
        )
        return PtsResult(run_pts(asked, watch=lambda title: watch(title, progress)))
    except UserError as error:
        raise in_python(error) from None
    except Interrupted:
        raise KeyboardInterrupt from None
