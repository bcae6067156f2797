"""Compare the loads of two results: one list of properties for compare, report, expect and audit.

Hotband's records of models, emulated machines and hardware have their workload: every key of it counts, except names
and durations. Therefore a key that is new to the schema cannot be forgotten. Results of fio have its options, as have
Hotband's records of emulated machines and hardware, if the other result has no workload; those in `OF_LOAD` count,
which are the options that the conversion of jobs uses. Results of other tools have the settings that
the importer read. Left out: equal settings under different keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

import tomli

import hotband._core as _core
from hotband.base.text.numbers import size
from hotband.base.text.quantities import address_bytes, size_bytes, span_ns
from hotband.data.catalog.named import STATE
from hotband.data.documents.record import KIND_EMULATED, KIND_REAL
from hotband.data.importers.fio.source import duration_of, size_of
from hotband.data.inputs.keys import set_keys
from hotband.data.inputs.loads import ENDS
from hotband.data.jobs.fio_names import ALIASES, OF_LOAD
from hotband.inference.audit.audited import Audited, grouped
from hotband.inference.audit.comparability import DATA_TOLERANCE, data_of, data_text
from hotband.inference.audit.facts import of_record
from hotband.inference.audit.finding import Finding, Number

NO_LOAD = frozenset({"title", "source", "confidence", "name", "note", "record", "notes", "untimed", *ENDS})
"""Keys of a workload for its name, source, recorded data and duration."""
COMPARED = {
    "concurrency": ("qd", "depth", "threads"),
    "size of an I/O": ("bs", "size"),
    "share of reads": ("read_pct",),
    "pattern": (),
    "requested rate": ("rate_iops",),
}
"""Properties that results of all tools have, and the equivalent keys of a workload."""
DRIVES = ("ent-10k", "7450-pro-3840")
"""A disk and an SSD, whose keys of `set` are of the target and not of the load."""
RUN_BY_HOTBAND = ("model", KIND_EMULATED, KIND_REAL)
"""Kinds of targets of Hotband's own runs."""
AS_IT_IS = "not set"
WHOLE = ("0 %", "100 %")
"""Range of a stream that states none."""


def unlike_words(a: Audited, b: Audited) -> list[str]:
    """Return a sentence for each difference between the loads of two runs."""
    sentences, judged = [], set[str]()
    for name, value, other in _properties(a, b):
        if None not in (value, other):
            judged.update(COMPARED[name])
        if value != other and (None not in (value, other) or name == "requested rate"):
            sentences.append(f"{name} differs: {value} and {other}")
    mine, theirs = data_of(a), data_of(b)
    for key in sorted(mine.keys() & theirs.keys()):
        low, high = sorted((mine[key], theirs[key]))
        if low < (1 - DATA_TOLERANCE) * high:
            sentences.append(f"{key} differs: {data_text(key, mine[key])} and {data_text(key, theirs[key])}")
    sentences += _unlike_spans(a, b)
    sizes = {"span"} if "working set, bytes" in mine.keys() & theirs.keys() else set[str]()
    is_mixed = a.is_model != b.is_model
    by_workload = _has_workload(a) and _has_workload(b)
    ours, others = (_features_of(run, by_workload=by_workload, applied=is_mixed) for run in (a, b))
    if ours is None or others is None:
        return sentences
    for key in sorted(ours.keys() | others.keys()):
        value, other = ours.get(key, AS_IT_IS), others.get(key, AS_IT_IS)
        if key.rpartition(".")[2] not in judged | sizes and not _same(value, other):
            sentences.append(f"{key} differs: {value} and {other}")
    return sentences


def _unlike_spans(a: Audited, b: Audited) -> list[str]:
    """Compare the spans of a workload and of the result of a tool: a workload without a span touches its whole target,
    a result only what its options name. Neither is compared if one of them is unknown."""
    if a.is_model == b.is_model or _has_workload(a) == _has_workload(b):
        return []
    spans = [_span_of(run) for run in (a, b)]
    if None in spans:
        return []
    low, high = sorted(span[1] for span in spans if span is not None)
    words = " and ".join(span[0] for span in spans if span is not None)
    return [f"span differs: {words}"] if low < (1 - DATA_TOLERANCE) * high else []


def _span_of(run: Audited) -> tuple[str, float] | None:
    """Return the bytes that a load touches, with their words; None if they are unknown."""
    if not run.is_model:
        known = run.asked.working_set_bytes
        return (size(known), known) if known else None
    spec: Mapping[str, Any] = run.record.get("spec") or {}
    table, facts = _table(spec, applied=True), of_record(run.record)
    streams = [stream for stream in table.get("streams", []) if isinstance(stream, dict)]
    ranges = {tuple(map(str, stream.get("range", WHOLE))) for stream in streams}
    if len(ranges) != 1 or any(key in table for key in ("app", "scripts")) or facts is None:
        return None
    [addresses] = ranges
    begin, end = (_bytes_of(address, facts.capacity_bytes or 0.0) for address in addresses)
    if end <= begin:
        return None
    return f"the whole target ({size(end)})" if addresses == WHOLE else size(end - begin), end - begin


def _bytes_of(address: str, capacity: float) -> float:
    """Return the bytes of an address of a workload, such as `1 GiB + 80 %`."""
    return sum(address_bytes(part.strip(), capacity) or 0.0 for part in address.split("+"))


def check(runs: Sequence[Audited]) -> list[Finding]:
    """Find loads with a key for which the runs of the targets share no value."""
    findings = []
    for _, alike in grouped(runs, lambda run: (run.tool, run.load)):
        by_workload = all(_has_workload(run) for run in alike)
        known = [(run, features) for run in alike
                 if (features := _features_of(run, by_workload=by_workload)) is not None]  # fmt: skip
        targets = [[features for _, features in of_target] for _, of_target in grouped(known, lambda it: it[0].target)]
        names = tuple(run.name for run in alike)
        for key in sorted({key for target in targets for features in target for key in features}):
            values = [{features.get(key, AS_IT_IS) for features in target} for target in targets]
            last = key.rpartition(".")[2]
            if (
                len(targets) > 1
                and not set.intersection(*values)
                and not any(last in keys for keys in COMPARED.values())
            ):
                shown = ", ".join(" or ".join(sorted(value)) for value in values)
                advice = "Repeat with the same load on all targets."
                title = f"Targets are compared under unequal loads ({key}): {shown}"
                numbers: dict[str, Number] = {"what": key, "targets": len(targets)}
                findings.append(Finding("unequal-data", "warning", names, title, numbers, advice))
    return findings


def alike_words(a: Audited, b: Audited) -> str:
    """Return which properties of two loads are known and equal; empty if none is."""
    equal = [f"{name} {value}" for name, value, other in _properties(a, b) if value == other and value is not None]
    return f"; equal: {', '.join(equal)}" if equal else ""


def _properties(a: Audited, b: Audited) -> Iterator[tuple[str, Any, Any]]:
    """Yield the properties of `COMPARED`, of both."""
    for name, key in zip(COMPARED, ("", "block_bytes", "read_pct", "pattern", "rate_iops"), strict=True):
        of_both = [getattr(run.asked, key) if key else run.concurrency for run in (a, b)]
        yield name, of_both[0], of_both[1]


def _features_of(run: Audited, *, by_workload: bool, applied: bool = False) -> dict[str, str] | None:
    """Return the load of a result by key, from its workload or from fio's options; None if the record has neither. With
    `applied`, the settings of a model's run are applied to its workload, as they are in that of a run through fio."""
    if by_workload:
        return _of_workload(run.record.get("spec") or {}, run.is_model, applied)
    if run.tool != "fio" or run.is_published:
        return None
    found: dict[str, set[str]] = {}
    for key, value in (_direct(*item) for table in run.option_tables for item in table.items()):
        if key in OF_LOAD:
            found.setdefault(key, set()).add(value)
    return {key: ", ".join(sorted(values)) for key, values in found.items() if values != {"0"}}


def _has_workload(run: Audited) -> bool:
    """Return whether Hotband ran it, on a model, an emulated machine or hardware: its record has the workload."""
    return run.record["target"].get("kind") in RUN_BY_HOTBAND and "workload" in (run.record.get("spec") or {})


def _direct(key: str, value: str) -> tuple[str, str]:
    """Return an option of fio by its first name, `buffered` as `direct`."""
    if key == "buffered":
        return "direct", "0" if value == "1" else "1"
    return ALIASES.get(key, key), value


def _of_workload(spec: Mapping[str, Any], is_model: bool, applied: bool) -> dict[str, str]:
    """Return the keys of a workload that describe its load, and the settings that are not a drive's."""
    settings = {key: str(value) for key, value in (spec.get("set") or {}).items()}
    if not is_model:
        state = settings.get(STATE)
        return dict(_leaves(_table(spec), "")) | ({} if state is None else {f"precondition.{STATE}": state})
    if applied:
        return dict(_leaves(_table(spec, applied=True), ""))
    changed = {key: value for key, value in settings.items() if key not in _keys_of_drives()}
    return dict(_leaves(_table(spec), "")) | changed


def _table(spec: Mapping[str, Any], *, applied: bool = False) -> dict[str, Any]:
    """Return the table of a record's workload, with the run's settings if `applied`; an empty one if it cannot be
    read."""
    settings = (spec.get("set") or {}).items() if applied else ()
    try:
        text = _changed(str(spec.get("workload") or ""), tuple((key, str(value)) for key, value in settings))
        return tomli.loads(text)
    except tomli.TOMLDecodeError:
        return {}


@lru_cache(maxsize=64)
def _changed(text: str, pairs: tuple[tuple[str, str], ...]) -> str:
    """Return the text of a workload with settings, without those of a machine."""
    for pair in pairs:
        with suppress(_core.SpecError):
            text = _core.workload(text, "record", [pair])["text"]
    return text


@cache
def _keys_of_drives() -> frozenset[str]:
    rows = [row for drive in DRIVES for row in set_keys("fio-randread", drive)]
    return frozenset(row.key for row in rows if row.part.startswith("drive"))


def _leaves(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Yield the values of a workload with their paths."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key not in NO_LOAD:
                yield from _leaves(each, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from _leaves(each, f"{path}[{place}]")
    else:
        yield path, f"{value:.12g}" if isinstance(value, float) else str(value)


def _same(value: str, other: str) -> bool:
    """Return whether two texts are one value: `1m` and `1024k`, `1 ms` and `1000 us`."""
    if value == other:
        return True
    for read in (size_bytes, span_ns, size_of, duration_of):
        numbers = read(value), read(other)
        if None not in numbers:
            return numbers[0] == numbers[1]
    return False
