"""Evaluate a study's `conclusions.toml` after its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.text.tomltable import TomlTable
from hotband.questions.study.comparisons import error_of
from hotband.questions.study.conclusions.document import (
    Answer,
    Block,
    Claim,
    Document,
    Figure,
    Finding,
    Let,
    Loop,
    Points,
    Reader,
    Rows,
    Source,
)
from hotband.questions.study.conclusions.expressions import Expression, Language
from hotband.questions.study.conclusions.values import RefusedValueError, Steps, Value, kind_of
from hotband.questions.study.conclusions.vocabulary import Vocabulary
from hotband.questions.study.definition import CONCLUSIONS_FILE, Study
from hotband.questions.study.figures import Conclusion, figure

if TYPE_CHECKING:
    from hotband.data.documents.study import ClaimDoc, FigureDoc, FindingDoc, FindingTableDoc, TableCell
    from hotband.data.documents.study_answer import AnswerDoc, AnswerPointDoc
    from hotband.questions.study.conclusions.known_figures import KnownFigures
    from hotband.questions.study.runs import Results

NOT_PUBLISHED = "not published, or withheld"


class Scope:
    """Names and their values. A name of [let] is evaluated when it is first read."""

    def __init__(self, outer: Scope | None, values: Mapping[str, Value], lets: Mapping[str, Let], steps: Steps) -> None:
        self.outer, self.known, self.lets, self.steps = outer, dict(values), lets, steps

    def get(self, name: str) -> Value:
        """Return the value of a name; the reader of the file has checked that it is there."""
        if name in self.known:
            return self.known[name]
        if name in self.lets:
            self.known[name] = self._evaluated(self.lets[name])
            return self.known[name]
        assert self.outer is not None, "the reader of the file refuses a name that is not there"
        return self.outer.get(name)

    def read(self, source: Source) -> Value:
        """Evaluate an expression; return other data unchanged."""
        if not isinstance(source, Expression):
            return source
        return source.value({name: self.get(name) for name in source.names})

    def texts(self, templates: Mapping[str, Expression]) -> dict[str, str]:
        """Render templates by key."""
        return {key: str(self.read(template)) for key, template in templates.items()}

    def _evaluated(self, let: Let) -> Value:
        if let.block is None:
            return self.read(let.value)
        return [turn.read(let.value) for turn in self.turns(let.block)]

    def turns(self, block: Block, at: int = 0) -> Iterator[Scope]:
        """Yield a scope for each turn of a block's loops in which its condition holds."""
        if at < len(block.loops):
            loop = block.loops[at]
            for values in self._items(loop):
                yield from Scope(self, values, {}, self.steps).turns(block, at + 1)
            return
        turn = Scope(self, {}, block.lets, self.steps)
        if block.when is None or turn.read(block.when):
            yield turn

    def _items(self, loop: Loop) -> list[dict[str, Value]]:
        """Return the values of a loop's variables, one mapping per turn."""
        values = self.read(loop.over)
        if isinstance(values, Mapping) and len(loop.names) == 2:
            values = [list(pair) for pair in values.items()]
        try:
            items = self.steps.counted(values)
        except RefusedValueError as error:
            raise loop.position.error("", str(error)) from None
        if len(loop.names) == 1:
            return [{loop.names[0]: item} for item in items]
        for item in items:
            if not isinstance(item, list | tuple) or len(item) != len(loop.names):
                raise loop.position.error("", f"expected a list of {len(loop.names)} for {', '.join(loop.names)}")
        return [dict(zip(loop.names, item, strict=True)) for item in items]


class Conclusions:
    """The conclusions of a study: compiled when it is made, evaluated by `of`. Raises UserError."""

    def __init__(self, study: Study) -> None:
        self.study, self.steps = study, Steps()
        self.vocabulary = Vocabulary(study, self.steps)
        words = self.vocabulary
        language = Language(words.functions(), words.constants(), words.ids(), self.steps)
        table = TomlTable.read(study.folder / CONCLUSIONS_FILE, "conclusions")
        self.document: Document = Reader(language).document(table)

    def of(self, results: Results) -> Conclusion:
        """Evaluate claims, figures, findings and the answer for a whole run, in this order."""
        self.vocabulary.use(results)
        top = self._scope()
        claims = [claim for entry in self.document.claims for claim in self._claims(entry, top)]
        figures = [row for entry in self.document.figures for row in _figures(entry, top)]
        known = self.vocabulary.figures
        compared = {**known.compared, **{row["id"]: row for row in figures}}
        self.vocabulary.figures = replace(known, compared=compared, claims={claim["id"]: claim for claim in claims})
        findings = [finding for entry in self.document.findings for finding in _findings(entry, top)]
        return Conclusion(claims, findings, figures, self._answer(top))

    def answer_of(self, figures: KnownFigures) -> AnswerDoc | None:
        """Evaluate the answer for these figures, without runs."""
        self.vocabulary.figures = figures
        return self._answer(self._scope())

    def _scope(self) -> Scope:
        return Scope(None, {}, self.document.lets, self.steps)

    def _answer(self, scope: Scope) -> AnswerDoc | None:
        return None if self.document.answer is None else _answer(self.document.answer, scope)

    def _claims(self, entry: Claim, scope: Scope) -> Iterator[ClaimDoc]:
        for turn in scope.turns(entry.block):
            texts, holds = turn.texts(entry.texts), turn.read(entry.holds)
            if holds is not None and not isinstance(holds, bool):
                raise entry.holds.error(f"is {kind_of(holds)}; expected true or false")
            yield {
                "id": texts["id"],
                "text": texts["text"],
                "holds": holds,
                "measured": texts["measured"],
                "source": texts.get("source", self.study.source),
            }


def _figures(entry: Figure, scope: Scope) -> Iterator[FigureDoc]:
    for turn in scope.turns(entry.block):
        row = turn.get("published_row") if "published_row" in entry.block.lets else {}
        texts = turn.texts(entry.texts)
        published = row.get("value") if entry.published is None else _number(turn, entry.published)
        predicted = _number(turn, entry.predicted)
        error = error_of(entry.kind, published, predicted) if entry.error is None else _number(turn, entry.error)
        named = {key: texts.get(key, row.get(key, "")) for key in ("id", "config", "workload", "metric", "unit")}
        yield figure(
            id=named["id"],
            config=named["config"],
            label=texts["label"],
            workload=named["workload"],
            metric=named["metric"],
            published=published,
            unit=named["unit"],
            predicted=predicted,
            error=error,
            source=row.get("id", NOT_PUBLISHED),
            caveat=row.get("caveat", ""),
            note=texts.get("note", ""),
            group=texts.get("group", texts["label"]),
        )


def _number(scope: Scope, source: Expression) -> float | None:
    """Evaluate a number; None if it is missing."""
    value = scope.read(source)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise source.error(f"is {kind_of(value)}; expected a number")


def _findings(entry: Finding, scope: Scope) -> Iterator[FindingDoc]:
    for turn in scope.turns(entry.block):
        texts = turn.texts(entry.texts)
        finding: FindingDoc = {"id": texts["id"], "title": texts["title"], "text": texts["text"]}
        table = _table(entry, turn)
        if table is not None:
            finding["table"] = table
        yield finding


def _table(entry: Finding, scope: Scope) -> FindingTableDoc | None:
    """Evaluate the table of a finding; None if it has no table."""
    if entry.table is not None:
        value = scope.read(entry.table)
        if value is not None and not (isinstance(value, Mapping) and {"columns", "rows"} <= set(value)):
            raise entry.table.error("expected a mapping of columns and rows, or none")
        return None if value is None else {"columns": value["columns"], "rows": value["rows"]}
    if not entry.rows:
        return None
    sources = [entry.columns] if isinstance(entry.columns, Expression) else entry.columns
    columns = [str(column) for column in _spread(scope, sources)]
    return {"columns": columns, "rows": [row for rows in entry.rows for row in _rows(rows, scope, len(columns))]}


def _rows(entry: Rows, scope: Scope, columns: int) -> Iterator[list[TableCell]]:
    for turn in scope.turns(entry.block):
        cells = _spread(turn, entry.cells)
        if len(cells) != columns:
            raise entry.position.error(
                "", f"makes a row of {len(cells)} cells; expected {columns}, one for each column"
            )
        yield cells


def _spread(scope: Scope, sources: Sequence[Source]) -> list[TableCell]:
    """Evaluate the cells of a row: an expression that gives a list fills several."""
    cells: list[TableCell] = []
    for source in sources:
        value = scope.read(source)
        items = list(value) if isinstance(value, list | tuple) else [value]
        for item in items:
            if isinstance(item, list | tuple | Mapping) and isinstance(source, Expression):
                raise source.error(f"has {kind_of(item)} in a cell; expected texts and numbers")
        cells += items
    return cells


def _answer(entry: Answer, scope: Scope) -> AnswerDoc:
    texts, chart = scope.texts(entry.texts), scope.texts(entry.chart)
    rule = None if entry.rule_text is None else str(scope.read(entry.rule_text))
    return {
        "text": texts["text"],
        "further": texts["further"],
        "chart": {
            "title": chart["title"],
            "quantity": chart["quantity"],
            "caption": chart.get("caption", ""),
            "points": [point for points in entry.points for point in _points(points, scope)],
            "rule": None if rule is None or entry.rule_at is None else {"at": entry.rule_at, "text": rule},
        },
    }


def _points(entry: Points, scope: Scope) -> Iterator[AnswerPointDoc]:
    for turn in scope.turns(entry.block):
        texts = turn.texts(entry.texts)
        yield {
            "machine": texts["machine"],
            "row": texts["row"],
            "qd": None if entry.depth is None else turn.read(entry.depth),
            "published": _number(turn, entry.published),
            "predicted": _number(turn, entry.predicted),
        }


def conclusions_of(study: Study) -> Conclusions | None:
    """Compile the conclusions of a study; None if its folder has none. Raises UserError for a mistake in them."""
    return Conclusions(study) if Path(study.folder, CONCLUSIONS_FILE).is_file() else None
