"""Treat records that differ in one numeric parameter as a sweep: `hotband report` draws their curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hotband.data.documents.record import RecordDoc
from hotband.data.inputs.values import Value
from hotband.data.record.load import LoadedRecord
from hotband.data.record.record import Record
from hotband.data.record.tables import Tables
from hotband.questions.sweeps.frames import numbers_of
from hotband.questions.sweeps.of_record import settings_of_record, target_and_workload
from hotband.questions.sweeps.sweep import Sweep
from hotband.views.report.page import Prose, Section
from hotband.views.report.sweep_drawn import curve_sections
from hotband.views.sweeps.answers import answers_of
from hotband.views.sweeps.curves import Curves

LEAST_VALUES = 3
"""Least values for a curve: two values are a comparison."""
OUTSTANDING = "I/Os outstanding"
"""Name of the varied parameter in results of tools that report outstanding I/Os but no settings."""


def curve_sections_of(records: Mapping[str, LoadedRecord]) -> list[Section]:
    """Return the sections of curves; none if the records are no sweep."""
    sweep = sweep_of([loaded.record for loaded in records.values()])
    if sweep is None:
        return []
    return curve_sections(Curves(sweep), [Prose(answers_of(sweep))])


def sweep_of(records: Sequence[RecordDoc]) -> Sweep | None:
    """Return a sweep of records of one or several workloads and machines that differ in one numeric parameter with at
    least three values; None for others, and if a point occurs twice with one seed."""
    settings = [settings_of_record(record) for record in records]
    names = list(dict.fromkeys(name for setting in settings for name in setting))
    differ = [name for name in names if len({repr(setting.get(name)) for setting in settings}) > 1]
    if not differ and not any(settings):
        settings = [{OUTSTANDING: value} if (value := record.get("concurrency")) else {} for record in records]
        differ = [OUTSTANDING]
    if len(differ) != 1 or any(differ[0] not in setting for setting in settings):
        return None
    [key] = differ
    values = [setting[key] for setting in settings]
    numbers = numbers_of(values)
    if numbers is None or len(set(numbers[1])) < LEAST_VALUES:
        return None
    points = [_point(record, key, value) for record, value in zip(records, values, strict=True)]
    if len({repr(at) for at in points}) < len(points):
        return None
    return Sweep(tuple(points), tuple(Record(record, Tables({})) for record in records))


def _point(record: RecordDoc, key: str, value: Value) -> dict[str, Value]:
    """Return the coordinates of a record."""
    machine, workload = target_and_workload(record)
    return {"target": machine, "workload": workload, key: value, "seed": str(record.get("seed"))}
