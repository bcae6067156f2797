"""Compare the loads of two results: one list of properties for compare, report, expect and audit.

Hotband's records have their workload: every key of it counts, except names and durations. Therefore a key that is
new to the schema cannot be forgotten. Results of fio have its options; those in `OF_LOAD` count, which are the options
that the conversion of jobs uses. Results of other tools have the settings that the importer read. Left out: equal
settings under different keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import tomli

from hotband.base.text.numbers import size
from hotband.base.text.quantities import address_bytes, size_bytes, span_ns
from hotband.data.importers.fio.source import duration_of, size_of
from hotband.data.inputs.keys import set_keys
from hotband.data.inputs.loads import ENDS
from hotband.data.jobs.fio_names import ALIASES, OF_LOAD
from hotband.inference.audit.audited import Audited, grouped
from hotband.inference.audit.comparability import DATA_TOLERANCE, data_of, data_text
from hotband.inference.audit.facts import of_record
from hotband.inference.audit.finding import Finding, Number

NO_LOAD = frozenset({"title", "source", "confidence", "name", "record", "notes", "untimed", *ENDS})
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
AS_IT_IS = "not set"
WHOLE = "100 %"
"""Span of a workload that states none."""


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
    ours, others = features_of(a), features_of(b)
    if ours is None or others is None or a.is_model != b.is_model:
        return sentences
    for key in sorted(ours.keys() | others.keys()):
        value, other = ours.get(key, AS_IT_IS), others.get(key, AS_IT_IS)
        if key.rpartition(".")[2] not in judged | sizes and not _same(value, other):
            sentences.append(f"{key} differs: {value} and {other}")
    return sentences


def _unlike_spans(a: Audited, b: Audited) -> list[str]:
    """Compare the spans of a model's load and of a result: a workload without a span touches its whole target, a result
    only what its options name. Neither is compared if one of them is unknown."""
    if a.is_model == b.is_model:
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
    try:
        table = tomli.loads(str(spec.get("workload") or ""))
    except tomli.TOMLDecodeError:
        return None
    streams = [stream for stream in table.get("streams", []) if isinstance(stream, dict)]
    texts = {(spec.get("set") or {}).get("span") or str(stream.get("span", WHOLE)) for stream in streams}
    facts = of_record(run.record)
    if len(texts) != 1 or any(key in table for key in ("app", "scripts")) or facts is None:
        return None
    text = texts.pop()
    known = address_bytes(text, facts.capacity_bytes or 0.0)
    if known is None:
        return None
    return f"the whole target ({size(known)})" if text == WHOLE else size(known), known


def check(runs: Sequence[Audited]) -> list[Finding]:
    """Find loads with a key for which the runs of the targets share no value."""
    findings = []
    for _, alike in grouped([run for run in runs if features_of(run) is not None], lambda run: (run.tool, run.load)):
        targets = [
            [features_of(run) or {} for run in of_target] for _, of_target in grouped(alike, lambda run: run.target)
        ]
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


def features_of(run: Audited) -> dict[str, str] | None:
    """Return the load of a result by key; None for tools whose options are not in the record."""
    spec: Mapping[str, Any] = run.record.get("spec") or {}
    if run.is_model:
        return _of_workload(spec)
    if run.tool != "fio" or run.is_published:
        return None
    found: dict[str, set[str]] = {}
    for key, value in (_direct(*item) for table in run.option_tables for item in table.items()):
        if key in OF_LOAD:
            found.setdefault(key, set()).add(value)
    return {key: ", ".join(sorted(values)) for key, values in found.items() if values != {"0"}}


def _direct(key: str, value: str) -> tuple[str, str]:
    """Return an option of fio by its first name, `buffered` as `direct`."""
    if key == "buffered":
        return "direct", "0" if value == "1" else "1"
    return ALIASES.get(key, key), value


def _of_workload(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the keys of a workload that describe its load, and those of `set` that are not a drive's."""
    try:
        table = tomli.loads(str(spec.get("workload") or ""))
    except tomli.TOMLDecodeError:
        table = {}
    changed = {key: str(value) for key, value in (spec.get("set") or {}).items() if key not in _keys_of_drives()}
    return dict(_leaves(table, "")) | changed


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
        yield path, str(value)


def _same(value: str, other: str) -> bool:
    """Return whether two texts are one value: `1m` and `1024k`, `1 ms` and `1000 us`."""
    if value == other:
        return True
    for read in (size_bytes, span_ns, size_of, duration_of):
        numbers = read(value), read(other)
        if None not in numbers:
            return numbers[0] == numbers[1]
    return False
