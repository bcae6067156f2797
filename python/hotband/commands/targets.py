"""`hotband run --on emulated:MACHINE`: the same workload in virtual time and through fio on the served machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hotband.commands.output import print_json, say, show, show_lines
from hotband.errors import UserError
from hotband.targets.named import EMULATED

if TYPE_CHECKING:
    from hotband.runs.run import RunSpec


def is_emulated(on: str) -> bool:
    """Whether a target is an emulated machine."""
    return on.startswith(EMULATED)


def run_emulated(spec: RunSpec, left_out: dict[str, object], as_json: bool) -> None:
    """Runs it on both, and prints both. `left_out` are options that only virtual time has, with their values. Raises
    UserError."""
    from dataclasses import replace

    from hotband.runs.progress import run_progress
    from hotband.targets.beside import beside_data, beside_lines, beside_table
    from hotband.targets.emulated import emulate

    for option, value in left_out.items():
        if value:
            accepted = "is for runs in virtual time: leave it out, or run on the machine without emulated:"
            raise UserError(option, "", "", accepted)
    machine = spec.machine.removeprefix(EMULATED)
    if not machine:
        raise UserError("--on", "", spec.machine, "expected emulated:MACHINE, such as emulated:exos-15e900-512n")
    with run_progress(f"{spec.workload} on {machine}") as progress:
        found = emulate(replace(spec, machine=machine), progress=progress, say=say)
    if as_json:
        return print_json(beside_data(found))
    show(beside_table(found))
    show_lines(beside_lines(found))
    if spec.out is not None:
        show(f"Report: {write_report(replace(spec, machine=machine))}")
    return None


def write_report(spec: RunSpec) -> Path:
    """One page with both records, beside each other."""
    from dataclasses import replace

    from hotband.report import record_page
    from hotband.report.kept import Report, read_records

    assert spec.out is not None, "asked for"
    labels = {"model": "model", "emulated": "emulated, by fio"}
    kept = [path for path in sorted(spec.out.rglob("record.json")) if path.parent.name != "served"]
    found = [one for path in kept for one in read_records(path)]
    both = [replace(one, label=labels[one.record["target"]["kind"]]) for one in found]
    both.sort(key=lambda one: list(labels.values()).index(one.label))
    title = f"{spec.workload} on {spec.machine}: model and emulated drive"
    return Report(record_page(both, title)).save(spec.out / "report.html")
