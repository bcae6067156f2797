"""`hotband run --on emulated:MACHINE`: the same workload in virtual time and through fio on the served machine."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.data.catalog.named import EMULATED
from hotband.data.record.files import RECORD_FILE, REPORT_FILE
from hotband.execution.experiment import Lock, expect_no_record, expect_own_page, expect_same_run
from hotband.execution.experiment.progress import run_progress
from hotband.execution.runs.signals import stoppable
from hotband.faces.commands.output import print_json, say, show, show_lines

if TYPE_CHECKING:
    from hotband.data.documents.run import RunSpec

MODEL, FIO, SERVED = "model", "emulated", "served"
"""Folders of a comparison's records."""


def run_emulated(spec: RunSpec, left_out: dict[str, object], fresh: bool, as_json: bool) -> None:
    """Runs it on both, and prints both. `left_out` are options that only virtual time has, with their values. `fresh`
    writes over another comparison in the folder. Raises UserError."""
    from dataclasses import replace

    from hotband.execution.targets.emulated import emulate
    from hotband.inference.beside import beside_data, beside_lines, beside_table

    for option, value in left_out.items():
        if value:
            accepted = "is for runs in virtual time: leave it out, or run on the machine without emulated:"
            raise UserError(option, "", "", accepted)
    machine = spec.machine.removeprefix(EMULATED)
    if not machine:
        raise UserError("--on", "", spec.machine, "expected emulated:MACHINE, such as emulated:exos-15e900-512n")
    spec = replace(spec, machine=machine)
    page = None
    with stoppable(), nullcontext() if spec.out is None else Lock(spec.out):
        if spec.out is not None and not fresh:
            expect_same_comparison(spec.out, spec)
        with run_progress(f"{spec.workload} on {machine}") as progress:
            found = emulate(spec, progress=progress, say=say)
        if spec.out is not None and not as_json:
            page = write_report(spec, spec.out)
    if as_json:
        return print_json(beside_data(found), "hotband-emulated")
    show(beside_table(found))
    show_lines(beside_lines(found))
    if page is not None:
        show(f"Report: {page}")
    return None


def expect_same_comparison(out: Path, spec: RunSpec) -> None:
    """Refuses a folder with another comparison, or with what another command left. The run of the model, which is kept
    first, tells which it is. Raises UserError."""
    model = out / MODEL / RECORD_FILE
    expect_no_record(out)
    expect_own_page(out, (str(model.relative_to(out)),))
    if model.exists():
        return expect_same_run(model.parent, spec)
    for part in (FIO, SERVED):
        expect_no_record(out / part)
    return None


def write_report(spec: RunSpec, out: Path) -> Path:
    """One page with both records, beside each other."""
    from dataclasses import replace

    from hotband.views.report import record_page
    from hotband.views.report.kept import Report, read_records

    labels = {MODEL: "model", FIO: "emulated, by fio"}
    both = [
        replace(one, label=label) for part, label in labels.items() for one in read_records(out / part / RECORD_FILE)
    ]
    title = f"{spec.workload} on {spec.machine}: model and emulated drive"
    return Report(record_page(both, title)).save(out / REPORT_FILE)
