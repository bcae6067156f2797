"""The questions, a line each: where it is declared, what answers it, and what it is for. The command line, the Python
interface and the page have each of them from here."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from hotband.base.question import Question, Way


class Line(NamedTuple):
    """A question: its class ("module:Class"), the function that answers it ("module:function", of the question and its
    `Way`), and the first paragraph of its docstring, which lists of commands show without loading it."""

    question: str
    answer: str
    summary: str


QUESTIONS = {
    "advise": Line(
        "hotband.questions.advise.asked:AdviseQuestion",
        "hotband.questions.advise.advise:answer",
        "Say what to buy: drives, layouts, numbers and caches that meet an objective, none of them worse in "
        "everything.",
    ),
    "audit": Line(
        "hotband.questions.audit:AuditQuestion",
        "hotband.questions.audit:answer",
        "Say what results prove: rules of physics, arithmetic and statistics on yours or published ones.",
    ),
    "calibrate": Line(
        "hotband.questions.calibrate.asked:CalibrateQuestion",
        "hotband.questions.calibrate.run:answer",
        "Fit a product's values to a drive: measure what tells them, or take results, or a trace, that are there.",
    ),
    "compare": Line(
        "hotband.questions.compare:CompareQuestion",
        "hotband.questions.compare:answer",
        "Say whether B is faster than A, slower, or shows no difference: IOPS and percentiles with 95 % intervals.",
    ),
    "entropy": Line(
        "hotband.questions.entropy:EntropyQuestion",
        "hotband.questions.entropy:answer",
        "Measure how far real data compresses: the entropy that an SSD with compression would see.",
    ),
    "expect": Line(
        "hotband.questions.expect.asked:ExpectQuestion",
        "hotband.questions.expect.expect:expect",
        "Say whether a result is as good as the model expects: its load is rebuilt and run on a machine.",
    ),
    "find": Line(
        "hotband.questions.find.asked:FindQuestion",
        "hotband.questions.find.find:find",
        "Find the rate, queue depth, number of drives or value that meets a condition, in at most 12 runs a machine.",
    ),
    "fleet": Line(
        "hotband.questions.fleet.asked:FleetQuestion",
        "hotband.questions.fleet.run:answer",
        "Simulate a fleet over months: failures, rebuilds, spares, wear, energy, expected loss of data and cost.",
    ),
    "pts": Line(
        "hotband.questions.suites.tested:PtsQuestion",
        "hotband.questions.suites.tested:answer",
        "SNIA's performance test of solid-state storage (PTS 2.0.2): purge, preconditioning, rounds until steady, "
        "report.",
    ),
    "quick": Line(
        "hotband.questions.suites.looked:QuickQuestion",
        "hotband.questions.suites.looked:answer",
        "A first look at a disk, a SATA or an NVMe drive in a given time: what it is good at, is it as expected?",
    ),
    "reliability": Line(
        "hotband.inference.reliability.asked:ReliabilityQuestion",
        "hotband.inference.reliability.assess:answer",
        "Say how long an array keeps its data: mean time to data loss and the chance of loss, beside the closed form.",
    ),
    "review": Line(
        "hotband.questions.review.reviewed:ReviewQuestion",
        "hotband.questions.review.reviewed:answer",
        "Review a machine, or hardware (real:PATH): transfer curve, access time, block sizes, streams, server "
        "patterns, files; compare it with others.",
    ),
    "run": Line(
        "hotband.questions.run.asked:RunQuestion",
        "hotband.questions.run.run:answer",
        "Run a workload on a machine in virtual time, or on hardware (--on real:PATH) through fio; with --then "
        "several, one after the other on the same machine.",
    ),
    "steady": Line(
        "hotband.questions.steady:SteadyQuestion",
        "hotband.questions.steady:answer",
        "Say whether records reached steady state by the rule of the SNIA PTS, and whether they left it.",
    ),
    "sweep": Line(
        "hotband.questions.sweeps.asked:SweepQuestion",
        "hotband.questions.sweeps.run:answer",
        "Run a workload at every combination of settings on one machine or several, models and hardware "
        "(real:PATH): curves, and what they say.",
    ),
    "why": Line(
        "hotband.inference.interval.asked:WhyQuestion",
        "hotband.inference.interval.explained:why",
        "Say where the uncertainty of a prediction comes from, value by value, and what to measure to reduce it.",
    ),
}


def _loaded(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


@cache
def declared(name: str) -> type[Question]:
    """Return the class of a question by its name."""
    found: type[Question] = _loaded(QUESTIONS[name].question)
    return found


def reading(question: Question) -> AbstractContextManager[None]:
    """Return the context in which the files of a question are read: what one lacks becomes a UserError."""
    from hotband.data.record.incomplete import refusing_incomplete

    files = question.files()
    return refusing_incomplete(files) if files else nullcontext()


def answer(question: Question, way: Way) -> Any:
    """Return the answer to a question. Raises UserError for a mistake, and what its runs raise."""
    with reading(question):
        return _loaded(QUESTIONS[question.name].answer)(question, way)
