"""Is foreign text shown as data, never as markup, orders to a terminal or formulas?"""

from __future__ import annotations

import io
import json

import pytest
from foreign_names import ESCAPES, MARKUP, NAMES, ORDERS
from hypothesis import given
from hypothesis import strategies as st

from hotband.base.foreign import console, csv_cell, json_text, marked, shortened, visible


def shown(*renderables: object) -> str:
    """What a console of hotband writes."""
    file = io.StringIO()
    out = console(file, 200)
    for renderable in renderables:
        out.print(renderable)
    return file.getvalue()


def test_control_characters_are_written_as_escapes() -> None:
    assert visible("a\x1b[2J\x9b\u202e\n\udc80") == "a\\x1b[2J\\x9b\\u202e\\n\\x80"


@given(st.text(st.characters(codec=None)))
def test_what_is_visible_can_be_encoded_and_orders_nothing(text: str) -> None:
    found = visible(text)
    found.encode()
    assert not any(order in found for order in (*ORDERS, "\n"))
    assert visible(found) == found


@given(st.text(st.characters(codec=None)))
def test_markup_around_foreign_text_keeps_the_text(text: str) -> None:
    assert marked("[bold]{text}[/]!", text=text).plain == f"{visible(text)}!"


@pytest.mark.parametrize("name", NAMES)
def test_lines_titles_and_cells_show_names_as_they_are(name: str) -> None:
    from rich.table import Table

    table = Table(title=name, caption=name)
    table.add_column(name)
    table.add_row(name)
    written = shown(name, table)
    assert not any(order in written for order in ORDERS)
    if "\n" not in name:
        assert written.count(visible(name)) >= 5 or name == ""


def test_our_own_markup_is_markup() -> None:
    assert shown(marked("[bold]{name}[/] b", name=MARKUP)) == f"{MARKUP} b\n"


def test_a_document_escapes_what_is_not_shown_and_keeps_the_data() -> None:
    data = {ESCAPES: [*NAMES]}
    text = json_text(data)
    assert not any(order in text for order in ORDERS)
    text.encode()
    assert json.loads(text) == data


def test_a_long_value_is_echoed_with_its_length() -> None:
    assert shortened("x" * 80) == "x" * 80
    assert shortened("x" * 10_000_000) == "x" * 80 + "... (10,000,000 characters)"


@pytest.mark.parametrize("cell", ["=1+1", "+a", "-a", "@a", "\t=1", "\r=1"])
def test_a_cell_that_a_spreadsheet_would_run_is_text(cell: str) -> None:
    assert csv_cell(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["a", "-1.5", "+3e4", "a=1", "", -1.5, 3, None])
def test_numbers_and_plain_texts_stay_as_they_are(cell: object) -> None:
    assert csv_cell(cell) == cell
