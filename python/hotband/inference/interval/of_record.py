"""The intervals that a record keeps: draws of its run and the term for what the model leaves out, put together."""

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
from hotband.data.record.unmodelled import why_no_interval
from hotband.data.record.written import record_text
from hotband.execution.experiment.ranges import machine_text, workload_text
from hotband.inference.corpus.conformal import Width
from hotband.inference.interval.asked_rate import NOTE, ends_of, is_rate
from hotband.inference.interval.ceiling import capped, room_of
from hotband.inference.interval.conformal import Kind, ModelTerm, Spread
from hotband.inference.interval.figureclass import RATES
from hotband.inference.interval.figures import between
from hotband.inference.interval.of_corpus import widths_of
from hotband.inference.interval.of_run import (
    NO_EFFECT,
    Asked,
    Drawn,
    Watch,
    at_speeds,
    class_of_figure,
    draw,
    figures_of,
    rate_class,
    system_of,
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
"""What figures are called in Python and on the command line, and in the document."""
UNITS = {"iops": "IOPS", "bandwidth_bytes_per_s": "B/s"}
ALMOST_CLOSED = 0.99
"""Share of the outstanding I/Os of a closed loop that are outstanding on average where nobody thinks."""


def intervals_of(
    spec: RunSpec, whole: Finished, asked: Asked, jobs: int | None, say: Say, watch: Watch
) -> RunIntervalsDoc:
    """Return the intervals of a run that is finished; none where what its figures rest on is not modelled. Raises
    UserError, RunsInterrupted."""
    term = model_term()
    widths = {} if why_no_interval(whole.record) else widths_of(spec, asked.level)
    nominal = figures_of(whole.record)
    if all(figure_of(name) in widths for name in nominal):
        drawn = Drawn(nominal, room=room_of(spec, whole.record))
    else:
        drawn = _sampled(spec, whole, asked, term, jobs, say, watch)
    if widths:
        drawn = replace(drawn, widths=widths, notes=[*drawn.notes, evidence_note(widths, asked.level)])
    return _document(spec, whole, asked, drawn, term)


def explained_intervals_of(
    spec: RunSpec, whole: Finished, samples: Asked, jobs: int | None, say: Say, watch: Watch
) -> tuple[RunIntervalsDoc, list[WhyFigureDoc]]:
    """Return the intervals and their sources, which takes the time of a disk's samples. Raises UserError,
    RunsInterrupted."""
    term = model_term()
    drawn = _sampled(spec, whole, samples, term, jobs, say, watch)
    return _document(spec, whole, samples, drawn, term), _whys(spec, whole, samples, drawn, term)


def _sampled(
    spec: RunSpec, whole: Finished, samples: Asked, term: ModelTerm, jobs: int | None, say: Say, watch: Watch
) -> Drawn:
    """Return the samples of a run; of one without intervals why it has none."""
    why_none = why_no_interval(whole.record)
    if why_none is not None:
        return Drawn({}, notes=[why_none])
    drawn = draw(spec, whole, samples, jobs, say, watch)
    _bound_asked(spec, whole, samples, drawn, term, jobs, watch)
    return drawn


def evidence_note(widths: Mapping[str, Width], level: float) -> str:
    """Return what intervals of the corpus rest on, in one line: "90 % interval from 38 families: ...; p99 from 11"."""
    rate = widths.get(NAMES["iops"]) or next(iter(widths.values()))
    labels = {NAMES["p50"]: "p50", NAMES["p99"]: "p99", NAMES["p999"]: "p99.9"}
    others = [f"{label} from {widths[name].families}" for name, label in labels.items() if name in widths]
    return "; ".join((f"{level:g} % interval {rate.words}", *others))


def figure_of(name: str) -> str:
    """Return the figure of a name, which may be of reads or writes alone: `read.iops` is `iops`."""
    return name.rpartition(".")[2]


def keep(whole: Finished, intervals: RunIntervalsDoc) -> None:
    """Puts intervals into the record of a run."""
    whole.record["intervals"] = intervals
    whole.text = record_text(whole.record)


def kinds_of(spec: RunSpec, whole: Finished, names: Sequence[str]) -> dict[str, Kind]:
    """Return the kind of every figure of a run."""
    rate, record = rate_class(spec), whole.record
    outstanding, asked = record["summary"]["queue_depth_mean"], record.get("concurrency")
    is_closed = bool(asked and outstanding and outstanding >= ALMOST_CLOSED * asked)
    system = system_of(spec)
    return {name: Kind(class_of_figure(name, rate, is_closed), system) for name in names}


def _bound_asked(
    spec: RunSpec, whole: Finished, asked: Asked, drawn: Drawn, term: ModelTerm, jobs: int | None, watch: Watch
) -> None:
    """Puts the ends of rates that the load asks for into `drawn`, and says so."""
    rates = [name for name in drawn.nominal if is_rate(name)]
    if "iops" not in rates:
        return
    low, high = _model_bounds("iops", kinds_of(spec, whole, ["iops"])["iops"], asked.level, drawn, term)
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


def _document(spec: RunSpec, whole: Finished, asked: Asked, drawn: Drawn, term: ModelTerm) -> RunIntervalsDoc:
    kinds = kinds_of(spec, whole, list(drawn.nominal))
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
        "figures": [_figure(name, kinds[name], asked.level, drawn, term) for name in drawn.nominal],
        "notes": drawn.notes,
    }


def _figure(name: str, of: Kind, level: float, drawn: Drawn, term: ModelTerm) -> FigureIntervalDoc:
    ratios, predicted = drawn.log_ratios(name), drawn.nominal[name]
    tails = (50 - level / 2, 50 + level / 2)
    low, high = np.percentile(ratios, tails) if len(ratios) else (0.0, 0.0)
    values_low, values_high = between(predicted, float(low), float(high))
    return {
        "figure": name,
        "figure_class": str(of.figure_class),
        "predicted": predicted,
        **interval_of(name, of, level, drawn, term),
        "values_low": values_low,
        "values_high": values_high,
    }


def interval_of(name: str, of: Kind, level: float, drawn: Drawn, term: ModelTerm) -> IntervalDoc:
    """Return the interval of a figure."""
    low, high = between(drawn.nominal[name], *_bounds(name, of, level, drawn, term))
    return {"level": float(level), "low": low, "high": high}


def _bounds(name: str, of: Kind, level: float, drawn: Drawn, term: ModelTerm) -> tuple[float, float]:
    """Return the log-ratios between which a figure lies, within what the machine can do."""
    ends = _uncapped(name, of, level, drawn, term)
    return capped(name, ends, drawn.room, is_inverse=is_inverse(of))


def is_inverse(of: Kind) -> bool:
    """Return whether a mean latency of this kind is the inverse of a rate: that of a closed loop is."""
    return of.figure_class in RATES


def _uncapped(name: str, of: Kind, level: float, drawn: Drawn, term: ModelTerm) -> tuple[float, float]:
    """Return the same without a look at the machine. A rate that the load asks for lies between those of a slower and a
    faster machine, or as far as its draws where that is further, and two standard deviations by seeds with it."""
    measured = drawn.widths.get(figure_of(name))
    if measured is not None:
        return -math.log(measured.factor), math.log(measured.factor)
    if name not in drawn.asked:
        return _model_bounds(name, of, level, drawn, term)
    (low, high), ratios = drawn.asked[name], drawn.log_ratios(name)
    tails = np.percentile(ratios, (50 - level / 2, 50 + level / 2)) if len(ratios) else (0.0, 0.0)
    by_seed = 2 * drawn.seed.get(name, 0.0)
    return min(low, float(tails[0])) - by_seed, max(high, float(tails[1])) + by_seed


def _model_bounds(name: str, of: Kind, level: float, drawn: Drawn, term: ModelTerm) -> tuple[float, float]:
    """Return the same of a figure of the machine."""
    farthest = Spread.farthest(drawn.log_ratios(name), drawn.seed.get(name, 0.0))
    return term.bounds(of, spread_of(name, drawn), level, farthest)


def _share_of_machine(name: str, of: Kind, level: float, drawn: Drawn, term: ModelTerm) -> float:
    """Return how much of what the model leaves out a figure has: all, or of a rate that the load asks for the part of
    the ends that is left."""
    if name not in drawn.asked:
        return 1.0
    if is_given(name, drawn):
        # What is left is an I/O more or less at an end of the measured time.
        return 0.0
    (low, high), (least, most) = drawn.asked[name], _model_bounds(name, of, level, drawn, term)
    return (high - low) / (most - least) if most > least else 0.0


def is_given(name: str, drawn: Drawn) -> bool:
    """Return whether a figure is a rate that the load asks for and gets, of a slower machine, too."""
    return name in drawn.asked and max(map(abs, drawn.asked[name])) <= NO_EFFECT


def spread_of(name: str, drawn: Drawn) -> Spread:
    """Return what the draws and the seed make of a figure."""
    return Spread.of(drawn.log_ratios(name), drawn.seed.get(name, 0.0))


def _whys(spec: RunSpec, whole: Finished, asked: Asked, drawn: Drawn, term: ModelTerm) -> list[WhyFigureDoc]:
    """Of every figure, where its interval comes from."""
    kinds = kinds_of(spec, whole, list(drawn.nominal))
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
            interval_of(name, kinds[name], asked.level, drawn, term),
            spread_of(name, drawn),
            drawn.seed.get(name, 0.0),
            0.0,
            term.size(kinds[name]) * _share_of_machine(name, kinds[name], asked.level, drawn, term),
            effects_of(names, ends),
            drawn.places,
            drawn.log_ratios(name),
            is_given(name, drawn),
        )
        found.append(why(evidence, drawn.values, meanings, spec.seed))
    return found


def meanings_of(spec: RunSpec) -> dict[str, str]:
    """Return what the keys of a run mean, as the engine says it."""
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
        raise UserError(
            "question.figure", "", asked, f"expected one of {names}; read.p99, write.p99 where there are both"
        )
    does = does_only(spec) if dot else None
    if does is not None:
        raise UserError("question.figure", "", asked, f"the workload {does} only: expected one of {names}")


def does_only(spec: RunSpec) -> str | None:
    """Return what a workload does, reads or writes, where its streams do nothing else; None of one that does both, or
    whose text does not say it."""
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
