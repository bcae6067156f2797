"""Values of expressions: arithmetic on numbers and lists of them, comparison, and the limits of both.

Expressions come with a study that a stranger may have written. Every operation counts towards `MOST_STEPS`, no text or
list grows beyond `LONGEST`, and there is no power, no repetition of texts and no `range`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeAlias

Value: TypeAlias = Any
"""None if a number is missing, a truth value, a number, a text, a list or a mapping."""

MOST_STEPS = 1_000_000
CHARACTERS_OF_STEP = 64
LONGEST = 100_000
LARGEST_WHOLE = 1 << 64


class RefusedValueError(ValueError):
    """An operation that its values do not allow; the text states the accepted ones."""


class Steps:
    """Counts the operations of all expressions of a study."""

    def __init__(self) -> None:
        self.taken = 0

    def take(self, count: int = 1) -> None:
        """Count operations. Raises RefusedValueError beyond the limit."""
        self.taken += count
        if self.taken > MOST_STEPS:
            raise RefusedValueError(f"takes more than {MOST_STEPS:,} steps; expected fewer or shorter lists")

    def take_text(self, length: int) -> None:
        """Count the characters of a text, so that all texts together fit into memory."""
        self.take(length // CHARACTERS_OF_STEP)

    def counted(self, values: Value, length: int = 0) -> list[Value]:
        """Return the items of a loop and count each, with the `length` of the text that a turn prints. A mapping gives
        its keys."""
        if not isinstance(values, list | tuple | Mapping):
            raise RefusedValueError(f"loops over {kind_of(values)}; expected a list")
        self.take(len(values))
        self.take_text(len(values) * length)
        return list(values)

    def made(self, value: Value) -> Value:
        """Count a value that an operation made, and return it. Raises RefusedValueError as `short_enough` does."""
        if isinstance(value, str):
            self.take_text(len(value))
        return short_enough(value)

    def weigh(self, value: Value) -> None:
        """Count every item of nested lists, and their characters."""
        self.take()
        if isinstance(value, str):
            self.take_text(len(value))
        elif isinstance(value, list | tuple):
            for item in value:
                self.weigh(item)


def kind_of(value: Value) -> str:
    """Name the kind of a value: `a number`, `a list`, `nothing`."""
    if is_number(value):
        return "a number"
    kinds = {type(None): "nothing", bool: "true or false", str: "a text", list: "a list", tuple: "a list"}
    return kinds.get(type(value), "a mapping" if isinstance(value, Mapping) else "no value")


def is_number(value: Value) -> bool:
    """Return whether a value is a number, which true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def short_enough(value: Value) -> Value:
    """Return the value, a whole number beyond 64 bits as a float. Raises RefusedValueError for a text or a list that
    is too long, and for a number that is not finite."""
    if isinstance(value, str | list | tuple) and len(value) > LONGEST:
        raise RefusedValueError(f"makes {kind_of(value)} longer than {LONGEST:,}; expected a shorter one")
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise RefusedValueError(f"makes {value}; expected a finite number")
    return value


def elementwise(steps: Steps, function: Callable[..., Value]) -> Callable[..., Value]:
    """Let a function of single values take lists as well, and return a list of its results. Lists in one call have one
    length; the other arguments are the same for all items."""

    @wraps(function)
    def call(*arguments: Value, **named: Value) -> Value:
        lengths = {len(argument) for argument in arguments if isinstance(argument, list | tuple)}
        steps.take()
        if not lengths:
            return steps.made(function(*arguments, **named))
        if len(lengths) > 1:
            different = " and ".join(map(str, sorted(lengths)))
            raise RefusedValueError(f"has lists of {different} items; expected one length")
        turns = (
            [argument[at] if isinstance(argument, list | tuple) else argument for argument in arguments]
            for at in range(lengths.pop())
        )
        return [call(*turn, **named) for turn in turns]

    return call


def arithmetic(symbol: str, left: Value, right: Value) -> Value:
    """Apply `+`, `-`, `*`, `/` or `//` to two numbers, or `+` to two texts. None if a side is missing, and for a
    division by zero."""
    if left is None or right is None:
        return None
    if symbol == "+" and isinstance(left, str) and isinstance(right, str):
        return left + right
    if symbol not in ARITHMETIC:
        raise RefusedValueError(f"has the operator {symbol}; expected one of {' '.join(ARITHMETIC)}")
    if not (is_number(left) and is_number(right)):
        raise RefusedValueError(f"has {kind_of(left)} {symbol} {kind_of(right)}; expected numbers")
    if symbol in ("/", "//") and right == 0:
        return None
    return ARITHMETIC[symbol](left, right)


ARITHMETIC: dict[str, Callable[[Value, Value], Value]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
}
ORDER: dict[str, Callable[[Value, Value], bool]] = {
    "lt": operator.lt,
    "lteq": operator.le,
    "gt": operator.gt,
    "gteq": operator.ge,
}
EQUALITY: dict[str, Callable[[Value, Value], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "in": lambda item, values: item in values,
    "notin": lambda item, values: item not in values,
}


def compare(name: str, left: Value, right: Value) -> bool | None:
    """Compare two numbers or two texts by an operator of `ORDER`; None if a side is missing."""
    if left is None or right is None:
        return None
    if not ((is_number(left) and is_number(right)) or (isinstance(left, str) and isinstance(right, str))):
        raise RefusedValueError(f"compares {kind_of(left)} with {kind_of(right)}; expected two numbers")
    return ORDER[name](left, right)


def flat(values: Value) -> list[Value]:
    """Return the items of a list, and of the lists in it, as one list."""
    if not isinstance(values, list | tuple):
        return [values]
    items: list[Value] = []
    for value in values:
        items += flat(value)
        short_enough(items)
    return items
