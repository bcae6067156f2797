"""DiskSpd's text output (`-Rtext`, the default) in the elements of its XML, from which it is read.

Sources: ResultParser of microsoft/diskspd. Left out, because the text lacks them: the size of a target's range, the
version, series of I/Os per second.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

# A shell's prompt and command may precede it.
_BEGINS = re.compile(rb"^[ \t]*Input parameters:\s+(using verbose mode\s+)?timespan:", re.MULTILINE)
_RESULTS = re.compile(r"^Results for timespan (\d+):", re.MULTILINE)
_SPANS = re.compile(r"^\s*timespan:\s+(\d+)", re.MULTILINE)
_TABLES = {"Read": "Read IO", "Write": "Write IO"}
# A row of a thread: bytes, I/Os, MiB/s, I/O per s, further columns, the file with its size.
_ROW = re.compile(r"^\s*\d+ \|\s*(\d+) \|\s*(\d+) \|(.*)\|\s*(.+?)(?: \([\d.]+ ?[KMGT]?i?B\))?\s*$")
_PERCENTILE = re.compile(r"^\s*(min|max|\d+th|\d-nines) \|\s*([\d.]+|N/A) \|\s*([\d.]+|N/A) \|\s*([\d.]+|N/A)\s*$")
_SETTINGS: tuple[tuple[str, str], ...] = (
    ("ThinkTime", r"think time: (\d+)"),
    ("BlockSize", r"block size: (\d+[KMG]?(?:iB|B)?)"),
    ("RequestCount", r"number of outstanding I/O operations(?: per thread)?: (\d+)"),
    ("ThreadsPerFile", r"threads per file: (\d+)"),
    ("BaseFileOffset", r"base file offset: (\d+)"),
    ("Throughput", r"throughput rate-limited to (\d+)"),
    ("ThroughputUnit", r"throughput rate-limited to \d+ ?(\S+)"),
    ("Random", r"using random I/O \(alignment: (\d+[KMG]?(?:iB|B)?)\)"),
    ("RandomRatio", r"using mixed random/sequential I/O \((\d+)% random\)"),
)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def is_text(beginning: bytes) -> bool:
    """Return whether the beginning of a file is DiskSpd's text."""
    return _BEGINS.search(beginning.replace(b"\r", b"")) is not None


def texts_of(text: str) -> list[str]:
    """Return the result of each time span in a text."""
    return _RESULTS.split(text.replace("\r", ""))[2::2]


def elements(text: str) -> Element:
    """Return the text as the root element of DiskSpd's XML, without elements that the text lacks."""
    lines = text.replace("\r", "")
    root = Element("Results")
    results = list(_RESULTS.finditer(lines))
    settings = lines[: results[0].start()] if results else lines
    system = SubElement(root, "System")
    _add(system, "ComputerName", re.search(r"^\s*computer name: (.+)$", settings, re.MULTILINE))
    _add(system, "RunTime", re.search(r"^\s*start time: (.+)$", settings, re.MULTILINE))
    spans = SubElement(SubElement(root, "Profile"), "TimeSpans")
    starts = [match.start() for match in _SPANS.finditer(settings)]
    for begin, end in zip(starts, [*starts[1:], len(settings)], strict=True):
        _add_settings(spans, settings[begin:end])
    texts = texts_of(lines)
    for text_ in texts:
        _add_result(root, text_)
    for profile, text_ in zip(spans, texts, strict=False):
        _add_shared(profile, text_)
    return root


def _add(parent: Element, name: str, match: re.Match[str] | None) -> None:
    if match is not None:
        SubElement(parent, name).text = match[1].strip()


def _add_settings(spans: Element, text: str) -> None:
    """Add the settings of a time span and of its targets."""
    span = SubElement(spans, "TimeSpan")
    head, *targets = re.split(r"^\s*path: ", text, flags=re.MULTILINE)
    for name, pattern in (
        ("Duration", r"duration: (\d+)s"),
        ("Warmup", r"warm up time: (\d+)s"),
        ("RandSeed", r"random seed: (\d+)"),
    ):
        _add(span, name, re.search(pattern, head))
    for block in targets:
        target = SubElement(span, "Target")
        SubElement(target, "Path").text = block.split("\n")[0].strip().strip("'\"")
        for name, pattern in _SETTINGS:
            value = re.search(pattern, block)
            if value is not None:
                SubElement(target, name).text = str(_bytes(value[1]))
        SubElement(target, "WriteRatio").text = _write_ratio(block)
        bypassed = re.search(r"^\s*software (and hardware write )?caches? disabled", block, re.MULTILINE) is not None
        SubElement(target, "DisableOSCache").text = "true" if bypassed else "false"


def _write_ratio(block: str) -> str:
    mix = re.search(r"performing mix test \((?:read/write|write/read) ratio: (\d+)/(\d+)\)", block)
    if mix is not None:
        return mix[1] if "write/read" in mix[0] else mix[2]
    return "100" if "performing write test" in block else "0"


def _bytes(text: str) -> int:
    match = re.fullmatch(r"(\d+)([KMG]?)(?:iB|B)?", text)
    return int(match[1]) * _UNITS[match[2]] if match else 0


def _add_shared(profile: Element, text: str) -> None:
    """Add the threads that share all targets (`-F`), and their requests (`-O`), which the settings do not print."""
    if profile.find("./Target/ThreadsPerFile") is None:
        _add(profile, "ThreadCount", re.search(r"^thread count:\s+(\d+)", text, re.MULTILINE))
        _add(profile, "RequestCount", re.search(r"^request count:\s+(\d+)", text, re.MULTILINE))


def _add_result(root: Element, text: str) -> None:
    """Add the result of a time span: its time, the reads and writes of each target, its percentiles."""
    span = SubElement(root, "TimeSpan")
    _add(span, "TestTimeSeconds", re.search(r"actual test time:\s+([\d.]+)s", text))
    thread = SubElement(span, "Thread")
    lines = text.split("\n")
    for direction, title in _TABLES.items():
        for path, count, volume, mean in _rows(lines, title):
            target = next((each for each in thread if each.findtext("Path") == path), None)
            if target is None:
                target = SubElement(thread, "Target")
                SubElement(target, "Path").text = path
            if target.find(f"{direction}Count") is not None:
                target = SubElement(thread, "Target")
                SubElement(target, "Path").text = path
            SubElement(target, f"{direction}Count").text = count
            SubElement(target, f"{direction}Bytes").text = volume
            if mean is not None and count != "0":
                SubElement(target, f"Average{direction}LatencyMilliseconds").text = mean
    # With several targets, the last chart covers all of them.
    _, _, chart = text.rpartition("%-ile")
    rows = [match for line in chart.split("\n") if (match := _PERCENTILE.match(line))]
    if rows:
        SubElement(span, "Latency").extend(_bucket(match) for match in rows)


def _bucket(row: re.Match[str]) -> Element:
    """Return the element of a percentile."""
    bucket = Element("Bucket")
    SubElement(bucket, "Percentile").text = _percentile(row[1])
    for name, value in zip(("Read", "Write", "Total"), row.groups()[1:], strict=True):
        if value != "N/A":
            SubElement(bucket, f"{name}Milliseconds").text = value
    return bucket


def _rows(lines: Sequence[str], title: str) -> list[tuple[str, str, str, str | None]]:
    """Return path, I/Os, bytes and mean latency of each row of a table."""
    begin = next((number for number, line in enumerate(lines) if line.strip() == title), None)
    if begin is None:
        return []
    names = [name.strip() for name in lines[begin + 1].split("|")]
    rows = []
    for line in lines[begin + 2 :]:
        if line.startswith("total:"):
            break
        match = _ROW.match(line)
        if match:
            cells = ["", match[1], match[2], *(cell.strip() for cell in match[3].split("|")), match[4]]
            mean = cells[names.index("AvgLat")] if "AvgLat" in names and len(cells) == len(names) else None
            rows.append((match[4], match[2], match[1], mean))
    return rows


def _percentile(name: str) -> str:
    """Return the number that `min`, `25th`, `3-nines` or `max` names."""
    if name in ("min", "max"):
        return "0" if name == "min" else "100"
    if name.endswith("th"):
        return name.removesuffix("th")
    nines = int(name[0])
    return f"99.{'9' * (nines - 2)}"
