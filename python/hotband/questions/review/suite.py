"""Plan and run the parts of a review, and assemble them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

from hotband.base.errors import UserError
from hotband.base.question import INVALID
from hotband.base.text.numbers import counted
from hotband.base.text.tomltext import toml_text
from hotband.base.version import __version__
from hotband.data.catalog.entries import unknown
from hotband.data.documents.run import RunSpec
from hotband.data.record.finished import Finished
from hotband.data.record.unmodelled import unmodelled_notes_of
from hotband.execution.experiment import Executor, Experiment, Point, Say, Tick, points_of
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.execution.runs.run import prepare
from hotband.questions.review import (
    access,
    applications,
    blocks,
    defragmentation,
    energy,
    files,
    linear,
    patterns,
    streaming,
    streams,
)
from hotband.questions.review.asked import Ask, filled
from hotband.questions.review.cached import cache_notes
from hotband.questions.review.hardware import sayable
from hotband.questions.review.summary import overall, summary
from hotband.questions.review.target import Target, target

if TYPE_CHECKING:
    from hotband.data.documents.record import RecordDoc
    from hotband.data.documents.review import ComparisonDoc, HeadDoc, PartsDoc, ReviewDoc

# The parts by their names in `--only`; in JSON a hyphen becomes an underscore.
PARTS: dict[str, ModuleType] = {
    "linear": linear,
    "access": access,
    "block-sizes": blocks,
    "streams": streams,
    "patterns": patterns,
    "files": files,
    "streaming": streaming,
    "defragmentation": defragmentation,
    "applications": applications,
    "energy": energy,
}


@dataclass(frozen=True)
class Plan:
    """The plan of one machine: parts with their runs, and notes on parts that are left out."""

    target: Target
    parts: dict[str, list[Ask]]
    notes: list[str]

    def specs(self) -> list[RunSpec]:
        """Return all runs; the cost of a run grows with its I/Os."""
        return [run_spec(self.target, part, ask) for part, asks in self.parts.items() for ask in asks]


class ReviewInterrupted(Exception):
    """The user stopped a review; `review` has the parts that were finished."""

    def __init__(self, review: ReviewDoc) -> None:
        super().__init__("interrupted")
        self.review = review


def chosen_parts(only: Sequence[str]) -> list[str]:
    """Return the requested parts, by default all. Raises UserError for an unknown one."""
    for name in only:
        if not name.strip(" ,"):
            accepted = f"names no part; expected one or more of {', '.join(PARTS)}"
            raise UserError("question.only", "", name, accepted)
        if name not in PARTS:
            raise unknown("question.only", name, list(PARTS))
    return [name for name in PARTS if not only or name in only]


def plan(machine: Target, only: Sequence[str] = ()) -> Plan:
    """Plan the runs of a machine. Raises UserError if it has no requested part: it is too small, or its drives do not
    state their power."""
    parts: dict[str, list[Ask]] = {}
    notes = [note for note in (machine.scale_note(), machine.state_note(), machine.event_note()) if note is not None]
    for name in chosen_parts(only):
        why = why_not(machine, name)
        if why is not None:
            notes.append(f"{name}: left out, {why}")
        else:
            parts[name] = PARTS[name].asks(machine)
    if machine.is_hardware:
        notes += _leave_out(machine, parts)
    if "applications" in parts:
        loads = parts["applications"]
        fits, left_out = (loads, []) if machine.is_hardware else fitting(machine, loads)
        parts["applications"] = applications.in_turn(machine, fits)
        notes += left_out
    if not parts and list(only) == ["energy"] and energy.why_not(machine) is not None:
        raise UserError(machine.name, "", "", f"no energy to review: {energy.why_not(machine)}")
    if not parts:
        raise UserError(
            machine.name, "", f"{machine.capacity_bytes} B", "too small for a review: no requested part fits"
        )
    return Plan(machine, parts, notes)


def _leave_out(machine: Target, parts: dict[str, list[Ask]]) -> list[str]:
    """Remove runs that fio cannot express: single applications, and whole other parts."""
    notes = []
    for name, asks in list(parts.items()):
        why = sayable({ask.name: run_spec(machine, name, ask) for ask in asks}, machine.capacity_bytes)
        if name == "applications":
            parts[name] = [ask for ask in asks if ask.name not in why]
            notes += [f"{ask}: left out, {reason}" for ask, reason in why.items()]
        elif why:
            del parts[name]
            notes.append(f"{name}: left out, {next(iter(why.values()))}")
        if name in parts and not parts[name]:
            del parts[name]
    return notes


def why_not(machine: Target, part: str) -> str | None:
    """Return why a machine has no such part; None if it has."""
    needs: int = PARTS[part].NEEDS
    if machine.capacity_bytes < needs:
        return f"the machine has {machine.capacity_bytes} B, but the part needs {needs} B"
    if part == "energy" and machine.is_hardware:
        return "the power of hardware is in the records of its runs, if a meter is read"
    return energy.why_not(machine) if part == "energy" else None


def fitting(machine: Target, asks: Sequence[Ask]) -> tuple[list[Ask], list[str]]:
    """Return the workloads of the catalog that fit the machine, and a note for each other one. A workload is left out
    with all ends of its uncertainties."""
    fits: list[Ask] = []
    notes: list[str] = []
    left_out: set[str] = set()
    for ask in asks:
        load, end, _ = ask.name.partition(applications.END)
        if load in left_out:
            continue
        try:
            prepare(run_spec(machine, "applications", ask))
            fits.append(ask)
        except UserError as error:
            notes.append(f"{ask.name}: left out, {error.accepted}")
            if not end:
                left_out.add(load)
    return fits, notes


def run_spec(machine: Target, part: str, ask: Ask) -> RunSpec:
    """Return a run of the review for the engine."""
    return RunSpec(
        f"{part}: {ask.name}",
        machine.name,
        f"review {part}, {ask.name}",
        tuple((dict(machine.run_set) | dict(ask.set)).items()),
        machine.seed,
        ask.duration,
        machine_text=machine.text,
        workload_text=text_of(machine, ask),
        weight=ask.ios or 1e4,
        after=f"{part}: {ask.after}" if ask.after else "",
        # A run that follows another continues after the events of that one.
        events=() if ask.after else machine.events,
    )


def text_of(machine: Target, ask: Ask) -> str:
    """Return the workload of a run as text. SSDs are filled before the first run, unless their state is set."""
    stated = "precondition" in ask.workload or "state" in dict(machine.set)
    return toml_text(filled(ask) if machine.wears and not stated and not ask.after else ask.workload)


def run_plan(
    machine_plan: Plan,
    progress: Tick | None = None,
    jobs: int | None = None,
    *,
    out: Path | None = None,
    fresh: bool = False,
    say: Say | None = None,
    executor: Executor | None = None,
) -> ReviewDoc:
    """Run a plan, on all cores without an executor; return the review. `out` stores the runs; those that it already has
    are not repeated, unless `fresh`. Raises UserError, or ReviewInterrupted with the finished parts."""
    experiment = Experiment(points(machine_plan), what=f"the review of {machine_plan.target.name}")
    try:
        done = experiment.run(out=out, fresh=fresh, executor=executor, jobs=jobs, progress=progress, say=say)
    except RunsInterrupted as stop:
        raise ReviewInterrupted(assemble(machine_plan, stop.finished)) from None
    return assemble(machine_plan, done.finished)


def points(machine_plan: Plan) -> list[Point]:
    """Return the runs of a plan by part and name."""
    places = [{"part": part, "ask": ask.name} for part, asks in machine_plan.parts.items() for ask in asks]
    return points_of(machine_plan.specs(), places)


def assemble(machine_plan: Plan, finished: Sequence[Finished]) -> ReviewDoc:
    """Assemble the review from finished runs: a part needs all of its runs."""
    records = {run.spec.id: run.record for run in finished}
    parts: dict[str, object] = {}
    notes = list(machine_plan.notes)
    for name in PARTS:
        wanted = machine_plan.parts.get(name)
        ids = {ask.name: f"{name}: {ask.name}" for ask in wanted or []}
        key = name.replace("-", "_")
        parts[key] = None
        if wanted is None:
            continue
        if any(run_id not in records for run_id in ids.values()):
            notes.append(f"{name}: left out, the review was interrupted")
            continue
        of_part = {ask: records[run_id] for ask, run_id in ids.items()}
        parts[key] = PARTS[name].figures(machine_plan.target, of_part)
        notes += [*invalid_of(name, of_part), *errors_of(name, of_part), *cache_notes(name, of_part)]
    unmodelled = unmodelled_notes_of(records.values())
    # Each part is made by the module of its name, which mypy cannot follow.
    whole = cast("PartsDoc", parts)
    groups = summary(whole)
    made = head(machine_plan.target)
    # All runs are on drives with the same settings; nearly all have the same contents at first.
    made["machine"]["drive_state"] = next(
        (record["drive_state"] for record in records.values() if "drive_state" in record), None
    )
    # mypy mistakes optional keys of a review for optional keys of its head.
    review = {**made, **whole, "summary": groups, "overall": overall(groups), "notes": [*unmodelled, *notes]}
    return cast("ReviewDoc", {**review, "unmodelled": unmodelled} if unmodelled else review)


def invalid_of(part: str, records: Mapping[str, RecordDoc]) -> list[str]:
    """Return a note if figures of a part are not the drive's."""
    notes = [record.get("notes") or [] for record in records.values()]
    reasons = [[note for note in of_run if note.startswith(INVALID)] for of_run in notes]
    invalid = [of_run[0].removeprefix(f"{INVALID}: ") for of_run in reasons if of_run]
    return [f"{INVALID}: {len(invalid)} of {counted(len(records), 'run')} of {part}: {invalid[0]}"] if invalid else []


def errors_of(part: str, records: Mapping[str, RecordDoc]) -> list[str]:
    """Return a note for each run with failed I/Os, whose figures mean little."""
    failed = {name: record["summary"]["errors"] for name, record in records.items() if record["summary"]["errors"]}
    return [f"{part}, {name}: {count} I/Os failed" for name, count in failed.items()]


def head(machine: Target) -> HeadDoc:
    """Return the head of a review: its machine, and the version that made it."""
    return {
        "schema": "hotband-review",
        "version": 1,
        "hotband": __version__,
        "seed": str(machine.seed),
        "quick": machine.quick,
        "machine": {
            "name": machine.name,
            "title": machine.title,
            "spec": machine.text,
            "capacity_bytes": machine.capacity_bytes * machine.scale,
            "drives": list(machine.drives),
            "set": dict(machine.set),
            "scale": machine.scale,
            "events": list(machine.events),
        },
    }


def review(
    machine: str,
    *,
    set: Sequence[tuple[str, str]] = (),
    volume: str | None = None,
    seed: int = 1,
    quick: bool = False,
    only: Sequence[str] = (),
    jobs: int | None = None,
    progress: Tick | None = None,
) -> ReviewDoc:
    """Review one machine: a catalog drive, a short form or a TOML file. Raises UserError."""
    return run_plan(plan(target(machine, set, volume, seed, quick), only), progress, jobs)


def json_text(data: ReviewDoc | ComparisonDoc) -> str:
    """Return the JSON text of a review or a comparison."""
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
