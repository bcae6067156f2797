"""Expressions and templates of a study: jinja2's sandbox with only the vocabulary of studies.

Every expression is checked before anything runs: its syntax, the kinds of its parts, its names, the functions that it
calls with their arguments, and the ids that it names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import jinja2
from jinja2 import nodes
from jinja2.environment import TemplateExpression
from jinja2.parser import Parser
from jinja2.runtime import LoopContext
from jinja2.sandbox import SandboxedEnvironment

from hotband.base.errors import UserError
from hotband.base.text.nearest import expected, hint
from hotband.questions.study.conclusions.values import (
    ARITHMETIC,
    EQUALITY,
    ORDER,
    RefusedValueError,
    Steps,
    Value,
    arithmetic,
    compare,
    elementwise,
    kind_of,
    short_enough,
)

LONGEST_SOURCE = 10_000
LOOP_KEYS = ("first", "last", "index", "length")
GUIDE = "docs/guides/studies.md"
ACCEPTED_NODES = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign, nodes.Name, nodes.Const,
    nodes.List, nodes.Tuple, nodes.Dict, nodes.Pair, nodes.CondExpr, nodes.Getattr, nodes.Getitem, nodes.Slice,
    nodes.Call, nodes.Keyword, nodes.Filter, nodes.Test, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not,
    nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Neg, nodes.Pos, nodes.Concat,
)  # fmt: skip
ACCEPTED_TESTS = ("none", "number", "string", "odd", "even", "true", "false")
EVALUATION_ERRORS = (
    ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError, jinja2.TemplateError,
)  # fmt: skip


@dataclass(frozen=True)
class Place:
    """The position of an expression: a file and a key in it."""

    file: str
    key: str

    def error(self, source: str, accepted: str) -> UserError:
        """Return the error of the expression at this position."""
        return UserError(self.file, self.key, " ".join(source.split()), accepted)


@dataclass(frozen=True)
class Expression:
    """A compiled expression or template, with the names that it reads from outside."""

    position: Place
    source: str
    names: frozenset[str]
    evaluate: Callable[[Mapping[str, Value]], Value]

    def value(self, values: Mapping[str, Value]) -> Value:
        """Evaluate the expression. Raises UserError for an operation that the values do not allow."""
        try:
            return self.evaluate(values)
        except RefusedValueError as error:
            raise self.error(str(error)) from None
        except EVALUATION_ERRORS as error:
            raise self.error(f"cannot be evaluated: {error}") from None

    def error(self, accepted: str) -> UserError:
        """Return an error that names the expression by file, key and source."""
        return self.position.error(self.source, accepted)


class Language:
    """Compiles expressions and templates that may use `functions` and `constants`. `ids` has the accepted texts of
    parameters by their name, such as the ids of configurations for `config`."""

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Value]],
        constants: Mapping[str, Value],
        ids: Mapping[str, Collection[str]],
        steps: Steps,
    ) -> None:
        self.functions, self.constants, self.ids = dict(functions), dict(constants), ids
        self._environment = _Environment(self.functions, self.constants, steps)

    def expression(self, position: Place, source: str, names: Collection[str]) -> Expression:
        """Compile an expression, such as `iops("a", "read") / 2`, that may read `names`. Raises UserError."""
        with _syntax_errors(position, source):
            parser = Parser(self._environment, source, state="variable")
            root = parser.parse_expression()
            if not parser.stream.eos:
                raise jinja2.TemplateSyntaxError(f"expected an operator, got {str(parser.stream.current)!r}", 1)
            # TemplateExpression reads the name "result".
            tree = nodes.Template([nodes.Assign(nodes.Name("result", "store"), root, lineno=1)], lineno=1)
            reads = self._checked(position, source, tree, names, frozenset())
            compiled = TemplateExpression(self._environment.from_string(tree), undefined_to_none=False)
        return Expression(position, source, reads, lambda values: short_enough(compiled(values)))

    def template(self, position: Place, source: str, names: Collection[str]) -> Expression:
        """Compile a text with `{{ … }}` and `{% if … %}` in it. White space in its result becomes single spaces. Raises
        UserError."""
        with _syntax_errors(position, source):
            tree = self._environment.parse(source)
            inner = {node.name for node in tree.find_all(nodes.Name) if node.ctx == "store"}
            reads = self._checked(position, source, tree, names, frozenset({*inner, "loop"}))
            compiled = self._environment.from_string(tree)
        return Expression(
            position, source, reads, lambda values: " ".join(short_enough(compiled.render(values)).split())
        )

    def _checked(
        self, position: Place, source: str, tree: nodes.Template, names: Collection[str], inner: frozenset[str]
    ) -> frozenset[str]:
        """Check a tree and return the names that it reads from outside. `inner` has the names that it sets. Raises
        UserError."""
        tree.set_environment(self._environment)
        accepted = {*names, *self.functions, *self.constants, *inner}
        for node in tree.find_all(nodes.Node):
            if not isinstance(node, ACCEPTED_NODES):
                raise position.error(source, f"{type(node).__name__} is not accepted here; see {GUIDE}")
            if isinstance(node, nodes.Filter | nodes.Call):
                self._check_call(position, source, node)
            elif isinstance(node, nodes.Test) and node.name not in ACCEPTED_TESTS:
                raise position.error(source, f'has the test "{node.name}"; expected one of {", ".join(ACCEPTED_TESTS)}')
            elif isinstance(node, nodes.Name) and node.name not in accepted and node.ctx == "load":
                near = hint(node.name, sorted(accepted))
                raise position.error(
                    source, f'"{node.name}" is not defined; {near}expected a name of let or a function'
                )
        reads = {node.name for node in tree.find_all(nodes.Name) if node.ctx == "load"}
        _rewrite(tree)
        return frozenset(reads & set(names))

    def _check_call(self, position: Place, source: str, node: nodes.Filter | nodes.Call) -> None:
        """Check that a call names a function, fits its parameters and names ids that exist. Raises UserError."""
        if node.dyn_args is not None or node.dyn_kwargs is not None:
            raise position.error(source, "gives arguments with *; expected each by itself")
        arguments = list(node.args)
        if isinstance(node, nodes.Filter):
            assert node.node is not None, "only the statement {% filter %} has none, and it is not accepted"
            name, arguments = node.name, [node.node, *arguments]
        elif isinstance(node.node, nodes.Name):
            name = node.node.name
        else:
            raise position.error(source, "calls something that is not a function; expected the name of a function")
        function = self.functions.get(name)
        if function is None:
            near = hint(name, sorted(self.functions))
            raise position.error(source, f'"{name}" is not a function; {near}expected a function of {GUIDE}')
        signature = inspect.signature(function)
        keywords = cast("list[nodes.Keyword]", node.kwargs)
        try:
            bound = signature.bind(*arguments, **{keyword.key: keyword.value for keyword in keywords})
        except TypeError as error:
            raise position.error(
                source, f"{name}: {error}; expected {name}({', '.join(signature.parameters)})"
            ) from None
        for parameter, argument in bound.arguments.items():
            for text in _constants(argument) if parameter in self.ids else ():
                self._check_id(position, source, name, parameter, text)

    def _check_id(self, position: Place, source: str, name: str, parameter: str, text: str) -> None:
        known = list(self.ids[parameter])
        if text not in known:
            accepted = expected(text, known) if known else "none is known"
            raise position.error(source, f'{name}: there is no {parameter} "{text}"; {accepted}')


def _constants(argument: Value) -> list[str]:
    """Return the literal texts of an argument, alone or in a list."""
    items = argument.items if isinstance(argument, nodes.List | nodes.Tuple) else [argument]
    return [item.value for item in items if isinstance(item, nodes.Const) and isinstance(item.value, str)]


def _rewrite(tree: nodes.Node) -> None:
    """Replace comparisons and concatenations by calls of `_compare` and `_concat`, and count the turns of loops."""
    for name, value in tree.iter_fields():
        items = value if isinstance(value, list) else [value]
        for at, item in enumerate(items):
            if not isinstance(item, nodes.Node):
                continue
            _rewrite(item)
            if isinstance(item, nodes.For):
                length = sum(len(data.data) for data in item.find_all(nodes.TemplateData))
                item.iter = _call("_counted", cast("nodes.Expr", item.iter), nodes.Const(length))
            replacement = _replacement(item)
            if replacement is not None and isinstance(value, list):
                value[at] = replacement
            elif replacement is not None:
                setattr(tree, name, replacement)


def _replacement(node: nodes.Node) -> nodes.Expr | None:
    if isinstance(node, nodes.Concat):
        return _call("_concat", nodes.List(node.nodes))
    if not isinstance(node, nodes.Compare):
        return None
    # `a < b <= c` compares each pair.
    sides = pairwise([node.expr, *(operand.expr for operand in node.ops)])
    pairs = [_call("_compare", nodes.Const(operand.op), *pair) for operand, pair in zip(node.ops, sides, strict=True)]
    replacement: nodes.Expr = pairs[0]
    for pair in pairs[1:]:
        replacement = nodes.And(replacement, pair)
    return replacement


def _call(name: str, *arguments: nodes.Expr) -> nodes.Call:
    return nodes.Call(nodes.Name(name, "load"), list(arguments), [], None, None)


@contextmanager
def _syntax_errors(position: Place, source: str) -> Iterator[None]:
    """Raise mistakes in the syntax of an expression as UserError."""
    if len(source) > LONGEST_SOURCE:
        raise position.error(source, f"has {len(source):,} characters; expected at most {LONGEST_SOURCE:,}")
    try:
        yield
    except jinja2.TemplateError as error:
        raise position.error(source, f"is not an expression or a template: {error.message}") from None
    except (RecursionError, SyntaxError, MemoryError):
        raise position.error(source, "is nested too deeply; expected a shorter expression") from None


class _Environment(SandboxedEnvironment):
    """The sandbox without jinja's own functions and filters, and without attributes of Python objects."""

    intercepted_binops = frozenset([*ARITHMETIC, "**", "%"])
    intercepted_unops = frozenset(["-", "+"])

    def __init__(
        self, functions: Mapping[str, Callable[..., Value]], constants: Mapping[str, Value], steps: Steps
    ) -> None:
        self._steps = steps
        super().__init__(undefined=jinja2.StrictUndefined, autoescape=False, finalize=self._printed)
        self._arithmetic = elementwise(steps, arithmetic)
        self._ordered = elementwise(steps, compare)
        inserted = {"_compare": self._compare, "_concat": self._concat, "_counted": steps.counted}
        self.globals = {**functions, **constants, **inserted}
        self.filters = dict(functions)
        self._callables = {id(function) for function in (*functions.values(), *inserted.values())}

    def call_binop(self, context: Any, operator: str, left: Value, right: Value) -> Value:
        """Apply an arithmetic operator to numbers or lists of numbers."""
        return self._arithmetic(operator, left, right)

    def call_unop(self, context: Any, operator: str, arg: Value) -> Value:
        """Apply a sign to a number or a list of numbers."""
        return self._arithmetic(operator, 0, arg)

    def _compare(self, name: str, left: Value, right: Value) -> Value:
        if name in ORDER:
            return self._ordered(name, left, right)
        self._steps.weigh(left)
        self._steps.weigh(right)
        return EQUALITY[name](left, right)

    def _concat(self, parts: list[Value]) -> str:
        self._steps.take()
        return str(self._steps.made("".join(str(self._printed(part)) for part in parts)))

    def _printed(self, value: Value) -> Value:
        """Return the text that a template prints for a value: a dash if it is missing. Refuses lists."""
        if isinstance(value, list | tuple | Mapping):
            raise RefusedValueError(f"prints {kind_of(value)}; expected a text or a number: use join or listed")
        self._steps.take_text(len(value) if isinstance(value, str) else 0)
        return "–" if value is None else value

    def is_safe_callable(self, obj: Any) -> bool:
        """Accept the functions of the vocabulary and those that `_rewrite` inserts."""
        return id(obj) in self._callables

    def getattr(self, obj: Any, attribute: str) -> Value:
        """Return an item of a mapping by its key; of a list the item of each of its mappings."""
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Value:
        """Return an item of a list by its position, or of a mapping by its key. A key of a list reads it from each
        item; a list of keys of a mapping reads several."""
        self._steps.take()
        if isinstance(obj, LoopContext) and argument in LOOP_KEYS:
            return getattr(obj, argument)
        if isinstance(obj, list | tuple) and isinstance(argument, int):
            if not -len(obj) <= argument < len(obj):
                raise RefusedValueError(f"reads item {argument} of a list of {len(obj)}")
            return obj[argument]
        if isinstance(obj, list | tuple) and isinstance(argument, str):
            return [self.getitem(item, argument) for item in obj]
        if isinstance(obj, Mapping) and isinstance(argument, list | tuple):
            return [self.getitem(obj, key) for key in argument]
        if not isinstance(obj, Mapping):
            raise RefusedValueError(f"reads {argument!r} of {kind_of(obj)}; expected a mapping")
        if argument not in obj:
            known = [str(key) for key in obj]
            near = hint(str(argument), known)
            raise RefusedValueError(f'there is no key "{argument}"; {near}expected one of {", ".join(known) or "none"}')
        return obj[argument]
