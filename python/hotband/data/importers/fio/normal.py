"""fio's normal output, which is what people post: a line per job, then its reads and writes in lines of `key=value`.

Sources: HOWTO of fio, "Interpreting the output", and stat.c (show_thread_status_normal, show_ddir_status) of 2.1 to
3.41; lines of fio 1.5 differ in their counts alone. A job is read into the shape of fio's JSON, and from there like it.
Left out, because the output lacks them: most job options, buckets, exact bytes where sizes are mixed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from hotband.base.errors import UserError
from hotband.data.documents.record import RecordDoc
from hotband.data.importers.fio.documents import record_of
from hotband.data.importers.fio.restated import STEP
from hotband.data.importers.fio.text import Fields, printable

# "name: (groupid=0, jobs=4): err= 0: pid=13758: Sun Nov 29 00:57:35 2026"
_JOB = re.compile(
    r"^[ \t>|]*(.{0,200}?): \(groupid=(\d+), jobs=(\d+)\): err= ?(\d+)(?:.{0,200}?: pid=(\d+))?", re.MULTILINE
)
_JOB_BYTES = re.compile(rb": \(groupid=\d{1,9}, jobs=\d{1,9}\): err= ?\d")
# "name: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) ..., ioengine=libaio, iodepth=16"
_STATED = re.compile(
    r"^[ \t>|]*(.{0,200}?): \(g=(\d+)\): rw=(\w+), bs=(.{0,200}?), ioengine=([\w:./-]+), iodepth=(\d+)", re.MULTILINE
)
_VERSION = re.compile(r"^[ \t>|]*(fio[- ]\d[\w.-]*)[ \t]*$", re.MULTILINE)
_SIDE = re.compile(r"^[ \t>|]*(read|write|trim|mixed)[ \t]*:[ \t]*(?=IOPS=|io=)(.*)$", re.IGNORECASE)
_SYNC = re.compile(r"^[ \t>|]*(?:fsync/fdatasync/sync_file_range:|sync \((\w+)\):)(.*)$")
_LATENCY = re.compile(r"^[ \t>|]*(slat|clat|lat|sync) \((\w+)\):? ?:?[ \t]*(min=.*)$")
_PERCENTILES = re.compile(r"^[ \t>|]*(clat|lat|slat|sync) percentiles \((\w+)\)")
# "clat prio 0/4 (20.00% of IOs) percentiles (usec):" after those of all I/Os.
_OF_A_PRIORITY = re.compile(r"^[ \t>|]*c?lat prio .* percentiles \(")
_ERRORS = re.compile(r"^[ \t>|]*errors[ \t]*: total=(\d+), first_error=(\d+)")
_PERCENTILE = re.compile(r"(\d+(?:\.\d+)?)th=\[\s*>?=?\s*(\d+(?:\.\d+)?[kMG]?)\]")
_BINS = re.compile(r"^[ \t>|]*lat \((\w+)\)[ \t]*:[ \t]*(?=[>\d])(.*)$")
_COUNTS = re.compile(r"issued[ \w/]*: total=([\d,r=w/d]+)")
_NS = {"nsec": 1, "usec": 1000, "msec": 1_000_000, "sec": 1_000_000_000}
_TIMES = {"nsec": 1e-6, "usec": 1e-3, "msec": 1.0, "sec": 1e3}
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
# A line of `_STATED`, `_VERSION` or `_JOB`, and the text from it to the next of them.
_Part: TypeAlias = tuple[re.Match[str], str]
ACCEPTED = "accepted: the whole output of a run of fio"
NOTES = (
    "normal output: of the job's options it has rw, bs, ioengine and iodepth; it has no histogram",
    "figures have the digits that fio prints: rates of 10,000 and more have three or four",
)


def is_normal(beginning: bytes) -> bool:
    """Return whether there is the line that begins a job."""
    return _JOB_BYTES.search(beginning) is not None


def read_normal(text: str, file: str) -> list[list[RecordDoc]]:
    """Return one record of all jobs for each time that fio printed them (--status-interval), for each run. Raises
    UserError for output that is cut short."""
    runs = _runs(text.replace("\r", "\n"))
    if not runs:
        raise UserError(file, "", "", f"has no line of a job that ended; {ACCEPTED}")
    records = []
    for run in runs:
        version = next((match[1].replace(" ", "-") for match, _ in reversed(run) if match.re is _VERSION), "")
        documents = [Fields(file, "", {"fio version": version, "jobs": jobs}) for jobs in _outputs(run, file)]
        records.append([record_of(document, list(NOTES)) for document in documents])
    return records


def _runs(lines: str) -> list[list[_Part]]:
    """Return the parts of each run. Options and version come before the jobs, and pasted text may lack them: the first
    of them after a job begins the next run."""
    matches = [match for pattern in (_STATED, _VERSION, _JOB) for match in pattern.finditer(lines)]
    matches.sort(key=lambda match: match.start())
    runs: list[list[_Part]] = []
    for match, end in zip(matches, [match.start() for match in matches[1:]] + [len(lines)], strict=True):
        if not runs or (match.re is not _JOB and runs[-1][-1][0].re is _JOB):
            runs.append([])
        runs[-1].append((match, lines[match.end() : end]))
    return [run for run in runs if run[-1][0].re is _JOB]


def _outputs(run: Sequence[_Part], file: str) -> list[list[dict[str, object]]]:
    """Return the jobs of a run in the shape of fio's JSON, each time that fio printed them."""
    stated = {(match[1].strip(), match[2]): match for match, _ in run if match.re is _STATED}
    outputs: list[dict[tuple[str, ...], dict[str, object]]] = []
    for match, text in run:
        if match.re is not _JOB:
            continue
        body = text.partition("Run status group")[0].split("\n")
        name, group = match[1].strip(), match[2]
        # A process prints itself once in each output.
        process = (name, group, match[5] or str(match.start()))
        if not outputs or process in outputs[-1]:
            outputs.append({})
        outputs[-1][process] = _entry(match, stated.get((name, group)), body, file)
    return [list(entries.values()) for entries in outputs]


def _entry(start: re.Match[str], stated: re.Match[str] | None, body: Sequence[str], file: str) -> dict[str, object]:
    """Return a job in the shape of fio's JSON."""
    sizes = {} if stated is None else _sizes(stated[4])
    options = {} if stated is None else _options(stated, sizes, start[3])
    entry: dict[str, object] = {
        "jobname": printable(start[1].strip()),
        "groupid": int(start[2]),
        "error": int(start[4]),
        "job options": options,
    }
    sides: dict[str, dict[str, object]] = {"read": {}, "write": {}}
    _read_lines(entry, sides, body)
    counts = _counts(body)
    counts["mixed"] = sum(counts.values())
    for name, side in sides.items():
        if not side:
            continue
        if name in counts:
            side["total_ios"] = counts[name]
            low, high = sizes.get(name, (0, 0))
            if low and low == high:
                side["io_bytes"] = counts[name] * low
        if "runtime" not in side:
            raise UserError(file, printable(start[1].strip()), "", f"the line of its {name}s has no time; {ACCEPTED}")
    if options.get("rw", "").endswith("write") and counts.get("read") and start[3] == "1":
        # A job that only writes has reads because it verifies its data; fio does not print the checksum's type.
        options["verify"] = "unknown"
    if "sync" in entry:
        entry["sync"] = {**_child(entry, "sync"), "total_ios": _flushes(entry, sides["write"], int(start[3]))}
    # Reads and writes as one (unified_rw_reporting=mixed); with "both" they are printed apart, too.
    if "mixed" in sides and not (sides["read"] or sides["write"]):
        return {**entry, "mixed": sides["mixed"]}
    sides.pop("mixed", None)
    return {**entry, **sides}


def _options(stated: re.Match[str], sizes: dict[str, tuple[int, int]], jobs: str) -> dict[str, str]:
    """Return the options in the line before a run."""
    options = {"rw": stated[3], "ioengine": stated[5], "iodepth": stated[6]}
    if int(jobs) > 1:
        options["numjobs"] = jobs
    if sizes:
        key = "bs" if all(low == high for low, high in sizes.values()) else "bsrange"
        ends = [str(low) if key == "bs" else f"{low}-{high}" for low, high in sizes.values()]
        options[key] = ends[0] if len(set(ends)) == 1 else ",".join(ends)
    return options


def _flushes(entry: dict[str, object], write: dict[str, object], jobs: int) -> int:
    """Return the number of flushes, which is not printed: the number that fits between the writes, at most one per
    write."""
    mean = _float(_child(_child(entry, "sync"), "lat_ns"), "mean")
    writes = _float(write, "total_ios")
    waited = writes * (_float(_child(write, "lat_ns"), "mean") or _float(_child(write, "clat_ns"), "mean"))
    left = _float(write, "runtime") * jobs * _NS["msec"] - waited
    return round(max(1.0, min(writes, left / mean))) if mean else 0


def _float(values: dict[str, object], name: str) -> float:
    value = values.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _read_lines(entry: dict[str, object], sides: dict[str, dict[str, object]], body: Sequence[str]) -> None:
    """Add the figures of a job's lines to `entry` and `sides`."""
    side: dict[str, object] = {}
    latency: dict[str, object] = {}
    unit = 1
    for line in body:
        if match := _SIDE.match(line):
            side = sides.setdefault(match[1].lower(), {})
            side.update(_volume(match[2]))
        elif match := _LATENCY.match(line):
            unit = _NS.get(match[2], 1)
            latency = _latency(match[3], unit)
            owner = entry if match[1] == "sync" else side
            key = "sync" if match[1] == "sync" else f"{match[1]}_ns"
            owner[key] = {"lat_ns": latency} if match[1] == "sync" else latency
        elif match := _PERCENTILES.match(line):
            unit = _NS.get(match[2], 1)
            of_side = entry.get("sync") if match[1] == "sync" else side.get(f"{match[1]}_ns")
            latency = _child(of_side, "lat_ns") if match[1] == "sync" else _child({"": of_side}, "")
            latency["percentile"] = {}
        elif _OF_A_PRIORITY.match(line):
            latency = {}
        elif "th=[" in line and isinstance(latency.get("percentile"), dict):
            pairs = {name: round(_number(value) * unit) for name, value in _PERCENTILE.findall(line)}
            latency["percentile"] = {**_child(latency, "percentile"), **pairs}
        elif match := _BINS.match(line):
            name = {"nsec": "latency_ns", "usec": "latency_us"}.get(match[1], "latency_ms")
            entry[name] = {**_child(entry, name), **_shares(match[2])}
        else:
            _read_other(entry, side, line)


def _read_other(entry: dict[str, object], side: dict[str, object], line: str) -> None:
    """Add the figures of a line that has no latencies."""
    name, _, values = line.strip(" \t>|").partition(":")
    if name.startswith("cpu "):
        shares = _pairs(values)
        entry.update({f"{key}_cpu": _number(shares[key].rstrip("%")) for key in ("usr", "sys") if key in shares})
    elif name.startswith("iops ") and side:
        side["iops_max"] = _number(_pairs(values).get("max", "0"))
    elif match := _ERRORS.match(line):
        entry |= {"total_err": int(match[1]), "first_error": int(match[2])}


def _child(parent: object, name: str) -> dict[str, object]:
    value = parent.get(name) if isinstance(parent, dict) else None
    return value if isinstance(value, dict) else {}


def _pairs(text: str) -> dict[str, str]:
    """Return the `key=value` of a line; blanks may stand behind the equals sign."""
    return {key: value.rstrip(",") for key, value in re.findall(r"([\w.>]+)=\s*([^\s,]+)", text)}


def _shares(text: str) -> dict[str, float]:
    """Return the upper edges of bins and their shares in percent."""
    return {edge: float(value) for edge, value in re.findall(r"(>?=?\d+)=(\d+\.?\d*)%", text)}


def _latency(text: str, unit: int) -> dict[str, object]:
    pairs = _pairs(text)
    low, high, mean, deviation = (_number(pairs.get(key, "0")) * unit for key in ("min", "max", "avg", "stdev"))
    step = max(_step(pairs.get(key, "0")) for key in ("min", "max")) * unit
    return {"min": round(low), "max": round(high), "mean": mean, "stddev": deviation, STEP: step}


def _volume(text: str) -> dict[str, object]:
    """Return bytes, rate and time of `IOPS=400, BW=1601KiB/s (1640kB/s)(93.8MiB/60010msec)`, or of fio 2's
    `io=1024.0MB, bw=7812.4KB/s, iops=1953, runt=134222msec`, whose KB is 1024 bytes."""
    pairs = {key.lower(): value for key, value in _pairs(text).items()}
    volume: dict[str, object] = {"iops": _number(pairs.get("iops", "0"))}
    moved = re.search(r"\(([\d.]+[kKMGTP]?i?B)/(\d+)(\w*sec)\)", text)
    if moved:
        volume |= {"io_bytes": _bytes(moved[1]), "runtime": round(int(moved[2]) * _TIMES.get(moved[3], 1.0))}
    elif runtime := re.match(r"(\d+)(\w*sec)", pairs.get("runt", pairs.get("runtime", ""))):
        old = re.sub(r"(?i)([kmgtp]?)B$", r"\1iB", pairs.get("io", "0"))
        volume |= {"io_bytes": _bytes(old), "runtime": round(int(runtime[1]) * _TIMES.get(runtime[2], 1.0))}
    moved_bytes = volume.get("io_bytes")
    return {**volume, "io_kbytes": moved_bytes // 1024 if isinstance(moved_bytes, int) else 0}


def _bytes(text: str) -> int:
    match = re.match(r"([\d.]+)([kmgtp]?)(i?)", text, re.IGNORECASE)
    if match is None or match[1].count(".") > 1:
        return 0
    power: int = (1024 if match[3] else 1000) ** _POWERS[match[2].lower()]
    return round(float(match[1]) * power)


def _number(text: str) -> float:
    """Return a number as fio shortens it: `10.5k` is 10,500."""
    match = re.match(r"(\d+(?:\.\d+)?)([kMGT]?)", text)
    return float(match[1]) * 1000 ** _POWERS[match[2].lower()] if match else 0.0


def _step(text: str) -> float:
    """Return the value of one unit of the last digit of a shortened number: 100 in `10.5k`."""
    match = re.match(r"\d+(?:\.(\d+))?([kMGT]?)", text)
    return 1000.0 ** _POWERS[match[2].lower()] / 10.0 ** len(match[1] or "") if match else 0.0


def _counts(body: Sequence[str]) -> dict[str, int]:
    """Return the I/Os of `total=24010,0,0,0`, of fio 2's `total=r=24010/w=0/d=0`, or of fio 1's `total=24010/0/0`."""
    for line in body:
        match = _COUNTS.search(line)
        if match:
            numbers = [int(number) for number in re.findall(r"\d+", match[1])]
            return dict(zip(("read", "write", "trim"), numbers, strict=False))
    return {}


def _sizes(text: str) -> dict[str, tuple[int, int]]:
    """Return the smallest and the largest size of reads, writes and trims in `(R) 4096B-4096B, (W) ...` or
    `4K-4K/4K-4K/4K-4K`."""
    ends = [(_size(low), _size(high)) for low, high in re.findall(r"([\d.]+[kKMG]?i?B?)-([\d.]+[kKMG]?i?B?)", text)]
    return dict(zip(("read", "write", "trim"), ends, strict=False))


def _size(text: str) -> int:
    """Return bytes; the K of fio 2 is 1024."""
    return _bytes(text if "i" in text else re.sub(r"(?i)([kmg])B?$", r"\1iB", text))
