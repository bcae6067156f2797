"""The JSON document of a study's result, key by key, for mypy: `StudyDoc` and its parts (docs/guides/studies.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NotRequired, TypeAlias, TypedDict

if TYPE_CHECKING:
    from hotband.base.text.values import Toml
    from hotband.data.documents.study_answer import AnswerDoc, MachineDoc


class NamedFigure(TypedDict):
    """Subject of a figure, its unit, and the source of the published one."""

    id: str
    config: str
    label: str
    workload: NotRequired[str]
    metric: str
    unit: str
    source: str
    caveat: NotRequired[str]
    group: NotRequired[str]


class BlindDoc(TypedDict):
    """The prediction of a figure before it was seen, its error by the current rule, and `of`, the commit of the
    model that made it."""

    predicted: float
    error_pct: float | None
    of: str


class IntervalDoc(TypedDict):
    """The interval of a prediction, in the unit of its figure: in `level` percent of such cases it holds the figure."""

    level: float
    low: float
    high: float


class FigureDoc(NamedFigure):
    """A figure: published (None if it is not) next to predicted (None if it could not be), both in `unit`, and the
    error of the prediction."""

    published: float | None
    predicted: float | None
    error_pct: float | None
    note: str


class ListedFigureDoc(FigureDoc):
    """A figure in a result: with its class (`figureclass.FigureClass`), whether it counts among the errors (one figure
    per measurement does), the prediction made before it was seen, and the interval of its prediction if it has one."""

    figure_class: str
    counted: bool
    blind: BlindDoc | None
    interval: IntervalDoc | None


class ComparisonFigure(NamedFigure):
    """A figure of a comparison, with its own kind of error (`comparisons.error_of`)."""

    published: float | None
    predicted: float | None
    error: float | None
    note: str


class ClaimDoc(TypedDict):
    """A published claim; `holds` is None if the prediction cannot tell, `measured` the deciding values."""

    id: str
    text: str
    holds: bool | None
    measured: str
    source: str


TableCell: TypeAlias = str | float | None


class FindingTableDoc(TypedDict):
    """Rows of texts and numbers under their columns."""

    columns: list[str]
    rows: Sequence[Sequence[TableCell]]


class FindingDoc(TypedDict):
    """A finding of a study in words, with a table if it has one."""

    id: str
    title: str
    text: str
    table: NotRequired[FindingTableDoc | None]


class AccuracyDoc(TypedDict):
    """Size of the errors of some figures; None if none is published."""

    figures: int
    compared: int
    median_abs_error_pct: float | None
    max_abs_error_pct: float | None


class ScoredDoc(AccuracyDoc):
    """Errors of one sort of figure under one group of loads."""

    figure: str
    group: str


class ErrorsDoc(TypedDict):
    """Absolute errors in percent over a number of measurements: the median, the 90th percentile and the largest; None
    without measurements."""

    measurements: int
    median_pct: float | None
    p90_pct: float | None
    largest_pct: float | None


class CoverageDoc(TypedDict):
    """Number of published figures whose prediction has an interval, and how many lie inside it."""

    intervals: int
    inside: int


class ClassErrorsDoc(TypedDict):
    """Errors of the figures of one class, each measurement once: those of figures seen while the models were built, and
    those of `blind` predictions, at the time and with the current model. `coverage` is None if no prediction has an
    interval."""

    figure_class: str
    seen: ErrorsDoc
    blind: ErrorsDoc
    now: ErrorsDoc
    coverage: CoverageDoc | None


class GoalDoc(TypedDict):
    """A goal for the errors of some figures, seen and released together, and these errors; `holds` is None without
    figures."""

    figures: str
    measurements: int
    statistic: str
    most_pct: float
    reached_pct: float | None
    holds: bool | None


class MissedErrorDoc(TypedDict):
    """The current error of one figure and, if it was predicted blind, the error at the time."""

    metric: str
    error_pct: float
    blind_error_pct: float | None


class MissedDoc(TypedDict):
    """A cell whose figures have large errors, with the cause if known."""

    config: str
    label: str
    errors: list[MissedErrorDoc]
    why: str


class StudyErrorsDoc(TypedDict):
    """The errors of one study by class, and its misses."""

    classes: list[ClassErrorsDoc]
    missed: list[MissedDoc]


class AccountDoc(TypedDict):
    """The errors of all studies: of each, of all together, and the goals."""

    studies: dict[str, StudyErrorsDoc]
    totals: list[ClassErrorsDoc]
    goals: list[GoalDoc]


class StudyAccuracyDoc(AccuracyDoc):
    """Errors of a whole study, and by class of figure."""

    iops_by_group: dict[str, AccuracyDoc]
    scored: list[ScoredDoc]
    classes: list[ClassErrorsDoc]


class InputDoc(TypedDict):
    """A published row without a prediction, and its use (`used`)."""

    id: str
    config: str
    workload: str
    metric: str
    value: str
    unit: str
    used: str


class MissDoc(TypedDict):
    """A cell whose figures have large errors, explained: `what` is missed and `why`, which several cells may share;
    `text` has both. `id` is of its first figure."""

    id: str
    text: str
    what: str
    why: str


class DepthPointDoc(TypedDict):
    """A point against queue depth."""

    group: str
    machine: str
    qd: int
    iops: float | None
    latency_mean_ns: float | None
    latency_p99_ns: float | None


class ResponsePointDoc(TypedDict):
    """A point of a response curve; one that is published has no `concurrency`."""

    group: str
    variant: str
    point: str
    concurrency: NotRequired[float | None]
    iops: float
    latency_mean_ms: float | None


class LatencyRuleDoc(TypedDict):
    """A latency at which the loads of a group read IOPS."""

    group: str
    latency_mean_ms: float


class ResponseDoc(TypedDict):
    """Response curves: predicted and published points, and the latencies at which IOPS are read."""

    points: list[ResponsePointDoc]
    rules: list[LatencyRuleDoc]
    published: list[ResponsePointDoc]


class BarDoc(TypedDict):
    """A measure of one configuration that is drawn as a bar."""

    load: str
    metric: str
    unit: str
    variant: str
    value: float
    published: float | None


class EntropyPointDoc(TypedDict):
    """Write amplification at an entropy of the data; a point of the model has the value of `theory` next to it."""

    variant: str
    entropy: float | None
    write_amplification: float | None
    theory: NotRequired[float | None]


class EntropyCurveDoc(TypedDict):
    """Write amplification against entropy: the model's points, and the theory of every drive."""

    points: list[EntropyPointDoc]
    theory: list[EntropyPointDoc]


class IoTimeDoc(TypedDict):
    """Mean milliseconds of an I/O by cause of waiting."""

    load: str
    row: str
    times_ms: dict[str, float]


class DriveWorkDoc(TypedDict):
    """Activity of the drives in the measured time; a value is None if they have no counter for it."""

    flash_hit_ratio: float | None
    flash_written_bytes: float | None
    destages_per_s: float | None
    queue_per_drive: float | None
    write_cache_extents_per_drive: float | None
    busy_pct: float | None


class WhyDoc(DriveWorkDoc):
    """Activity of a configuration under a load; `queue_depth` is that of a sweep's last run."""

    config: str
    load: str
    queue_depth: int | None


class AssumptionDoc(TypedDict):
    """An assumption of predictions, with its source: one of the study, or a value of a drive."""

    part: str
    key: str
    value: Toml
    range: Sequence[Toml] | None
    source: str
    confidence: str
    estimate: bool
    note: str


class MovedDoc(TypedDict):
    """An assumption that changes a prediction, in percent of the nominal one: the figure that it changes most, and all
    figures that it changes (`figures`: by id, then by end)."""

    name: str
    low: str
    high: str
    largest_pct: float
    largest_end: str
    spread_pct: float
    figure: str
    label: str
    low_pct: float | None
    high_pct: float | None
    figures_moved: int
    figures: dict[str, dict[str, float]]


class RefusedSwingDoc(TypedDict):
    """An end of an assumption's range that the model refuses, with the reason."""

    name: str
    end: str
    text: str


class SwingsDoc(TypedDict):
    """The assumptions that change a prediction."""

    command: str
    text: str
    moved: list[MovedDoc]
    refused: list[RefusedSwingDoc]


class StudySwingsDoc(SwingsDoc):
    """Sensitivities shipped with a study: whether its predictions have changed since, and missing runs."""

    stale: bool
    missing: list[str]


class StudyIntervalsDoc(TypedDict):
    """Basis of the intervals of a study's figures: whether its predictions or values have changed since (`changed`
    names the values)."""

    level: float
    text: str
    stale: bool
    changed: list[str]


class RunDoc(TypedDict):
    """A run of the study, the path of its record, and its data for the page."""

    id: str
    label: str
    record: str
    variant: str
    load: str
    warm_up: bool
    chart: str


class StudyDoc(TypedDict):
    """A study's result. `answer` is None if not all loads were run, and for a study without one; `only` names the loads
    if not all were run, `untrusted` is the reason why there are no claims, `report` the path of the written page."""

    study: str
    title: str
    question: str
    source: str
    seed: str
    answer: AnswerDoc | None
    machines: list[MachineDoc]
    summary: StudyAccuracyDoc
    inputs: list[InputDoc]
    figures: list[ListedFigureDoc]
    claims: list[ClaimDoc]
    findings: list[FindingDoc]
    misses: list[MissDoc]
    unmatched: list[str]
    curves: list[DepthPointDoc]
    response: ResponseDoc
    bars: list[BarDoc]
    entropy: EntropyCurveDoc
    times: list[IoTimeDoc]
    why: list[WhyDoc]
    assumptions: list[AssumptionDoc]
    swings: StudySwingsDoc | None
    intervals: StudyIntervalsDoc | None
    runs: list[RunDoc]
    command: NotRequired[str]
    only: NotRequired[list[str]]
    untrusted: NotRequired[str]
    report: NotRequired[str]
    versions: NotRequired[dict[str, str]]


class ConfigOutline(TypedDict):
    """A configuration of a study: the machine, or the product that its machines are built from."""

    id: str
    label: str
    machine: str


class LoadOutline(TypedDict):
    """A load of a study."""

    id: str
    label: str
    workload: str


class StudyOutline(TypedDict):
    """Subject of a study before it is run; `published` has the rows of `published.csv` (`file.Published`)."""

    name: str
    title: str
    question: str
    source: str
    configs: list[ConfigOutline]
    loads: list[LoadOutline]
    published: list[dict[str, TableCell]]
