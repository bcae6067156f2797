"""Answer the question `find` (docs/guides/find.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.question import Way
from hotband.base.text.nearest import repeated
from hotband.base.text.quantities import ungrouped
from hotband.base.text.words import enumerated
from hotband.data.catalog.named import expect_model, is_family
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.loads import LOOP_KEYS, Load
from hotband.data.inputs.specify import Named
from hotband.data.record.finished import Finished
from hotband.data.record.unmodelled import unmodelled_notes
from hotband.data.store.results_store import ResultsStore
from hotband.execution.experiment import Experiment, Point, Tick
from hotband.execution.experiment.ranges import workload_text
from hotband.execution.runs.drives import Family, family
from hotband.execution.runs.run import prepare
from hotband.execution.runs.scale import scale_of, scaled
from hotband.inference.interval import DRAWS, LEVEL
from hotband.inference.interval.of_run import Asked as IntervalsAsked
from hotband.questions.find import vary
from hotband.questions.find.answer_interval import Samples, basis_of, contradictions_of, interval_of, margins_of
from hotband.questions.find.asked import FindQuestion
from hotband.questions.find.figures import commit_notes
from hotband.questions.find.found import Answer, Found, answer_text
from hotband.questions.find.margin import nearest_trial
from hotband.questions.find.question import DEPTH, DRIVES, NOTHING, RATE, Question, ShareOfMost, read_question, refuse
from hotband.questions.find.search import Frame, Outcome, Search, at_rate, by_rate, by_value
from hotband.questions.find.trial import Trial, Wanted, of_finished

ARRIVALS = ("poisson", "fixed")
MEASURED, BEYOND, RARE = 60_000, 100_000, 300_000
"""Measured I/Os of a trial: for rates and means, where 600 lie beyond the 99th percentile; for percentiles from the
99th, where 1,000 do; from the 99.9th, where 300 lie beyond that."""
ASKED = {RATE: "a rate", NOTHING: "a latency"}
LEAST_IOS, MOST_IOS = 1_000, 100_000_000


@dataclass
class _On:
    """The search on one machine."""

    machine: str
    spec: RunSpec
    search: Search
    wanted: list[Wanted] = field(default_factory=list)
    outcome: Outcome | None = None
    trials: list[Trial] = field(default_factory=list)


def find(question: FindQuestion, way: Way) -> Found:
    """Return the answers, and append their runs to the store if the question names one. Raises UserError, before
    anything runs if possible, and RunsInterrupted."""
    with answers_kept(question.into) as keep:
        result = _search_all(question, way)
        way.before_saving(result)
        keep(result)
        return result


def _search_all(query: FindQuestion, way: Way) -> Found:
    question = read_question(query.question)
    frame = _frame(query, question)
    notes: list[str] = []
    on = [_begin(query, frame, machine, notes) for machine in query.on]
    with way.watch(question.text) as tick:
        while any(search.outcome is None for search in on):
            _round(on, question, query.jobs, tick)
    answers = tuple(_answer(question, search) for search in on)
    level = query.interval
    for answer in answers:
        _rest(question, answer, level or LEVEL)
    if level is not None:
        request = IntervalsAsked(level, DRAWS if query.draws is None else query.draws)
        samples = Samples(request, query.jobs, way.say, way.watch)
        for answer in answers:
            answer.interval = interval_of(question, answer, samples)
            answer.bounded = question.wanted if question.varied == NOTHING else None
            answer.notes += contradictions_of(question, answer, samples)
            answer.margins = margins_of(question, answer, samples)
            answer.text = answer_text(question, answer)
            if answer.interval is None and answer.status == "found":
                answer.notes += _no_interval(question, answer)
    return Found(
        question,
        query.workload.name,
        _asked_as(query, question),
        frame.within,
        answers,
        tuple(dict.fromkeys(notes)),
    )


def _no_interval(question: Question, answer: Answer) -> list[str]:
    """Return why an answer has no interval."""
    if any(isinstance(condition, ShareOfMost) for condition in question.conditions):
        return ["no interval: a common shift of all values cancels in a share of the most"]
    if any(figure.is_of_script for figure in question.figures):
        return ["no interval: none is known for transactions"]
    flushed = [
        str(name) for name in question.figures if answer.best is not None and name.is_flushed(answer.best.record)
    ]
    return [f"no interval: none is known for times of flushes, which {enumerated(flushed, 2)} has"] if flushed else []


def _rest(question: Question, answer: Answer, level: float) -> None:
    """Add to an answer the evidence for its figures, and a note if no similar figure was ever validated."""
    if answer.best is None:
        return
    basis = basis_of(question, answer.best, level)
    answer.rests_on, answer.is_checked = basis.words, basis.is_checked
    if not basis.has_interval:
        answer.notes.append(basis.words)


def _frame(query: FindQuestion, question: Question) -> Frame:
    """Return what all searches share. Raises UserError for invalid options."""
    if not isinstance(query.within, int | float) or isinstance(query.within, bool) or not 0.1 <= query.within <= 50:
        raise UserError("question.within", "", f"{query.within}", "expected a percentage from 0.1 to 50")
    if query.arrival not in ARRIVALS:
        raise UserError("question.arrival", "", query.arrival, f"expected one of {', '.join(ARRIVALS)}")
    if query.ios is not None and not LEAST_IOS <= query.ios <= MOST_IOS:
        raise UserError(
            "question.ios", "", str(query.ios), f"expected a whole number from {LEAST_IOS:,} to {MOST_IOS:,}"
        )
    if query.ios is not None and query.duration is not None:
        raise UserError(
            "question.ios",
            "",
            str(query.ios),
            "not together with question.duration, which sets the length of a trial",
        )
    names = [machine.name for machine in query.on]
    for name in names:
        expect_model(name, "find asks", instead="hotband sweep with question.slo on it")
    twice = repeated(names)
    if twice is not None:
        raise UserError("question.on", "", twice, "is given twice; expected each machine once")
    ios = None if query.duration is not None else query.ios or _ios_for(question)
    return Frame(question, query.within / 100, ios, query.arrival, _bounds(query.range))


def _ios_for(question: Question) -> int:
    rarest = max((figure.percentile or 0.0 for figure in question.figures), default=0.0)
    return RARE if rarest >= 99.9 else BEYOND if rarest >= 99 else MEASURED


def _bounds(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    low, dots, high = text.partition("..")
    if not dots or not low.strip() or not high.strip():
        raise UserError(
            "question.range", "", text, "expected LOW..HIGH of the varied quantity, such as 1..64 or 4KiB..1MiB"
        )
    return low.strip(), high.strip()


def _begin(query: FindQuestion, frame: Frame, machine: Named, notes: list[str]) -> _On:
    """Return the search on a machine, after all checks. Raises UserError."""
    question = frame.question
    open_family = family(machine.name) if machine.text is None and is_family(machine.name) else None
    _expect_family(question, machine.name, open_family)
    spec = RunSpec(
        "run",
        machine.name if open_family is None else open_family.machine(open_family.first),
        query.workload.name,
        query.settings,
        query.seed,
        query.duration,
        machine_text=machine.text,
        workload_text=query.workload.text,
        in_use=True,
    )
    text = workload_text(spec)
    prepared = replace(spec, workload_text=text)
    if open_family is None or question.varied != DRIVES:
        prepare(prepared)
    load = Load(text, spec.workload)
    _expect_its_rate(question, load)
    _expect_no_loop_keys(query, question, load)
    small = scaled(prepared)
    if small is not prepared:
        notes.append(f"solid-state drives are simulated at a {scale_of(small)}th of their size (scale=N sets another)")
    return _On(machine.name, small, _search(query, frame, small, load, open_family))


def _expect_family(question: Question, machine: str, open_family: Family | None) -> None:
    """Raise UserError if the number of drives is open and the question does not vary it, or the other way round."""
    if question.varied == DRIVES and open_family is None:
        accepted = "expected LAYOUT:{n}xDRIVE, such as raid10:{n}xexos-15e900-512n: the question asks for n"
        raise UserError("question.on", "", machine, accepted)
    if question.varied != DRIVES and open_family is not None:
        accepted = f"expected a number: the question asks for {ASKED.get(question.varied, question.varied)}"
        raise UserError("question.on", "", machine, f"leaves the number of drives open; {accepted}")


def _expect_its_rate(question: Question, load: Load) -> None:
    """Raise UserError if a question sets a rate of I/Os for a load of transactions, or the other way round."""
    if not question.sets_rate:
        return
    for rate in (figure for figure in question.figures if figure.is_rate):
        if load.script is not None and rate.name != "tps":
            refuse(str(rate), 'the load is of transactions: ask for them, such as "TPS at p99 < 10 ms"')
        if load.script is None and rate.name == "tps":
            refuse(str(rate), 'the load has no transactions: ask for I/Os, such as "IOPS at p99 < 10 ms"')


def _expect_no_loop_keys(query: FindQuestion, question: Question, load: Load) -> None:
    """Raise UserError for settings of a loop that the question replaces, and for a load without a loop."""
    if question.sets_rate:
        load.expect_loop()
    for key, value in query.settings:
        if question.sets_rate and key in LOOP_KEYS:
            accepted = "sets the load, which the question varies: leave it out"
            raise UserError("question.settings", key, value, accepted)


def _search(query: FindQuestion, frame: Frame, spec: RunSpec, load: Load, open_family: Family | None) -> Search:
    """Return the search for a question."""
    question = frame.question
    if question.varied == RATE:
        return by_rate(frame, spec, load, None if frame.bounds is None else _rate_bounds(frame.bounds))
    rate = _offered_rate(question, load)
    if question.varied == NOTHING and rate is not None:
        return at_rate(frame, spec, load, rate)
    if open_family is not None:
        return by_value(frame, spec, vary.drives(open_family, frame.bounds, frame.within), load, rate)
    if question.varied == DEPTH and load.says() == "an open loop":
        load = load.with_closed_loop(1)
        spec = replace(spec, workload_text=load.text())
    return by_value(frame, spec, vary.key(question.varied, spec, frame.bounds, frame.within), load, rate)


def _rate_bounds(bounds: tuple[str, str]) -> tuple[float, float]:
    plain = [ungrouped(bound) or "" for bound in bounds]
    if not all(re.fullmatch(r"\d+(\.\d+)?", bound) for bound in plain):
        raise UserError(
            "question.range", "", "..".join(bounds), "expected LOW..HIGH in I/Os a second, such as 100..5000"
        )
    low, high = map(float, plain)
    if not 0 < low < high <= 1e9:
        raise UserError(
            "question.range", "", "..".join(bounds), "expected LOW..HIGH in I/Os a second, the lower one first"
        )
    return low, high


def _offered_rate(question: Question, load: Load) -> float | None:
    """Return the I/Os per second that are offered to every trial; None if the load has its own rate or depth."""
    offered = question.offered
    if offered is None:
        return None
    if offered.figure.side:
        refuse(offered.text, "expected a rate of all I/Os: the load offered to the machine")
    if offered.figure.name in ("iops", "tps"):
        return offered.bound
    size = load.mean_bytes()
    if size is None:
        refuse(offered.text, "the load has sizes or loops of its own: expected a rate in IOPS")
    return offered.bound / size


def _round(on: Sequence[_On], question: Question, jobs: int | None, tick: Tick | None) -> None:
    """Run the next trials of all searches together, and pass each search its own."""
    going = [search for search in on if search.outcome is None]
    for one in going:
        if not one.wanted and not one.trials:
            one.wanted = next(one.search)
    points = [
        Point(replace(wanted.spec, id=f"{index}.{number}"))
        for index, search in enumerate(going)
        for number, wanted in enumerate(search.wanted)
    ]
    finished = {done.spec.id: done for done in Experiment(points).run(jobs=jobs, progress=tick).finished}
    for index, one in enumerate(going):
        made = [
            of_finished(wanted, _own(finished[f"{index}.{number}"], wanted), question)
            for number, wanted in enumerate(one.wanted)
        ]
        one.trials += made
        try:
            one.wanted = one.search.send(made)
        except StopIteration as over:
            one.outcome = over.value


def _own(finished: Finished, wanted: Wanted) -> Finished:
    """Return a run under the spec that the search gave."""
    finished.spec = replace(wanted.spec, id="run")
    return finished


def _answer(question: Question, search: _On) -> Answer:
    """Return the answer of a finished search."""
    outcome = search.outcome
    assert outcome is not None, "the search is over"
    best = outcome.best
    if outcome.status == "everywhere" and best is None:
        met = [trial for trial in outcome.trials if trial.value is not None]
        end: Callable[..., Trial] = min if question.goals and question.wanted is None else max
        best = end(met, key=lambda trial: trial.value or 0.0)
    nearest = nearest_trial(question, outcome.trials, best)
    answer = Answer(
        search.machine,
        outcome.status,
        "",
        None if best is None or outcome.status == "nowhere" else best.value,
        {} if best is None else best.figures,
        outcome.ends,
        outcome.trials,
        outcome.axis,
        best,
        notes=[
            *([] if best is None else unmodelled_notes(best.finished.record)),
            *([] if nearest is None else commit_notes(question.figures, [nearest.record])),
            *outcome.notes,
        ],
    )
    answer.text = answer_text(question, answer)
    return answer


def _asked_as(query: FindQuestion, question: Question) -> str:
    """Describe how the trials issue the load."""
    if question.varied == RATE:
        return f"an open loop ({query.arrival} arrivals), whose rate is varied"
    if question.offered is not None:
        return f"an open loop ({query.arrival} arrivals) that offers {question.offered.text}"
    return "the workload says" if question.varied != DEPTH else "a closed loop"


@contextmanager
def answers_kept(into: str | PathLike[str] | None) -> Iterator[Callable[[Found], None]]:
    """Yield a function that appends the runs of the answers, not the trials before them, to a store, if one is named.
    Raises UserError before anything runs if the folder is not a store."""
    if into is None:
        yield lambda result: None
        return

    def keep(result: Found) -> None:
        for answer in result.answers:
            if answer.record is not None and answer.value is not None and answer.axis is not None:
                value = answer.value if answer.axis.name == RATE else answer.axis.text(answer.value)
                store.append(answer.record, {answer.axis.name: value}, experiment=f"find: {result.question.text}")

    with ResultsStore(Path(into)) as store, store.taking():
        yield keep
