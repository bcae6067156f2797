"""The intervals that a record keeps: samples of its run, combined with the model error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.base.engine import user_error
from hotband.base.errors import UserError
from hotband.base.heavy import np
from hotband.data.catalog import CATALOG_DIR
from hotband.data.record.written import record_text
from hotband.execution.experiment.ranges import machine_text, workload_text
from hotband.inference.interval.asked_rate import NOTE, ends_of, is_rate
from hotband.inference.interval.basis import bases_of, bounds_of, kinds_of
from hotband.inference.interval.ceiling import above_means
from hotband.inference.interval.conformal import Kind, Spread
from hotband.inference.interval.figureclass import RATES
from hotband.inference.interval.figures import between
from hotband.inference.interval.limits import limits_of
from hotband.inference.interval.of_corpus import Basis
from hotband.inference.interval.of_run import (
    NO_EFFECT,
    Asked,
    Drawn,
    Watch,
    at_speeds,
    draw,
    figures_of,
)
from hotband.inference.interval.residuals import model_term
from hotband.inference.interval.surface import effects_of
from hotband.inference.interval.why import Evidence, why

if TYPE_CHECKING:
    from hotband.data.documents.interval import FigureIntervalDoc, RunIntervalsDoc, WhyFigureDoc
    from hotband.data.documents.run import RunSpec
    from hotband.data.documents.study import IntervalDoc
    from hotband.data.record.finished import Finished
    from hotband.execution.experiment import Say

NAMES = {
    "iops": "iops",
    "bandwidth": "bandwidth_bytes_per_s",
    "mean": "latency_mean_ns",
    "p50": "latency_p50_ns",
    "p99": "latency_p99_ns",
    "p999": "latency_p999_ns",
}
"""Names of figures in Python and on the command line, and in the document."""
UNITS = {"iops": "IOPS", "bandwidth_bytes_per_s": "B/s"}
WORDS = {"iops": "IOPS", "bandwidth": "MB/s", "p999": "p99.9"}
LABELS = {name: WORDS.get(short, short) for short, name in NAMES.items()}
CONTRADICTED = "the interval excludes the prediction"
MEDIAN_OF_90 = 0.6745 / 1.645
"""The median of absolute normal errors over the end of their 90 % interval."""


def intervals_of(
    spec: RunSpec, whole: Finished, asked: Asked, jobs: int | None, say: Say, watch: Watch
) -> RunIntervalsDoc:
    """Return the intervals of a run that is finished; none if its figures rest on unmodelled parts. Raises
    UserError, RunsInterrupted."""
    return _document(spec, whole, asked, drawn_of(spec, whole, asked, jobs, say, watch))


def drawn_of(
    spec: RunSpec,
    whole: Finished,
    asked: Asked,
    jobs: int | None,
    say: Say,
    watch: Watch,
    *,
    is_explained: bool = False,
) -> Drawn:
    """Return the input of a run's intervals: samples if a figure rests on the studies or is explained, and the load
    at other speeds if it sets its rate. Figures without an interval are left out, and the notes name them.
    Raises UserError, RunsInterrupted."""
    bases = bases_of(spec, whole.record, asked.level)
    figures = figures_of(whole.record)
    names = [name for name in figures if bases[figure_of(name)].has_interval]
    if names and (is_explained or any(bases[figure_of(name)].is_of_studies for name in names)):
        drawn = draw(spec, whole, asked, jobs, say, watch)
    else:
        short = replace(spec, out=None, io_log=None)
        drawn = Drawn(figures, figures, short=short, limits=limits_of(spec, whole.record))
    drawn = replace(drawn, nominal={name: figures[name] for name in names}, bases=bases)
    _bound_asked(spec, whole, asked, drawn, jobs, watch)
    drawn.notes += missing_of(bases)
    return drawn


def explained_intervals_of(
    spec: RunSpec, whole: Finished, samples: Asked, jobs: int | None, say: Say, watch: Watch
) -> tuple[RunIntervalsDoc, list[WhyFigureDoc]]:
    """Return the intervals and their sources, which takes the time of a disk's samples. Raises UserError,
    RunsInterrupted."""
    drawn = drawn_of(spec, whole, samples, jobs, say, watch, is_explained=True)
    return _document(spec, whole, samples, drawn), _whys(spec, whole, samples, drawn)


def evidence_of(bases: Mapping[str, Basis], level: float) -> str:
    """Return what the intervals of a run rest on: "90 % interval from 38 families: ...; p99 from 11 families"; empty
    if no figure has one."""
    known = {name: basis.words for name, basis in bases.items() if basis.has_interval}
    if not known:
        return ""
    first = known.get(NAMES["iops"]) or next(iter(known.values()))
    others = [
        f"{LABELS[name]} {known[name].partition(':')[0]}"
        for name in (NAMES["p50"], NAMES["p99"], NAMES["p999"])
        if known.get(name, first) != first
    ]
    return "; ".join((f"{level:g} % interval {first}", *others))


def missing_of(bases: Mapping[str, Basis]) -> list[str]:
    """Return a note for each reason why figures have no interval, with their names unless all have none."""
    missing: dict[str, list[str]] = {}
    for name, basis in bases.items():
        if not basis.has_interval:
            missing.setdefault(basis.words, []).append(LABELS[name])
    is_all = sum(map(len, missing.values())) == len(bases)
    return [words if is_all else f"{', '.join(names)}: {words}" for words, names in missing.items()]


def outside_of(ends: Mapping[str, tuple[float, float, float]], bases: Mapping[str, Basis]) -> list[str]:
    """Return a note on the figures that lie outside their intervals, by their (predicted, low, high): a product line's
    own figures can show that the model is off."""
    lines: dict[str, dict[str, None]] = {}
    for name, (predicted, low, high) in ends.items():
        width = bases[figure_of(name)].width
        if width is not None and width.of_line is not None and not low <= predicted <= high:
            lines.setdefault(width.of_line.line, {})[LABELS[figure_of(name)]] = None
    return [
        f"{', '.join(labels)}: {CONTRADICTED}, which figures of {line} contradict" for line, labels in lines.items()
    ]


def figure_of(name: str) -> str:
    """Return the figure of a name, which may be of reads or writes alone: `read.iops` is `iops`."""
    return name.rpartition(".")[2]


def keep(whole: Finished, intervals: RunIntervalsDoc) -> None:
    """Puts intervals into the record of a run."""
    whole.record["intervals"] = intervals
    whole.text = record_text(whole.record)


def _bound_asked(spec: RunSpec, whole: Finished, asked: Asked, drawn: Drawn, jobs: int | None, watch: Watch) -> None:
    """Add the ends of rates that the load sets to `drawn`, with a note."""
    rates = [name for name in drawn.nominal if is_rate(name)]
    if "iops" not in rates:
        return
    kind = kinds_of(spec, whole.record, ["iops"])["iops"]
    low, high = _model_bounds("iops", kind, asked.level, drawn)
    # Of a slower machine the load is faster, and the other way round.
    factors = {"low": math.exp(-low), "high": math.exp(-high)} if math.isfinite(high - low) else {}
    at = at_speeds(drawn, factors, jobs, watch) if factors else {}
    if at:
        drawn.asked = {
            name: ends_of(
                drawn.nominal[name],
                drawn.base.get(name, 0.0),
                {end: of.get(name, 0.0) for end, of in at.items()},
                factors,
            )
            for name in rates
        }
        drawn.notes.append(NOTE)


def _document(spec: RunSpec, whole: Finished, asked: Asked, drawn: Drawn) -> RunIntervalsDoc:
    kinds = kinds_of(spec, whole.record, list(drawn.nominal))
    figures = _with_tails([_figure(name, kinds[name], asked.level, drawn) for name in drawn.nominal])
    ends = {figure["figure"]: (figure["predicted"], figure["low"], figure["high"]) for figure in figures}
    return {
        "level": float(asked.level),
        "draws": len(drawn.draws),
        "refused": drawn.refused,
        "runs": drawn.runs,
        "ios": drawn.ios,
        "duration_ns": drawn.duration_ns,
        "seed": str(spec.seed),
        "values": [value.name for value in drawn.values],
        "without_effect": drawn.without_effect,
        "figures": figures,
        "rests_on": evidence_of(drawn.bases, asked.level),
        "notes": [*drawn.notes, *outside_of(ends, drawn.bases)],
    }


def _with_tails(figures: list[FigureIntervalDoc]) -> list[FigureIntervalDoc]:
    """Return the figures with tails that do not end below the mean."""
    known = {figure["figure"]: figure for figure in figures}
    ends = {name: (figure["low"], figure["high"]) for name, figure in known.items()}
    above = above_means({name: figure["predicted"] for name, figure in known.items()}, ends)
    return [{**figure, "low": above[name][0], "high": above[name][1]} for name, figure in known.items()]


def _figure(name: str, of: Kind, level: float, drawn: Drawn) -> FigureIntervalDoc:
    ratios, predicted = drawn.log_ratios(name), drawn.nominal[name]
    tails = (50 - level / 2, 50 + level / 2)
    low, high = np.percentile(ratios, tails) if len(ratios) else (0.0, 0.0)
    values_low, values_high = between(predicted, float(low), float(high))
    return {
        "figure": name,
        "figure_class": str(of.figure_class),
        "predicted": predicted,
        **interval_of(name, of, level, drawn),
        "rests_on": drawn.basis(name).words,
        "values_low": values_low,
        "values_high": values_high,
    }


def interval_of(name: str, of: Kind, level: float, drawn: Drawn) -> IntervalDoc:
    """Return the interval of a figure."""
    low, high = between(drawn.nominal[name], *_bounds(name, of, level, drawn))
    return {"level": float(level), "low": low, "high": high}


def _bounds(name: str, of: Kind, level: float, drawn: Drawn) -> tuple[float, float]:
    """Return the log-ratios between which a figure lies, within the limits of the machine."""
    ends = _uncapped(name, of, level, drawn)
    return drawn.limits.within(name, drawn.nominal[name], ends, is_inverse=is_inverse(of))


def is_inverse(of: Kind) -> bool:
    """Return whether a mean latency of this kind is the inverse of a rate: that of a closed loop is."""
    return of.figure_class in RATES


def _uncapped(name: str, of: Kind, level: float, drawn: Drawn) -> tuple[float, float]:
    """Return the log-ratios without the machine's limits. A rate that the load requests lies between those of a slower
    and a faster machine, or within the range of its samples if that is wider; each end is widened by two standard
    deviations over seeds."""
    if name not in drawn.asked:
        return _model_bounds(name, of, level, drawn)
    (low, high), ratios = drawn.asked[name], drawn.log_ratios(name)
    tails = np.percentile(ratios, (50 - level / 2, 50 + level / 2)) if len(ratios) else (0.0, 0.0)
    by_seed = 2 * drawn.seed.get(name, 0.0)
    return min(low, float(tails[0])) - by_seed, max(high, float(tails[1])) + by_seed


def _model_bounds(name: str, of: Kind, level: float, drawn: Drawn) -> tuple[float, float]:
    """Return the same of a figure of the machine."""
    farthest = Spread.farthest(drawn.log_ratios(name), drawn.seed.get(name, 0.0))
    return bounds_of(drawn.basis(name), of, level, spread_of(name, drawn), farthest)


def _share_of_machine(name: str, of: Kind, level: float, drawn: Drawn) -> float:
    """Return the share of model error in a figure: all, or the remaining part of the ends for a rate that the load
    sets."""
    if name not in drawn.asked:
        return 1.0
    if is_given(name, drawn):
        # What is left is an I/O more or less at an end of the measured time.
        return 0.0
    (low, high), (least, most) = drawn.asked[name], _model_bounds(name, of, level, drawn)
    return (high - low) / (most - least) if most > least else 0.0


def is_given(name: str, drawn: Drawn) -> bool:
    """Return whether a figure is a rate that the load requests and that a slower machine would also reach."""
    return name in drawn.asked and max(map(abs, drawn.asked[name])) <= NO_EFFECT


def spread_of(name: str, drawn: Drawn) -> Spread:
    """Return the spread of a figure by samples and seed."""
    return Spread.of(drawn.log_ratios(name), drawn.seed.get(name, 0.0))


def _whys(spec: RunSpec, whole: Finished, asked: Asked, drawn: Drawn) -> list[WhyFigureDoc]:
    """Return the sources of the interval of every figure."""
    kinds = kinds_of(spec, whole.record, list(drawn.nominal))
    names = [value.name for value in drawn.values]
    meanings = meanings_of(spec) if names else {}
    found = []
    for name, predicted in drawn.nominal.items():
        ends = {key: ratios[name] for key, ratios in drawn.ends.items() if name in ratios}
        evidence = Evidence(
            name,
            f"{spec.workload} on {spec.machine}",
            str(kinds[name].figure_class),
            UNITS.get(name.rpartition(".")[2], "ns"),
            predicted,
            interval_of(name, kinds[name], asked.level, drawn),
            spread_of(name, drawn),
            drawn.seed.get(name, 0.0),
            0.0,
            _size(name, kinds[name], drawn) * _share_of_machine(name, kinds[name], asked.level, drawn),
            effects_of(names, ends),
            drawn.places,
            drawn.log_ratios(name),
            is_given(name, drawn),
            drawn.basis(name).words,
        )
        found.append(why(evidence, drawn.values, meanings, spec.seed))
    return found


def _size(name: str, kind: Kind, drawn: Drawn) -> float:
    """Return the median error of the model: of normal errors, that is so far within their 90 % interval."""
    width = drawn.basis(name).width
    return model_term().size(kind) if width is None else math.log(width.factor) * MEDIAN_OF_90


def meanings_of(spec: RunSpec) -> dict[str, str]:
    """Return the meanings of a run's keys, from the engine."""
    keys = _core.set_keys(
        CATALOG_DIR,
        spec.workload,
        spec.machine,
        workload_text=workload_text(spec),
        machine_text=machine_text(spec),
        set=list(spec.set),
    )
    return {key["key"]: key["meaning"] for key in keys}


def expect_figure(spec: RunSpec, asked: str) -> None:
    """Raises UserError for a figure that no run has, or none of this workload, before anything runs."""
    side, dot, name = asked.rpartition(".")
    names = ", ".join(NAMES)
    if name not in NAMES or (dot and side not in ("read", "write")):
        raise UserError("question.figure", "", asked, f"expected one of {names}; read.p99, write.p99 if there are both")
    does = does_only(spec) if dot else None
    if does is not None:
        raise UserError("question.figure", "", asked, f"the workload {does} only: expected one of {names}")


def does_only(spec: RunSpec) -> str | None:
    """Return the direction of a workload, reads or writes, if its streams do nothing else; None for one that does both,
    or whose text does not state it."""
    try:
        streams = _core.workload(workload_text(spec), spec.workload)["table"].get("streams", [])
    except _core.SpecError as error:
        raise user_error(error) from None
    said = dict(spec.set).get("read_pct")
    shares = {str(stream.get("read_pct") if said is None else said).strip(" %") for stream in streams}
    return {"100": "reads", "0": "writes"}.get(shares.pop()) if len(shares) == 1 else None


def figure_name(asked: str, known: Sequence[str]) -> str:
    """Return the document's name of a figure that the user names (`p99`, `read.p99`). Raises UserError for one that the
    run does not have."""
    side, dot, name = asked.rpartition(".")
    found = f"{side}{dot}{NAMES.get(name, name)}"
    if found in known:
        return found
    short = {of: name for name, of in NAMES.items()}
    names = [f"{side}{dot}{short[name]}" for side, dot, name in (one.rpartition(".") for one in known)]
    raise UserError("question.figure", "", asked, f"expected one of {', '.join(names)}")
