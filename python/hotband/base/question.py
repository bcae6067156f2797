"""Questions: frozen dataclasses whose fields declare their meaning once.

    @dataclass(frozen=True, kw_only=True)
    class ReliabilityQuestion(Question):
        '''Say how long an array keeps its data.'''

        on: Machine = asks("A drive, LAYOUT:COUNTxDRIVE, or a TOML file.", metavar="MACHINE", positional=True)
        spares: int = asks("Spare drives in stock.", default=0, least=0, most=64)


A function of the question and its `Way` answers it; a line of `hotband.faces.questions` names both. Its command,
Python function, form on the page and reference entry are generated from it (`hotband.faces.asked`). The first
paragraph of the class's docstring is the command's help; the others are for Python only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, get_args, get_type_hints

from hotband.base.errors import UserError
from hotband.base.fields import in_words, register
from hotband.base.text.quantities import quantity_text, timed_text

if TYPE_CHECKING:
    from hotband.base.guess import Guess

KEY = "question"


@dataclass(frozen=True)
class Says:
    """Meaning of a field. `text` is a sentence that follows its name, in which other fields are `question.NAME`;
    `metavar` represents its value; `least` and `most` bound a number, `takes` describes the values if bounds are not
    enough. `called` is the name of its option if it differs from the field's, `short` its letter. A `positional` field
    is an argument of the command and of the function; the name of an `ordered` one may be omitted in a call of the
    function, and on the command line it is an option. A field `hidden` from Python is for the terminal only (how much
    is shown), an `only_python` one for Python only (objects that a program continues with). If a field that `lists` is
    missing, the command prints a list; Python requires the field. A text that states a quantity has the `unit` of
    Python's plain numbers, of which those below `least` are refused: their writer means another unit. Texts that are
    `timed` are events or failures, each with its time."""

    text: str
    metavar: str = ""
    least: float | None = None
    most: float | None = None
    called: str = ""
    short: str = ""
    positional: bool = False
    ordered: bool = False
    hidden: bool = False
    takes: str = ""
    only_python: bool = False
    lists: bool = False
    unit: str = ""
    timed: bool = False


def asks(
    text: str,
    *,
    default: Any = dataclasses.MISSING,
    metavar: str = "",
    least: float | None = None,
    most: float | None = None,
    called: str = "",
    short: str = "",
    positional: bool = False,
    ordered: bool = False,
    hidden: bool = False,
    takes: str = "",
    only_python: bool = False,
    lists: bool = False,
    unit: str = "",
    timed: bool = False,
) -> Any:
    """Return a field of a question; its arguments are those of `Says`."""
    says = Says(
        text, metavar, least, most, called, short, positional, ordered, hidden, takes, only_python, lists, unit, timed
    )
    return field(default=default, metadata={KEY: says})


def seed(text: str = "Seed of the random numbers.", default: int | None = 1) -> Any:
    """Return the field `seed`."""
    return asks(text, default=default, least=0, most=2**64 - 1)


def jobs() -> Any:
    """Return the field `jobs`."""
    return asks("Number of runs at a time. Default: all cores.", default=None, least=1)


def out() -> Any:
    """Return the field `out`: the folder of runs."""
    return asks("Folder for the output.", default=None, metavar="DIR")


def into() -> Any:
    """Return the field `into`."""
    return asks("Also add every run to this store (hotband store).", default=None, metavar="DIR")


def duration() -> Any:
    """Return the field `duration`."""
    return asks('Measured time of a step, as "60 s".', default=None, metavar="TIME", unit="s")


def capacity(text: str, default: Any = dataclasses.MISSING) -> Any:
    """Return a field for the capacity of drives. A plain number below 1 GB is more likely in TB than in bytes."""
    return asks(text, default=default, metavar="SIZE", unit="B", least=10**9)


def rate(text: str) -> Any:
    """Return the field `rate` of an open loop, or of a script's transactions."""
    return asks(text, default=None, metavar="IOPS")


def slo() -> Any:
    """Return the field `slo` of a question that runs something."""
    return asks('An objective, such as "p99 < 1 ms": is it met?', default=None, metavar="CONDITIONS")


def precision() -> Any:
    """Return the field `precision`."""
    text = 'Stop at this precision of rates, such as "1 %"; off: whole runs.'
    return asks(text, default=None, metavar="PERCENT")


def fresh(*, hidden: bool = False) -> Any:
    """Return the field `fresh`, which is for a folder."""
    text = "Start over; otherwise runs already in the folder are not repeated."
    return asks(text, default=False, hidden=hidden)


@dataclass(frozen=True)
class Way:
    """Callbacks and settings for answering a question: `watch` shows progress under a title, `say` receives messages
    for the user. With `on_terminal` a question may show its own progress on stderr. `before_saving` receives an
    answer before it is saved, which may fail; `shows` receives an intermediate result, such as a plan. For questions
    that write to hardware, `may_write` returns whether the planned writes may start, and `can_ask` whether a user can
    confirm; both receive whether `yes` was given. `prompt` returns the user's reply to a text; None if no user can
    reply. `executor` is the named executor, for an answer that continues later; `again` formats a question in the words
    of the face, so that an answer can print how to repeat it. An answer that is shown `as_text` may write a page in
    addition to its files."""

    watch: Callable[[str], AbstractContextManager[Any]]
    say: Callable[[str], None]
    on_terminal: bool = False
    before_saving: Callable[[Any], None] = lambda _: None
    shows: Callable[[Any], None] = lambda _: None
    may_write: Callable[[bool], bool] = lambda _: True
    can_ask: Callable[[bool], bool] = lambda _: True
    prompt: Callable[[str], str] | None = None
    executor: Any = None
    as_text: bool = False
    again: Callable[[Question], str] = lambda question: question.name


class NotAgreed(Exception):
    """The user declined to write to hardware."""


@dataclass(frozen=True)
class Ending:
    """The end of a command after it printed the answer: its exit code, and a sentence on stderr."""

    code: int
    says: str = ""


INVALID = "INVALID"
"""The word for a result that is not the drive's, because the host did not keep up or the load differs."""


def invalid_ending(notes: Iterable[str]) -> Ending | None:
    """Return exit code 1 if a note states that a result is invalid: a script must not use it. None otherwise."""
    reason = next((note for note in notes if note.startswith(INVALID)), None)
    return None if reason is None else Ending(1, f"exit code 1, because a result is {reason}")


@dataclass(frozen=True)
class Field:
    """A field of a question: its name, type, meaning and default."""

    name: str
    type: Any
    says: Says
    default: Any

    @property
    def is_needed(self) -> bool:
        """Return whether the question requires the field."""
        return self.default is dataclasses.MISSING

    @property
    def option(self) -> str:
        """Return the field's option on the command line, unless it is an argument."""
        return f"--{self.says.called or self.name.replace('_', '-')}"

    @property
    def base(self) -> Any:
        """Return the field's type without None."""
        several = [get_arg for get_arg in get_args(self.type) if get_arg is not type(None)]
        is_optional = type(None) in get_args(self.type)
        return several[0] if is_optional and len(several) == 1 else self.type


@dataclass(frozen=True, kw_only=True)
class Question:
    """Base of questions. `name` is that of the command ("trace fit" of a command in a group), `schema` that of the
    answer as JSON, `answers` its type ("module:Class"); a list of documents that name their own schema has none. One
    that `runs` shows progress, and accepts an executor if it `has_executor`; one that `has_page` writes its answer as a
    page by the method that `writes` it, to the file that `page_field` names. Its answer is printed as JSON if it
    `has_json`. One that runs
    `in_rounds` reports the saved part of the round after an interruption. Results of the types `on_the_way` are shown
    before the answer, or in its place. The Python function of one that `tells` calls `progress` with sentences; that of
    one `as_frame` returns the `frame` of the answer, and a `with` block of Python is of the type that one `enters`.
    `shown` are the types that the terminal prints if the function returns another."""

    name: ClassVar[str]
    schema: ClassVar[str]
    answers: ClassVar[str]
    runs: ClassVar[bool] = False
    has_executor: ClassVar[bool] = True
    has_json: ClassVar[bool] = True
    has_page: ClassVar[bool] = False
    writes: ClassVar[str] = "write_html"
    page_field: ClassVar[str] = "output"
    in_rounds: ClassVar[bool] = False
    on_the_way: ClassVar[tuple[str, ...]] = ()
    shown: ClassVar[tuple[str, ...]] = ()
    tells: ClassVar[bool] = False
    as_frame: ClassVar[bool] = False
    enters: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Check bounds of numbers and words, and set units of quantities. Raises UserError for the first value that
        does not fit."""
        for field_ in fields_of(type(self)):
            value = getattr(self, field_.name)
            if field_.says.unit:
                object.__setattr__(self, field_.name, quantity_text(value, field_.says.unit))
            if field_.says.timed:
                object.__setattr__(self, field_.name, tuple(map(timed_text, value)))
            check(field_, value)

    def __init_subclass__(cls) -> None:
        """Register the question's fields for errors."""
        register(cls.__annotations__)

    def written(self, result: Any, page: Path | None) -> list[str]:
        """Write the answer if requested; return the message about it. Raises UserError, OSError."""
        return [] if page is None else [f"Page: {getattr(result, self.writes)(page)}"]

    def document(self, result: Any) -> tuple[Any, str]:
        """Return the answer as JSON, and its schema. A list has `rows` and no schema, and None is not printed."""
        if not hasattr(result, "to_dict"):
            return result.rows, ""
        return result.to_dict(), getattr(result, "schema", self.schema)

    def written_json(self, result: Any) -> str:
        """Return the answer as JSON to print unchanged, if a run wrote it; "" otherwise."""
        return ""

    def text(self, result: Any) -> str:
        """Return the text that the terminal prints unchanged, if the answer is a text; its views then go to stderr."""
        return ""

    def files(self) -> Sequence[Path]:
        """Return the records that it reads: a missing part is a mistake in the record."""
        return ()

    def guesses(self) -> Sequence[Guess]:
        """Return the ambiguous readings of its files, which a face prints with the answer."""
        return ()

    def afterwards(self) -> str:
        """Return a sentence to print below an answer."""
        return ""

    def in_python(self, result: Any) -> Any:
        """Return the result of its Python function."""
        return result

    def ending(self, result: Any) -> Ending | None:
        """Return how a command ends with this answer; None for the normal end."""
        return None


def fields_of(question: type[Question]) -> tuple[Field, ...]:
    """Return the fields in the order in which they are declared."""
    if "_fields" not in vars(question):
        hints = get_type_hints(question, include_extras=True)
        made = tuple(
            Field(attribute.name, hints[attribute.name], attribute.metadata[KEY], attribute.default)
            for attribute in dataclasses.fields(question)
        )
        type.__setattr__(question, "_fields", made)
    fields: tuple[Field, ...] = vars(question)["_fields"]
    return fields


def terminal_fields_of(question: type[Question]) -> tuple[Field, ...]:
    """Return the fields that its command has."""
    return tuple(field_ for field_ in fields_of(question) if not field_.says.only_python)


def check(field_: Field, value: Any) -> None:
    """Raise UserError for a number out of bounds, and for an empty list of required values."""
    least, most = field_.says.least, field_.says.most
    if value == () and field_.is_needed:
        raise UserError(f"question.{field_.name}", "", "[]", f"expected {field_.says.takes or 'at least one'}")
    if value is None or (least is None and most is None):
        return
    for number in value if isinstance(value, tuple) else (value,):
        if isinstance(number, str):
            # The text of a quantity names its unit.
            continue
        if not ((least is None or number >= least) and (most is None or number <= most)):
            accepted = _readings(shown(number)) if field_.says.unit else f"expected {ends(field_)}"
            raise UserError(f"question.{field_.name}", "", shown(number), accepted)


def _readings(number: str) -> str:
    """Describe the possible meanings of a plain number for a capacity."""
    return f'is {number} B or {number} TB: expected text with its unit, such as "{number} TB"'


def word(field_: Field, value: object) -> StrEnum:
    """Return the word of a field that takes one of several. Raises UserError for another."""
    words: type[StrEnum] = field_.base
    if value not in list(words):
        raise UserError(f"question.{field_.name}", "", str(value), f"expected one of {', '.join(words)}")
    return words(str(value))


def ends(field_: Field) -> str:
    """Describe the allowed values of a numeric field."""
    if field_.says.takes:
        return field_.says.takes
    kind = "a whole number" if field_.base is int else "a number"
    least, most = (None if end is None else shown(end) for end in (field_.says.least, field_.says.most))
    if least is None:
        return f"{kind} up to {most}"
    return f"{kind} from {least} on" if most is None else f"{kind} from {least} to {most}"


def shown(number: float) -> str:
    """Format a number for an error."""
    return "2^64 - 1" if number == 2**64 - 1 else f"{number:,}" if isinstance(number, int) else f"{number:g}"


def summary(question: type[Question]) -> str:
    """Return the first paragraph of its docstring, in one line."""
    return " ".join(cleandoc(question.__doc__ or "").partition("\n\n")[0].split())


def in_words_of(question: type[Question], field_: Field, word: Callable[[Field], str]) -> str:
    """Return the meaning of a field, with other fields named by their `word`."""
    by_name = {other.name: other for other in fields_of(question)}
    return in_words(field_.says.text, lambda name: word(by_name[name]))


def further(question: type[Question]) -> str:
    """Return its docstring after the first paragraph."""
    return cleandoc(question.__doc__ or "").partition("\n\n")[2]


def given(question: Question) -> Iterator[tuple[Field, Any]]:
    """Yield the fields that differ from their defaults, with their values."""
    for field_ in fields_of(type(question)):
        value = getattr(question, field_.name)
        if field_.is_needed or value != field_.default:
            yield field_, value
