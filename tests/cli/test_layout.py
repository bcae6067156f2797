"""Do tables fit, whatever is in them and however narrow it is, with no number cut?"""

from __future__ import annotations

import re
from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from hotband.base.foreign import console, marked
from hotband.base.text.layout import fitted, hanging
from hotband.base.text.table import Table, column, numeric

WORDS = "a note that goes on for longer than any terminal is wide, word after word, and then some more words"


def table(columns: int, rows: int = 3) -> Table:
    """Numbers of up to nine characters, with names before and a note after them."""
    figures = [numeric(f"p{number} latency, ms") for number in range(columns)]
    made = Table("A title", [column("name"), *figures, column("note")])
    for row in range(rows):
        made.add(f"stream-{row}", *[1_234_567 * (row + 1) + number for number in range(columns)], WORDS)
    return made


def parts_of(made: Table, out: Console) -> list[RichTable]:
    """The tables below the title."""
    return [one for one in fitted(made, out) if isinstance(one, RichTable)]


def printed(made: Table, width: int) -> str:
    """The table, or its parts, as text."""
    out = console(StringIO(), width=width)
    for one in fitted(made, out):
        out.print(one)
    return out.file.getvalue()


@pytest.mark.parametrize("width", [40, 80, 150])
@pytest.mark.parametrize("columns", [0, 1, 5, 12])
def test_nothing_is_wider_than_the_terminal_and_no_number_is_cut(columns: int, width: int) -> None:
    text = printed(table(columns), width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    found = set(re.findall(r"\d,[\d,]+\d", text))
    expected = {f"{1_234_567 * (row + 1) + number:,}" for row in range(3) for number in range(columns)}
    assert found == expected
    assert "…" not in text


def test_what_fits_is_one_table_and_what_does_not_is_several_that_begin_alike() -> None:
    out = console(StringIO(), width=80)
    assert len(parts_of(table(2), out)) == 1
    parts = parts_of(table(12), out)
    assert len(parts) > 1
    assert {part.columns[0].header for part in parts} == {"name"}
    assert str(fitted(table(12), out)[0]) == "A title"


def test_every_part_begins_with_the_columns_that_tell_its_rows_apart() -> None:
    names = ("machine", "queue depth", "block size")
    made = Table("", [*map(column, names), *(numeric(f"p{number} latency, ms") for number in range(8))])
    for depth, size in ((1, "4 KiB"), (1, "64 KiB"), (2, "4 KiB"), (2, "64 KiB")):
        made.add("ent-10k", str(depth), size, *[123_456_789] * 8)
    out = console(StringIO(), width=80)
    parts = parts_of(made, out)
    assert len(parts) > 1
    keys = {tuple(column.header for column in part.columns[:3]) for part in parts}
    assert keys == {("machine", "queue depth", "block size")}
    # Where these would take most of the room, the first alone is repeated.
    narrow = parts_of(made, console(StringIO(), width=40))
    assert {part.columns[0].header for part in narrow} == {"machine"}
    assert all("block size" not in {column.header for column in part.columns} for part in narrow[2:])


def test_words_of_a_note_are_all_there() -> None:
    assert set(WORDS.split()) <= set(printed(table(4, rows=1), 80).replace("│", " ").replace("┃", " ").split())


def test_a_table_without_rows_is_a_table() -> None:
    assert "name" in printed(table(3, rows=0), 80)


@pytest.mark.parametrize("width", [40, 79, 80])
def test_a_line_hangs_below_its_beginning_and_keeps_its_words(width: int) -> None:
    line = f"  note: {WORDS}, {WORDS}"
    first, *others = hanging(Text(line), width).plain.split("\n")
    assert first.startswith("  note: a note")
    assert others
    assert all(one.startswith("    ") and one[4] != " " for one in others)
    assert max(map(len, [first, *others])) <= width
    assert " ".join([first, *(one.strip() for one in others)]) == line


def test_a_word_that_is_longer_than_the_line_stays_whole() -> None:
    path = "/a-folder/" + "x" * 90
    assert hanging(Text(f"Record: {path}"), 80).plain == f"Record:\n  {path}"
    assert hanging(Text(""), 80).plain == ""


def test_a_number_stays_beside_its_unit() -> None:
    assert hanging(Text("mean 12.25 ms, p99 24.86 ms"), 26).plain == "mean 12.25 ms, p99\n  24.86 ms"


def test_a_folded_line_keeps_its_colours() -> None:
    text = hanging(marked("[red]one two[/] three"), 10)
    assert text.plain == "one two\n  three"
    assert [(text.plain[span.start : span.end], str(span.style)) for span in text.spans] == [("one two", "red")]


def test_a_number_that_is_wider_than_the_terminal_is_folded_whole() -> None:
    made = Table("", [column("name"), numeric("value")])
    made.add("x" * 30, int("9" * 100))
    text = printed(made, 40)
    assert max(cell_len(line) for line in text.splitlines()) <= 40
    assert text.count("9") == 100
