"""The definition of a study: configurations, loads, measures, published figures (docs/guides/studies.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.folders import real_path
from hotband.data.catalog import STUDIES_DIR
from hotband.execution.experiment.ranges import Range
from hotband.questions.study.data import Data
from hotband.questions.study.measures import Parameters

if TYPE_CHECKING:
    from hotband.base.text.values import Toml
    from hotband.data.documents.study import AssumptionDoc


LOAD_CHARTS = ("", "entropy", "wear-in")

STUDY_FILE, PUBLISHED_FILE, SWINGS_FILE = "study.toml", "published.csv", "swings.json"

CONCLUSIONS_FILE = "conclusions.toml"

FINDINGS_FILE = "findings.py"

Settings = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Published:
    """One row of `published.csv`: a figure as it was published. `value` is None if it is not a plain number."""

    id: str
    config: str
    workload: str
    metric: str
    text: str
    value: float | None
    unit: str
    kind: str
    caveat: str


@dataclass(frozen=True)
class BlindPrediction:
    """The prediction of a withheld figure, and the commit of the model that made it."""

    predicted: float
    commit: str


@dataclass(frozen=True)
class Config:
    """A machine of the study, or a product that the machines of the loads are built from. `label` is the published
    name; `ids` maps load ids to the number of their first figure; a `what_if` is run and shown but compared with
    nothing; `short` names it in charts if the label is too long. The loads of its `sequence` run one after the other on
    one machine, each on the state that the previous one left. `events` happen to its machine in every run ("at 60 s:
    fail d3"), `spares` replace failed drives. `fill` has values for `{key}` in the texts of machines and workloads."""

    id: str
    label: str
    short: str = ""
    machine: str = ""
    product: str = ""
    drives: int = 0
    set: Settings = ()
    ids: dict[str, int] = field(default_factory=dict)
    loads: tuple[str, ...] = ()
    what_if: bool = False
    sequence: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    spares: int = 0
    fill: Settings = ()

    @property
    def name(self) -> str:
        """The name in charts."""
        return self.short or self.label


@dataclass(frozen=True)
class Load:
    """A workload of the study, or a sweep of one: `sweep` lists the queue depths. `published_config` is the name
    under which its figures are published, if it differs from the configuration's. `{product}` in its `machine` becomes
    the configuration's product; `edit` replaces values of the workload's text. `skip` names configurations that do not
    run it. `warm_up` plots how its caches fill; `chart` adds its runs to a further chart: "entropy" as points of write
    amplification against entropy, "wear-in" as lines of it over time. Runs of a larger `weight` start first. `events`
    and `spares` apply to its runs, after those of the configuration."""

    id: str
    label: str
    published: str
    workload: str
    set: Settings = ()
    duration: str | None = None
    sweep: tuple[int, ...] = ()
    measures: tuple[str, ...] = ()
    group: str = ""
    what_if: bool = False
    published_config: str = ""
    machine: str = ""
    skip: tuple[str, ...] = ()
    warm_up: bool = False
    weight: float = 1.0
    chart: str = ""
    events: tuple[str, ...] = ()
    spares: int = 0
    edit: dict[str, Toml] = field(default_factory=dict)


@dataclass(frozen=True)
class Measure:
    """A value read from a cell: `of` names it in `measures.MEASURES`, `parameters` configure it. `published` is the
    workload under which its figures are published, if it differs from the load's; `bar` plots it by drive."""

    id: str
    metric: str
    of: str
    unit: str
    parameters: Parameters = field(default_factory=Parameters)
    published: str = ""
    bar: bool = False


@dataclass(frozen=True)
class Comparison:
    """A figure of two configurations: a measure under a load, `of` one `over` the other, or over the mean of several.
    `reading` is the number of a published row that has only words; `config` names the pair as it is published."""

    id: str
    label: str
    measure: str
    load: str
    of: str
    over: tuple[str, ...]
    kind: str
    metric: str = ""
    unit: str = ""
    reading: float | None = None
    config: str = ""

    @property
    def sides(self) -> tuple[str, ...]:
        """All configurations of the comparison, `of` first."""
        return (self.of, *self.over)


@dataclass(frozen=True)
class Swing(Range):
    """An assumption with two ends to run, for these configurations and loads (by default all)."""

    configs: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """A published evaluation. `inputs` explains the use of published rows that nothing predicts; `repeats` maps rows to
    the row that they repeat; only that row counts among the errors; `blind` has predictions made before a row was seen.
    `data` is a folder that it needs and Hotband does not ship."""

    name: str
    title: str
    question: str
    source: str
    folder: Path
    id_format: str
    seed: int
    configs: tuple[Config, ...]
    loads: tuple[Load, ...]
    measures: tuple[Measure, ...]
    published: tuple[Published, ...]
    comparisons: tuple[Comparison, ...] = ()
    explanations: tuple[dict[str, str], ...] = ()
    assumptions: tuple[AssumptionDoc, ...] = ()
    swings: tuple[Swing, ...] = ()
    swing_loads: tuple[str, ...] = ()
    inputs: dict[str, str] = field(default_factory=dict)
    repeats: dict[str, str] = field(default_factory=dict)
    blind: dict[str, BlindPrediction] = field(default_factory=dict)
    data: Data | None = None

    def __str__(self) -> str:
        """Return its name on the command line: its name, or its folder outside the catalog."""
        return self.name if in_catalog(self) else str(self.folder)

    def pairs(self) -> list[tuple[Config, Load]]:
        """Return every configuration with each of its loads."""
        return [
            (config, load)
            for config in self.configs
            for load in self.loads
            if (not config.loads or load.id in config.loads) and config.id not in load.skip
        ]

    def measure(self, name: str) -> Measure:
        """Return a measure by id."""
        return next(entry for entry in self.measures if entry.id == name)

    def load(self, name: str) -> Load:
        """Return a load by id."""
        return next(entry for entry in self.loads if entry.id == name)


def published_row(study: Study, config: Config, load: Load, measure: Measure) -> Published | None:
    """Return the published row of a measure of a configuration under a load; None if there is none."""
    key = (load.published_config or config.label, measure.published or load.published, measure.metric)
    rows = (row for row in study.published if (row.config, row.workload, row.metric.removeprefix("max ")) == key)
    return next(rows, None)


def findings_file(study: Study) -> Path:
    """Return the path of the program of a study's folder, which may not exist: studies of the catalog have none."""
    return study.folder / FINDINGS_FILE


def in_catalog(study: Study) -> bool:
    """Return whether a study is one that Hotband ships."""
    return real_path(study.folder).parent == STUDIES_DIR


PRODUCT = "{product}"
"""The placeholder of the configuration's product in a machine's text."""
