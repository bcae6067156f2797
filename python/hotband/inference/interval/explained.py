"""Sources of the interval of a figure, for `hotband run --explain`, `hotband study why` and Python."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.heavy import pl
from hotband.base.shown import Shown
from hotband.base.text.html import frame_html
from hotband.base.text.numbers import number, share
from hotband.base.text.schema import with_schema
from hotband.data.catalog.named import expect_model
from hotband.data.documents.run import RunSpec
from hotband.data.record.unmodelled import unmodelled_notes, why_no_interval
from hotband.execution.experiment.experiment import execute
from hotband.inference.interval.basis import bases_of
from hotband.inference.interval.of_record import expect_figure, explained_intervals_of, figure_name, figure_of
from hotband.inference.interval.of_run import Asked, figures_of, pinned

if TYPE_CHECKING:
    from hotband.base.question import Way
    from hotband.data.documents.interval import WhyFigureDoc
    from hotband.inference.interval.asked import WhyQuestion

TEXTS = ("name", "part", "key", "nominal", "low", "high", "distribution", "source", "confidence", "meaning")
SHARES = ("first", "first_low", "first_high", "total", "total_low", "total_high")
NUMBERS = (*SHARES, "low_pct", "high_pct", "narrower_pct")


@dataclass(frozen=True)
class Why:
    """Sources of the interval of a figure."""

    _document: WhyFigureDoc

    figure = Shown[str]('Its name in documents ("latency_p99_ns"), or its id in a study.')
    label = Shown[str]("The machine and load of the figure, in words.")
    unit = Shown[str]('Unit of `predicted`, `low` and `high`: "IOPS", "B/s", "ns", or that of a study\'s figure.')
    predicted = Shown[float]("The prediction.")
    level = Shown[float]("Confidence level of the interval in percent.", "interval", "level")
    low = Shown[float]("The lower end of the interval.", "interval", "low")
    high = Shown[float]("The upper end of the interval.", "interval", "high")
    rests_on = Shown[str]('Source of the model error: "from 38 families: SSD, reads at depth 8 and more".')
    of_values = Shown[float]("Share of the squared width that the uncertain values cause, from 0 to 1.")
    of_seed = Shown[float]("Share that the seed causes.")
    of_model = Shown[float]("Share that model error causes.")
    unexplained = Shown[float]("The part of `of_values` from values acting together, not split up.")
    advice = Shown[str]("What to measure to narrow the interval, in words.")

    @property
    def frame(self) -> pl.DataFrame:
        """Return one row per uncertain value, the most important first: its identity (name, part, key, nominal, low,
        high, distribution, source, confidence, meaning), `first` and `total`, the shares of one that it makes alone and
        with others, with the ends of their 90 % intervals, `low_pct` and `high_pct`, what its ends do to the figure
        (null if the model refuses one), and `narrower_pct`, how much narrower the interval would be if it were
        known."""
        schema = {name: pl.String if name in TEXTS else pl.Float64 for name in (*TEXTS, *NUMBERS)}
        return pl.DataFrame(list(self._document["values"]), schema=schema)

    def to_dict(self) -> WhyFigureDoc:
        """Return all that the command prints with `--json`; a copy."""
        return with_schema(copy.deepcopy(self._document), "hotband-why")

    def __repr__(self) -> str:
        shares = f"model {share(self.of_model)}, values {share(self.of_values)}, seed {share(self.of_seed)}"
        ends = f"{self.level:g} %: {number(self.low)} to {number(self.high)}"
        return f"<Why {self.figure} of {self.label}: {number(self.predicted)} {self.unit} ({ends}); {shares}>"

    def _repr_html_(self) -> str:
        from html import escape

        shown = self.frame.select("name", "low", "nominal", "high", "total", "low_pct", "high_pct", "narrower_pct")
        table = frame_html(shown) if len(shown) else ""
        return f"<div><strong>{escape(repr(self)[1:-1])}</strong><p>{escape(self.advice)}</p>{table}</div>"


def why(question: WhyQuestion, way: Way) -> Why:
    """Run a workload as a whole, then its draws: where the interval of a figure comes from. Raises UserError, before
    the draws where the whole run does not have the figure, RunsInterrupted."""
    expect_model(question.on.name, "intervals are of")
    load = question.workload
    spec = pinned(
        RunSpec(
            "run",
            question.on.name,
            load.name,
            question.settings,
            question.seed,
            question.duration,
            machine_text=question.on.text,
            workload_text=load.text,
            in_use=True,
        )
    )
    expect_figure(spec, question.figure)
    with way.watch(f"{spec.workload} on {spec.machine}") as tick:
        whole = execute([spec], tick, question.jobs)[0]
    name = figure_name(question.figure, list(figures_of(whole.record)))
    why_none = why_no_interval(whole.record)
    if why_none is not None:
        raise UserError("question.on", "", spec.machine, f"{why_none}: {unmodelled_notes(whole.record)[0]}")
    basis = bases_of(spec, whole.record, question.interval)[figure_of(name)]
    if not basis.has_interval:
        raise UserError("question.figure", "", question.figure, basis.words)
    intervals = Asked(question.interval, question.draws)
    _, whys = explained_intervals_of(spec, whole, intervals, question.jobs, way.say, way.watch)
    return Why(next(why for why in whys if why["figure"] == name))
