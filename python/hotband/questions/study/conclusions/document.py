"""`conclusions.toml` of a study: read key by key, its expressions and texts compiled (docs/guides/studies.md).

Nothing is evaluated here; `conclude` does that after the runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hotband.base.text.tomltable import TomlTable
from hotband.base.text.values import Toml
from hotband.questions.study.comparisons import KINDS
from hotband.questions.study.conclusions.expressions import Expression, Language, Place
from hotband.questions.study.conclusions.values import Value

Names = tuple[str, ...]
Source = Expression | Value
"""An expression, or data of the file."""
RESERVED = ("result", "loop", "published_row")
FIGURE_TEXTS = ("id", "config", "label", "workload", "metric", "unit", "note", "group")


@dataclass(frozen=True)
class Loop:
    """A loop of a block: the names of its variables, and the list that it iterates over."""

    names: Names
    over: Source
    position: Place


@dataclass(frozen=True)
class Block:
    """Makes the entries of a list: nested loops, names for each entry, and a condition."""

    loops: tuple[Loop, ...] = ()
    lets: Mapping[str, Let] = field(default_factory=dict)
    when: Expression | None = None


@dataclass(frozen=True)
class Let:
    """A name: data, an expression, or a list with the value of an expression for each turn of a block."""

    value: Source
    block: Block | None = None


@dataclass(frozen=True)
class Rows:
    """Rows of a table: the cells for each turn of a block."""

    block: Block
    cells: tuple[Source, ...]
    position: Place


@dataclass(frozen=True)
class Claim:
    """Claims, one for each turn of a block."""

    block: Block
    texts: Mapping[str, Expression]
    holds: Expression


@dataclass(frozen=True)
class Finding:
    """Findings, one for each turn of a block, with a table by columns and rows, or by one expression."""

    block: Block
    texts: Mapping[str, Expression]
    columns: tuple[Expression, ...] | Expression = ()
    rows: tuple[Rows, ...] = ()
    table: Expression | None = None


@dataclass(frozen=True)
class Figure:
    """Figures that no single cell has, one for each turn of a block. `kind` is how its error is scored."""

    block: Block
    texts: Mapping[str, Expression]
    published: Expression | None
    predicted: Expression
    error: Expression | None
    kind: str


@dataclass(frozen=True)
class Points:
    """Points of the answer's chart, one for each turn of a block."""

    block: Block
    texts: Mapping[str, Expression]
    depth: Expression | None
    published: Expression
    predicted: Expression


@dataclass(frozen=True)
class Answer:
    """The answer: its texts, those of its chart, the points, and the value by which they are measured."""

    texts: Mapping[str, Expression]
    chart: Mapping[str, Expression]
    points: tuple[Points, ...]
    rule_at: float | None = None
    rule_text: Expression | None = None


@dataclass(frozen=True)
class Document:
    """All of a `conclusions.toml`."""

    lets: Mapping[str, Let]
    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
    findings: tuple[Finding, ...]
    answer: Answer | None


class Reader:
    """Reads the tables of a file."""

    def __init__(self, language: Language) -> None:
        self.language = language

    def document(self, table: TomlTable) -> Document:
        """Read the whole file. Raises UserError for the first mistake."""
        lets, names = self._lets(table, ())
        document = Document(
            lets,
            tuple(self._claim(entry, names) for entry in table.parts("claims")),
            tuple(self._figure(entry, names) for entry in table.parts("figures")),
            tuple(self._finding(entry, names) for entry in table.parts("findings")),
            self._answer(table.part("answer"), names) if table.has("answer") else None,
        )
        table.finish()
        return document

    def _expression(self, table: TomlTable, key: str, names: Names) -> Expression:
        return self.language.expression(Place(table.file, table.key(key)), table.text(key), names)

    def _optional(self, table: TomlTable, key: str, names: Names) -> Expression | None:
        return self._expression(table, key, names) if table.has(key) else None

    def _templates(
        self, table: TomlTable, keys: Sequence[str], names: Names, optional: str = ""
    ) -> dict[str, Expression]:
        """Compile texts by key; those of `optional` may be absent."""
        return {
            key: self.language.template(Place(table.file, table.key(key)), table.text(key), names)
            for key in (*keys, *optional.split())
            if key in keys or table.has(key)
        }

    def _source(self, table: TomlTable, key: str, value: Toml, names: Names) -> Source:
        """Compile a text as an expression; return other values as data."""
        if not isinstance(value, str):
            return value
        return self.language.expression(Place(table.file, table.key(key)), value, names)

    def _block(self, table: TomlTable, names: Names, row: bool = False) -> tuple[Block, Names]:
        """Read the keys each, let and when of an entry; return the names that its texts may use, too. With `row` the
        entry may name a published row."""
        loops: list[Loop] = []
        each = table.part("each")
        for key, value in each.table.items():
            variables = tuple(name.strip() for name in key.split(","))
            for name in variables:
                self._check_name(each, key, name, names)
            position = Place(each.file, each.key(key))
            loops.append(Loop(variables, self._source(each, key, value, names), position))
            names = (*names, *variables)
        lets: dict[str, Let] = {}
        if row and table.has("published_row"):
            source = f"row({table.text('published_row')})"
            position = Place(table.file, table.key("published_row"))
            lets["published_row"] = Let(self.language.expression(position, source, names))
            names = (*names, "published_row")
        further, names = self._lets(table, names)
        return Block(tuple(loops), lets | further, self._optional(table, "when", names)), names

    def _lets(self, table: TomlTable, names: Names) -> tuple[dict[str, Let], Names]:
        """Read the names of [let], each of which may use the names before it."""
        part, lets = table.part("let"), {}
        for name, value in part.table.items():
            self._check_name(part, name, name, names)
            if isinstance(value, dict) and "value" in value:
                inner = part.part(name)
                block, inner_names = self._block(inner, names)
                lets[name] = Let(self._expression(inner, "value", inner_names), block)
                inner.finish()
            else:
                lets[name] = Let(self._source(part, name, value, names))
            names = (*names, name)
        return lets, names

    def _check_name(self, table: TomlTable, key: str, name: str, names: Names) -> None:
        """Refuse a name that is not a word, or that is already in use."""
        taken = (*RESERVED, *self.language.functions, *self.language.constants, *names)
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            table.refuse(key, "expected a name of small letters, digits and _", name)
        if name in taken:
            table.refuse(key, "is already used here; expected another name", name)

    def _claim(self, table: TomlTable, outer: Names) -> Claim:
        block, names = self._block(table, outer)
        claim = Claim(
            block,
            self._templates(table, ("id", "text", "measured"), names, "source"),
            self._expression(table, "holds", names),
        )
        table.finish()
        return claim

    def _figure(self, table: TomlTable, outer: Names) -> Figure:
        block, names = self._block(table, outer, row=True)
        given = "published_row" in block.lets
        needed = ("id", "config", "label", "metric", "unit") if not given else ("label",)
        optional = " ".join(key for key in FIGURE_TEXTS if key not in needed)
        figure = Figure(
            block,
            self._templates(table, needed, names, optional),
            self._optional(table, "published", names),
            self._expression(table, "predicted", names),
            self._optional(table, "error_pct", names),
            table.choice("as", tuple(KINDS), "ratio"),
        )
        table.finish()
        return figure

    def _finding(self, table: TomlTable, outer: Names) -> Finding:
        block, names = self._block(table, outer)
        texts = self._templates(table, ("id", "title", "text"), names)
        rows = tuple(self._rows(entry, names) for entry in table.parts("rows"))
        columns = self._columns(table, names) if rows or table.has("columns") else ()
        if columns and not rows:
            table.refuse("rows", "is missing; expected tables [[findings.rows]] with cells")
        if rows and table.has("table"):
            table.refuse("table", "expected either a table, or columns and rows")
        finding = Finding(block, texts, columns, rows, self._optional(table, "table", names))
        table.finish()
        return finding

    def _columns(self, table: TomlTable, names: Names) -> tuple[Expression, ...] | Expression:
        columns = table.raw("columns")
        if isinstance(columns, str):
            return self._expression(table, "columns", names)
        if not isinstance(columns, list) or not columns:
            table.refuse("columns", "expected a list of texts")
        made = []
        for at, text in enumerate(columns):
            if not isinstance(text, str):
                table.refuse("columns", "expected a list of texts", text)
            made.append(self.language.template(Place(table.file, f"{table.key('columns')}[{at}]"), text, names))
        return tuple(made)

    def _rows(self, table: TomlTable, outer: Names) -> Rows:
        block, names = self._block(table, outer)
        cells = table.raw("cells")
        if not isinstance(cells, list) or not cells:
            table.refuse("cells", "expected a list of expressions")
        sources = tuple(self._source(table, f"cells[{at}]", cell, names) for at, cell in enumerate(cells))
        table.finish()
        return Rows(block, sources, Place(table.file, table.key("cells")))

    def _answer(self, table: TomlTable, names: Names) -> Answer:
        texts = self._templates(table, ("text", "further"), names)
        chart = table.part("chart")
        heads = self._templates(chart, ("title", "quantity"), names, "caption")
        points = tuple(self._points(entry, names) for entry in chart.parts("points"))
        if not points:
            chart.refuse("points", "is missing; expected tables [[answer.chart.points]]")
        rule = chart.part("rule") if chart.has("rule") else None
        at = None if rule is None else rule.number("at")
        words = None if rule is None else self._templates(rule, ("text",), names)["text"]
        for part in (rule, chart, table):
            if part is not None:
                part.finish()
        return Answer(texts, heads, points, at, words)

    def _points(self, table: TomlTable, outer: Names) -> Points:
        block, names = self._block(table, outer)
        points = Points(
            block,
            self._templates(table, ("machine", "row"), names),
            self._optional(table, "queue_depth", names),
            self._expression(table, "published", names),
            self._expression(table, "predicted", names),
        )
        table.finish()
        return points
