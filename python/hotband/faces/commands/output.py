"""Options and printing shared by all commands. Tables go to stdout; under --json stdout carries only data."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from hotband.base.errors import UserError
from hotband.base.foreign import console, data_in, json_in, json_safe, json_text, visible
from hotband.base.text.formats import FORMATS, PRINTED, as_rows, begin, plain
from hotband.base.text.quantities import in_units
from hotband.base.text.table import Table, View, Whole
from hotband.data.inputs.words import key_of_setting, twice
from hotband.views.text.screen import NEXT, Screen, indent_below

if TYPE_CHECKING:
    from rich.text import Text

W = TypeVar("W")
DetailsFlag = Annotated[bool, typer.Option("--details", help="Print the evidence below the answer.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print data as JSON to stdout, and nothing else.")]


def finish() -> None:
    """Print the stored tables."""
    if PRINTED.tables:
        sys.stdout.write(data_in(FORMATS[PRINTED.form].tables(PRINTED.tables), sys.stdout.encoding))
    begin()


def show(*views: View) -> None:
    """Print views to stdout, with every plain string as data (`hotband.base.foreign`): tables within the width of the
    terminal (80 columns, or COLUMNS, without one), lines of text unfolded if there is no terminal. In a format of
    tables only, words go to stderr."""
    from hotband.base.text.layout import fitted

    form, out = FORMATS.get(PRINTED.form), console()
    for view in views:
        is_table = isinstance(view, Table)
        if form is None:
            for part in fitted(view, out) if isinstance(view, Table) else [view]:
                out.print(part, soft_wrap=not is_table and not out.is_terminal)
        elif isinstance(view, Table):
            if form.words is None:
                PRINTED.tables.append(view)
            else:
                sys.stdout.write(form.tables([view]))
        elif form.words is not None:
            sys.stdout.write(form.words(plain(view)))
        elif plain(view):
            say(plain(view))


def show_lines(lines: Iterable[str | Text]) -> None:
    """Print lines of words to stdout, folded within the width of tables."""
    from hotband.base.text.layout import hanging

    if as_rows():
        return show(*lines)
    out = console()
    return show(*(hanging(out.render_str(line) if isinstance(line, str) else line, out.width) for line in lines))


def show_views(views: Iterable[View]) -> None:
    """Print tables and whole lines, and other words folded within the width of tables."""
    for view in views:
        if isinstance(view, Table | Whole):
            show(view)
        else:
            show_lines([view])


def show_answer(shown: Screen, details: bool, written: Sequence[str] = ()) -> None:
    """Print an answer as a screen, with the `written` files, and with `details` its evidence; in a format of tables
    only the evidence."""
    if as_rows():
        show_views(shown.details)
        return show_lines(written)
    return _show_screen(shown.views(details, written))


def _show_screen(views: Iterable[View]) -> None:
    """Print tables and paragraphs of words; only remarks are indented below their sign."""
    from hotband.base.text.layout import hanging

    out = console()
    for view in views:
        if isinstance(view, Table):
            show(view)
        else:
            line = out.render_str(view) if isinstance(view, str) else view
            deeper = indent_below(line.plain)
            # A command may be copied, so it stays on its line.
            folded = line if line.plain.startswith(NEXT) else hanging(line, out.width, deeper)
            out.print(folded, soft_wrap=True)


def say(text: str) -> None:
    """Print a sentence for the user to stderr."""
    sys.stderr.write(f"{visible(text)}\n")


def print_after(write: Callable[[], W | None], printed: Callable[[W | None], object]) -> None:
    """Write a page, then print: the reader of the output may stop after a few lines. If the page cannot be written,
    print without its path and raise the error afterwards: the computation may have taken hours."""
    try:
        written = write()
    except Exception:
        printed(None)
        raise
    printed(written)


def print_json(document: Mapping[str, object], schema: str) -> None:
    """Print a document with its schema to stdout; one that states its schema is unchanged."""
    from hotband.base.text.schema import with_schema

    _write_json(json_text(with_schema(document, schema)))


def print_text(text: str) -> None:
    """Print a document that is already text to stdout, unchanged."""
    _write_json(json_safe(text))


def print_rows(rows: Sequence[object]) -> None:
    """Print a list to stdout: rows of a table, or documents with their schemas."""
    _write_json(json_text(rows))


def _write_json(document: str) -> None:
    sys.stdout.write(json_in(document, sys.stdout.encoding) + "\n")


def listed(arguments: list[str] | None) -> list[str]:
    """Return names from arguments that may hold several, separated by commas, without duplicates."""
    return list(dict.fromkeys(all_listed(arguments)))


def all_listed(arguments: list[str] | None) -> list[str]:
    """Return names as `listed` does, with duplicates."""
    names = (name.strip() for argument in arguments or [] for name in argument.split(","))
    return [name for name in names if name]


def parse_set(pairs: list[str], *, of_load: bool = True) -> tuple[tuple[str, str], ...]:
    """Return `KEY=VALUE` arguments as pairs; with `of_load`, an option name of fio becomes Hotband's key."""
    parsed: dict[str, tuple[str, str]] = {}
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not key or not value:
            raise UserError("--set", "", pair, "expected KEY=VALUE, such as --set qd=16")
        name = key_of_setting(key, value) if of_load else key
        if (before := parsed.get(name)) is not None:
            raise twice("--set", key, value, *before)
        parsed[name] = key, in_units(value)
    return tuple((key, value) for key, (_, value) in parsed.items())
