"""The job file that a fio result is of: its options are in the JSON, one section a job.

What it leaves out: options without a value that older versions of fio do not print (`time_based`, `stonewall`): jobs
that followed one another are told apart by their times (`hotband.data.importers.stages`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hotband.base.errors import UserError
from hotband.data.documents.record import RecordDoc
from hotband.data.jobs.fio_form import form
from hotband.data.jobs.fio_names import ALIASES, ASYNCHRONOUS, FATES, MEMORY, SYNCHRONOUS
from hotband.data.jobs.form import workload_text
from hotband.data.jobs.loss import LossReport
from hotband.data.jobs.source import words
from hotband.questions.expect.rebuilt import CannotRebuild, Rebuilt

TARGET = "/dev/TARGET"
"""Stands for the device of a job that names none (`rbdname`, a directory)."""
LOCAL = words("libaio io_uring io_uring_cmd posixaio windowsaio solarisaio sg sync psync vsync pvsync pvsync2 mmap")
"""Engines that hand I/Os to the kernel; others have a library, a network or a cluster between."""
DROPPED = words("filename name stonewall wait_for wait_for_previous startdelay pool rbdname rbd clientname clustername")
NO_OPTIONS = "fio's terse output and its logs do not say what was asked; expected -w JOB with the job that was run"
Options = Mapping[str, str]


def rebuild(record: RecordDoc) -> Rebuilt:
    """The load of a fio record. Raises CannotRebuild."""
    spec = record["spec"]
    shared, jobs = dict(spec.get("global") or {}), spec.get("jobs") or {}
    if not shared and not any(jobs.values()):
        raise CannotRebuild(NO_OPTIONS)
    engines = {({**shared, **options}).get("ioengine", "").partition(":")[0] for options in jobs.values()}
    if "null" in engines:
        raise CannotRebuild("ioengine=null does no I/O: nothing of a drive was measured")
    assumed: list[str] = []
    sections = _sections(shared, jobs, assumed)
    text = _job_text(sections)
    report = LossReport(str(record["source"]["file"]), "fio")
    try:
        made = workload_text(form(Path("options of the result"), text, report))
    except UserError as error:
        raise CannotRebuild(f"{error.key or 'its options'}: {error.accepted}") from None
    rebuilt = Rebuilt(made, "closed", assumed=assumed, losses=report.matters())
    _assume(rebuilt, record, [section for _, section in sections])
    return rebuilt


def _sections(shared: Options, jobs: Mapping[str, Options], assumed: list[str]) -> list[tuple[str, dict[str, str]]]:
    """The sections of the job file: entries of one job are one with its `numjobs`."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name, options_of_job in jobs.items():
        alike.setdefault(tuple(sorted(options_of_job.items())), []).append(name)
    sections = []
    for own_items, names in alike.items():
        options = {**shared, **dict(own_items)}
        clones = options.get("numjobs", "1")
        if len(names) > 1 and clones != str(len(names)):
            options["numjobs"] = str(len(names))
        sections.append((names[0].split("#")[0].split("@")[0], _asked(options, assumed)))
    return sections


def _asked(options: Options, assumed: list[str]) -> dict[str, str]:
    """The options that our reader of job files knows, on one device."""
    engine = options.get("ioengine", "").partition(":")[0]
    known = {**options}
    if engine and engine not in SYNCHRONOUS | ASYNCHRONOUS | MEMORY:
        known["ioengine"] = "libaio"
    if engine and engine not in LOCAL:
        assumed.append(f"ioengine={engine} hands out I/Os as libaio does: what it adds of its own is not in the model")
    files = [key for key in ("filename", "rbdname", "rbd", "directory") if options.get(key)]
    accepted = {key: value for key, value in known.items() if ALIASES.get(key, key) in FATES and key not in DROPPED}
    accepted.pop("directory", None)
    size = options.get("size", "")
    if not size or size.endswith("%") or files:
        accepted["filename"] = TARGET
    return accepted


def _job_text(sections: Sequence[tuple[str, Options]]) -> str:
    """As fio would read it."""
    lines: list[str] = []
    for name, options in sections:
        lines.append(f"[{name.replace(']', ' ') or 'job'}]")
        lines += [f"{key}={value}" if value else key for key, value in options.items()]
    return "\n".join(lines) + "\n"


def _assume(rebuilt: Rebuilt, record: RecordDoc, sections: Sequence[Options]) -> None:
    """What the options do not say."""
    options = record["source"]["asked"]
    rebuilt.span_bytes = options["working_set_bytes"]
    if rebuilt.span_bytes is None:
        rebuilt.assume("the whole target was used: the result does not say how large it was")
    for section in sections:
        name = section.get("filename", "")
        if "size" in section and not name.startswith("/dev/") and not section["size"].endswith("%"):
            rebuilt.assume("I/Os went to a file: a file system, and how it laid the file out, are not in the model")
        if "random_distribution" not in section and "rand" in section.get("rw", section.get("readwrite", "")):
            rebuilt.assume("offsets were uniform over that span, as nothing else is said")
    if options["direct"] is None:
        rebuilt.assume("I/Os passed the page cache: direct=1 is not in the result, and without it fio uses the cache")
    elif not options["direct"]:
        rebuilt.assume("I/Os passed the page cache, although direct=0: the host's cache is not in the model")
    if record["source"].get("latency") == "clat":
        rebuilt.assume("submission takes no time: the result's latencies are completion latencies")
