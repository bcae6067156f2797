"""A study's result on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hotband.base.foreign import marked
from hotband.base.text.numbers import percent
from hotband.questions.study.study import by_reason
from hotband.views.study.screen import study_screen
from hotband.views.text.tables import claims_table, entropy_table, figures_table, inputs_table, swings_table

if TYPE_CHECKING:
    from hotband.base.text.table import View
    from hotband.data.documents.study import FigureDoc, StudyDoc
    from hotband.data.documents.study_answer import MachineDoc
    from hotband.questions.study.asked import StudyRunQuestion
    from hotband.questions.study.result import StudyResult
    from hotband.views.text.screen import Screen

FEW = 3
"""Most machines or loads that a line names; more are counted."""


def terminal(outcome: StudyResult, question: StudyRunQuestion) -> Screen:
    """Return the terminal screen of a study."""
    result = outcome.to_dict()
    return study_screen(result, question, result_views(result))


def result_views(result: StudyDoc) -> list[View]:
    """Return the evidence: the answer, errors, claims and misses; below them findings and the tables of all figures."""
    views: list[View] = []

    def show(*parts: View) -> None:
        views.extend(parts)

    show(marked("[bold]{title}[/]", title=result["title"]), result["question"], "")
    _print_answer(result, show)
    _print_errors(result, show)
    if result["claims"]:
        show("", claims_table(result["claims"]))
    _print_misses(result, show)
    _print_findings(result, show)
    if result["inputs"]:
        show("", inputs_table(result["inputs"]))
    show("", figures_table(result["figures"]))
    for note, rows in _by_note(result["figures"]).items():
        show(marked("[dim]{what}: {note}[/]", what=_few(rows, "figures"), note=note))
    if result["entropy"]["points"]:
        show("", entropy_table(result["entropy"]["points"]))
    if result["swings"] is not None:
        show("", swings_table(result["swings"]), result["swings"]["text"])
    if result["intervals"] is not None:
        show("", result["intervals"]["text"])
    if result["unmatched"] and "only" not in result:
        show("", f"Published, without a prediction: {', '.join(result['unmatched'])}")
    if "report" in result:
        show("", f"Report: {result['report']}")
    return views


def _by_note(figures: Sequence[FigureDoc]) -> dict[str, list[str]]:
    """Return the figures of each note, each figure once, because a note often applies to a whole column."""
    notes: dict[str, list[str]] = {}
    for row in figures:
        name = f"{row['config']}, {row['metric']}"
        if row["note"] and name not in notes.setdefault(row["note"], []):
            notes[row["note"]].append(name)
    return notes


def _print_answer(result: StudyDoc, show: Callable[..., None]) -> None:
    """Show the answer or the reason why there is none, and the state of the drives."""
    if result["answer"] is not None:
        further = [result["answer"]["further"]] if result["answer"]["further"] else []
        show(marked("[bold]{text}[/]", text=result["answer"]["text"]), *further, "")
    if "only" in result:
        show(f"Only {', '.join(result['only'])}: the answer, claims and findings need the whole study.", "")
    if "untrusted" in result:
        show(result["untrusted"], "")
    for line in _drive_lines(result["machines"]):
        show(marked("[dim]{text}[/]", text=line))
    show("")


def _drive_lines(machines: Sequence[MachineDoc]) -> list[str]:
    """Return lines on the states of drives with their machines: a few by name, many by number."""
    states: dict[str, list[str]] = {}
    for machine in machines:
        varying = [f"{_few(each['loads'], 'loads')}: {each['text']}" for each in machine["varying"]]
        states.setdefault("; ".join([machine["state"], *varying]), []).append(machine["name"])
    if len(states) == 1:
        return [f"Drives: {state}" for state in states]
    return [f"Drives of {_few(names, 'machines')}: {state}" for state, names in states.items()]


def _few(names: Sequence[str], what: str) -> str:
    return ", ".join(names) if len(names) <= FEW else f"{len(names)} {what}"


def _print_errors(result: StudyDoc, show: Callable[..., None]) -> None:
    """Show the errors by group of loads and by class."""

    for group in result["summary"]["scored"]:
        if group["compared"]:
            worst, typical = (percent(group[key], False) for key in ("max_abs_error_pct", "median_abs_error_pct"))
            what = f"{group['figure']}, {group['group']}"
            show(f"{what}: {group['compared']} compared, median error {typical}, largest {worst}")
    for of_class in result["summary"]["classes"]:
        if of_class["blind"]["measurements"]:
            then, now = (
                f"{percent(score['median_pct'], False)}, largest {percent(score['largest_pct'], False)}"
                for score in (of_class["blind"], of_class["now"])
            )
            count = of_class["blind"]["measurements"]
            show(f"{of_class['figure_class']}, predicted before seen: {count}, median error {then}; today {now}")


def _print_misses(result: StudyDoc, show: Callable[..., None]) -> None:
    """Show misses by explanation: the cells that share one, and the explanation below them."""
    for why, cells in by_reason(result["misses"]).items():
        show("", *(marked("[yellow]Missed:[/] {what}", what=cell["what"]) for cell in cells), f"  {why}")


def _print_findings(result: StudyDoc, show: Callable[..., None]) -> None:
    """Show the findings."""
    for finding in result["findings"]:
        show("", marked("[bold]{title}[/]", title=finding["title"]), finding["text"])
