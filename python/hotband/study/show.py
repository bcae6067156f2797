"""A study's result on the terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hotband.text.foreign import marked

if TYPE_CHECKING:
    from hotband.study.documents import StudyDoc


def print_result(result: StudyDoc, show: Callable[..., None]) -> None:
    """Tables, claims and findings to the terminal."""
    from hotband.text.tables import claims_table, entropy_table, figures_table, inputs_table, swings_table

    show(marked("[bold]{title}[/]", title=result["title"]), result["question"], "")
    if result["inputs"]:
        show(inputs_table(result["inputs"]), "")
    show(figures_table(result["figures"]))
    _print_errors(result, show)
    if result["entropy"]["points"]:
        show("", entropy_table(result["entropy"]["points"]))
    if "only" in result:
        show("", f"Only {', '.join(result['only'])}: claims and findings need the whole study.")
    if "untrusted" in result:
        show("", result["untrusted"])
    if result["claims"]:
        show("", claims_table(result["claims"]), "")
    _print_words(result, show)
    if result["swings"] is not None:
        show("", swings_table(result["swings"]), result["swings"]["text"])
    if result["intervals"] is not None:
        show("", result["intervals"]["text"])
    if result["unmatched"] and "only" not in result:
        show("", f"Published and compared with nothing: {', '.join(result['unmatched'])}")
    if "report" in result:
        show("", f"Report: {result['report']}")


def _print_errors(result: StudyDoc, show: Callable[..., None]) -> None:
    """How large the errors are, and what has to be said about single figures."""
    from hotband.text.accuracytables import percent
    from hotband.text.tables import significant

    for of in result["summary"]["scored"]:
        if of["compared"]:
            worst = significant(of["max_abs_error_pct"])
            typical = significant(of["median_abs_error_pct"])
            what = f"{of['figure']}, {of['group']}"
            show(f"{what}: {of['compared']} compared, median error {typical} %, largest {worst} %")
    for one in result["summary"]["classes"]:
        if one["blind"]["measurements"]:
            then, now = (
                f"{percent(of['median_pct'])} %, largest {percent(of['largest_pct'])} %"
                for of in (one["blind"], one["now"])
            )
            count = one["blind"]["measurements"]
            show(f"{one['figure_class']}, predicted before seen: {count}, median error {then}; today {now}")
    for row in result["figures"]:
        if row["note"]:
            show(marked("[dim]{note}[/]", note=f"{row['config']}, {row['metric']}: {row['note']}"))


def _print_words(result: StudyDoc, show: Callable[..., None]) -> None:
    """Findings and misses."""
    for finding in result["findings"]:
        show(marked("[bold]{title}[/]", title=finding["title"]), finding["text"], "")
    for miss in result["misses"]:
        show(marked("[yellow]Missed:[/] {text}", text=miss["text"]))
