"""The functions and names of the expressions of a study: its runs, published rows, statistics, wording."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

from hotband.base.errors import UserError
from hotband.base.folders import real_path
from hotband.base.text.nearest import hint
from hotband.base.text.regular import text_in
from hotband.data.record.stats import whole
from hotband.questions.study.audited import published_findings
from hotband.questions.study.conclusions.functions import OF_LISTS, SINGLE
from hotband.questions.study.conclusions.known_figures import KnownFigures, figures_of
from hotband.questions.study.conclusions.values import RefusedValueError, Steps, Value, elementwise
from hotband.questions.study.definition import Config, Load, Measure, Published, Study, published_row
from hotband.questions.study.measures import curve, error_pct
from hotband.questions.study.runs import Cell, Results

CONFIG_KEYS = ("id", "label", "name", "machine", "product", "drives")
LOAD_KEYS = ("id", "label", "published", "workload", "group")
POINT_KEYS = ("name", "concurrency", "iops", "latency_ms")


class Vocabulary:
    """The functions and names of one study. `use` gives the runs that they read."""

    def __init__(self, study: Study, steps: Steps) -> None:
        self.study, self.steps = study, steps
        self.results: Results | None = None
        self.figures = KnownFigures({}, {}, {})
        self._documents: dict[str, Value] = {}

    def use(self, results: Results) -> None:
        """Read from these runs."""
        self.results, self.figures = results, figures_of(results)

    def constants(self) -> dict[str, Value]:
        """Return the names that are not functions, with their values."""
        study = self.study
        return {
            "study": {"name": study.name, "title": study.title, "question": study.question, "source": study.source},
            "configs": [config.id for config in study.configs],
            "loads": [load.id for load in study.loads],
            "rows": [vars(row) for row in study.published],
        }

    def ids(self) -> dict[str, list[str]]:
        """Return the ids that a parameter of a name accepts."""
        configs = [config.id for config in self.study.configs]
        measures = [measure.id for measure in self.study.measures]
        return {"config": configs, "over": configs, "load": [load.id for load in self.study.loads], "measure": measures}

    def functions(self) -> dict[str, Callable[..., Value]]:
        """Return every function by name."""
        single: dict[str, Callable[..., Value]] = {
            "config": self.config, "load": self.load, "name": self.name, "row": self.row, "was_run": self.was_run,
            "published": self.published, "predicted": self.predicted, "error": self.error, "gain": self.gain,
            "figure": self.figure, "claim": self.claim, "iops": self.iops, "record": self.record,
            "seconds": self.seconds, "counter": self.counter, "share_within": self.share_within,
            **SINGLE,
        }  # fmt: skip
        of_lists: dict[str, Callable[..., Value]] = {
            "depths": self.depths, "curve": self.curve, "cells": self.cells, "audit": self.audit,
            "audited": self.audited, **OF_LISTS,
        }  # fmt: skip
        functions = {name: elementwise(self.steps, function) for name, function in single.items()}
        return functions | {name: self._counting(function) for name, function in of_lists.items()}

    def _counting(self, function: Callable[..., Value]) -> Callable[..., Value]:
        """Count the items of the arguments of a function, and bound its result."""

        @wraps(function)
        def call(*arguments: Value, **named: Value) -> Value:
            for argument in (*arguments, *named.values()):
                self.steps.weigh(argument)
            return self.steps.made(function(*arguments, **named))

        return call

    def _cell(self, config: str, load: str) -> Cell:
        assert self.results is not None, "expressions are evaluated after the runs"
        cell = self.results.cells.get((config, load))
        if cell is None:
            raise RefusedValueError(f'reads "{load}" of "{config}", which was not run')
        return cell

    def config(self, config: str) -> Mapping[str, Value]:
        """Return a configuration: id, label, name (its name in charts), machine, product, drives, set."""
        entry: Config = _entry(self.study.configs, "configuration", config)
        return {**{key: getattr(entry, key) for key in CONFIG_KEYS}, "set": dict(entry.set)}

    def load(self, load: str) -> Mapping[str, Value]:
        """Return a load: id, label, published, workload, group, set."""
        entry: Load = _entry(self.study.loads, "load", load)
        return {**{key: getattr(entry, key) for key in LOAD_KEYS}, "set": dict(entry.set)}

    def name(self, config: str) -> str:
        """Return the name of a configuration in charts."""
        return str(self.config(config)["name"])

    def row(self, id: str | int) -> Mapping[str, Value]:
        """Return a published row: id, config, workload, metric, text, value, unit, kind, caveat. A number is formatted
        by the study's `id_format`."""
        entry: Published = _entry(self.study.published, "published row", self._id(id))
        return vars(entry)

    def _id(self, id: str | int) -> str:
        return self.study.id_format.format(id) if isinstance(id, int) else id

    def was_run(self, config: str, load: str) -> bool:
        """Return whether a configuration was run under a load."""
        return self.results is not None and (config, load) in self.results.cells

    def published(self, config: str, load: str, measure: str) -> float | None:
        """Return the published figure of a cell; None if there is none."""
        key = (config, load, measure)
        if key in self.figures.cells:
            return self.figures.cells[key]["published"]
        study = self.study
        entries: tuple[Config, Load, Measure] = (
            _entry(study.configs, "configuration", config),
            _entry(study.loads, "load", load),
            _entry(study.measures, "measure", measure),
        )
        row = published_row(study, *entries)
        return None if row is None else row.value

    def predicted(self, config: str, load: str, measure: str) -> float | None:
        """Return a measure of the runs of a cell; None if they have none."""
        key = (config, load, measure)
        if key in self.figures.cells:
            return self.figures.cells[key]["predicted"]
        return self._cell(config, load).value(_entry(self.study.measures, "measure", measure)).number

    def error(self, config: str, load: str, measure: str) -> float | None:
        """Return the error of the prediction of a cell, in percent of the published figure."""
        return error_pct(self.published(config, load, measure), self.predicted(config, load, measure))

    def gain(self, config: str, over: str, load: str, measure: str) -> list[float | None]:
        """Return a measure of a configuration divided by that of another: the published ratio and the predicted one."""
        sides = ((read(config, load, measure), read(over, load, measure)) for read in (self.published, self.predicted))
        return [value / other if value is not None and other else None for value, other in sides]

    def figure(self, id: str | int) -> Mapping[str, Value]:
        """Return a comparison of study.toml or a figure of conclusions.toml: published, predicted, error_pct, unit."""
        entry: Mapping[str, Value] = _item(self.figures.compared, "figure", self._id(id))
        return entry

    def claim(self, id: str) -> Mapping[str, Value]:
        """Return a claim: text, holds, measured, source."""
        entry: Mapping[str, Value] = _item(self.figures.claims, "claim", id)
        return entry

    def iops(self, config: str, load: str) -> float:
        """Return the IOPS of a cell; for a sweep, the highest."""
        self._cell(config, load)
        assert self.results is not None, "the cell is there"
        return self.results.iops(config, load)

    def record(self, config: str, load: str, depth: int | None = None) -> Mapping[str, Value]:
        """Return the record of a cell; for a sweep, that of a queue depth, by default the largest."""
        records: Mapping[int, Any] = self._cell(config, load).records
        at = max(records) if depth is None else depth
        if at not in records:
            known = ", ".join(map(str, sorted(records)))
            raise RefusedValueError(f'"{load}" was not run at queue depth {at}; expected one of {known}')
        record: Mapping[str, Value] = records[at]
        return record

    def seconds(self, config: str, load: str) -> float:
        """Return the measured time of a cell in seconds."""
        return float(self.record(config, load)["duration_ns"]) / 1e9

    def counter(self, config: str, load: str, counter: str, kind: str = "") -> int:
        """Return a counter, summed over the parts of a cell's machine, or over the parts of one kind."""
        parts = self.record(config, load)["parts"]
        return sum(int(part["counters"].get(counter, 0)) for part in parts if kind in ("", part["kind"]))

    def share_within(self, config: str, load: str, milliseconds: float) -> float:
        """Return the share of the I/Os of a cell that completed in less than a time."""
        document: Any = self.record(config, load)
        buckets = whole(document)["buckets"]
        total = sum(count for _, count in buckets)
        within = sum(count for latency_ns, count in buckets if latency_ns < milliseconds * 1e6)
        return within / total if total else 0.0

    def depths(self, config: str, load: str) -> list[int]:
        """Return the queue depths of a sweep in order; [0] for a load without a sweep."""
        return sorted(self._cell(config, load).runs)

    def curve(self, config: str, load: str | list[str]) -> Value:
        """Return the points of a response curve: name, concurrency, iops, latency_ms. A list of loads gives a list of
        curves."""
        if isinstance(load, list | tuple):
            return [self.curve(config, item) for item in load]
        return [{key: getattr(point, key) for key in POINT_KEYS} for point in curve(self._cell(config, load).runs)]

    def cells(self, measure: str) -> list[list[str]]:
        """Return configuration and load of every figure of a measure."""
        return [[config, load] for config, load, name in self.figures.cells if name == measure]

    def audit(self, file: str) -> Value:
        """Return the document that `hotband audit … --json` printed into a file of the study's folder."""
        return self._once(f"audit {file}", lambda: _document(self.study.folder, file))

    def audited(self) -> Value:
        """Return the findings of the auditor on the published rows: id, title, text, table."""
        return self._once("audited", lambda: published_findings(self.study.folder))

    def _once(self, key: str, read: Callable[[], Value]) -> Value:
        if key not in self._documents:
            self._documents[key] = read()
        return self._documents[key]


def _entry(entries: Sequence[Any], kind: str, id: str) -> Any:
    """Return the entry of an id. Raises RefusedValueError."""
    return _item({entry.id: entry for entry in entries}, kind, id)


def _item(entries: Mapping[str, Any], kind: str, id: str) -> Any:
    try:
        return entries[id]
    except KeyError:
        near = hint(str(id), list(entries))
        raise RefusedValueError(f'there is no {kind} "{id}"; {near}expected one of {_few(entries)}') from None


def _few(ids: Mapping[str, Any]) -> str:
    """Return the first ids only, because a study may have hundreds of published rows."""
    shown = list(ids)[:8]
    return ", ".join(shown) + (f" and {len(ids) - len(shown)} more" if len(ids) > len(shown) else "") or "none"


def _document(folder: Path, file: str) -> Value:
    path = folder / file
    if not real_path(path).is_relative_to(real_path(folder)) or not path.is_file():
        raise RefusedValueError(f"there is no file {file} in {folder}")
    try:
        return json.loads(text_in(path, "audit"))
    except (ValueError, RecursionError, UserError) as error:
        raise RefusedValueError(f"{file} is not JSON: {error}") from None
