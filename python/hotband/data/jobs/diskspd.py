"""DiskSpd's XML profile (`-X`), or the one within a result (`-Rxml`), as streams, loops and steps.

Traps, each with a test: `-o` is of each thread and target, `-t` of each target (ThreadsPerFile), `-F` of all together
(ThreadCount); `-rs` is a coin for every I/O (RandomRatio); `Random` is the alignment of random I/Os, not a share;
threads each go through the file from their own start (ThreadStride), or share one position (InterlockedSequential);
`ThinkTime` comes after `BurstSize` I/Os; sizes are bytes, `Throughput` bytes a millisecond and thread.
Sources: microsoft/diskspd, XmlProfileParser/diskspd.xsd and its documentation.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.data.importers.diskspd import iops_of, parse_xml
from hotband.data.jobs.form import Closed, Form, Loop, Open, Step, StreamForm, Value, bytes_text
from hotband.data.jobs.loss import Fate, Location, LossReport
from hotband.data.jobs.parts import Amount, Files
from hotband.data.jobs.source import Option, words

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

ACCEPTED = "a profile of DiskSpd (-X), or its result (-Rxml)"
# Defaults of diskspd.exe: -b64K, -d10, -W5, -o2, -t1, all of it reads.
BLOCK, DURATION, WARM_UP, OUTSTANDING = 65536, 10.0, 5.0, 2
MOST_OUTSTANDING = 65_536
MOST_SPANS = 256

_UNUSED = words(
    "ResultFormat Verbose Progress MeasureLatency CalculateIopsStdDev IoBucketDuration DisableAffinity Affinity "
    "AffinityAssignment AffinityGroupAssignment GroupAffinity CompletionRoutines SequentialScan RandomAccess "
    "TemporaryFile UseLargePages ETW Process Thread ImageLoad DiskIO MemoryPageFaults MemoryHardFaults Network "
    "Registry UsePagedMemory UsePerfTimer UseSystemTimer UseCyclesCounter PrecreateFiles RandSeed Cooldown TimeSpans "
    "TimeSpan Targets Target Profile Weight"
)
_IGNORED = {
    "ParallelAsyncIO": "every I/O has an offset of its own",
    "IOPriority": "all I/Os have the same priority",
    "Pattern": "data is incompressible unless the workload sets data=",
    "ThreadTargets": "every thread issues I/Os to every target alike",
    "Distribution": "random offsets are uniform",
    "MemoryMappedIo": "I/Os go to the target: there is no mapped memory",
    "MemoryMappedIoFlushMode": "I/Os go to the target: there is no mapped memory to flush",
}
_KEPT = words(
    "Path BlockSize StrideSize InterlockedSequential BaseFileOffset RequestCount Random RandomRatio DisableAllCache "
    "DisableLocalCache DisableOSCache WriteThrough WriteBufferContent BurstSize ThinkTime Throughput ThreadsPerFile "
    "FileSize MaxFileSize WriteRatio ThreadStride Duration Warmup ThreadCount"
)


@dataclass
class Tags:
    """Elements with their line numbers."""

    file: str
    lines: dict[int, int]

    def option(self, parent: Element, tag: str) -> Option | None:
        """Return a child's text; None if it is missing or empty."""
        child = parent.find(tag)
        if child is None or not (child.text or "").strip():
            return None
        return Option(tag, (child.text or "").strip(), Location(self.file, self.lines.get(id(child), 0)))

    def number(self, parent: Element, tag: str, default: float = 0.0, most: float = 2**62) -> float:
        option = self.option(parent, tag)
        if option is None:
            return default
        if not re.fullmatch(r"\d{1,19}", option.value) or int(option.value) > most:
            option.refuse(f"expected a whole number from 0 to {most:g}")
        return float(option.value)

    def flag(self, parent: Element, tag: str) -> bool:
        option = self.option(parent, tag)
        if option is None:
            return False
        if option.value.lower() not in ("true", "false", "0", "1"):
            option.refuse("expected true or false")
        return option.value.lower() in ("true", "1")


def form(path: Path, text: str, report: LossReport) -> Form:
    """Read the profile into streams, loops and steps; `report` gets one line per element. Raises UserError for a
    mistake."""
    # The text is decoded: what its declaration says of an encoding is true of the file, not of it.
    plain = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
    root = parse_xml(plain.encode(), report.file, ACCEPTED)
    profile = root if root.tag == "Profile" else root.find("Profile")
    spans = [] if profile is None else profile.findall("./TimeSpans/TimeSpan")
    if profile is None or not spans:
        raise UserError(report.file, root.tag[:40], "", f"has no TimeSpan in a Profile; expected {ACCEPTED}")
    if len(spans) > MOST_SPANS:
        raise UserError(report.file, "TimeSpans", str(len(spans)), f"expected at most {MOST_SPANS}")
    tags = Tags(report.file, _lines_of(root, text))
    files = Files()
    for span in spans:
        for target in span.findall("./Targets/Target"):
            _meet(tags, target, files)
    made = Form(f"{path.name}: {len(spans)} time span{'s' if len(spans) > 1 else ''}", report)
    for number, span in enumerate(spans, 1):
        _span(made, tags, span, files, number)
    if len(spans) == 1:
        made.steps[0].name = "measure"
    _report(profile, tags, report)
    return made


def _lines_of(root: Element, text: str) -> dict[int, int]:
    """Return the line of each element. The parser drops lines, but elements of one name come in the order of the
    text."""
    plain = re.sub(r"<!--.*?-->", lambda comment: re.sub(r"[^\n]", " ", comment[0]), text, flags=re.DOTALL)
    wanted: dict[str, list[int]] = {}
    line, at = 1, 0
    for tag in re.finditer(r"<([A-Za-z_][\w.-]*)", plain):
        line += plain.count("\n", at, tag.start())
        at = tag.start()
        wanted.setdefault(tag[1], []).append(line)
    seen: Counter[str] = Counter()
    lines = {}
    for element in root.iter():
        places = wanted.get(element.tag, [])
        lines[id(element)] = places[seen[element.tag]] if seen[element.tag] < len(places) else 0
        seen[element.tag] += 1
    return lines


def _path(tags: Tags, target: Element) -> Option:
    path = tags.option(target, "Path")
    if path is None:
        raise UserError(
            f"{tags.file}:{tags.lines.get(id(target), 0)}", "Path", "", "missing: expected a file or a drive"
        )
    return path


def _extent(tags: Tags, target: Element) -> tuple[int, int | None]:
    """Return the first byte and the size in bytes of a target; None for the whole target."""
    base = int(tags.number(target, "BaseFileOffset"))
    most, size = int(tags.number(target, "MaxFileSize")), int(tags.number(target, "FileSize"))
    end = min([limit for limit in (most, size) if limit], default=None)
    if end is not None and end <= base:
        option = tags.option(target, "BaseFileOffset") or _path(tags, target)
        option.refuse(f"is not within the {bytes_text(end)} of the file")
    return base, None if end is None else end - base


def _meet(tags: Tags, target: Element, files: Files) -> None:
    base, size = _extent(tags, target)
    files.meet(_path(tags, target).value, None if size is None else base + size)


def _span(made: Form, tags: Tags, span: Element, files: Files, number: int) -> None:
    targets = span.findall("./Targets/Target")
    if not targets:
        raise UserError(
            f"{tags.file}:{tags.lines.get(id(span), 0)}", "Targets", "", "missing: expected at least one Target"
        )
    total = int(tags.number(span, "ThreadCount", most=MOST_OUTSTANDING))
    requests = tags.option(span, "RequestCount") if total else None
    each = None
    if requests is not None and (outstanding := int(tags.number(span, "RequestCount", most=MOST_OUTSTANDING))):
        # -O: a thread's requests go to all of its targets.
        each = max(1, round(outstanding / len(targets)))
        if len(targets) > 1:
            why = f"each thread has {each} outstanding on each target"
            made.report.add(Fate.APPROXIMATED, requests.location, str(requests), why)
    places: list[int] = []
    for target in targets:
        loops = _loops(made.report, tags, target, files, (total, each), len(targets))
        places += range(len(made.loops), len(made.loops) + len(loops))
        made.loops += loops
    duration, warm_up = tags.number(span, "Duration", DURATION), tags.number(span, "Warmup", WARM_UP)
    option = tags.option(span, "Duration")
    if not duration and option is not None:
        option.refuse("expected a time above zero, in seconds")
    warm = tags.option(span, "Warmup")
    if made.steps and warm is not None and warm_up:
        why = "measured steps follow each other directly, without a warm-up"
        made.report.add(Fate.IGNORED, warm.location, str(warm), why)
    made.steps.append(Step(f"time span {number}", places, duration, warm_up))


def _loops(
    report: LossReport, tags: Tags, target: Element, files: Files, shared_by: tuple[int, int | None], targets: int
) -> list[Loop]:
    """Return the loops of a target: one, or one per thread if threads have their own positions. `shared_by` has the
    number of threads that work on all targets (0: none), and of their requests on this one."""
    total, each = shared_by
    threads = total or int(tags.number(target, "ThreadsPerFile", 1, MOST_OUTSTANDING)) or 1
    depth = each or int(tags.number(target, "RequestCount", OUTSTANDING, MOST_OUTSTANDING)) or 1
    if threads * depth > MOST_OUTSTANDING:
        (tags.option(target, "RequestCount") or _path(tags, target)).refuse(
            f"threads x requests is {threads * depth}: expected at most {MOST_OUTSTANDING}"
        )
    load = _load(report, tags, target, Closed(threads, depth))
    keys, came = _keys(report, tags, target)
    stride = int(tags.number(target, "ThreadStride"))
    base, size = _extent(tags, target)
    apart = keys["random_pct"] != 100 or "offsets" in keys or stride
    shared = tags.flag(target, "InterlockedSequential")
    name = re.split(r"[\\/]", _path(tags, target).value)[-1] or _path(tags, target).value
    if not isinstance(load, Closed) or not apart or shared or threads == 1 or threads > 64:
        if apart and not shared and threads > 1:
            keys["cursor"] = "per-thread"
            report.add(
                Fate.APPROXIMATED, _path(tags, target).location, "ThreadStride", "threads begin at even distances"
            )
        return [Loop([_stream(tags, target, files, name, dict(keys), came, (base, size))], load)]
    single = Closed(1, load.depth, load.think_us, load.burst)
    return [
        Loop(
            [
                _stream(
                    tags,
                    target,
                    files,
                    f"{name} {n + 1}",
                    dict(keys),
                    came,
                    (base + n * stride, size and size - n * stride),
                )
            ],
            single,
        )
        for n in range(threads)
    ]


def _stream(
    tags: Tags,
    target: Element,
    files: Files,
    name: str,
    keys: dict[str, Value],
    came: dict[str, Option],
    extent: tuple[int, int | None],
) -> StreamForm:
    base, size = extent
    path = _path(tags, target)
    option = tags.option(target, "FileSize") or tags.option(target, "MaxFileSize") or path
    if size is not None and size <= 0:
        (tags.option(target, "ThreadStride") or path).refuse("a thread begins beyond the end of the file")
    part = files.part(path.value, Amount(base) if base else None, Amount(size) if size is not None else None, option)
    if part is not None:
        keys["range"], came = list(part), {**came, "range": option}
    return StreamForm(name, keys, came)


def _keys(report: LossReport, tags: Tags, target: Element) -> tuple[dict[str, Value], dict[str, Option]]:
    """Return the keys of a target's streams, and the option that sets each."""
    size = int(tags.number(target, "BlockSize", BLOCK))
    block, align = tags.option(target, "BlockSize"), tags.option(target, "Random")
    if size % 512 or not 512 <= size <= 64 << 20:
        (block or _path(tags, target)).refuse("expected a multiple of 512 bytes up to 64 MiB")
    writes = tags.number(target, "WriteRatio", most=100)
    ratio = tags.option(target, "RandomRatio")
    share = tags.number(target, "RandomRatio", 100.0 if align else 0.0, 100)
    keys: dict[str, Value] = {"read_pct": 100 - writes, "random_pct": share, "size": bytes_text(size)}
    if 0 < share < 100:
        keys["random_mode"] = "coin"
    if align is not None and share:
        grid = int(tags.number(target, "Random"))
        if not grid or grid % 512:
            align.refuse("is the alignment of random I/Os: expected a multiple of 512 bytes above zero")
        if grid != size:
            keys["align"] = bytes_text(grid)
    stride = int(tags.number(target, "StrideSize", size))
    if not share and stride != size:
        option = tags.option(target, "StrideSize")
        if option is not None and (not stride or stride % 512):
            option.refuse("expected a multiple of 512 bytes above zero")
        keys["random_pct"], keys["offsets"] = 100.0, {"stride": bytes_text(stride)}
    through = tags.flag(target, "WriteThrough") or tags.flag(target, "DisableAllCache")
    if through and writes:
        keys["fua"] = True
    _caches(report, tags, target)
    options = {
        "read_pct": "WriteRatio",
        "random_pct": "RandomRatio" if ratio else "Random",
        "size": "BlockSize",
        "align": "Random",
    }
    options |= {"offsets": "StrideSize", "fua": "WriteThrough"}
    return keys, {key: option for key, tag in options.items() if (option := tags.option(target, tag))}


def _caches(report: LossReport, tags: Tags, target: Element) -> None:
    off = tags.flag(target, "DisableOSCache") or tags.flag(target, "DisableAllCache")
    if not off and not _path(tags, target).value.startswith(("#", "\\\\.\\")):
        why = "every I/O bypasses the host's cache, which is not modelled, as with -Su"
        report.add(Fate.APPROXIMATED, _path(tags, target).location, "DisableOSCache=false", why)


def _load(report: LossReport, tags: Tags, target: Element, closed: Closed) -> Closed | Open:
    think, limit = tags.option(target, "ThinkTime"), tags.number(target, "Throughput")
    size = tags.number(target, "BlockSize", BLOCK)
    if limit:
        limited = target.find("Throughput")
        rate = iops_of(limit, "" if limited is None else limited.get("unit", ""), size)
        return Open(rate * closed.threads, outstanding=closed.threads * closed.depth)
    pause = tags.number(target, "ThinkTime")
    if think is not None and pause:
        closed.think_us, closed.burst = pause * 1000, int(tags.number(target, "BurstSize")) or 1
        if closed.depth > closed.burst:
            report.add(Fate.APPROXIMATED, think.location, str(think), f"the burst limits the depth to {closed.burst}")
            closed.depth = closed.burst
    return closed


def _report(profile: Element, tags: Tags, report: LossReport) -> None:
    """Add one line for each element that has a text."""
    reported = {(loss.location, loss.option.partition("=")[0]) for loss in report.losses}
    for element in profile.iter():
        text = (element.text or "").strip()
        if not text and len(element):
            continue
        location = Location(report.file, tags.lines.get(id(element), 0))
        entry = f"{element.tag}={text}" if text else element.tag
        if (location, element.tag) in reported:
            continue
        if element.tag in _KEPT or entry in ("ParallelAsyncIO=false", "IOPriority=3", "MemoryMappedIo=false"):
            report.add(Fate.KEPT, location, entry)
        elif element.tag in _UNUSED:
            report.add(Fate.UNUSED, location, entry, "affects results or the host, not I/Os")
        else:
            report.add(Fate.IGNORED, location, entry, _IGNORED.get(element.tag, "unknown element"))
