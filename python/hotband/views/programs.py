"""Programs on the terminal: their list, the settings of a program, and the figures of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from hotband.base.foreign import marked
from hotband.base.question import INVALID
from hotband.base.text.formats import as_rows
from hotband.base.text.numbers import counted, percent
from hotband.base.text.table import MS, Table, View, column, listing, numeric
from hotband.execution.programs.needs import how_to_get
from hotband.execution.programs.settings import accepted_by
from hotband.views.text.lists import entry_lines

if TYPE_CHECKING:
    from hotband.data.documents.program import PredictedDoc
    from hotband.execution.programs.result import ProgramResult
    from hotband.questions.program import ProgramList, ProgramOutline, ProgramQuestion


def programs(listed: ProgramList, _: ProgramQuestion) -> list[View]:
    """Return all programs, with what each needs and whether that is installed."""
    known = [
        (each.program, ", ".join(need.command for need in each.program.needs), how_to_get(each.lacking))
        for each in listed.programs
    ]
    if as_rows():
        rows = [
            (program.name, program.title, commands, f"no: {remedy}" if remedy else "yes")
            for program, commands, remedy in known
        ]
        return [listing("Programs", ("name", "program", "needs", "there"), rows)]
    ready = counted(sum(not remedy for *_, remedy in known), "program")
    entries = [(program.name, "no" if remedy else "yes", program.title) for program, _, remedy in known]
    missing = [f"! {program.name} needs {commands}: {remedy}" for program, commands, remedy in known if remedy]
    head = f"{ready} of {len(known)} can run here (hotband program NAME: details)."
    return [head, *entry_lines(entries), *missing]


def outline(described: ProgramOutline, _: ProgramQuestion) -> list[View]:
    """Return the settings of a program, and its load on the disk."""
    program = described.program
    rows = [(key, str(each.default), accepted_by(each), each.what) for key, each in program.settings.items()]
    lines = [
        f"Load on the disk: {program.asks}",
        f"Volumes, if the machine has them: {', '.join(program.volumes)}",
        *([f"Not installed; install with: {how_to_get(described.lacking)}"] if described.lacking else []),
    ]
    title = f"{program.name}: {program.title}"
    if as_rows():
        return [listing(title, ("key", "current", "allowed", "meaning"), rows), *lines]
    settings = [(key, current, f"{meaning}; {allowed}") for key, current, allowed, meaning in rows]
    return [title, "", *entry_lines(settings), "", *lines]


def figures(result: ProgramResult, question: ProgramQuestion) -> list[View]:
    """Return the figures of a run, and its notes."""
    about = {"program": result.name, "on": str(question.on)}
    columns = [column("figure"), numeric("value"), column("unit")]
    table = Table(f"{result.name} on {question.on} ({result.version})", columns, about=about)
    for figure in result.document["figures"]:
        table.add(figure["name"], figure["value"], figure["unit"])
    invalid = [
        marked("[bold red]The result is {note}.[/]", note=note) for note in result.notes if note.startswith(INVALID)
    ]
    notes = [f"  note: {note}" for note in result.notes if not note.startswith(INVALID)]
    return [*invalid, table, *notes, *prediction(result.document.get("predicted", []))]


def prediction(rows: Sequence[PredictedDoc]) -> list[View]:
    """Return the means of a program's I/Os as recorded, and as replayed on models; none without a prediction."""
    if not rows:
        return []
    heads = ("mean", "read mean", "write mean", "flush mean")
    keys = ("latency_mean_ns", *(f"{kind}_latency_mean_ns" for kind in ("read", "write", "flush")))
    columns = [column("machine"), column("I/Os"), numeric("IOPS"), *(numeric(head, MS) for head in heads)]
    table = Table("Its I/Os on other machines", columns)
    for row in rows:
        means = [cast("Mapping[str, float | None]", row)[key] for key in keys]
        table.add(row["machine"], row["source"], row["iops"], *means)
    recorded, replayed = rows[0]["latency_mean_ns"], rows[1]["latency_mean_ns"]
    if not recorded or replayed is None:
        return [table]
    error = percent(100.0 * (replayed / recorded - 1.0))
    return [table, f"  Error of the replay: {error} in mean latency on {rows[0]['machine']}, where the program ran."]
