"""Checks of a study whose parts have been read: units, published values, comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hotband.base.errors import UserError
from hotband.base.text.regular import text_in
from hotband.base.text.tomltable import TomlTable
from hotband.inference.interval.figureclass import COMPARED_WORDS, PROGRAM_UNITS, RATE_UNITS, TIME_UNITS
from hotband.inference.interval.figures import RATIOS
from hotband.questions.study.comparisons import NEVER_BELOW, figure_of
from hotband.questions.study.definition import (
    CONCLUSIONS_FILE,
    PUBLISHED_FILE,
    STUDY_FILE,
    Published,
    Study,
    findings_file,
    published_row,
)
from hotband.questions.study.measures import MEASURES
from hotband.questions.study.readings import Value
from hotband.questions.study.rows import is_number
from hotband.questions.study.units import PERCENT, RATIO

SIGNED_WORDS = (*COMPARED_WORDS, "difference", "delta", "saving")
"""Words in the names of metrics that may be below zero."""

_UNITS = {"ratio": RATIO, "inverse_ratio": RATIO, "gain_pct": PERCENT, "reduction_pct": PERCENT}
"""Units of comparisons; a difference has the unit of its measure."""


def check_ids(study: Study, table: TomlTable, config_tables: Sequence[TomlTable]) -> None:
    """Check that numbered figures have different ids."""
    try:
        is_numbered = study.id_format.format(1) != study.id_format.format(2)
    except (IndexError, KeyError, ValueError, AttributeError):
        is_numbered = False
    if not is_numbered:
        table.refuse(
            "id_format", 'expected a text with the place of one number, such as "mirrors-{:03d}"', study.id_format
        )
    seen: dict[int, str] = {}
    tables = {config.id: entry for config, entry in zip(study.configs, config_tables, strict=True)}
    for config, load in study.pairs():
        first = config.ids.get(load.id)
        for number in range(first, first + len(load.measures)) if first is not None else ():
            if number in seen:
                accepted = (
                    f"numbers the {len(load.measures)} figures of this load from it on, but {number} is {seen[number]}"
                )
                tables[config.id].part("ids").refuse(load.id, accepted)
            seen[number] = f'one of "{load.id}" of "{config.id}"'


def check_fills(study: Study, tables: Sequence[TomlTable]) -> None:
    """Check that every key of `fill` occurs in a text."""
    for table, config in zip(tables, study.configs, strict=True):
        loads = [load for other, load in study.pairs() if other is config and config.fill]
        named = [name for load in loads for name in (load.machine or config.machine, load.workload)]
        files = [name for name in dict.fromkeys(named) if name.endswith(".toml")]
        texts = [text_in(study.folder / name, "machine or workload") for name in files]
        for key, _ in config.fill:
            if not any(f"{{{key}}}" in text for text in texts):
                accepted = f"expected {{{key}}} in {' or '.join(files) or 'a file of its machines or workloads'}"
                table.part("fill").refuse(key, accepted)


def check_units(study: Study, tables: Sequence[TomlTable]) -> None:
    """Check that a measure has a unit of its number, and a prediction the unit of its published figure."""
    known = {measure.id: entry for measure, entry in zip(study.measures, tables, strict=True)}
    for measure in study.measures:
        unit = MEASURES[measure.of].unit
        if not unit.takes(measure.unit):
            known[measure.id].refuse("unit", f'expected {unit.accepted}, the unit of "{measure.of}"')
    for config, load in study.pairs():
        for measure in map(study.measure, load.measures):
            row = published_row(study, config, load, measure)
            if row is None or row.unit == measure.unit:
                continue
            if MEASURES[measure.of].unit.takes(row.unit):
                known[measure.id].refuse("unit", f'expected "{row.unit}", as {row.id} is published')
            accepted = f'expected "{measure.unit}", the unit of the measure "{measure.id}": convert the value'
            raise _of_row(study, row, "unit", row.unit, accepted)


def check_comparisons(study: Study, tables: Sequence[TomlTable]) -> None:
    """Check that both sides of a comparison are run, that its unit fits its kind, and that only words have a
    reading."""
    run = {(config.id, load.id) for config, load in study.pairs()}
    rows = {row.id: row for row in study.published}
    for comparison, table in zip(study.comparisons, tables, strict=True):
        for key, config in (("of", comparison.of), *(("over", other) for other in comparison.over)):
            if (config, comparison.load) not in run:
                table.refuse(key, f'the configuration does not run the load "{comparison.load}"', config)
        if comparison.of in comparison.over:
            table.refuse("over", "expected another configuration than that of the key of", comparison.of)
        unit, row = (
            _UNITS.get(comparison.kind, MEASURES[study.measure(comparison.measure).of].unit),
            rows.get(comparison.id),
        )
        if comparison.unit and not unit.takes(comparison.unit):
            table.refuse("unit", f'expected {unit.accepted}, the unit of "{comparison.kind}"')
        if row is not None and not unit.takes(row.unit):
            raise _of_row(
                study, row, "unit", row.unit, f'expected {unit.accepted}: it is compared as "{comparison.kind}"'
            )
        if comparison.reading is not None and row is None:
            table.refuse("reading", f'names a published row, but none of {PUBLISHED_FILE} has the id "{comparison.id}"')
        if comparison.reading is not None and row is not None and row.value is not None:
            table.refuse("reading", f"applies to words, but {row.id} is published as a number, {row.text}")


def check_explanations(study: Study, tables: Sequence[TomlTable]) -> None:
    """Check that an explanation names existing figures, by label, configuration or both: otherwise it would never be
    shown. Conclusions and the study's module may add figures."""
    if _adds_figures(study):
        return
    cells = [(config.label, load.label) for config, load in study.pairs() if not (config.what_if or load.what_if)]
    compared = [figure_of(study, comparison, Value(None)) for comparison in study.comparisons]
    places = dict.fromkeys([*cells, *((figure["config"], figure["label"]) for figure in compared)])
    for explanation, table in zip(study.explanations, tables, strict=True):
        candidates = list(places)
        for index, key in enumerate(("config", "label")):
            fits = [cell for cell in candidates if explanation[key] in cell[index]]
            if not fits:
                known = ", ".join(f'"{name}"' for name in dict.fromkeys(cell[index] for cell in candidates))
                config_words = f' of "{explanation["config"]}"' if index and explanation["config"] else ""
                table.refuse(key, f"expected a text that is in one of the {key}s of figures{config_words}: {known}")
            candidates = fits


def _adds_figures(study: Study) -> bool:
    """Return whether a study may have figures that only its program or its conclusions name."""
    conclusions = study.folder / CONCLUSIONS_FILE
    return findings_file(study).is_file() or (
        conclusions.is_file() and TomlTable.read(conclusions, "conclusions").has("figures")
    )


def check_values(study: Study, readings: Mapping[str, float], tables: Sequence[TomlTable]) -> None:
    """Check that no rate, latency, time or ratio is below zero (gains, changes and differences may be), and
    readings."""
    file = str(study.folder / STUDY_FILE)
    kinds = {comparison.id: comparison.kind for comparison in study.comparisons}
    places: dict[tuple[str, str, str], str] = {}
    cells = [(config, load, measure) for config, load in study.pairs() for measure in load.measures]
    predicted = {row.id for cell in cells if (row := published_row(study, cell[0], cell[1], study.measure(cell[2])))}
    for row in study.published:
        cell_names = (row.config, row.workload, row.metric)
        if places.setdefault(cell_names, row.id) in predicted and places[cell_names] != row.id:
            accepted = f"has configuration, workload and metric of {places[cell_names]}: one figure cannot be two"
            raise _of_row(study, row, "metric", row.metric, accepted)
        if row.id in readings and is_number(row.text):
            accepted = f"applies to words, but it is published as a number, {row.text}"
            raise UserError(file, f"readings.{row.id}", f"{readings[row.id]:g}", accepted)
        if row.value is None or row.value >= 0:
            continue
        accepted = _accepted(row, kinds.get(row.id), row.id in predicted)
        if accepted and row.id in readings:
            raise UserError(file, f"readings.{row.id}", f"{row.value:g}", accepted)
        if accepted:
            raise _of_row(study, row, "value", row.text, accepted)
    for entry, table in zip(study.comparisons, tables, strict=True):
        if entry.reading is not None and _is_below(entry.kind, entry.reading):
            table.refuse("reading", NEVER_BELOW[entry.kind])


def _accepted(row: Published, kind: str | None, is_predicted: bool) -> str:
    """Return the accepted values instead of one below zero; "" if it may be below zero."""
    assert row.value is not None, "the value is a number"
    if kind is not None:
        return NEVER_BELOW[kind] if _is_below(kind, row.value) else ""
    measured = row.unit in (*RATE_UNITS, *PROGRAM_UNITS, *TIME_UNITS)
    is_signed = any(word in row.metric.lower() for word in SIGNED_WORDS)
    return "expected a number, 0 or more" if is_predicted or (measured and not is_signed) else ""


def _is_below(kind: str, value: float) -> bool:
    """Return whether a comparison of two figures cannot be this small (a reduction: this large)."""
    return kind in NEVER_BELOW and RATIOS.get(kind, float)(value) < 0


def _of_row(study: Study, row: Published, column: str, value: str, accepted: str) -> UserError:
    return UserError(str(study.folder / PUBLISHED_FILE), f"{row.id}: {column}", value, accepted)
