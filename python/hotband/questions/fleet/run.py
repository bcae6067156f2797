"""A fleet from what was asked to what came out: values, runs of the model, repetitions; kept in a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.foreign import json_text
from hotband.base.question import Way
from hotband.base.text.tomltable import TomlTable
from hotband.base.text.write import write_file
from hotband.data.inputs.specify import is_toml
from hotband.execution.experiment import Lock, Tick, expect_out
from hotband.questions.fleet.asked import FleetQuestion
from hotband.questions.fleet.drawn import draws_of
from hotband.questions.fleet.kept import Kept, held_in, key_of
from hotband.questions.fleet.outcome import outcome_of
from hotband.questions.fleet.result import Fleet
from hotband.questions.fleet.service import Service, services
from hotband.questions.fleet.simulate import CHUNK, expect_room, simulate
from hotband.questions.fleet.spec import Spec, read_spec

Watch = Callable[[str], AbstractContextManager[Tick | None]]
FRAME_FILE, SUMMARY_FILE, RUNS_FOLDER = "frame.parquet", "summary.json", "runs"


def answer(question: FleetQuestion, way: Way) -> Fleet:
    """Return the fleet. Raises what `run_fleet` raises."""
    return run_fleet(spec_of(question), question, way.watch)


def spec_of(question: FleetQuestion) -> Spec:
    """A fleet from its file, its text or its table. Raises UserError."""
    fleet = question.fleet
    if isinstance(fleet, Mapping):
        spec = read_spec(TomlTable("fleet", "", dict(fleet)), Path())
    elif isinstance(fleet, str) and is_toml(fleet):
        spec = read_spec(TomlTable.of_text("fleet", fleet), Path())
    else:
        path = Path(fleet)
        if path.is_dir():
            raise UserError("question.fleet", "", str(path), "is a folder; expected a TOML file")
        spec = read_spec(TomlTable.read(path, "fleet", typed=True), path.parent)
    if question.repetitions is not None:
        spec = replace(spec, repetitions=question.repetitions)
    return spec if question.seed is None else replace(spec, seed=question.seed)


def run_fleet(spec: Spec, question: FleetQuestion, watch: Watch) -> Fleet:
    """Simulates a fleet; interrupted, what is finished of it. Raises UserError, OSError, RunsInterrupted where the runs
    of the model were interrupted, KeyboardInterrupt where no repetition was finished."""
    expect_out(question.fresh, question.out)
    expect_room(spec)
    with nullcontext() if question.out is None else Lock(question.out):
        if question.out is not None and not question.fresh:
            held_in(question.out)
        runs = None if question.out is None else question.out / RUNS_FOLDER
        with watch("runs of the model") if any(group.wants_run for group in spec.groups) else nullcontext() as tick:
            served = services(spec.groups, runs, question.fresh, question.jobs, spec.seed, tick)
        draws = [draws_of(group, served.get(group.name), spec.seed, spec.repetitions) for group in spec.groups]
        stored = (
            None if question.out is None else Kept(question.out, key(spec, served), spec.name, CHUNK, question.fresh)
        )
        with watch(spec.name) as tick:
            left = simulate(spec, draws, stored, question.jobs, tick)
        outcomes = tuple(
            outcome_of(spec, group, drawn, served.get(group.name), months, totals)
            for group, drawn, months, totals in zip(spec.groups, draws, left.months, left.totals, strict=True)
        )
        fleet = Fleet(spec, outcomes, left.done, left.interrupted)
        if question.out is not None:
            save(fleet, question.out)
        return fleet


def key(spec: Spec, served: Mapping[str, Service]) -> str:
    """What tells this fleet from another. The number of repetitions does not: more of them begin with the same ones."""
    months = [
        (group.plan.machines, float(group.plan.born.sum()), float(group.plan.gone.sum())) for group in spec.groups
    ]
    return key_of(repr((spec.months, spec.seed, spec.groups, spec.power, spec.prices)), repr((months, served)))


def save(fleet: Fleet, folder: Path) -> None:
    """Writes frame and summary. Raises UserError, OSError."""
    fleet.write_frame(folder / FRAME_FILE)
    write_file(folder / SUMMARY_FILE, json_text(fleet.summary) + "\n")
