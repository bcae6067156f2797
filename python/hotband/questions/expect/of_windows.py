"""The loads of results of DiskSpd and of Iometer.

What it leaves out: of DiskSpd's `-F` threads several targets; of Iometer delays, bursts and alignment, which its CSV
has but importers do not carry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast
from xml.sax.saxutils import escape

from hotband.base.errors import UserError
from hotband.data.documents.record import RecordDoc
from hotband.data.jobs import diskspd
from hotband.data.jobs.form import Closed, Form, Loop, Step, StreamForm, bytes_text, workload_text
from hotband.data.jobs.loss import LossReport
from hotband.questions.expect.rebuilt import CannotRebuild, Rebuilt

SECTOR = "512 B"


def rebuild_diskspd(record: RecordDoc) -> Rebuilt:
    """The load of a time span, from the profile in the result. Raises CannotRebuild."""
    targets = cast("Sequence[Mapping[str, str]]", record["spec"].get("targets") or [])
    if not targets:
        raise CannotRebuild("the result has no profile, which says what was asked; expected -w PROFILE.xml")
    options = record["source"]["asked"]
    shared = all(target.get("ThreadsPerFile", "1") == "0" for target in targets)
    inner = [f"<ThreadCount>{options['jobs']}</ThreadCount>"] if shared and options["jobs"] else []
    inner.append(f"<Targets>{''.join(_element('Target', target) for target in targets)}</Targets>")
    text = f"<Profile><TimeSpans><TimeSpan>{''.join(inner)}</TimeSpan></TimeSpans></Profile>"
    report = LossReport(str(record["source"]["file"]), "DiskSpd")
    try:
        made = workload_text(diskspd.form(Path("profile of the result"), text, report))
    except UserError as error:
        raise CannotRebuild(f"{error.key or 'its profile'}: {error.accepted}") from None
    is_open = any(target.get("Throughput", "0") not in ("", "0") for target in targets)
    rebuilt = Rebuilt(made, "open" if is_open else "closed", options["working_set_bytes"], losses=report.matters())
    if any(not target.get("Path", "").startswith(("#", "\\\\.\\")) for target in targets):
        rebuilt.assume("I/Os went to a file: a file system, and how it laid the file out, are not in the model")
    if not options["direct"]:
        rebuilt.assume("I/Os passed the host's cache, which was not off (-Sh, -Su)")
    if rebuilt.span_bytes is None:
        rebuilt.assume("the whole target was used: the size of the file is not in the profile")
    return rebuilt


def _element(tag: str, values: Mapping[str, str]) -> str:
    return f"<{tag}>{''.join(f'<{key}>{escape(value)}</{key}>' for key, value in values.items())}</{tag}>"


def rebuild_iometer(record: RecordDoc) -> Rebuilt:
    """The load of a test, from the access specification in the result. Raises CannotRebuild."""
    spec = cast("Mapping[str, object]", record["spec"])
    lines = cast("Sequence[Mapping[str, float]]", spec.get("lines") or [])
    options = record["source"]["asked"]
    if not lines or not all(line["size"] for line in lines):
        raise CannotRebuild("the result has no access specification with sizes; expected -w FILE.icf")
    if options["concurrency"] is None:
        raise CannotRebuild("the result does not say how many I/Os were outstanding; expected -w FILE.icf")
    report = LossReport(str(record["source"]["file"]), "Iometer")
    form = Form(str(spec.get("access_specification") or "access"), report)
    form.loops.append(
        Loop([_stream(line, options["working_set_bytes"]) for line in lines], Closed(options["concurrency"]))
    )
    form.steps.append(Step("measure", [0], 60.0))
    rebuilt = Rebuilt(workload_text(form), "closed", options["working_set_bytes"])
    rebuilt.assume("I/Os were aligned to the sector, without delay and bursts: these columns are not carried over")
    if rebuilt.span_bytes is None:
        rebuilt.assume("the whole target was used: the result does not say how large it was")
    return rebuilt


def _stream(line: Mapping[str, float], span: int | None) -> StreamForm:
    form = StreamForm(
        "line",
        {
            "read_pct": line["read_pct"],
            "random_pct": line["random_pct"],
            "size": bytes_text(int(line["size"])),
            "align": SECTOR,
        },
        share=line["share"] or 100.0,
    )
    if 0 < line["random_pct"] < 100:
        form.keys["random_mode"] = "coin"
    if span:
        form.keys["range"] = ["0 B", bytes_text(span)]
    return form
