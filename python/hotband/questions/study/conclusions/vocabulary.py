"""The functions that expressions of a study may call: what it has run, what was published, statistics and wording."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hotband.base.errors import UserError
from hotband.base.text.nearest import hint
from hotband.base.text.regular import text_in
from hotband.data.record.stats import whole
from hotband.questions.study.audited import published_findings
from hotband.questions.study.conclusions.functions import OF_LISTS, SINGLE
from hotband.questions.study.conclusions.known_figures import KnownFigures, figures_of
from hotband.questions.study.conclusions.values import (
    RefusedValueError,
    Steps,
    Value,
    elementwise,
    short_enough,
)
from hotband.questions.study.definition import Config, Load, Published, Study, published_row
from hotband.questions.study.measures import curve, error_pct

if TYPE_CHECKING:
    from hotband.questions.study.runs import Cell, Results


class Vocabulary:
    """The words of one study. `results` and `figures` are set before anything is evaluated."""

    def __init__(self, study: Study, steps: Steps) -> None:
        self.study, self.steps = study, steps
        self.results: Results | None = None
        self.figures = KnownFigures({}, {}, {})
        self._documents: dict[str, Value] = {}

    def use(self, results: Results) -> None:
        """Read from these runs."""
        self.results, self.figures = results, figures_of(results)

    def constants(self) -> dict[str, Value]:
        """Names that are there without a call."""
        study = self.study
        return {
            "study": {"name": study.name, "title": study.title, "question": study.question, "source": study.source},
            "configs": [one.id for one in study.configs],
            "loads": [one.id for one in study.loads],
            "rows": [_row(one) for one in study.published],
        }

    def ids(self) -> dict[str, list[str]]:
        """Texts that parameters of a name accept."""
        configs = [one.id for one in self.study.configs]
        measures = [one.id for one in self.study.measures]
        return {"config": configs, "over": configs, "load": [one.id for one in self.study.loads], "measure": measures}

    def functions(self) -> dict[str, Callable[..., Value]]:
        """Every function by name."""
        single: dict[str, Callable[..., Value]] = {
            "config": self.config, "load": self.load, "name": self.name, "row": self.row, "ran": self.ran,
            "published": self.published, "predicted": self.predicted, "error": self.error, "gain": self.gain,
            "figure": self.figure, "claim": self.claim, "iops": self.iops, "record": self.record,
            "seconds": self.seconds, "counter": self.counter, "share_within": self.share_within,
            **SINGLE,
        }  # fmt: skip
        listed: dict[str, Callable[..., Value]] = {
            "depths": self.depths, "curve": self.curve, "audit": self.audit, "audited": self.audited,
            "cells": self.cells, **OF_LISTS,
        }  # fmt: skip
        made = {name: elementwise(self.steps, function) for name, function in single.items()}
        return made | {name: self._counting(function) for name, function in listed.items()}

    def _counting(self, function: Callable[..., Value]) -> Callable[..., Value]:
        """Count the items of what a function is given, and bound its result."""

        @wraps(function)
        def call(*given: Value, **named: Value) -> Value:
            for one in given:
                self.steps.weigh(one)
            return short_enough(function(*given, **named))

        return call

    def _cell(self, config: str, load: str) -> Cell:
        assert self.results is not None, "expressions are evaluated after the runs"
        found = self.results.cells.get((config, load))
        if found is None:
            raise RefusedValueError(f'reads "{load}" of "{config}", which was not run')
        return found

    def config(self, config: str) -> Mapping[str, Value]:
        """A configuration: id, label, name (as charts call it), machine, product, drives, set."""
        found: Config = _named(self.study.configs, "configuration", config)
        named = {name: getattr(found, name) for name in ("id", "label", "name", "machine", "product", "drives")}
        return {**named, "set": dict(found.set)}

    def load(self, load: str) -> Mapping[str, Value]:
        """A load: id, label, published, workload, group, set."""
        found: Load = _named(self.study.loads, "load", load)
        named = {name: getattr(found, name) for name in ("id", "label", "published", "workload", "group")}
        return {**named, "set": dict(found.set)}

    def name(self, config: str) -> str:
        """What charts call a configuration."""
        return str(self.config(config)["name"])

    def row(self, id: str | int) -> Mapping[str, Value]:
        """A published row by its id, or by the number in it."""
        name = self.study.id_format.format(id) if isinstance(id, int) else id
        return _row(_named(self.study.published, "published row", name))

    def ran(self, config: str, load: str) -> bool:
        """Whether a configuration was run under a load."""
        return self.results is not None and (config, load) in self.results.cells

    def published(self, config: str, load: str, measure: str) -> float | None:
        """What is published of a cell; None where nothing is."""
        key = (config, load, measure)
        if key in self.figures.cells:
            return self.figures.cells[key]["published"]
        study = self.study
        found = published_row(study, *(_named(*one) for one in _parts(study, config, load, measure)))
        return None if found is None else found.value

    def predicted(self, config: str, load: str, measure: str) -> float | None:
        """A measure of a cell; None where its runs have none."""
        key = (config, load, measure)
        if key in self.figures.cells:
            return self.figures.cells[key]["predicted"]
        return self._cell(config, load).value(_named(self.study.measures, "measure", measure)).number

    def error(self, config: str, load: str, measure: str) -> float | None:
        """Error of the prediction of a cell, in percent of what is published."""
        return error_pct(self.published(config, load, measure), self.predicted(config, load, measure))

    def gain(self, config: str, over: str, load: str, measure: str) -> list[float | None]:
        """How many times as much a configuration does as another one: published, predicted."""
        pairs = ((of(config, load, measure), of(over, load, measure)) for of in (self.published, self.predicted))
        return [one / other if one is not None and other else None for one, other in pairs]

    def figure(self, id: str | int) -> Mapping[str, Value]:
        """A comparison or a further figure by its id, or by the number of its published row."""
        name = self.study.id_format.format(id) if isinstance(id, int) else id
        found: Mapping[str, Value] = _item(self.figures.compared, "figure", name)
        return found

    def claim(self, id: str) -> Mapping[str, Value]:
        """A claim by its id: text, holds, measured, source."""
        found: Mapping[str, Value] = _item(self.figures.claims, "claim", id)
        return found

    def iops(self, config: str, load: str) -> float:
        """IOPS of a cell, the most of a sweep."""
        self._cell(config, load)
        assert self.results is not None, "the cell was found"
        return self.results.iops(config, load)

    def record(self, config: str, load: str, depth: int | None = None) -> Mapping[str, Value]:
        """The record of a cell, of a sweep that of a queue depth (the largest where none is given)."""
        records: Mapping[int, Any] = self._cell(config, load).records
        at = max(records) if depth is None else depth
        if at not in records:
            known = ", ".join(map(str, sorted(records)))
            raise RefusedValueError(f'"{load}" was not run at queue depth {at}; expected one of {known}')
        found: Mapping[str, Value] = records[at]
        return found

    def seconds(self, config: str, load: str) -> float:
        """Measured time of a cell."""
        return float(self.record(config, load)["duration_ns"]) / 1e9

    def counter(self, config: str, load: str, counter: str, kind: str = "") -> int:
        """A counter over all parts of a cell's machine, or over those of one kind."""
        parts = self.record(config, load)["parts"]
        return sum(int(one["counters"].get(counter, 0)) for one in parts if kind in ("", one["kind"]))

    def share_within(self, config: str, load: str, milliseconds: float) -> float:
        """Share of the I/Os of a cell that took less than a time."""
        document: Any = self.record(config, load)
        buckets = whole(document)["buckets"]
        every = sum(count for _, count in buckets)
        within = sum(count for value, count in buckets if value < milliseconds * 1e6)
        return within / every if every else 0.0

    def depths(self, config: str, load: str) -> list[int]:
        """The queue depths of a sweep, in order; 0 of a load without one."""
        return sorted(self._cell(config, load).runs)

    def curve(self, config: str, load: str | list[str]) -> Value:
        """Points of a response curve (name, concurrency, iops, latency_ms); of a list of loads a list of curves."""
        if isinstance(load, list | tuple):
            return [self.curve(config, one) for one in load]
        points = curve(self._cell(config, load).runs)
        return [{name: getattr(one, name) for name in ("name", "concurrency", "iops", "latency_ms")} for one in points]

    def cells(self, measure: str) -> list[list[str]]:
        """Configuration and load of every figure of a measure."""
        return [[config, load] for config, load, name in self.figures.cells if name == measure]

    def audit(self, file: str) -> Value:
        """The document of `hotband audit … --json` that stands in the study's folder."""
        return self._once(f"audit {file}", lambda: _document(self.study.folder, file))

    def audited(self) -> Value:
        """Findings of the auditor on the published table: id, title, text, table."""
        return self._once("audited", lambda: published_findings(self.study.folder))

    def _once(self, key: str, read: Callable[[], Value]) -> Value:
        if key not in self._documents:
            self._documents[key] = read()
        return self._documents[key]


def _row(found: Published) -> Mapping[str, Value]:
    return vars(found)


def _named(entries: Any, kind: str, name: str) -> Any:
    return _item({one.id: one for one in entries}, kind, name)


def _item(entries: Mapping[str, Any], kind: str, name: str) -> Any:
    try:
        return entries[name]
    except KeyError:
        known = f"{hint(str(name), list(entries))}expected one of {', '.join(entries) or 'nothing'}"
        raise RefusedValueError(f'there is no {kind} "{name}"; {known}') from None


def _parts(study: Study, config: str, load: str, measure: str) -> list[tuple[Any, str, str]]:
    return [
        (study.configs, "configuration", config),
        (study.loads, "load", load),
        (study.measures, "measure", measure),
    ]


def _document(folder: Path, file: str) -> Value:
    path = folder / file
    if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
        raise RefusedValueError(f"there is no file {file} in {folder}")
    try:
        return json.loads(text_in(path, "audit"))
    except (ValueError, UserError) as error:
        raise RefusedValueError(f"{file} is no JSON: {error}") from None
