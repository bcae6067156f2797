"""The parameter file that a vdbench result is of: each row of a flatfile says what its run asked for.

What it leaves out: several workload definitions of one run, of which the flatfile has the means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from hotband.base.errors import UserError
from hotband.data.documents.record import RecordDoc
from hotband.data.jobs.form import workload_text
from hotband.data.jobs.loss import LossReport
from hotband.data.jobs.vdbench_form import form
from hotband.questions.expect.rebuilt import CannotRebuild, Rebuilt

NEEDED = ("xfersize", "rdpct", "seekpct", "threads")


def rebuild(record: RecordDoc) -> Rebuilt:
    """The load of a run. Raises CannotRebuild."""
    spec = cast("Mapping[str, Mapping[str, str]]", record["spec"])
    parameters = spec.get("asked", {})
    missing = [name for name in NEEDED if not re.fullmatch(r"\d+(?:\.\d+)?", str(parameters.get(name, "")))]
    if missing:
        where = "flatfile.html says it (give that, or the folder); else expected -w JOB with the parameter file"
        raise CannotRebuild(f"this file does not say {', '.join(missing)}: {where}")
    options = record["source"]["asked"]
    size, rate = options["working_set_bytes"], options["rate_iops"]
    sd = "sd=sd1,lun=/dev/TARGET" + (f",size={size // 1024}k" if size else "")
    threads = options["concurrency"] or int(float(parameters["threads"]))
    lines = [
        f"{sd},threads={threads}",
        f"wd=wd1,sd=sd1,xfersize={int(float(parameters['xfersize']))},rdpct={float(parameters['rdpct']):g},"
        f"seekpct={float(parameters['seekpct']):g}",
        f"rd=rd1,wd=wd1,iorate={'max' if rate is None else f'{rate:g}'},elapsed=60,interval=1",
    ]
    report = LossReport(str(record["source"]["file"]), "vdbench")
    try:
        made = workload_text(form(Path("rows of the result"), "\n".join(lines), report))
    except UserError as error:
        raise CannotRebuild(f"{error.key or 'its parameters'}: {error.accepted}") from None
    rebuilt = Rebuilt(made, "closed" if rate is None else "open", size, losses=report.matters())
    rebuilt.assume("one workload definition asked: of several the flatfile has the means alone")
    if size is None:
        rebuilt.assume("the whole target was used: lunsize is not in the result")
    rebuilt.assume("offsets were uniform (no hotband=, no range=), and I/Os passed the host's cache (openflags)")
    if any(float(parameters.get(name) or 0) for name in ("rhpct", "whpct")):
        rebuilt.assume("hits asked for by rhpct or whpct are not in the model")
    return rebuilt
