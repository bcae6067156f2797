"""Build the command of a question from its fields."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from hotband.base.errors import UserError
from hotband.base.foreign import marked
from hotband.base.question import (
    Ending,
    Field,
    NotAgreed,
    Question,
    Way,
    fields_of,
    in_words_of,
    summary,
    terminal_fields_of,
)
from hotband.base.text.formats import as_rows
from hotband.base.text.pipes import with_pipes
from hotband.base.text.table import View
from hotband.base.text.write import expect_page
from hotband.base.views import view_of
from hotband.data.catalog.named import EMULATED, is_family, is_real
from hotband.data.inputs.reports import product_in
from hotband.data.inputs.specify import Named, rate_text
from hotband.data.inputs.texts import text_of
from hotband.execution.experiment.progress import run_progress
from hotband.execution.runs.interrupted import RunsInterrupted
from hotband.execution.runs.signals import INTERRUPTED
from hotband.faces.asked.kinds import guesses_of, is_lines, is_settings, is_word, machines_of, mark
from hotband.faces.asked.words import BETWEEN, opposite, words
from hotband.faces.commands import names, real
from hotband.faces.commands.epilogs import EPILOGS, FURTHER
from hotband.faces.commands.executors import on_executor
from hotband.faces.commands.on_demand import with_epilog
from hotband.faces.commands.output import (
    DetailsFlag,
    JsonFlag,
    all_listed,
    listed,
    parse_set,
    print_after,
    print_json,
    print_rows,
    print_text,
    say,
    show_answer,
    show_lines,
    show_views,
)
from hotband.faces.questions import QUESTIONS, answer, declared, reading
from hotband.inference.traces.asked import TOO_MUCH, TraceQuestion, columns_of
from hotband.views.text.screen import DETAILS as DETAILS_OPTION
from hotband.views.text.screen import Screen

if TYPE_CHECKING:
    from hotband.base.guess import Guess

AS_JSON = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=JsonFlag)
DETAILS = inspect.Parameter("details", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=DetailsFlag)


def page_of(question: type[Question]) -> inspect.Parameter:
    """Return the parameter for the path of the page."""
    option = typer.Option("-o", f"--{question.page_field}", metavar="FILE.html", help="Write the answer as a web page.")
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(question.page_field, keyword, default=None, annotation=Annotated[Path | None, option])


@cache
def __getattr__(name: str) -> Any:
    """Return the command of a question, by its name."""
    if name not in QUESTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _command(declared(name))


@dataclass(frozen=True)
class Kind:
    """A kind of field on the command line: the type of typer's parameter, the completion in the shell, and the function
    that converts an argument to the value of the field."""

    type: Any
    value: Callable[[Any], Any] = lambda given: given
    completion: Mapping[str, Any] = field(default_factory=dict)


def _machine(name: str) -> Named:
    product = product_in(name)
    if product is not None:
        return Named(product)
    has_text = not (is_real(name) or is_family(name))
    return Named(name, text_of(name.removeprefix(EMULATED), "machine") if has_text else None)


def _workload(name: str) -> Named:
    return Named(name, text_of(name, "workload"))


def _sides(arguments: list[Path]) -> tuple[tuple[Path, ...], ...]:
    """Return the paths of each side: those between the words `vs`, if there are any; else one per side; for one folder,
    its series."""
    groups: list[list[Path]] = [[]]
    if len(arguments) == 1:
        from hotband.data.results.walk import series_in

        arguments = series_in(arguments[0]) or arguments
    if BETWEEN not in map(str, arguments):
        groups = [[path] for path in arguments]
    else:
        for path in arguments:
            if str(path) == BETWEEN:
                groups.append([])
            else:
                groups[-1].append(path)
    if len(groups) < 2 or not all(groups):
        accepted = f"expected results of two sides or more: A B, or A A2 {BETWEEN} B B2"
        raise UserError("compare", "", " ".join(map(str, arguments)), accepted)
    return tuple(map(tuple, groups))


def _lines(arguments: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return `--key value` and `--key=value` as pairs. Raises UserError for other arguments, and for a repeated key."""
    given: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        option, equals, value = rest.pop(0).partition("=")
        if not option.startswith("--") or len(option) == 2:
            raise UserError(
                "LINE", "", option, 'expected one name, then lines of the data sheet, such as --capacity "16 TB"'
            )
        if not equals and not rest:
            raise UserError(option, "", "", "expected a value after it")
        if option[2:] in given:
            raise UserError(option, "", "", "is given twice; expected it once")
        given[option[2:]] = value if equals else rest.pop(0)
    return tuple(given.items())


SETTINGS = Kind(list[str], lambda given: parse_set(given or []), {"autocompletion": names.set_keys})
KINDS: Mapping[Any, Kind] = {
    **{plain: Kind(plain) for plain in (str, int, float, bool, Path)},
    "machine": Kind(str, _machine, names.MACHINE),
    "workload": Kind(str, _workload, names.WORKLOAD),
    "workloads": Kind(list[str], lambda given: tuple(_workload(name) for name in given or ()), names.WORKLOAD),
    "machines": Kind(list[str], lambda given: tuple(_machine(name) for name in given), names.MACHINE),
    "record": Kind(Path),
    "records": Kind(list[Path], lambda given: tuple(with_pipes(given or ()))),
    "sides": Kind(list[Path], lambda given: _sides(with_pipes(given))),
    "document": Kind(Path),
    "name or path": Kind(str),
    "paths": Kind(list[Path], lambda given: tuple(given or ())),
    "results": Kind(list[Path], lambda given: tuple(with_pipes(given))),
    "names": Kind(list[str], lambda given: tuple(listed(given))),
    "each name": Kind(list[str], lambda given: tuple(all_listed(given) or given or ())),
    "texts": Kind(list[str], lambda given: tuple(given or ())),
    "filters": Kind(list[str], lambda given: tuple(given or ())),
    "seeds": Kind(int),
    "alike workloads": Kind(str, lambda name: (_workload(name),), names.WORKLOAD),
    "key-values": Kind(list[str], lambda given: ",".join(given or [])),
    "share": Kind(str),
    "rate": Kind(str, lambda given: None if given is None else rate_text(given)),
    "study": Kind(str, completion=names.STUDY),
    "columns": Kind(str, columns_of),
    "target": Kind(str, completion=names.MACHINE),
    "workload name": Kind(str, completion=names.WORKLOAD),
    "daemon name": Kind(str, completion=names.DAEMON),
    "program name": Kind(str, completion=names.PROGRAM),
    "program place": Kind(str, completion=names.PROGRAM_PLACE),
    "drive words": Kind(list[str], lambda given: tuple(given or ()), {"autocompletion": names.drive_words}),
    "lines": Kind(typer.Context, lambda context: _lines(context.args)),
    "settings": SETTINGS,
    "values": SETTINGS,
    "axes": SETTINGS,
    "targets": Kind(list[str], tuple),
    "first targets": Kind(str, lambda name: (name,), names.MACHINE),
    "other targets": Kind(list[str], lambda given: tuple(given or ()), names.MACHINE),
    "drive": Kind(str, _machine, names.DRIVE),
    "settings of drives": SETTINGS,
    "settings of a program": Kind(
        list[str], lambda given: parse_set(given or [], of_load=False), {"autocompletion": names.program_settings}
    ),
}


def kind_of(field: Field) -> Kind:
    """Return the kind of a field; for a choice of words, their class."""
    return Kind(field.base) if is_word(field) else KINDS[mark(field)]


def option_of(field: Field) -> str:
    """Return the option of a field."""
    return "--set" if is_settings(field) else field.option


def parameter(question: type[Question], field: Field) -> inspect.Parameter:
    """Return a field as a parameter that typer reads."""
    says, kind = field.says, kind_of(field)
    if is_lines(field):  # typer passes its context, which has the options that no parameter names.
        return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, annotation=kind.type)
    is_optional = field.default is None or (not field.is_needed and bool(get_args(kind.type)))
    ends = {"min": says.least, "max": says.most} if kind.type in (int, float) else {}
    about: dict[str, Any] = {
        "metavar": says.metavar or None,
        "help": in_words_of(question, field, option_of),
        **ends,
        **kind.completion,
    }
    option = f"{option_of(field)}/{opposite(field)}" if field.default is True else option_of(field)
    # A flag without a negative word declares only its option; otherwise typer would make one of both.
    info = (
        typer.Argument(**about) if says.positional else typer.Option(*[says.short] * bool(says.short), option, **about)
    )
    default = inspect.Parameter.empty if field.is_needed else None if is_optional else field.default
    hint = kind.type | None if is_optional else kind.type
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[hint, info]
    )


def _question_of(question: type[Question], values: Mapping[str, Any]) -> Question:
    """Return the question of the command line. Raises UserError."""
    fields: dict[str, Any] = {}
    for shown in terminal_fields_of(question):
        value, kind = values[shown.name], kind_of(shown)
        fields[shown.name] = shown.default if value is None and not get_args(kind.type) else kind.value(value)
    return question(**fields)


def _files_in(values: Mapping[str, Any]) -> list[Path]:
    """Return the files among the arguments, which a page must not replace."""
    several = [value if isinstance(value, list) else [value] for value in values.values()]
    return [path for value in several for path in value if isinstance(path, Path) and path.is_file()]


@dataclass(frozen=True)
class Form:
    """The output form of an answer: JSON, or a screen, with its evidence if `details` are requested."""

    as_json: bool
    details: bool


def _print(question: Question, result: Any, form: Form, written: list[str], guesses: Sequence[Guess] = ()) -> None:
    lines = [marked("! {guess}.", guess=guess.sentence) for guess in guesses]
    if form.as_json or as_rows():
        for line in lines:
            say(line.plain)
        lines = []
    if form.as_json and (written_json := question.written_json(result)):
        return print_text(written_json)
    if form.as_json:
        document, schema = question.document(result)
        if document is None:
            return None
        return print_json(document, schema) if schema else print_rows(document)
    with reading(question):
        shown: Screen | Sequence[View] = view_of(result, "terminal")(result, question)
    if text := question.text(result):
        typer.echo(text, nl=False)
        for view in shown.details if isinstance(shown, Screen) else shown:
            say(str(view))
        return None
    if not isinstance(shown, Screen):  # a list, or a single entry
        show_views([*lines, *shown])
        return show_lines(written)
    more = [*lines, *shown.more]
    return show_answer(replace(shown, more=more, next=_typed(shown.next, question)), form.details, written)


def _typed(further: str | Question, question: Question) -> str:
    """Return the next command as typed; empty if it reads a pipe, whose data is already consumed."""
    if isinstance(further, Question):
        typed = [*words(further), *([DETAILS_OPTION] if further == question else [])]
        further = shlex.join(["hotband", *typed])
    read = [Path(word) for word in shlex.split(further)]
    return "" if any(path.exists() and not path.is_file() and not path.is_dir() for path in read) else further


WITHOUT_LIMIT = 1_000_000
"""Largest factor of unpacking that the engine accepts: no compression reaches it."""


def prompt(text: str) -> str:
    """Return the user's reply to a text."""
    return str(typer.prompt(text, default="", show_default=False))


def _end(ending: Ending | None) -> None:
    if ending is not None:
        if ending.says:
            say(f"hotband: {ending.says}")
        raise typer.Exit(ending.code)


def _unpacking(question: Question, way: Way) -> Any:
    """Return the answer. If a compressed file exceeds the unpacking limit, prompt on a terminal whether to read all of
    it."""
    try:
        return answer(question, way)
    except UserError as error:
        if way.prompt is None or not isinstance(question, TraceQuestion) or TOO_MUCH not in error.accepted:
            raise
        reply = way.prompt(f"{error.where} {error.accepted.partition(';')[0]}. Read it as a whole? [y/N]")
        if reply.strip().lower() not in ("y", "yes"):
            raise
        return answer(replace(question, unpack=WITHOUT_LIMIT), way)


def _command(question: type[Question]) -> Callable[..., Any]:
    """Return the function from which typer makes the command."""

    def run(*, as_json: bool = False, details: bool = False, **values: Any) -> None:
        form = Form(as_json, details)
        page = values.pop(question.page_field) if question.has_page else None
        query = _question_of(question, values)
        if page is not None:
            expect_page(f"--{question.page_field}", page, _files_in(values))
        folder = getattr(query, "out", None)
        existing: list[Any] = []
        way = Way(
            run_progress,
            say,
            on_terminal=True,
            before_saving=existing.append,
            shows=lambda result: None if as_json else _print(query, result, form, []),
            may_write=real.goes_on,
            can_ask=real.can_ask,
            prompt=prompt if sys.stdin.isatty() else None,
            as_text=not as_json,
            again=lambda question: shlex.join(["hotband", *words(question)]),
        )
        try:
            with real.interruptible(machines_of(query)):
                outcome = _unpacking(query, way)
        except NotAgreed:
            raise typer.Exit(INTERRUPTED) from None
        except RunsInterrupted as stop:
            if folder is None or not query.in_rounds:
                raise
            many = f"{len(stop.finished)} runs of this round are stored in {folder}"
            say(f"hotband: interrupted; {many}: the same command continues from there")
            raise typer.Exit(INTERRUPTED) from None
        except Exception:
            for outcome in existing:
                _print(query, outcome, form, [])
            raise
        guesses = guesses_of(query)
        print_after(
            lambda: query.written(outcome, page),
            lambda written: _print(query, outcome, form, written or [], guesses),
        )
        if not as_json and query.afterwards():
            say(query.afterwards())
        _end(query.ending(outcome))

    declared = [parameter(question, field) for field in terminal_fields_of(question)]
    page_parameter = [page_of(question)] if question.has_page else []
    parameters = [*declared, *page_parameter, DETAILS, *[AS_JSON] * question.has_json]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {item.name: item.annotation for item in parameters}
    run.__name__ = question.name
    run.__doc__ = "\n\n".join([summary(question), *FURTHER.get(question.name, [])])
    if any(map(is_lines, fields_of(question))):
        vars(run)["context_settings"] = {"allow_extra_args": True, "ignore_unknown_options": True}
    made: Callable[..., Any] = on_executor(run) if question.runs and question.has_executor else run
    return with_epilog(EPILOGS[question.name])(made) if question.name in EPILOGS else made
