"""Write the errors of all studies into docs/accuracy-studies.md, between two marks (`make accuracy`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.formats import markdown_text
from hotband.base.text.numbers import percent
from hotband.base.text.table import Table, column, numeric
from hotband.base.text.write import write_file
from hotband.views.accuracy.tables import COLUMNS, blocks, class_cells, goals_table, has_intervals

if TYPE_CHECKING:
    from hotband.data.documents.study import AccountDoc, MissedDoc, MissedErrorDoc

MARKS = ("<!-- accuracy: begin (make accuracy) -->", "<!-- accuracy: end -->")


def rewritable(path: Path, marks: tuple[str, str] = MARKS) -> tuple[str, str]:
    """Return the text of a page before and after the errors, between two marks. Raises UserError for a page without the
    marks."""
    try:
        page = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(str(path), "", "", f"cannot be read: {error}") from None
    begin, end = map(page.find, marks)
    if begin < 0 or end < begin:
        accepted = f"has no place for the errors: expected a line {marks[0]} and, after it, {marks[1]}"
        raise UserError(str(path), "", "", accepted)
    return page[: begin + len(marks[0])], page[end:]


def rewrite(path: Path, account: AccountDoc) -> None:
    """Write the errors into a page."""
    before, after = rewritable(path)
    write_file(path, f"{before}\n\n{page_text(account)}\n{after}")


def page_text(account: AccountDoc) -> str:
    """Return the text between the marks of the page."""
    shown = COLUMNS if has_intervals(account) else COLUMNS[:-1]
    heading = [f"{over}: {name}" if over else name for over, name in shown]
    texts = ("figures", "in its: range")
    table = Table("", [column("study"), *((column if name in texts else numeric)(name) for name in heading)])
    for name, classes in blocks(account):
        for n, figures in enumerate(classes):
            table.add(name if n == 0 else "", *class_cells(figures)[: len(shown)])
    goals = goals_table(account["goals"])
    parts = [
        "Errors, either way, in percent.",
        markdown_text([table]).strip(),
        "## Goals",
        markdown_text([replace(goals, title="")]).strip(),
        "## Misses",
        "Every measurement that is off by more than 25 %; in brackets the error of the blind prediction.",
    ]
    for name, study in account["studies"].items():
        parts += [f"### {name}", *(missed_text(study["missed"]) or ["Nothing."])]
    return "\n\n".join(parts) + "\n"


def missed_text(missed: Iterable[MissedDoc]) -> list[str]:
    """Return the figures that a study misses, by its explanations, each of which is printed once."""
    by_reason: dict[str, list[MissedDoc]] = {}
    for miss in missed:
        by_reason.setdefault(miss["why"], []).append(miss)
    parts: list[str] = []
    for why, cells in by_reason.items():
        further = next((why.removeprefix(part).strip() for part in parts if why.startswith(part)), why)
        parts += ["\n".join(lines_of(cells)), further or "Not explained."]
    return parts


def lines_of(cells: Iterable[MissedDoc]) -> Iterator[str]:
    """Yield one line for the cells of a configuration whose labels differ only in their end, such as a queue depth."""
    for (config, load), alike in groupby(cells, lambda cell: (cell["config"], cell["label"].rpartition(", ")[0])):
        ends = {cell["label"].removeprefix(f"{load}, "): ", ".join(map(error_text, cell["errors"])) for cell in alike}
        before = ", ".join(filter(None, (config, load)))
        between = " – " if len(ends) > 1 else ", "
        yield f"- {before}{between}{'; '.join(f'{end}: {errors}' for end, errors in ends.items())}"


def error_text(miss: MissedErrorDoc) -> str:
    """Format an error, and that of the blind prediction."""
    blind = miss["blind_error_pct"]
    return f"{miss['metric']} {percent(miss['error_pct'])}" + ("" if blind is None else f" ({percent(blind)})")
