"""The tests of a PTS run, one after the other, each on a drive that was purged; what was finished is kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.text import numbers
from hotband.base.text.numbers import counted
from hotband.base.text.quantities import span_ns
from hotband.base.text.values import read_json
from hotband.base.version import __version__
from hotband.data import catalog
from hotband.data.catalog import entries
from hotband.data.documents.pts import ConditionsDoc, PtsDoc, TestDoc
from hotband.data.documents.record import KIND_REAL
from hotband.data.record.states import WRITES
from hotband.execution.experiment import Executor, Lock, Tick, unwatched
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.execution.targets.on_served import OnServedMachine
from hotband.execution.targets.outlook import in_words
from hotband.questions.suites.bench import Bench, Stage, expect_same_suite
from hotband.questions.suites.cells import Cell
from hotband.questions.suites.device import ModelDevice
from hotband.questions.suites.hardware import (
    Watch,
    is_begun,
    purged,
    remember_purge,
    remembered_purge,
    standing,
    write_cache,
)
from hotband.questions.suites.pts import spec
from hotband.questions.suites.pts.estimate import Length, length_of
from hotband.questions.suites.pts.tests import TESTS, Test, document
from hotband.questions.suites.target import SuiteTarget

PTS_FILE = "pts.json"
"""File that a run leaves in its folder, next to its page."""
SPECIFICATION = "SNIA Solid State Storage Performance Test Specification"


@dataclass(frozen=True)
class Asked:
    """Plan of a PTS run. `executor` runs a real target, or a substitute in tests; None for a model. `purge_by` and
    `set_write_cache` apply to hardware: how it is purged (None: the best way), and whether its write cache is set as
    the class requires."""

    target: SuiteTarget
    drive_class: spec.DriveClass = "enterprise"
    tests: Sequence[str] = tuple(TESTS)
    quick: bool = False
    minute_s: float | None = None
    threads: int | None = None
    depth: int | None = None
    sponsor: str = ""
    seed: int = 1
    out: Path | None = None
    fresh: bool = False
    executor: Executor | None = None
    purge_by: str | None = None
    set_write_cache: bool = False

    def plan(self) -> spec.Plan:
        """Return the class's rules on the target. Raises UserError."""
        rules = spec.RULES[self.drive_class]
        demand = spec.demand_of(rules, self.threads, self.depth)
        return spec.Plan(self.target, rules, demand, self.quick, self.seed, self.minute_s)

    def settings(self) -> str:
        """Return the target and all that changes what is run on it."""
        demand = self.plan().demand
        options = f"--class {self.drive_class} --threads {demand.threads} --depth {demand.depth}"
        options += " --quick" if self.quick else ""
        options += "" if self.minute_s is None else f' --minute "{self.minute_s:g} s"'
        options += " --set-write-cache" if self.set_write_cache else ""
        return self.target.with_settings(options)

    def all_tests(self) -> list[str]:
        """Return those that are asked for, behind others that were finished in the folder: they stay in its
        document."""
        held = {} if self.out is None or self.fresh else read_json(self.out / PTS_FILE) or {}
        tests = held.get("tests")
        done = {one.get("id") for one in tests if isinstance(one, dict)} if isinstance(tests, list) else set()
        before = [name for name in TESTS if name in done and name not in self.tests]
        return before + list(self.tests)

    def ahead(self) -> list[str]:
        """Return what is ahead on hardware, in words."""
        plan, name = self.plan(), self.target.name
        whole = sum((length_of(plan, test) for test in self.tests), Length())
        least, most = (in_words(seconds) for seconds in whole.whole_s)
        time = least if least == most else f"{least} to {most.removeprefix('about ')}"
        before = f", and the time to write {numbers.size(whole.fill_bytes)} in order before" if whole.fill_bytes else ""
        begun = ", of which some is kept" if is_begun(self.out) and not self.fresh else ""
        said = [f"PTS of {name}, {counted(len(self.tests), 'test')}: {time}{before}{begun}; its data is lost"]
        if self.set_write_cache:
            said.append(f"its write cache is turned {plan.rules.write_cache} meanwhile, and restored afterwards")
        return said

    def run_by(self, executor: Executor | None) -> Asked:
        """Return the same, run by somebody."""
        return replace(self, executor=executor)


class Interrupted(Exception):
    """The user stopped; `document` has the tests that were finished."""

    def __init__(self, document: PtsDoc) -> None:
        super().__init__("interrupted")
        self.document = document


class _TestStopped(Exception):
    """The user stopped a test; the hardware or file that is held then knows that the suite is not over."""


@dataclass
class _Run:
    """A PTS run under way."""

    asked: Asked
    plan: spec.Plan
    watch: Watch
    executor: Executor | None = None
    benches: list[Bench] = field(default_factory=list)
    tests: list[TestDoc] = field(default_factory=list)
    departures: list[str] = field(default_factory=list)
    purge: str = ""
    write_cache: str = ""

    def test(self, name: str, test: Test) -> TestDoc:
        """Runs one test."""
        first = len(self.benches)
        with self.watch(f"PTS {test.title} of {self.plan.target.name}") as tick:
            told = tick or unwatched
            result = test.run(self.plan, lambda part, fills, block: self.bench(part, fills, block, test, told))
        return document(name, test, result, self.benches[first:])

    def bench(self, part: str, fills: float, block: int, test: Test, tick: Tick) -> Bench:
        """Return a drive that was purged and written over."""
        asked, target = self.asked, of_part(self.plan, part)
        folder = None if asked.out is None else asked.out / part
        made = Bench(
            target,
            self.executor or ModelDevice(),
            self.plan.extent,
            f"PTS {spec.VERSION} {asked.drive_class}, {test.title}",
            f"the PTS test {part} of {asked.settings()}",
            fills if target.is_model else 0.0,
            # A tenth of the time would leave a model that was written in order alone far from its steady state.
            1.0 if asked.quick and fills and block == spec.FILL_BLOCK else 0.0,
            asked.seed,
            folder,
            asked.fresh,
            tick,
        )
        self.benches.append(made)
        if not target.is_model:
            self._purge(made)
            if fills:
                _fill(made, fills, block)
        return made

    def _purge(self, bench: Bench) -> None:
        """Purges before a test, unless it continues: then it reports the purge before its first part."""
        how, why_not = remembered_purge(bench.out)
        if not is_begun(bench.out) or self.asked.fresh:
            try:
                how, why_not = purged(bench.executor, bench.target.bytes, self.asked.purge_by), ""
            except UserError as error:
                how, why_not = "", error.accepted
            remember_purge(bench.out, how, why_not)
        self.purge = how
        if not how:
            self.depart(f"not purged: {why_not}")

    def depart(self, why: str) -> None:
        """Note a departure from the specification, once."""
        if why not in self.departures:
            self.departures.append(why)


def run_pts(asked: Asked, *, watch: Watch) -> PtsDoc:
    """Run the requested tests. With `out` every run is stored there as it ends, and stored runs are not
    repeated; tests finished there before are also in the document. Raises UserError, OSError, or
    Interrupted with the finished tests."""
    run = _Run(asked, asked.plan(), watch)
    run.departures = spec.departures(run.plan)
    try:
        with ExitStack() as stack:
            stack.enter_context(nullcontext() if asked.out is None else Lock(asked.out))
            if asked.out is not None and not asked.fresh:
                expect_same_suite(asked.out, asked.settings(), PTS_FILE)
            if asked.executor is not None:
                run.executor = stack.enter_context(standing(asked.executor, asked.seed, asked.out, asked.fresh, watch))
            if run.executor is not None and asked.set_write_cache:
                on = run.plan.rules.write_cache == "on"
                run.write_cache = stack.enter_context(write_cache(run.executor, on, asked.out))
            for name in asked.all_tests():
                try:
                    run.tests.append(run.test(name, TESTS[name]))
                except (RunsInterrupted, KeyboardInterrupt):
                    raise _TestStopped from None
    except _TestStopped:
        raise Interrupted(_document(run)) from None
    return _document(run)


def of_part(plan: spec.Plan, part: str) -> SuiteTarget:
    """Return a model with its write cache as the class requires; for the test of rests, the idle time before its drives
    begin background work is shortened by the same factor as all other times."""
    target = plan.target
    if not target.is_model:
        return target
    is_open = _unset(target, "idle_delay") and part == "idle-recovery" and target.scale > 1
    delay = span_ns(_value(target, "idle_delay")) if is_open else None
    added = [("idle_delay", f"{delay / target.scale:.0f} ns")] if delay else []
    target = with_write_cache(target, plan.rules)
    return replace(target, set=(*target.set, *added))


def with_write_cache(target: SuiteTarget, rules: spec.Rules) -> SuiteTarget:
    """Return a machine with its write cache as the class requires, if its drives have one to set."""
    added = [("wce", rules.write_cache)] if _unset(target, "wce") else []
    return replace(target, set=(*target.set, *added))


def _unset(target: SuiteTarget, key: str) -> bool:
    """Return whether the drives of a machine have a value that the user did not set."""
    keys = _core.set_keys(catalog.CATALOG_DIR, "fio-randread", target.machine, machine_text=target.text)
    return key not in dict(target.set) and any(set_key["key"] == key for set_key in keys)


def _value(target: SuiteTarget, key: str) -> str:
    """Return a value of the first drive that has it."""
    values = [value for name in target.drives for value in entries.drive(name)["values"] if value["key"] == key]
    return str(values[0]["value"]) if values else ""


def _fill(bench: Bench, fills: float, block: int) -> None:
    """Workload-independent preconditioning (section 3.3) of a real drive: writes of `block` bytes in order."""
    ios = int(fills * bench.extent.bytes) // block
    bench.run(Stage("written over", (Cell("written over", 0, block, False, 1, spec.SEQUENTIAL.depth, 0.0, ios),)))


def _document(run: _Run) -> PtsDoc:
    plan, asked = run.plan, run.asked
    run.tests.sort(key=lambda one: list(TESTS).index(one["id"]))
    served = run.executor if isinstance(run.executor, OnServedMachine) else None
    states = [bench.state for bench in run.benches if bench.state is not None]
    state = served.drive_state if served is not None else next(iter(states), None)
    context = next((bench.context for bench in run.benches if bench.context is not None), None)
    departures = list(run.departures)
    conditions = _conditions(run, state)
    if not conditions["write_cache_set"]:
        found = conditions["write_cache"] or "its setting is unknown"
        departures.append(
            f"the write cache was not {plan.rules.write_cache}: {found} (Hotband can set the cache of a whole drive)"
        )
    for test in run.tests:
        if test["steady"] is False:
            departures.append(f"{test['title']}: no steady state")
    missing = [TESTS[name].title for name in asked.tests if name not in {one["id"] for one in run.tests}]
    notes = [f"not finished: {', '.join(missing)}"] if missing else []
    invalid, delay = ((), ()) if served is None else (served.invalid, served.notes)
    return {
        "schema": "hotband-pts",
        "schema_version": 1,
        "hotband": __version__,
        "sponsor": asked.sponsor,
        "made": datetime.now(UTC).strftime("%Y-%m-%d"),
        "answer": [*invalid, *(test["answer"] for test in run.tests)],
        "specification": {
            "name": SPECIFICATION,
            "version": spec.VERSION,
            "drive_class": asked.drive_class,
            "compliant": not departures,
            "departures": departures,
        },
        "device": {
            "name": plan.target.name,
            "title": plan.target.title,
            "kind": plan.target.kind,
            "capacity_bytes": plan.target.whole_bytes,
            "block_bytes": plan.target.block_bytes,
            "drive_state": state,
            "context": context,
        },
        "conditions": conditions,
        "tests": run.tests,
        "notes": [*notes, *delay],
    }


def _conditions(run: _Run, state: object) -> ConditionsDoc:
    plan = run.plan
    cache, is_set = "", False
    if isinstance(state, dict):
        kinds = {drive["write_cache"] for drive in state["drives"]}
        cache = ", ".join(WRITES.get(kind, "") for kind in sorted(kinds))
        # What the class wants, or a drive that has nothing to be switched.
        wanted = ("off",) if plan.rules.write_cache == "off" else ("volatile", "protected")
        is_set = all(kind in wanted for kind in kinds) or plan.target.kind != KIND_REAL
    if run.write_cache:
        cache, is_set = run.write_cache, True
    times = "once" if plan.fills == 1 else f"{plan.fills:g} times"
    fills = f"written over {times} in order before IOPS, throughput and latency"
    return {
        "write_cache": cache,
        "write_cache_set": is_set,
        "active_range_pct": 100 * plan.rules.active_range,
        "active_bytes": plan.extent.bytes * plan.target.scale,
        "data_pattern": "random, does not compress",
        "purge": "a new drive for every test" if plan.target.is_model else run.purge,
        "preconditioning": fills,
        "demand": plan.demand.text(),
        "scale": plan.target.scale,
        "seed": str(plan.seed),
    }
