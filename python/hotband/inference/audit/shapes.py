"""Check the values of a record that the rules use: an edited or foreign file causes an error of one line, not a
traceback."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NoReturn

from hotband.base.claim import ClaimDoc
from hotband.base.errors import UserError

NUMBERS = (
    *("duration_ns", "ramp_ns", "concurrency", "jobs", "block_bytes", "read_pct", "working_set_bytes"),
    *("offset_begin_bytes", "rate_iops"),
)
SWITCHES = ("direct", "group_reporting", "time_based")
TEXTS = ("pattern", "seed", "seed_text")
SCOPES = ("read", "write", "flush", "trim")
"""Objects of figures inside a summary; flushes and trims are there only if some were issued."""
NESTED = (*SCOPES, "times_mean_ns")
SIDE_NUMBERS = ("count", "bytes", "errors", "latency_min_ns", "latency_max_ns", "iops_max", "submission_mean_ns")


def check(file: str, record: Mapping[str, object]) -> None:
    """Raise UserError for the first value that no rule can use. `load_record` has made its checks before."""
    _numbers(file, "", record, ("duration_ns", "concurrency"))
    summary = _object(record["summary"])
    for scope in ("", *SCOPES):
        figures_of_scope = summary.get(scope) or {} if scope else summary
        if not isinstance(figures_of_scope, Mapping):
            _refuse(file, f"summary.{scope}", figures_of_scope, "expected an object")
        figures = [key for key in figures_of_scope if key not in NESTED]
        _numbers(file, f"summary.{scope}." if scope else "summary.", figures_of_scope, figures)
    _source(file, record.get("source"))
    for index, stream in enumerate(_list(record["streams"])):
        if not isinstance(name := _object(stream).get("name"), str):
            _refuse(file, f"streams[{index}].name", name, "expected a text")
        for direction in SCOPES:
            _side(file, f"streams[{index}].{direction}", _object(_object(stream).get(direction)))
    _further(file, record)


def _object(value: object) -> Mapping[str, object]:
    """Return an object; empty for other values, which have been checked or are absent."""
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    """Return a list; empty for other values, which have been checked or are absent."""
    return value if isinstance(value, list) else []


def _source(file: str, source: object) -> None:
    if source is None:
        return
    if not isinstance(source, Mapping) or not isinstance(source.get("asked") or {}, Mapping):
        _refuse(file, "source", source, "expected an object whose `asked` is an object")
    options = source.get("asked") or {}
    _numbers(file, "source.asked.", options, NUMBERS)
    for keys, kind, words in ((SWITCHES, bool, "true, false or null"), (TEXTS, str, "a text or null")):
        for key in keys:
            if options.get(key) is not None and not isinstance(options[key], kind):
                _refuse(file, f"source.asked.{key}", options[key], f"expected {words}")
    _numbers(file, "source.", source, ("elapsed_ns",))
    ended = source.get("job_errors")
    if ended is not None and not (isinstance(ended, list) and all(isinstance(error, str) for error in ended)):
        _refuse(file, "source.job_errors", ended, "expected a list of texts")
    _contradictions(file, _list(source.get("contradictions")))
    for key in ("tool", "version", "began", "ended", "target", "host"):
        if source.get(key) is not None and not isinstance(source[key], str):
            _refuse(file, f"source.{key}", source[key], "expected a text or null")


def _contradictions(file: str, claims: Sequence[object]) -> None:
    keys = ClaimDoc.__annotations__.keys()
    for claim in claims:
        if not (isinstance(claim, Mapping) and claim.keys() == keys and is_number(claim["stated"])):
            _refuse(file, "source.contradictions", claim, f"expected objects with {', '.join(keys)}")
        if not isinstance(claim["low"], int | float):
            _refuse(file, "source.contradictions.low", claim["low"], "expected a number")
        _numbers(file, "source.contradictions.", claim, ("high",))


def _side(file: str, key: str, side: Mapping[str, object]) -> None:
    _numbers(file, f"{key}.", side, SIDE_NUMBERS)
    if side and "count" not in side:
        _refuse(file, f"{key}.count", "nothing", "expected the number of I/Os")
    summed = side.get("latency_sum_ns")
    if summed is not None and not (isinstance(summed, str) and summed.isascii() and summed.isdigit()):
        _refuse(file, f"{key}.latency_sum_ns", summed, "expected a text of digits, or null")
    printed = _object(side.get("printed"))
    _numbers(file, f"{key}.printed.", printed, list(printed))
    missing = [name for name in ("bytes", "latency_sum_ns", "latency_min_ns", "latency_max_ns", "histogram")
               if side.get("count") and name not in side]  # fmt: skip
    if missing:
        _refuse(file, f"{key}.{missing[0]}", "nothing", "expected by every count of I/Os; null if unknown")
    histogram = side.get("histogram")
    if side.get("count") and not (isinstance(histogram, Mapping) and {"kind", "buckets"} <= histogram.keys()):
        _refuse(file, f"{key}.histogram", histogram, "expected an object with kind and buckets")
    if not isinstance(_object(histogram).get("kind", "none"), str):
        _refuse(file, f"{key}.histogram.kind", _object(histogram).get("kind"), "expected a text")
    for name in ("percentiles", "latency_bins"):
        pairs = side.get(name)
        if pairs is not None and not (isinstance(pairs, list) and all(_is_pair(pair) for pair in pairs)):
            _refuse(file, f"{key}.{name}", pairs, "expected a list of pairs of numbers, 0 or more")


def _is_pair(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(is_number(value) for value in pair)


def _further(file: str, record: Mapping[str, object]) -> None:
    """Check the keys that only some records have."""
    for key in ("spec", "samples", "steady_state"):
        if record.get(key) is not None and not isinstance(record[key], Mapping):
            _refuse(file, key, record[key], "expected an object")
    spec = _object(record.get("spec"))
    for key in ("set", "drives", "global", "jobs"):
        if spec.get(key) is not None and not isinstance(spec[key], Mapping):
            _refuse(file, f"spec.{key}", spec[key], "expected an object")
    for key in ("steps", "notes", "data", "smart"):
        if record.get(key) is not None and not isinstance(record[key], list):
            _refuse(file, key, record[key], "expected a list")
    for index, drive in enumerate(_list(record.get("smart"))):
        begin = drive.get("at_begin") if isinstance(drive, Mapping) else None
        if not isinstance(begin, Mapping) or not is_number(begin.get("host_bytes")):
            _refuse(file, f"smart[{index}].at_begin.host_bytes", drive, "expected a number of bytes")
    series = record.get("series")
    if isinstance(series, Mapping):
        _numbers(file, "series.", series, ("interval_ns",))


def is_number(value: object) -> bool:
    """Return whether a value is a finite number, 0 or more."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _numbers(file: str, prefix: str, values: Mapping[str, object], keys: Sequence[str]) -> None:
    for key in keys:
        if values.get(key) is not None and not is_number(values[key]):
            _refuse(file, f"{prefix}{key}", values[key], "expected a finite number, 0 or more, or null")


def _refuse(file: str, key: str, value: object, accepted: str) -> NoReturn:
    text = str(value)
    raise UserError(file, key, text if len(text) <= 60 else f"{text[:57]}...", accepted)
