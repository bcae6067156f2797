"""What `advise` leaves: the front, the recommended point and what it rests on; as objects, as a frame and as JSON."""

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
"""What the figures are called in the frame and in JSON."""


@dataclass(frozen=True)
class Between:
    """A figure with the ends of its interval; None of an end that is not known."""

    value: float
    low: float | None = None
    high: float | None = None

    def times(self, factor: float) -> Between:
        """Return the same in another unit."""
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
}
"""What fields of a point are called in JSON."""


@dataclass(frozen=True)
class Point:
    """A candidate on the front. `latency` is that of the worst workload (`worst`), in seconds, by workload in
    `latencies`; `rebuild` hours, at media rate, to beside the loads where that was run; `loss` the chance of losing
    data within the years. `degraded` is the latency with a drive failed, of the worst workload. `interval_from` says
    whether the latency's interval is that of the corpus ("corpus"), whether the machine's uncertain values were drawn
    ("draws") or what the models leave out counts alone ("model"); `rests_on` is its evidence, or why there is none.
    `surely` whether all of the interval is what was asked for; `is_checked` is False where nothing like it ever was."""

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

    def document(self) -> dict[str, Json]:
        """As JSON has it: times in seconds, but `rebuild_h` in hours; `loss` is a chance from 0 to 1."""
        return to_doc(self, without=("worst",), names=DOCUMENTED, settings=dict(self.settings))


@dataclass
class Advice:
    """A recommendation. `front` has the points that no other one is better than, the cheapest first; `recommended` and
    `runner_up` are among them, None if no point meets the requirements (then `nearest` is the closest).
    `answer` are two sentences, `rests_on` what they rest on and what would change them, `values` what the uncertain
    values of the recommended machine do to its latency, those that matter most first. Prices are those of the
    catalog's classes if `priced_by_class`. `counts_tried` are the numbers of the recommended or nearest drive that were
    tried in its layout."""

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
        """Return what the recommendation rests on, as one text."""
        return " ".join(self.rests_on)

    @property
    def frame(self) -> pl.DataFrame:
        """Return one row per point of the front: candidate, machine, drive, layout, cache, `usable_bytes`, and
        figures with their ends: `cost`, `cost_low`, `cost_high`, `watts`, `drives`, `latency_s`, `rebuild_h`, `loss`;
        `life_years`, `degraded_latency_s`, `recommended`."""
        return pl.DataFrame([self._row(one) for one in self.front], infer_schema_length=None)

    def _row(self, one: Point) -> dict[str, str | float | int | bool | None]:
        row: dict[str, str | float | int | bool | None] = {
            "candidate": one.name, "machine": one.machine, "drive": one.drive, "layout": one.layout,
            "cache": one.cache, "drives": one.drives, "usable_bytes": one.usable_bytes,
        }  # fmt: skip
        for name in ("cost", "watts", "latency", "rebuild", "loss"):
            of: Between | None = getattr(one, name)
            column = NAMES[name]
            row |= {
                column: None if of is None else of.value,
                f"{column}_low": None if of is None else of.low,
                f"{column}_high": None if of is None else of.high,
            }
        return row | {
            "life_years": one.life,
            "degraded_latency_s": one.degraded,
            "interval_from": one.interval_from,
            "rests_on": one.rests_on,
            "is_checked": one.is_checked,
            "recommended": self.recommended is not None and one.name == self.recommended.name,
        }

    def to_dict(self) -> dict[str, Json]:
        """Return the JSON document."""
        shown = to_doc(
            self,
            without=("shown", "bound", "values"),
            recommended=self.recommended.name if self.recommended else None,
            runner_up=self.runner_up.name if self.runner_up else None,
            front=[one.document() for one in self.front],
            nearest=self.nearest.document() if self.nearest else None,
        )
        return {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, **shown}

    @public
    def write_html(self, path: str | Path) -> Path:
        """Writes the page, one HTML file; returns its path. Raises UserError where the path is wrong, OSError."""
        expect_page("path", Path(path))
        report: Report = view_of(self, "report")(self)
        return report.save(path)

    def replaced(self, point: Point) -> None:
        """Puts a point in the place of the one of its name."""
        self.front = [point if one.name == point.name else one for one in self.front]
        self.shown = [point if one.name == point.name else one for one in self.shown]

    def _repr_html_(self) -> str:
        return str(view_of(self, "html")(self))

    def __repr__(self) -> str:
        chosen = "nothing" if self.recommended is None else self.recommended.name
        return f"<Advice {chosen!r}: {len(self.front)} points of {self.candidates:,} candidates>"
