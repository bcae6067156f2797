"""Name records on a page by their differences, and the page by what they have in common.

Left out: texts of machines and workloads are not compared; two of the same name are distinguished by settings,
duration, seed, file, and finally by number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from hotband.base.text.numbers import span
from hotband.base.text.quantities import size_bytes
from hotband.base.text.words import enumerated, unused
from hotband.data.documents.record import source_file
from hotband.data.record.load import LoadedRecord
from hotband.questions.sweeps.of_record import DEPTH, requested_depth
from hotband.views.report import sections

NOT_SET = "as it is"
# Most entries that a title lists; beyond that, their number.
LISTED = 4
MACHINE, WORKLOAD, SEED = "machine", "workload", "seed"


@dataclass(frozen=True)
class Naming:
    """Records by label; `differ` has for every label the aspects that differ (machine, workload, keys of settings),
    `same` those that all records share."""

    records: Mapping[str, LoadedRecord]
    differ: Mapping[str, Mapping[str, str]]
    same: Mapping[str, str]

    @property
    def keys(self) -> list[str]:
        """Return the aspects that differ."""
        return list(next(iter(self.differ.values()), {}))

    def values(self, key: str) -> list[str]:
        """Return the distinct values of an aspect that differs, in the order of the records."""
        return list(dict.fromkeys(aspects[key] for aspects in self.differ.values() if key in aspects))

    def sides(self) -> dict[str, list[str]]:
        """Return the labels of repeats, which differ only in their seed, by their common name; a single record has its
        own label."""
        sides: dict[str, list[str]] = {}
        for label, aspects in self.differ.items():
            side = {key: value for key, value in aspects.items() if key != SEED}
            sides.setdefault((_label(side) or "all") if SEED in aspects else label, []).append(label)
        return sides

    @property
    def title(self) -> str:
        """Return workload and machine, and the changed settings; of settings that some runs lack, as runs of different
        tools do, at most one."""
        workload, machine = (self._said(key) for key in (WORKLOAD, MACHINE))
        what = f"{workload} on {machine}" if machine else workload
        keys = [key for key in self.keys if key not in (WORKLOAD, MACHINE, SEED)]
        of_all = [key for key in keys if all(self.values(key))]
        shown = keys if len(keys) - len(of_all) <= 1 else of_all
        changed = [f"{key} {_range([value or NOT_SET for value in self.values(key)])}" for key in shown]
        return f"{what}: {', '.join(changed)}" if changed else what

    def _said(self, key: str) -> str:
        return (
            self.same[key] if key in self.same else _listed([value for value in self.values(key) if value], f"{key}s")
        )

    @property
    def subtitle(self) -> str:
        """Return the number of records, what they share, and how long they were measured."""
        times = sorted({float(loaded.record["duration_ns"]) for loaded in self.records.values()})
        ends = dict.fromkeys(span(time) for time in (times[0], times[-1])) if times else {}
        words = [f"{key} {value}" for key, value in self.same.items() if key not in (WORKLOAD, MACHINE)]
        alike = f"{', '.join(words)} in all" if len(self.records) > 1 and words else ", ".join(words)
        is_model = all(loaded.record["target"].get("kind") == "model" for loaded in self.records.values())
        verb = "simulated" if is_model else "measured"
        count = [f"{len(self.records)} runs"] if len(self.records) > 1 else []
        return "; ".join(part for part in (*count, alike, f"{verb} for {' to '.join(ends)}") if part)


def named(records: Sequence[LoadedRecord]) -> Naming:
    """Name records by their differences, in order."""
    aspects = _with_depth(records, [_aspects(record) for record in records])
    shared = [key for key in (aspects[0] if aspects else {}) if all(key in aspect for aspect in aspects)]
    same = {key: aspects[0][key] for key in shared if len({aspect[key] for aspect in aspects}) == 1}
    keys = [key for key in shared if key not in same]
    further = [key for aspect in aspects for key in aspect if key not in shared]
    differing = [{key: aspect[key] for key in keys} for aspect in aspects]
    for key, entry in (*((key, _one_of(key)) for key in dict.fromkeys(further)), *FURTHER.items()):
        if len({tuple(labels.items()) for labels in differing}) == len(differing):
            break
        values = [entry(record) for record in records]
        if len(set(values)) > 1:
            differing = [{**labels, key: value} for labels, value in zip(differing, values, strict=True)]
    labelled: dict[str, LoadedRecord] = {}
    differ: dict[str, Mapping[str, str]] = {}
    for loaded, differing_aspects in zip(records, differing, strict=True):
        label = unused(_label(differing_aspects) or loaded.label, labelled)
        labelled[label], differ[label] = loaded, differing_aspects
    return Naming(labelled, differ, same)


def _aspects(loaded: LoadedRecord) -> dict[str, str]:
    """Return the aspects that may differ: workload, machine, and settings."""
    record = loaded.record
    machine = str(record["target"].get("machine") or "") if record["target"].get("kind") == "model" else ""
    name = loaded.label.removesuffix(f" on {machine}") if machine else loaded.label
    aspects = {WORKLOAD: name, MACHINE: machine} if machine and name != loaded.label else {WORKLOAD: name}
    spec = record.get("spec")
    settings = spec.get("set") if isinstance(spec, dict) else None
    return aspects | {str(key): str(value) for key, value in (settings or {}).items()}


def _with_depth(records: Sequence[LoadedRecord], aspects: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Return the aspects with the queue depth of results of other tools, which have no settings, if depths differ."""
    depths = [aspect.get(DEPTH) or _depth(record) for record, aspect in zip(records, aspects, strict=True)]
    measured = any(record.record["target"].get("kind") != "model" for record in records)
    if not measured or None in depths or len(set(depths)) < 2:
        return list(aspects)
    return [{**aspect, DEPTH: depth or ""} for aspect, depth in zip(aspects, depths, strict=True)]


def _depth(loaded: LoadedRecord) -> str | None:
    """Return the requested number of outstanding I/Os; None if a result does not state it."""
    depth = requested_depth(loaded.record) or loaded.record.get("concurrency")
    return str(depth) if depth else None


def _one_of(key: str) -> Callable[[LoadedRecord], str]:
    """Return a function that reads a key that only some records have; it returns an empty text for the others."""
    return lambda loaded: _aspects(loaded).get(key, "")


def _happens(loaded: LoadedRecord) -> str:
    return " ".join(sections.events(loaded.record.get("spec") or {})) or "nothing happens"


def _file(loaded: LoadedRecord) -> str:
    file = source_file(loaded.record)
    return PurePath(file).name if file else ""


FURTHER: dict[str, Callable[[LoadedRecord], str]] = {
    "events": _happens,
    "measured for": lambda loaded: span(loaded.record["duration_ns"]),
    SEED: lambda loaded: str(loaded.record.get("seed")),
    "file": _file,
}
"""Keys that distinguish records if nothing else does, in this order."""


def _label(aspects: Mapping[str, str]) -> str:
    """Return the values; those of settings with their keys."""
    plain = (WORKLOAD, MACHINE, "events", "file")
    return ", ".join(value if key in plain else f"{key} {value}" for key, value in aspects.items() if value)


def _listed(values: Sequence[str], what: str) -> str:
    """Format a list: `a, b and c`, or `9 machines`."""
    if len(values) > LISTED:
        return f"{len(values)} {what}"
    return enumerated(values, LISTED) if values else ""


def _range(values: Sequence[str]) -> str:
    """Format numbers as `1 to 64`, other values as a list."""
    if len(values) > 2 and all(as_number(value) is not None for value in values):
        ordered = sorted(values, key=lambda value: as_number(value) or 0.0)
        return f"{ordered[0]} to {ordered[-1]}"
    return _listed(values, "values")


def which_is_fastest(names: Sequence[str], kind: str = "") -> str:
    """Return the question that a page on two names or more answers."""
    if len(names) == 2:
        return f"Is {names[1]} faster than {names[0]}?"
    return f"Which of {len(names)}{f' {kind}' * bool(kind)} is fastest?"


def as_number(text: str) -> float | None:
    """Return a setting as a number, in bytes if it is a size; None for words."""
    try:
        return float(text)
    except ValueError:
        return size_bytes(text)
