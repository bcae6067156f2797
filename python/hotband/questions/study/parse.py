"""Read a study's folder: `study.toml`, checked key by key, and `published.csv`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.folders import real_path
from hotband.base.text.regular import text_in
from hotband.base.text.tomltable import TomlTable
from hotband.data.catalog import CATALOG_DIR
from hotband.data.inputs.events import check_events
from hotband.execution.experiment.ranges import KINDS as KINDS_OF_RANGE
from hotband.questions.study.blind import predictions
from hotband.questions.study.checks import (
    check_comparisons,
    check_explanations,
    check_fills,
    check_ids,
    check_units,
    check_values,
)
from hotband.questions.study.comparisons import KINDS
from hotband.questions.study.data import Data
from hotband.questions.study.definition import (
    LOAD_CHARTS,
    PRODUCT,
    PUBLISHED_FILE,
    STUDY_FILE,
    Comparison,
    Config,
    Load,
    Measure,
    Published,
    Study,
    Swing,
)
from hotband.questions.study.measures import MEASURES, PICKS, Parameters
from hotband.questions.study.rows import read_published

if TYPE_CHECKING:
    from hotband.base.text.values import Toml
    from hotband.data.documents.study import AssumptionDoc


def read_study(folder: Path) -> Study:
    """Read a study from its folder. Raises UserError for the first mistake."""
    table = TomlTable.read(folder / STUDY_FILE, "study")
    readings = table.part("readings")
    readings_by_id = {name: readings.number(name) for name in readings.table}
    published = read_published(folder / PUBLISHED_FILE, readings_by_id)
    config_tables, load_tables, measure_tables = table.parts("configs"), table.parts("loads"), table.parts("measures")
    _once("id", config_tables, load_tables, measure_tables)
    # A published row is found by the label of its configuration.
    _once("label", config_tables)
    for name in readings.table:
        readings.expect_one_of(name, name, [row.id for row in published])
    loads = [_load(load_table, _ids(config_tables), _ids(measure_tables)) for load_table in load_tables]
    configs = [_config(config_table, [load.id for load in loads]) for config_table in config_tables]
    names = ([config.id for config in configs], [load.id for load in loads])
    assumption_tables, made = table.parts("assumptions"), predictions()
    swings = [
        _swing(assumption_table, *names) for assumption_table in assumption_tables if assumption_table.has("swing")
    ]
    study = Study(
        name=table.text("name"),
        title=table.text("title"),
        question=table.text("question"),
        source=table.text("source"),
        folder=folder,
        id_format=table.text("id_format", "{}"),
        seed=table.whole("seed", 1),
        configs=tuple(configs),
        loads=tuple(loads),
        measures=tuple(_measure(measure_table) for measure_table in measure_tables),
        published=published,
        explanations=tuple(_explanation(part) for part in table.parts("explanations")),
        assumptions=tuple(_assumption(assumption_table) for assumption_table in assumption_tables),
        swings=tuple(swings),
        swing_loads=table.texts("swing_loads", names[1]),
        comparisons=tuple(_comparison(part, *names, _ids(measure_tables)) for part in table.parts("comparisons")),
        inputs=_inputs(table.part("inputs"), published),
        repeats=_repeats(table.part("repeats"), published),
        blind={row.id: made[row.id] for row in published if row.id in made},
        data=table.part("data").made(Data, given=None) if table.has("data") else None,
    )
    table.finish()
    _check_sequences(study, config_tables)
    _check_depths(study, config_tables, load_tables)
    _check_machines(study, table, config_tables, load_tables)
    comparison_tables = table.parts("comparisons")
    check_ids(study, table, config_tables)
    check_fills(study, config_tables)
    check_units(study, measure_tables)
    check_comparisons(study, comparison_tables)
    check_values(study, readings_by_id, comparison_tables)
    check_explanations(study, table.parts("explanations"))
    return study


def _ids(tables: Sequence[TomlTable]) -> list[str]:
    return [table.text("id") for table in tables]


def _once(key: str, *kinds: Sequence[TomlTable]) -> None:
    """Raise UserError for a value of `key` that two entries of one kind share."""
    for tables in kinds:
        seen: set[str] = set()
        for table in tables:
            name = table.text(key)
            if name in seen:
                table.refuse(key, "is given twice")
            seen.add(name)


def _config(table: TomlTable, loads: Sequence[str]) -> Config:
    ids = table.part("ids")
    for name in ids.table:
        ids.expect_one_of(name, name, loads)
    return table.made(
        Config,
        ids={name: ids.whole(name) for name in ids.table},
        loads=table.texts("loads", loads),
        sequence=table.texts("sequence", loads),
        events=_events(table),
    )


def _load(table: TomlTable, configs: Sequence[str], measures: Sequence[str]) -> Load:
    return table.made(
        Load,
        published=table.text("published", ""),
        duration=_duration(table),
        measures=table.texts("measures", measures),
        skip=table.texts("skip", configs),
        chart=table.choice("chart", LOAD_CHARTS, ""),
        events=_events(table),
        edit=dict(table.part("edit").table),
    )


def _duration(table: TomlTable) -> str | None:
    """Read a measured time, as a run accepts it."""
    text = table.text("duration", "") or None
    try:
        is_time = text is None or _core.quantity("time", text) > 0
    except ValueError:
        is_time = False
    if not is_time:
        table.refuse("duration", 'expected a time above zero with its unit, such as "30 s" (ns, us, ms, s, min, h, d)')
    return text


def _events(table: TomlTable) -> tuple[str, ...]:
    """Read events of the machine: texts that a run accepts as `--event`."""
    events = table.texts("events")
    try:
        check_events(events)
    except UserError as error:
        table.refuse("events", error.accepted, error.value)
    return events


def _measure(table: TomlTable) -> Measure:
    name_of_measure = table.choice("of", tuple(MEASURES))
    kind = MEASURES[name_of_measure]
    pick = table.choice("pick", PICKS, "only")
    parameters = Parameters(
        pick="max" if pick == "only" else pick,
        at_ns=table.span("at"),
        window_ns=table.span("window"),
        step=table.text("step", ""),
        script=table.text("script", ""),
        operation=table.text("operation", ""),
        operations=table.positive("operations") if table.has("operations") else None,
        percent=table.positive("percent") if table.has("percent") else None,
    )
    if parameters.percent is not None and parameters.percent > 100:
        table.refuse("percent", "expected a percentile, above 0 and at most 100")
    for name in ("at", "window", "step", "script", "operation", "operations", "percent"):
        if name in kind.needs and not table.has(name):
            table.refuse(name, f'is missing; the measure "{name_of_measure}" needs it')
        if table.has(name) and name not in kind.takes:
            takes = ", ".join(kind.takes) or "no parameter"
            table.refuse(name, f'the measure "{name_of_measure}" accepts {takes}')
    metric, unit = table.text("metric"), table.text("unit")
    measure = Measure(
        table.text("id"), metric, name_of_measure, unit, parameters, table.text("published", ""), table.flag("bar")
    )
    for name in ("at", "window"):
        table.raw(name)
    table.finish()
    return measure


def _comparison(table: TomlTable, configs: Sequence[str], loads: Sequence[str], measures: Sequence[str]) -> Comparison:
    return table.made(
        Comparison,
        label=table.text("label", ""),
        measure=table.choice("measure", measures),
        load=table.choice("load", loads),
        of=table.choice("of", configs),
        over=_over(table, configs),
        kind=table.choice("as", tuple(KINDS)),
        reading=table.number("reading") if table.has("reading") else None,
    )


def _over(table: TomlTable, configs: Sequence[str]) -> tuple[str, ...]:
    """Read one configuration, or a list of those whose mean is compared."""
    if not isinstance(table.raw("over"), list):
        return (table.choice("over", configs),)
    configs_over = table.texts("over", configs)
    if not configs_over:
        table.refuse("over", "expected a configuration, or a list of one or more")
    return configs_over


def _inputs(table: TomlTable, published: Sequence[Published]) -> dict[str, str]:
    """Read the use of published rows that nothing predicts."""
    known = [row.id for row in published]
    for name in table.table:
        table.expect_one_of(name, name, known)
    return {name: table.text(name) for name in table.table}


def _repeats(table: TomlTable, published: Sequence[Published]) -> dict[str, str]:
    """Read published rows that repeat another row: of two forms of one measurement, one counts."""
    known = [row.id for row in published]
    for name in table.table:
        table.expect_one_of(name, name, known)
        # A row that represents others counts itself.
        table.expect_one_of(name, table.text(name), [other for other in known if other not in table.table])
    return {name: table.text(name) for name in table.table}


def _explanation(table: TomlTable) -> dict[str, str]:
    texts = {name: table.text(name, "") for name in ("config", "label")} | {"text": table.text("text")}
    table.finish()
    return texts


def _assumption(table: TomlTable) -> AssumptionDoc:
    """Read an assumption as the report shows it, without its range to run."""
    part, key, source = (table.text(name) for name in ("part", "key", "source"))
    confidence, note = table.text("confidence", ""), table.text("note", "")
    value, span, estimate = table.raw("value"), table.raw("range"), table.flag("estimate")
    if span is not None and not (isinstance(span, list) and len(span) == 2):
        table.refuse("range", 'expected a list of two values, such as ["8", "32"]')
    if value is None:
        table.refuse("value", "is missing; expected the assumed value")
    table.raw("swing")
    table.finish()
    return {
        "part": part,
        "key": key,
        "source": source,
        "confidence": confidence,
        "note": note,
        "value": value,
        "range": span,
        "estimate": estimate,
    }


def _swing(entry: TomlTable, configs: Sequence[str], loads: Sequence[str]) -> Swing:
    table = entry.part("swing")
    targets = [name for name in KINDS_OF_RANGE if table.has(name)]
    if len(targets) != 1:
        entry.refuse("swing", f"expected exactly one of {', '.join(KINDS_OF_RANGE)} in it")
    target, ends = targets[0], table
    if target == "set":
        key = table.text("set")
    else:
        ends = table.part(target)
        key = ends.text("key")
    low, high = (_end(ends, name) for name in ("low", "high"))
    if ends is not table:
        ends.finish()
    name = f"{entry.text('part')}: {entry.text('key')}"
    if target == "set":
        low, high = str(low), str(high)
    configs_, loads_ = table.texts("configs", configs), table.texts("loads", loads)
    swing = Swing(name, key, low, high, of=target, configs=configs_, loads=loads_)
    table.finish()
    return swing


def _end(table: TomlTable, name: str) -> Toml:
    value = table.raw(name)
    if value is None:
        table.refuse(name, "is missing; expected the value at this end of the range")
    return value


def _check_sequences(study: Study, tables: Sequence[TomlTable]) -> None:
    """Check that the configuration runs the loads of its sequence, without a sweep and on one machine."""
    for table, config in zip(tables, study.configs, strict=True):
        runs = {load.id: load for other, load in study.pairs() if other.id == config.id}
        for name in config.sequence:
            table.expect_one_of("sequence", name, list(runs))
            if runs[name].sweep:
                table.refuse("sequence", "has a sweep: name each depth as a load", name)
            if runs[name].machine != runs[config.sequence[0]].machine:
                table.refuse("sequence", "is on another machine than the first of them", name)


def _check_depths(study: Study, config_tables: Sequence[TomlTable], load_tables: Sequence[TomlTable]) -> None:
    """Check that only the sweep sets the queue depth of a load."""
    loads = {load.id: table for load, table in zip(study.loads, load_tables, strict=True)}
    configs = {config.id: table for config, table in zip(study.configs, config_tables, strict=True)}
    for config, load in study.pairs():
        if not load.sweep:
            continue
        for settings, table in ((load.set, loads[load.id]), (config.set, configs[config.id])):
            depth = dict(settings).get("qd")
            if depth is not None:
                accepted = f'the load "{load.id}" has a sweep of the queue depth: expected sweep or qd'
                table.part("set").refuse("qd", accepted, depth)


def _check_machines(
    study: Study, table: TomlTable, config_tables: Sequence[TomlTable], load_tables: Sequence[TomlTable]
) -> None:
    """Check that every pair of a configuration and a load has a machine, its product and its files."""
    for key, entries in (("configs", study.configs), ("loads", study.loads)):
        if not entries:
            table.refuse(key, f"is missing; expected tables [[{key}]]")
    workloads, drives = (_core.catalog_names(CATALOG_DIR, kind) for kind in ("workloads", "drives"))
    tables = {load.id: entry for load, entry in zip(study.loads, load_tables, strict=True)}
    known = {config.id: entry for config, entry in zip(study.configs, config_tables, strict=True)}
    for config, load in study.pairs():
        table_of_machine = tables[load.id] if load.machine else known[config.id]
        machine = load.machine or config.machine
        if not machine:
            accepted = f'is missing; the load "{load.id}" names no machine'
            known[config.id].refuse("machine", accepted)
        text = _file_of(study, table_of_machine, "machine", machine) or machine
        if text == machine and ":" not in machine and machine != PRODUCT:
            table_of_machine.expect_one_of("machine", machine, drives)
        if PRODUCT in text and not config.product:
            known[config.id].refuse("product", f'is missing; the machine of "{load.id}" is built from it')
        if _file_of(study, tables[load.id], "workload", load.workload) is None:
            tables[load.id].expect_one_of("workload", load.workload, workloads)


def _file_of(study: Study, table: TomlTable, key: str, name: str) -> str | None:
    """Return the text of the file that a key names; None if it names no file."""
    if not name.endswith(".toml"):
        return None
    path = study.folder / name
    if not real_path(path).is_relative_to(real_path(study.folder)) or not path.is_file():
        table.refuse(key, f"no such file in {study.folder}", name)
    try:
        return text_in(path, key)
    except UserError as error:
        table.refuse(key, error.accepted, name)
