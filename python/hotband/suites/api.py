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
    from hotband.suites.quick import QuickDoc


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


@dataclass(frozen=True)
class QuickResult:
    """A quick look. `document` is its JSON (`hotband.suites.quick.QuickDoc`)."""

    document: QuickDoc

    @property
    def answer(self) -> list[str]:
        """What the drive is good at, whether its writes go on, whether it is as expected and healthy."""
        return self.document["answer"]

    @property
    def figures(self) -> pl.DataFrame:
        """A row a load: name, value, unit (B/s, IOPS, ns), expected, verdict."""
        import polars as pl

        keys = ("name", "value", "unit", "expected", "verdict")
        rows = [{key: dict(one)[key] for key in keys} for one in self.document["loads"]]
        numbers = {"value": pl.Float64, "expected": pl.Float64}
        return pl.DataFrame(rows, schema={key: numbers.get(key, pl.Utf8) for key in keys})

    def report(self, path: str | PathLike[str]) -> Path:
        """Writes its page. Raises UserError for a path that cannot be written."""
        from hotband.suites.quick_page import write_quick

        return write_quick(self.document, Path(path))

    def to_dict(self) -> QuickDoc:
        """What `hotband quick --json` prints."""
        return self.document


def quick(
    on: str,
    *,
    duration: str = "5 min",
    expect: str | None = None,
    set: Mapping[str, object] | None = None,
    erase: str | None = None,
    seed: int = 1,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    progress: bool | None = None,
) -> QuickResult:
    """A first look at a machine, or at `real:PATH`, that takes `duration`: sequential and random I/O as its kind of
    drive is asked, and writes that go on. A real drive is only read, unless `erase` is its serial number. Beside the
    figures stand those of the model of `expect` (else of the catalog's drive that has the device's model number).
    Raises UserError for a mistake, KeyboardInterrupt where it is stopped.
    """
    from hotband.runs.run import RunsInterrupted
    from hotband.runs.watch import watch
    from hotband.suites.asking import quick_of
    from hotband.suites.quick import run_quick

    try:
        folder = None if out is None else Path(out)
        pairs = settings_of(set or {})
        asked = quick_of(on, time=duration, expect=expect, set=pairs, erase=erase, seed=seed, out=folder, fresh=fresh)
        return QuickResult(run_quick(asked, watch=lambda title: watch(title, progress)))
    except UserError as error:
        raise in_python(error) from None
    except RunsInterrupted:
        raise KeyboardInterrupt from None
