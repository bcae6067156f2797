"""Expressions and templates of a study: jinja2's sandbox with the vocabulary of studies, and with nothing else.

Every expression is checked before anything runs: its syntax, what it is made of, the names in it, the functions that it
calls with how many arguments, and ids that it names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import jinja2
from jinja2 import nodes
from jinja2.parser import Parser
from jinja2.runtime import LoopContext
from jinja2.sandbox import SandboxedEnvironment

from hotband.base.errors import UserError
from hotband.base.text.nearest import hint
from hotband.questions.study.conclusions.values import (
    ARITHMETIC,
    EQUALITY,
    LONGEST,
    ORDER,
    RefusedValueError,
    Steps,
    Value,
    arithmetic,
    elementwise,
    kind_of,
    ordered,
    short_enough,
)

LONGEST_SOURCE = 10_000
LOOP_KEYS = ("first", "last", "index", "length")
MADE_OF = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign, nodes.Name, nodes.Const,
    nodes.List, nodes.Tuple, nodes.Dict, nodes.Pair, nodes.CondExpr, nodes.Getattr, nodes.Getitem, nodes.Slice,
    nodes.Call, nodes.Keyword, nodes.Filter, nodes.Test, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not,
    nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Neg, nodes.Pos, nodes.Concat,
)  # fmt: skip
"""What an expression or a template may be made of."""
EVALUATION_ERRORS = (
    ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError, jinja2.TemplateError,
)  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Where an expression is written: a file and a key in it."""

    file: str
    key: str

    def error(self, source: str, accepted: str) -> UserError:
        """The error of the expression that is written there."""
        return UserError(self.file, self.key, " ".join(source.split()), accepted)


@dataclass(frozen=True)
class Expression:
    """A compiled expression or template, with the names that it reads from outside."""

    place: Place
    source: str
    names: frozenset[str]
    evaluate: Callable[[Mapping[str, Value]], Value]

    def value(self, values: Mapping[str, Value]) -> Value:
        """Evaluate it. Raises UserError for what its values do not allow."""
        try:
            return self.evaluate(values)
        except RefusedValueError as error:
            raise self.place.error(self.source, str(error)) from None
        except EVALUATION_ERRORS as error:
            raise self.place.error(self.source, f"cannot be evaluated: {error}") from None


class Language:
    """Compiles expressions and templates that may use `functions` and `constants`. `ids` has the accepted texts of
    parameters by name, such as the ids of configurations for `config`."""

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Value]],
        constants: Mapping[str, Value],
        ids: Mapping[str, Collection[str]],
        steps: Steps,
    ) -> None:
        self.functions, self.constants, self.ids = dict(functions), dict(constants), ids
        self._environment = _Environment(self.functions, self.constants, steps)

    def expression(self, place: Place, source: str, names: Collection[str]) -> Expression:
        """Compile an expression, such as `iops("a", "read") / 2`, that may read `names`. Raises UserError."""
        with _syntax(place, source):
            parser = Parser(self._environment, source, state="variable")
            expression = parser.parse_expression()
            if not parser.stream.eos:
                raise jinja2.TemplateSyntaxError(f"expected an operator, got {str(parser.stream.current)!r}", 1)
            found = nodes.Template([nodes.Assign(nodes.Name("result", "store"), expression, lineno=1)], lineno=1)
            read = self._checked(place, source, found, names)
            compiled = jinja2.environment.TemplateExpression(self._environment.from_string(found), False)
        return Expression(place, source, read, lambda values: short_enough(compiled(values)))

    def template(self, place: Place, source: str, names: Collection[str]) -> Expression:
        """Compile a text with `{{ … }}` and `{% if … %}` in it. White space in its result is single spaces. Raises
        UserError."""
        with _syntax(place, source):
            found = self._environment.parse(source)
            read = self._checked(place, source, found, names)
            compiled = self._environment.from_string(found)
        return Expression(place, source, read, lambda values: " ".join(short_enough(compiled.render(values)).split()))

    def _checked(self, place: Place, source: str, tree: nodes.Template, names: Collection[str]) -> frozenset[str]:
        """Names that a tree reads from outside. Raises UserError for what is not accepted in it; makes its comparisons
        and loops calls that count."""
        if len(source) > LONGEST_SOURCE:
            raise place.error(source, f"expected at most {LONGEST_SOURCE:,} characters")
        tree.set_environment(self._environment)
        own = {one.name for one in tree.find_all(nodes.Name) if one.ctx == "store"} | {"loop"}
        accepted = {*names, *self.functions, *self.constants, *own}
        for one in tree.find_all(nodes.Node):
            if not isinstance(one, MADE_OF):
                raise place.error(source, f"{type(one).__name__} is not accepted in expressions of a study")
            if isinstance(one, nodes.Call | nodes.Filter) and (one.dyn_args or one.dyn_kwargs):
                raise place.error(source, "gives arguments with *; expected each by itself")
            if isinstance(one, nodes.Filter):
                assert one.node is not None, "only the block {% filter %} has none, and it is refused"
                self._check_call(
                    place, source, one.name, [one.node, *one.args], cast("list[nodes.Keyword]", one.kwargs)
                )
            elif isinstance(one, nodes.Call):
                if not isinstance(one.node, nodes.Name):
                    raise place.error(source, "calls what is no function; expected the name of one before ( )")
                self._check_call(place, source, one.node.name, one.args, one.kwargs)
            elif isinstance(one, nodes.Name) and one.name not in accepted:
                near = hint(one.name, sorted(accepted))
                raise place.error(source, f'"{one.name}" is not defined; {near}expected a name of [let] or a function')
        read = {one.name for one in tree.find_all(nodes.Name) if one.ctx == "load"}
        _rewrite(tree)
        return frozenset(read & set(names))

    def _check_call(
        self, place: Place, source: str, name: str, given: list[nodes.Expr], named: list[nodes.Keyword]
    ) -> None:
        """A function is known, takes so many arguments, and ids that are named in the call exist."""
        function = self.functions.get(name)
        if function is None:
            near = hint(name, sorted(self.functions))
            raise place.error(source, f"has no function {name}; {near}expected one of docs/guides/conclusions.md")
        signature = inspect.signature(function)
        try:
            bound = signature.bind(*given, **{one.key: one.value for one in named})
        except TypeError as error:
            takes = ", ".join(signature.parameters)
            raise place.error(source, f"{name}({takes}): {error}") from None
        for parameter, argument in bound.arguments.items():
            for text in _constants(argument) if parameter in self.ids else ():
                if text not in self.ids[parameter]:
                    near = hint(text, list(self.ids[parameter]))
                    known = ", ".join(self.ids[parameter])
                    raise place.error(
                        source, f'{name}: there is no {parameter} "{text}"; {near}expected one of {known}'
                    )


def _constants(argument: Value) -> list[str]:
    """Texts that an argument gives as they are, alone or in a list."""
    items = argument.items if isinstance(argument, nodes.List | nodes.Tuple) else [argument]
    return [one.value for one in items if isinstance(one, nodes.Const) and isinstance(one.value, str)]


def _rewrite(tree: nodes.Node) -> None:
    """Make comparisons and concatenations calls of `_compare` and `_concat`, and count the steps of loops."""
    for field, value in tree.iter_fields():
        items = value if isinstance(value, list) else [value]
        for at, item in enumerate(items):
            if not isinstance(item, nodes.Node):
                continue
            _rewrite(item)
            made: nodes.Expr | None = None
            if isinstance(item, nodes.Compare):
                made = _comparison(item)
            elif isinstance(item, nodes.Concat):
                made = _call("_concat", [nodes.List(item.nodes)])
            elif isinstance(item, nodes.For):
                item.iter = _call("_counted", [cast("nodes.Expr", item.iter)])
            if made is not None and isinstance(value, list):
                value[at] = made
            elif made is not None:
                setattr(tree, field, made)


def _call(name: str, given: list[nodes.Expr]) -> nodes.Call:
    return nodes.Call(nodes.Name(name, "load"), given, [], None, None)


def _comparison(found: nodes.Compare) -> nodes.Expr:
    """`a < b <= c` as `_compare` of each pair."""
    sides = [found.expr, *(one.expr for one in found.ops)]
    pairs = [
        _call("_compare", [nodes.Const(one.op), left, right])
        for one, (left, right) in zip(found.ops, pairwise(sides), strict=True)
    ]
    made: nodes.Expr = pairs[0]
    for pair in pairs[1:]:
        made = nodes.And(made, pair)
    return made


class _syntax:
    """Turns mistakes in the syntax of an expression into a UserError."""

    def __init__(self, place: Place, source: str) -> None:
        self.place, self.source = place, source

    def __enter__(self) -> None:
        if len(self.source) > LONGEST_SOURCE:
            raise self.place.error(self.source, f"expected at most {LONGEST_SOURCE:,} characters")

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, jinja2.TemplateError):
            raise self.place.error(self.source, f"is no expression: {error.message}") from None
        if isinstance(error, RecursionError | SyntaxError | MemoryError):
            raise self.place.error(self.source, "is nested too deeply; expected a shorter expression") from None


class _Environment(SandboxedEnvironment):
    """The sandbox without jinja's own functions, filters and attributes of Python objects."""

    intercepted_binops = frozenset([*ARITHMETIC, "**", "%"])
    intercepted_unops = frozenset(["-", "+"])

    def __init__(self, functions: Mapping[str, Callable[..., Value]], constants: Mapping[str, Value], steps: Steps):
        super().__init__(undefined=jinja2.StrictUndefined, autoescape=False, finalize=_printed)
        self._steps = steps
        self._arithmetic = elementwise(steps, arithmetic)
        self._ordered = elementwise(steps, ordered)
        inner = {"_compare": self._compare, "_concat": self._concat, "_counted": steps.counted}
        self.globals = {**functions, **constants, **inner}
        self.filters = dict(functions)

    def call_binop(self, context: Any, operator: str, left: Value, right: Value) -> Value:
        """Apply an arithmetic operator to numbers and to lists of them."""
        return self._arithmetic(operator, left, right)

    def call_unop(self, context: Any, operator: str, arg: Value) -> Value:
        """Apply a sign."""
        return self._arithmetic(operator, 0, arg)

    def _compare(self, name: str, left: Value, right: Value) -> Value:
        if name in ORDER:
            return self._ordered(name, left, right)
        self._steps.weigh(left)
        self._steps.weigh(right)
        return EQUALITY[name](left, right)

    def _concat(self, parts: list[Value]) -> str:
        self._steps.take()
        if any(isinstance(one, str) and len(one) > LONGEST for one in parts):
            raise RefusedValueError(f"joins texts of more than {LONGEST:,} characters")
        return str(short_enough("".join(str(_printed(one)) for one in parts)))

    def is_safe_callable(self, obj: Any) -> bool:
        """Whether an object may be called: a function of the vocabulary, and what `_rewrite` puts in."""
        return any(obj is one for one in self.globals.values())

    def getattr(self, obj: Any, attribute: str) -> Value:
        """An item of a mapping by its key, of each mapping of a list."""
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Value:
        """An item of a list by its place, or of a mapping by its key; a key of a list takes it of each item."""
        self._steps.take()
        if isinstance(obj, LoopContext) and argument in LOOP_KEYS:
            return getattr(obj, argument)
        if isinstance(obj, list | tuple) and isinstance(argument, int):
            if not -len(obj) <= argument < len(obj):
                raise RefusedValueError(f"asks for item {argument} of a list of {len(obj)}")
            return obj[argument]
        if isinstance(obj, list | tuple) and isinstance(argument, str):
            return [self.getitem(one, argument) for one in obj]
        if isinstance(obj, Mapping) and isinstance(argument, list | tuple):
            return [self.getitem(obj, one) for one in argument]
        if not isinstance(obj, Mapping):
            raise RefusedValueError(f"asks for {argument!r} of {kind_of(obj)}; expected a mapping")
        if argument not in obj:
            near = hint(str(argument), [str(one) for one in obj])
            known = ", ".join(str(one) for one in obj)
            raise RefusedValueError(f'has no "{argument}"; {near}expected one of {known or "nothing"}')
        return obj[argument]


def _printed(value: Value) -> Value:
    """What a template prints of a value: a dash of one that is missing. A list has no text of its own."""
    if isinstance(value, list | tuple | Mapping):
        raise RefusedValueError(f"prints {kind_of(value)}; expected a text or a number: use join or listed")
    return "–" if value is None else value
