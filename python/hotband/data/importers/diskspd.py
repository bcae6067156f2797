"""DiskSpd's XML (`-Rxml`) and text as records: one record per time span, one stream per target.

Sources: ResultParser and XmlResultParser of microsoft/diskspd. Latencies are in ms, a `Bucket` of `Iops` has I/Os a
second and the end of its interval, percentiles are of all targets of a time span together. Offsets come from a fixed
seed (0) unless `-z` says otherwise.
Left out: CPU use, the topology of processors, standard deviations, ETW events, cooldown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hotband.base.errors import UserError
from hotband.data.documents.source import NS_PER_MS, NS_PER_S, Asked, iso, nothing_asked
from hotband.data.importers.cells import Cells
from hotband.data.importers.diskspd_restated import of_text, of_xml
from hotband.data.importers.diskspd_text import elements, is_text, texts_of
from hotband.data.importers.files import name_of, read_bytes
from hotband.data.importers.fio.text import printable
from hotband.data.importers.record import ImportedRun, Sides, build, side_of
from hotband.data.record.imported import Imported, SeriesColumns, no_rows
from hotband.data.record.stats import DIRECTIONS, SUMMARY_PERCENTILES, Direction

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

ACCEPTED = "DiskSpd's XML (-Rxml) or text"
_RESULTS = re.compile(rb"^[ \t]*<Results>.*?(^[ \t]*</Results>|\Z)", re.MULTILINE | re.DOTALL)
_TROUBLE = re.compile(
    rb"^((?:WARNING|ERROR)\b.*|t(?:hread )?\[?\d[\d:]*\]?:? error .*|There has been an error .*)$",
    re.MULTILINE | re.IGNORECASE,
)
"""A line in which DiskSpd reports trouble on its standard error (Common.cpp, PrintError); settings are indented."""
_MOST_WARNINGS, _LONGEST = 20, 240
_WORDS = {"read": "Read", "write": "Write", "all": "Total"}


def recognises(beginning: bytes) -> bool:
    """Return whether the beginning of a file is DiskSpd's."""
    is_result = re.match(rb"\s*(<\?xml[^>]*\?>\s*)?(<!DOCTYPE|<Results>)", beginning) is not None
    if is_text(beginning) or (is_result and b"<Results" in beginning):
        return True
    # With its standard error before it.
    results = _RESULTS.search(beginning.replace(b"\r", b""))
    return results is not None and _TROUBLE.match(beginning.lstrip()) is not None


def read(paths: Sequence[Path]) -> list[Imported]:
    """Return the records of results, in the order of the files. Raises UserError for a mistake."""
    return [
        record for path in paths for record in _read_document(read_bytes(path, ACCEPTED, table=True), name_of(path))
    ]


def parse_xml(data: bytes, file: str, accepted: str) -> Element:
    """Return the root element; entities, document types and external references are refused, nothing is fetched."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    # What was UTF-16 on disk is read as UTF-8, and may still declare the former.
    data = re.sub(rb"^(\s*<\?xml[^>]{0,200}encoding=[\"'])utf-?16", rb"\1utf-8", data, count=1, flags=re.IGNORECASE)
    try:
        root: Element = fromstring(data, forbid_dtd=True)
    except ParseError as error:
        raise UserError(file, "", "", f"not XML: {error}; accepted: {accepted}") from None
    except DefusedXmlException as error:
        what = type(error).__name__
        raise UserError(
            file, "", "", f"document types and entities are refused ({what}); accepted: {accepted}"
        ) from None
    except (LookupError, ValueError, RecursionError) as error:
        raise UserError(file, "", "", f"not XML: {error}; accepted: {accepted}") from None
    return root


def _parse(data: bytes, file: str) -> Element:
    root = elements(data.decode("utf-8", "replace")) if is_text(data) else parse_xml(data, file, ACCEPTED)
    if root.tag != "Results" or root.find("TimeSpan") is None:
        raise UserError(file, root.tag[:40], "", f"not a result: it has no time span; accepted: {ACCEPTED}")
    return root


def _read_document(data: bytes, file: str) -> list[Imported]:
    data = data.replace(b"\r", b"")
    warnings = _warnings(data)
    results = [match[0] for match in _RESULTS.finditer(data)] if warnings and not is_text(data) else []
    if len(results) > 1:
        raise UserError(file, "Results", "", f"has {len(results)} results; accepted: {ACCEPTED} of one run in a file")
    root = _parse(results[0] if results else data, file)
    texts = texts_of(data.decode("utf-8", "replace")) if is_text(data) else []
    profiles = root.findall("./Profile/TimeSpans/TimeSpan")
    spans = root.findall("TimeSpan")
    records = []
    for number, span in enumerate(spans):
        # DiskSpd prints nothing else of a time span that was interrupted before it measured.
        if span.find("TestTimeSeconds") is None:
            continue
        profile = profiles[number] if number < len(profiles) else None
        run = _of_span(root, span, profile, file, number + 1 if len(spans) > 1 else None)
        seconds = run.duration_ns / NS_PER_S
        run.notes += warnings
        run.claims += of_text(texts[number], span, seconds) if texts else of_xml(span, seconds)
        records.append(build(run))
    if not records:
        raise UserError(
            file, "TimeSpan", "", f"was interrupted before it measured; accepted: {ACCEPTED} of a whole run"
        )
    return records


def _warnings(data: bytes) -> list[str]:
    """Return a note for each line in which DiskSpd reports trouble."""
    lines = dict.fromkeys(printable(line.decode("utf-8", "replace").strip()) for line in _TROUBLE.findall(data))
    return [f"warning of diskspd: {line}"[:_LONGEST] for line in lines][:_MOST_WARNINGS]


def _cells(element: Element, file: str, position: str) -> Cells:
    """Return the texts of an element's children."""
    return Cells(file, position, {child.tag: child.text or "" for child in element})


def _text(element: Element | None, path: str) -> str | None:
    text = None if element is None else element.findtext(path)
    return None if text is None else (text.strip() or None)


def _of_span(root: Element, span: Element, profile: Element | None, file: str, number: int | None) -> ImportedRun:
    position = f"TimeSpan {number}" if number else "TimeSpan"
    seconds = _cells(span, file, position).needed("TestTimeSeconds")
    targets = span.findall("./Thread/Target")
    if not targets:
        raise UserError(file, position, "", "no target did I/O; accepted: results with a Thread and its Target")
    requested = _asked(profile, file)
    latency = span.find("Latency")
    percentiles = {} if latency is None else _percentiles(latency, file)
    names = list(dict.fromkeys(_text(target, "Path") or "target" for target in targets))
    streams = [(name, _sides(name, targets, file, percentiles if len(names) == 1 else {})) for name in names]
    series, interval_ns = _series(span, profile, file, names)
    notes = ["not carried over: CPU use and standard deviations"]
    if percentiles:
        notes.append("DiskSpd prints percentiles and no histogram: they do not merge with those of other runs")
    else:
        notes.append("no percentiles: DiskSpd measures latencies with -L")
    if len(names) > 1:
        notes.append("percentiles are of all targets together, and so is the series")
    began = _began(_text(root, "./System/RunTime"))
    name = f"{', '.join(names[:3])}{f' span {number}' if number else ''}"
    settings = [] if profile is None else [_settings(element) for element in profile.iter("Target")]
    return ImportedRun(
        name=name,
        machine=_text(root, "./System/ComputerName") or names[0],
        source={
            "tool": "diskspd",
            "version": _text(root, "./System/Tool/Version"),
            "file": file,
            "began": began if number in (None, 1) else None,
            "ended": None,
            "asked": requested,
            "target": ", ".join(names[:3]),
            "host": _text(root, "./System/ComputerName"),
        },
        duration_ns=round(seconds * NS_PER_S),
        concurrency=None if _is_open(profile, requested) else requested["concurrency"],
        streams=streams,
        spec={"targets": settings},
        series=series,
        interval_ns=interval_ns,
        percentiles=_summary(percentiles),
        notes=notes,
    )


def _settings(target: Element) -> dict[str, str]:
    return {child.tag: (child.text or "").strip()[:200] for child in target if len(child) == 0}


def _began(text: str | None) -> str | None:
    """Convert a time such as `2021/04/14 23:25:42 UTC`."""
    try:
        moment = datetime.strptime(text or "", "%Y/%m/%d %H:%M:%S UTC")
    except ValueError:
        return None
    return iso(moment.replace(tzinfo=UTC).timestamp())


def _percentiles(latency: Element, file: str) -> dict[str, list[tuple[float, int]]]:
    """Return sorted percentiles by scope; the 0th is the smallest latency and the 100th the largest."""
    by_scope: dict[str, list[tuple[float, int]]] = {}
    for bucket in latency.findall("Bucket"):
        cells = _cells(bucket, file, "Latency.Bucket")
        q = cells.needed("Percentile")
        if q > 100:
            raise UserError(file, "Latency.Bucket, Percentile", str(q), "accepted: a percentile from 0 to 100")
        for scope, word in _WORDS.items():
            value = cells.milliseconds(f"{word}Milliseconds")
            if value is not None:
                by_scope.setdefault(scope, []).append((q, value))
    return {scope: sorted(pairs) for scope, pairs in by_scope.items()}


def _summary(percentiles: dict[str, list[tuple[float, int]]]) -> dict[str, dict[str, int | None]]:
    summaries: dict[str, dict[str, int | None]] = {}
    for scope in _WORDS:
        printed = dict(percentiles.get(scope, []))
        summaries[scope] = {key: printed.get(q) for key, q in SUMMARY_PERCENTILES.items()}
    return summaries


def _sides(name: str, targets: Sequence[Element], file: str, percentiles: dict[str, list[tuple[float, int]]]) -> Sides:
    """The reads and writes of one target over all threads."""
    rows = [_cells(t, file, f"Target {name}") for t in targets if (_text(t, "Path") or "target") == name]

    def one(direction: Direction) -> Any:
        word = _WORDS[direction]
        counts = [cells.count(f"{word}Count") or 0 for cells in rows]
        means = [cells.milliseconds(f"Average{word}LatencyMilliseconds") for cells in rows]
        weighted = [(n, mean) for n, mean in zip(counts, means, strict=True) if n]
        count = sum(counts)
        whole = None
        if count and all(mean is not None for _, mean in weighted):
            whole = sum(n * (mean or 0) for n, mean in weighted) / count
        printed = percentiles.get(direction, [])
        by = dict(printed)
        volume = sum(cells.count(f"{word}Bytes") or 0 for cells in rows)
        return side_of(
            count,
            volume,
            whole,
            low_ns=by.get(0.0),
            high_ns=by.get(100.0),
            percentiles=[(q, value) for q, value in printed if 0 < q < 100],
        )

    return {"read": one("read"), "write": one("write")}


def _asked(profile: Element | None, file: str) -> Asked:
    requested = nothing_asked()
    if profile is None:
        return requested
    span = _cells(profile, file, "Profile.TimeSpan")
    requested["duration_ns"] = _seconds(span, "Duration")
    requested["ramp_ns"] = _seconds(span, "Warmup")
    requested["seed"], requested["seed_text"] = "fixed", _text(profile, "RandSeed")
    targets = [_cells(target, file, "Profile.Target") for target in profile.iter("Target")]
    if not targets:
        return requested
    threads = [_threads(span, target) for target in targets]
    depths = [max(1, target.count("RequestCount") or 1) for target in targets]
    shared = (span.count("ThreadCount") or 0) > 0
    # With -F every thread works on every target.
    requested["jobs"] = max(threads) if shared else sum(threads)
    # With -O each thread has this many I/Os outstanding on all targets together.
    of_thread = span.count("RequestCount") if shared else 0
    each = sum(n * depth for n, depth in zip(threads, depths, strict=True))
    requested["concurrency"] = max(threads) * of_thread if of_thread else each
    requested["block_bytes"] = _same([target.count("BlockSize") for target in targets])
    ratio = _same([target.number("WriteRatio") or 0.0 for target in targets])
    requested["read_pct"] = None if ratio is None else max(0.0, 100.0 - ratio)
    requested["pattern"] = _same([_pattern(target) for target in targets]) or "mixed"
    requested["offset_begin_bytes"] = _same([target.count("BaseFileOffset") or 0 for target in targets])
    regions = [_region(target) for target in targets]
    known = [size for size in regions if size is not None]
    requested["working_set_bytes"] = sum(known) if len(known) == len(regions) else None
    rates = [_rate(span, cells, target) for cells, target in zip(targets, profile.iter("Target"), strict=True)]
    limited = [rate for rate in rates if rate is not None]
    requested["rate_iops"] = sum(limited) if len(limited) == len(rates) else None
    requested["direct"] = all(target.values.get("DisableOSCache", "").strip() == "true" for target in targets)
    return requested


def _same(values: Sequence[Any]) -> Any:
    return values[0] if values and all(value == values[0] for value in values) else None


def _seconds(cells: Cells, name: str) -> int | None:
    value = cells.number(name)
    return None if value is None else round(value * NS_PER_S)


def _threads(span: Cells, target: Cells) -> int:
    """Return the threads: `-F` gives all, `-t` those of each target."""
    return (span.count("ThreadCount") or 0) or max(1, target.count("ThreadsPerFile") or 1)


def _rate(span: Cells, cells: Cells, target: Element) -> float | None:
    """Return the I/Os per second to which `-g` limits the threads of a target together: it is in bytes per millisecond
    and thread, or in I/Os per second and thread (`-gNi`). None without a limit."""
    limit, size = cells.number("Throughput"), cells.number("BlockSize")
    if not limit or not size:
        return None
    limited = target.find("Throughput")
    unit = "" if limited is None else limited.get("unit") or cells.values.get("ThroughputUnit", "")
    return _threads(span, cells) * iops_of(limit, unit, size)


def iops_of(limit: float, unit: str, size: float) -> float:
    """Return the I/Os per second of a limit, which is in bytes per millisecond unless its unit is `IOPS`."""
    return limit if unit.upper() == "IOPS" else 1000 * limit / size


def _pattern(target: Cells) -> str:
    """<Random> is the alignment of random I/O (-r); SequentialScan and RandomAccess are hints for the file cache."""
    share = target.number("RandomRatio")
    if share is not None and 0 < share < 100:
        return "mixed"
    return "random" if target.number("Random") else "sequential"


def _region(target: Cells) -> int | None:
    size, most = target.count("FileSize"), target.count("MaxFileSize")
    begin = target.count("BaseFileOffset") or 0
    whole = most or size
    return None if not whole else max(0, whole - begin)


def _is_open(profile: Element | None, requested: Asked) -> bool:
    """Return whether a rate or a pause limits the threads."""
    if profile is None or requested["concurrency"] is None:
        return True
    held = ("Throughput", "ThinkTime")
    return any(
        (target.findtext(name) or "0").strip() not in ("", "0") for target in profile.iter("Target") for name in held
    )


def _series(
    span: Element, profile: Element | None, file: str, names: Sequence[str]
) -> tuple[SeriesColumns | None, int | None]:
    """Return I/Os per second of each interval (-D) for all targets together; latencies if DiskSpd prints them."""
    buckets = span.findall("./Iops/Bucket")
    if not buckets:
        return None, None
    stream = names[0] if len(names) == 1 else "all targets"
    asked_ms = None if profile is None else _cells(profile, file, "Profile.TimeSpan").number("IoBucketDuration")
    rows = no_rows()
    interval_ms = asked_ms or Cells(file, "Iops.Bucket", dict(buckets[0].attrib)).needed("SampleMillisecond")
    for bucket in buckets:
        cells = Cells(file, "Iops.Bucket", dict(bucket.attrib))
        end_ms = cells.needed("SampleMillisecond")
        for direction in DIRECTIONS:
            word = _WORDS[direction]
            rate, mean = cells.needed(word), cells.milliseconds(f"{word}AvgLatencyMilliseconds")
            measured = mean if rate else None
            rows["time_ns"].append(max(0, round((end_ms - interval_ms) * NS_PER_MS)))
            rows["stream"].append(stream)
            rows["direction"].append(direction)
            rows["iops"].append(rate)
            rows["bandwidth_bytes_per_s"].append(None)
            rows["latency_mean_ns"].append(measured)
            rows["latency_p99_ns"].append(None)
            rows["queue_depth"].append(None if measured is None else rate * measured / NS_PER_S)
    return rows, round(interval_ms * NS_PER_MS)
