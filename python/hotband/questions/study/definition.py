"""What a study is: configurations, loads, measures, published figures (docs/guides/studies.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

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
    """One row of `published.csv`: a figure as it was published. `value` is None where it is no plain number."""

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
    """What was predicted of a figure while it was withheld, and the commit `of` the model that did."""

    predicted: float
    of: str


@dataclass(frozen=True)
class Config:
    """A machine of the study, or a product that the machines of the loads are built from. `label` is the published
    name; `ids` maps load ids to the number of their first figure; a `what_if` is run and shown but compared with
    nothing; `short` names it in charts, where the label is too long for them. The loads of its `sequence` run one after
    the other on one machine, each as the one before left it. `events` happen to its machine in every run ("at 60 s:
    fail d3"), `spares` wait to replace failed drives. `fill` has what stands for `{key}` in the texts of machines and
    workloads."""

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
        """What charts call it."""
        return self.short or self.label


@dataclass(frozen=True)
class Load:
    """A workload of the study, or a sweep of one: `sweep` lists the queue depths. `published_config` is the name
    under which its figures are published, where that is not the configuration's own. A `machine` of its own has
    the configuration's product in the place of `{product}`; `edit` gives keys of the workload's text other values.
    `skip` names configurations that do not run it. `warm_up` draws how its caches fill; `chart` gives its runs a place
    in a chart of their own: "entropy" as points of write amplification against entropy, "wear-in" as lines of it over
    time. Of runs of unequal length those of a larger `weight` start first. `events` and `spares` are those of its runs,
    after those of the configuration."""

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
    """What is read from a cell: `of` names it in `hotband.measures`, `how` holds what it is told. `published` is
    the workload under which its figures are published, where that is not the load's own; `bar` draws it by drive."""

    id: str
    metric: str
    of: str
    unit: str
    how: Parameters = field(default_factory=Parameters)
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
        """All configurations that it reads, `of` first."""
        return (self.of, *self.over)


@dataclass(frozen=True)
class Swing(Range):
    """An assumption with two ends that can be run, for these configurations and loads (all where none is named)."""

    configs: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """A published evaluation. `inputs` says of published rows that nothing predicts what they are used for; `repeats`
    names rows that say again what another one says, which an account of errors counts; `blind` has what was predicted
    of a row before it was seen. `data` is a folder that it needs and Hotband does not ship."""

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
        """What names it on the command line: its name, or the folder of one that is not of the catalog."""
        return self.name if in_catalog(self) else str(self.folder)

    def pairs(self) -> list[tuple[Config, Load]]:
        """Every configuration with the loads that it runs."""
        return [
            (config, load)
            for config in self.configs
            for load in self.loads
            if (not config.loads or load.id in config.loads) and config.id not in load.skip
        ]

    def measure(self, name: str) -> Measure:
        """A measure by id."""
        return next(one for one in self.measures if one.id == name)

    def load(self, name: str) -> Load:
        """A load by id."""
        return next(one for one in self.loads if one.id == name)


def published_row(study: Study, config: Config, load: Load, measure: Measure) -> Published | None:
    """The published row of a measure of a configuration under a load; None where there is none."""
    place = (load.published_config or config.label, measure.published or load.published, measure.metric)
    rows = (row for row in study.published if (row.config, row.workload, row.metric.removeprefix("max ")) == place)
    return next(rows, None)


def findings_file(study: Study) -> Path:
    """The program of a study's folder, which need not be there: those of the catalog have none."""
    return study.folder / FINDINGS_FILE


def in_catalog(study: Study) -> bool:
    """Whether a study is one that Hotband ships."""
    return study.folder.resolve().parent == STUDIES_DIR


PRODUCT = "{product}"
"""Where a machine's text has the product of the configuration."""
