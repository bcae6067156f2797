"""Figures of DiskSpd that follow from others of the same output: sums, rates and means of its rows.

Source: ResultParser and XmlResultParser of microsoft/diskspd: MiB are 2^20 bytes, a rate is over the test time, the
mean latency of a sum is weighted by I/Os.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hotband.base.claim import IN_FLIGHT, PRINTED, Claim, equal, largest_deviation, near
from hotband.base.text.numbers import finite

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MIB = 2**20
_STEP = 0.011
"""More than a unit of the last digit of rates, which have two."""
_LATENCY_STEP = 0.002
"""Two units of the last digit of latencies in ms, which have three."""
Row = Mapping[str, float]
_BYTES, _IOS, _RATE, _MEAN = "bytes", "I/Os", "I/O per s", "AvgLat"


def tables_of(text: str) -> dict[str, list[Row]]:
    """Return the rows of the tables of a time span's text by title; the last row is the total."""
    lines = text.split("\n")
    tables: dict[str, list[Row]] = {}
    for number, line in enumerate(lines):
        if line.strip() not in ("Total IO", "Read IO", "Write IO") or number + 1 == len(lines):
            continue
        names = [name.strip() for name in lines[number + 1].split("|")][1:]
        rows = tables.setdefault(line.strip(), [])
        for below in lines[number + 2 :]:
            is_total = below.startswith("total:")
            if is_total or "|" in below:
                cells = below.removeprefix("total:").split("|")[0 if is_total else 1 :]
                rows.append({name: value for name, cell in zip(names, cells, strict=False)
                             if (value := _number(cell)) is not None})  # fmt: skip
            if is_total:
                break
        else:
            # Without its total, the table is cut short.
            del tables[line.strip()]
    return tables


def _number(text: str) -> float | None:
    """Return a finite number; None for other text, as of a mean over no I/Os."""
    try:
        return finite(float(text))
    except ValueError:
        return None


def of_text(text: str, span: Element, seconds: float) -> Iterator[Claim]:
    """Yield checks of the tables of a time span's text, which was read as `span`."""
    tables = tables_of(text)
    for title, rows in tables.items():
        word, whole = title.removesuffix(" IO"), rows[-1]
        yield from _within(f"{title}, total: ", span, word, whole.get(_MEAN), whole.get("LatStdDev"))
    for title, rows in tables.items():
        for number, row in enumerate(rows, 1):
            name = f"{title}, total: " if number == len(rows) else f"{title}, row {number}: "
            yield from _rates(name, row, seconds)
        yield from _sums(f"{title}, total: ", rows[-1], rows[:-1], "its rows")
    if tables.keys() == {"Total IO", "Read IO", "Write IO"}:
        parts = [tables[title] for title in ("Read IO", "Write IO")]
        for number, (whole, *each) in enumerate(zip(tables["Total IO"], *parts, strict=False), 1):
            name = "total" if number == len(tables["Total IO"]) else f"row {number}"
            yield from _sums(f"Total IO, {name}: ", whole, each, "reads and writes")


def _rates(name: str, row: Row, seconds: float) -> Iterator[Claim]:
    for rate, count, unit in ((_RATE, _IOS, 1), ("MiB/s", _BYTES, _MIB), ("MB/s", _BYTES, _MIB)):
        if rate in row and count in row and seconds:
            source = f"{row[count]:,.0f} {count} in {seconds:g} s"
            yield from near(f"{name}{rate}", row[rate], source, row[count] / unit / seconds, _STEP)


def _sums(name: str, whole: Row, parts: Sequence[Row], source: str) -> Iterator[Claim]:
    for key in (_BYTES, _IOS):
        if all(key in row for row in (whole, *parts)):
            yield from equal(f"{name}{key}", whole[key], source, sum(row[key] for row in parts))
    busy = [row for row in parts if row.get(_IOS)]
    if _MEAN in whole and busy and all(_MEAN in row for row in busy):
        mean = sum(row[_MEAN] * row[_IOS] for row in busy) / sum(row[_IOS] for row in busy)
        yield from near(f"{name}{_MEAN} in ms", whole[_MEAN], source, mean, _LATENCY_STEP)


def _within(name: str, span: Element, word: str, mean: float | None, deviation: float | None) -> Iterator[Claim]:
    """Yield a mean between the smallest and largest latency, and a deviation that mean and ends allow."""
    known = {_of(bucket, "Percentile"): _of(bucket, f"{word}Milliseconds") for bucket in span.iter("Bucket")}
    low, high = known.get(0.0), known.get(100.0)
    if low is None or high is None or not mean:
        return
    source = f"latencies from {low:g} to {high:g} ms"
    yield Claim(f"{name}{_MEAN} in ms", mean, source, low - _LATENCY_STEP, high + _LATENCY_STEP)
    if deviation is not None:
        # Of two values divided by their number less one, the deviation is larger by the root of two.
        most = math.sqrt(2) * largest_deviation(mean, low, high) + _LATENCY_STEP
        yield Claim(f"{name}deviation in ms", deviation, f"a mean of {mean:g} ms and {source}", 0.0, most)


def of_xml(span: Element, seconds: float) -> Iterator[Claim]:
    """Yield checks of the targets, latencies and intervals of a time span's XML."""
    sums: dict[str, list[Row]] = {"Read": [], "Write": []}
    for target in span.findall("./Thread/Target"):
        parts = [_row(target, word, f"Average{word}LatencyMilliseconds") for word in sums]
        name, whole = target.findtext("Path") or "target", _row(target, "", "AverageLatencyMilliseconds")
        yield from _sums(f"{name}: ", whole, parts, "reads and writes")
        for word, part in zip(sums, parts, strict=True):
            sums[word].append(part)
    every = {**sums, "Total": [row for rows in sums.values() for row in rows]}
    for word, rows in every.items():
        mean = _of(span, f"./Latency/Average{word}Milliseconds")
        deviation = _of(span, f"./Latency/{'' if word == 'Total' else word}LatencyStdev")
        yield from _within(f"{word}: ", span, word, mean, deviation)
        yield from _sums(f"{word}: ", {} if mean is None else {_MEAN: mean}, rows, "its targets")
    buckets = [bucket.attrib for bucket in span.findall("./Iops/Bucket")]
    ends = [end for bucket in buckets if (end := _number(bucket.get("SampleMillisecond", ""))) is not None]
    if len(ends) != len(buckets) or len(ends) < 2:
        return
    interval_s = (ends[1] - ends[0]) / 1000
    source = f"{len(ends)} intervals of {interval_s:g} s"
    yield Claim("TestTimeSeconds", seconds, source, ends[-1] / 1000 - 2 * interval_s, math.inf)
    for word, rows in sums.items():
        rates = [_number(bucket.get(word, "")) or 0.0 for bucket in buckets]
        count, summed = sum(row.get(_IOS, 0.0) for row in rows), sum(rates) * interval_s
        # I/Os that completed after the last interval are in none.
        slack = PRINTED * count + IN_FLIGHT + max(rates) * max(0.0, seconds - ends[-1] / 1000)
        yield Claim(f"{word}Count", count, f"the sum over {source}", summed - slack, summed + slack)


def _row(target: Element, word: str, mean: str) -> Row:
    """Return I/Os, bytes and mean latency of a target."""
    bytes_, ios = (f"{word}{name}" for name in ("Bytes", "Count")) if word else ("BytesCount", "IOCount")
    values = ((_BYTES, _of(target, bytes_)), (_IOS, _of(target, ios)), (_MEAN, _of(target, mean)))
    return {name: value for name, value in values if value is not None}


def _of(element: Element, path: str) -> float | None:
    text = element.findtext(path)
    return None if text is None else _number(text)
