"""The result of `advise`: the Pareto front, the recommended point and its evidence, as objects, a frame and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.arguments import public
from hotband.base.heavy import pl
from hotband.base.text.schema import to_doc
from hotband.base.text.values import Json
from hotband.base.text.write import expect_page
from hotband.base.views import Report, view_of

if TYPE_CHECKING:
    from hotband.data.documents.interval import ShareDoc

SCHEMA, SCHEMA_VERSION = "hotband-advice", 1
NAMES = {
    "cost": "cost",
    "watts": "watts",
    "drives": "drives",
    "latency": "latency_s",
    "rebuild": "rebuild_h",
    "loss": "loss",
}
"""Names of the metrics in the frame and in JSON."""


@dataclass(frozen=True)
class Between:
    """A metric with the ends of its interval; an unknown end is None."""

    value: float
    low: float | None = None
    high: float | None = None

    def times(self, factor: float) -> Between:
        """Return the metric and its interval in another unit."""
        ends = (None if end is None else end * factor for end in (self.low, self.high))
        return Between(self.value * factor, *ends)


DOCUMENTED = {
    "name": "candidate",
    "latency": "latency_s",
    "rebuild": "rebuild_h",
    "life": "life_years",
    "latencies": "by_workload",
    "degraded": "degraded_latency_s",
    "surely": "surely_holds",
    "is_checked": "checked",
    "is_protected": "power_loss_protected",
}
"""Names of a point's fields in JSON."""


@dataclass(frozen=True)
class Point:
    """A candidate on the Pareto front. `latency` is the one under the worst workload (`worst`), in seconds; `latencies`
    has it by workload. `rebuild` is in hours, from the media rate up to the time next to the loads if that was run.
    `loss` is the chance of losing data within the years. `degraded` is the latency with a drive failed, under the worst
    workload. `interval_from` names the source of the latency's interval: measured figures ("corpus"), samples of the
    machine's uncertain values ("draws"), or model error alone ("model"); `rests_on` is the evidence, or why there is
    none. `surely` is True if the whole interval meets the requirements; `is_checked` is False if nothing similar was
    ever validated. `is_protected` tells, for loads that flush or write through, whether the write cache survives a
    power failure; None for other loads."""

    name: str
    machine: str
    drive: str
    layout: str
    drives: int
    cache: str
    settings: tuple[tuple[str, str], ...]
    usable_bytes: float
    cost: Between | None
    watts: Between | None
    latency: Between
    rebuild: Between | None
    loss: Between | None
    life: float | None
    latencies: Mapping[str, float]
    worst: str
    degraded: float | None = None
    interval_from: str = "model"
    surely: bool = False
    rests_on: str = ""
    is_checked: bool = True
    is_protected: bool | None = None

    def document(self) -> dict[str, Json]:
        """Return the point as JSON: times in seconds, but `rebuild_h` in hours; `loss` is a chance from 0 to 1."""
        return to_doc(self, without=("worst",), names=DOCUMENTED, settings=dict(self.settings))


@dataclass
class Advice:
    """A recommendation. `front` is the Pareto front, cheapest first; `recommended` and `runner_up` are among them, None
    if no point meets the requirements (then `nearest` is the closest). `answer` has two sentences, `rests_on` their
    evidence and what would change them, `values` the sensitivity of the recommended machine's latency to its uncertain
    values, largest first. Prices are those of the catalog's classes if `priced_by_class`. `counts_tried` has the drive
    counts that were tried with the recommended or nearest drive in its layout."""

    answer: list[str]
    rests_on: list[str]
    recommended: Point | None
    runner_up: Point | None
    figure: str
    slo: str
    workloads: list[str]
    level: float
    currency: str
    capacity_bytes: float
    failures: int
    years: float
    candidates: int
    left_out: Mapping[str, int]
    runs: int
    ios: int
    front: list[Point]
    nearest: Point | None
    shown: list[Point]
    bound: float | None = None
    values: list[ShareDoc] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    priced_by_class: bool = False
    counts_tried: list[int] = field(default_factory=list)

    @property
    def why(self) -> str:
        """Return the evidence of the recommendation as one text."""
        return " ".join(self.rests_on)

    @property
    def frame(self) -> pl.DataFrame:
        """Return one row per point of the Pareto front: candidate, machine, drive, layout, cache, `usable_bytes`, and
        metrics with their intervals: `cost`, `cost_low`, `cost_high`, `watts`, `drives`, `latency_s`, `rebuild_h`,
        `loss`; `life_years`, `degraded_latency_s`, `recommended`."""
        return pl.DataFrame([self._row(point) for point in self.front], infer_schema_length=None)

    def _row(self, point: Point) -> dict[str, str | float | int | bool | None]:
        row: dict[str, str | float | int | bool | None] = {
            "candidate": point.name, "machine": point.machine, "drive": point.drive, "layout": point.layout,
            "cache": point.cache, "drives": point.drives, "usable_bytes": point.usable_bytes,
        }  # fmt: skip
        for name in ("cost", "watts", "latency", "rebuild", "loss"):
            value: Between | None = getattr(point, name)
            column = NAMES[name]
            row |= {
                column: None if value is None else value.value,
                f"{column}_low": None if value is None else value.low,
                f"{column}_high": None if value is None else value.high,
            }
        return row | {
            "life_years": point.life,
            "degraded_latency_s": point.degraded,
            "interval_from": point.interval_from,
            "rests_on": point.rests_on,
            "is_checked": point.is_checked,
            "recommended": self.recommended is not None and point.name == self.recommended.name,
        }

    def to_dict(self) -> dict[str, Json]:
        """Return the JSON document."""
        shown = to_doc(
            self,
            without=("shown", "bound", "values"),
            recommended=self.recommended.name if self.recommended else None,
            runner_up=self.runner_up.name if self.runner_up else None,
            front=[point.document() for point in self.front],
            nearest=self.nearest.document() if self.nearest else None,
        )
        return {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, **shown}

    @public
    def write_html(self, path: str | Path) -> Path:
        """Write the report as one HTML file; return its path. Raises UserError if the path is wrong, OSError."""
        expect_page("path", Path(path))
        report: Report = view_of(self, "report")(self)
        return report.save(path)

    def replaced(self, point: Point) -> None:
        """Replace the point of the same name."""
        self.front = [point if shown.name == point.name else shown for shown in self.front]
        self.shown = [point if shown.name == point.name else shown for shown in self.shown]

    def _repr_html_(self) -> str:
        return str(view_of(self, "html")(self))

    def __repr__(self) -> str:
        chosen = "nothing" if self.recommended is None else self.recommended.name
        return f"<Advice {chosen!r}: {len(self.front)} points of {self.candidates:,} candidates>"
