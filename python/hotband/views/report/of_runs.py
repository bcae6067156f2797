"""Reports of runs on hardware, and of a model next to the emulated drive, registered in `hotband.views.registered`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hotband.data.documents.run import RunSpec
from hotband.data.record.files import CLIENT, MODEL, RECORD_FILE
from hotband.views.report import record_page
from hotband.views.report.kept import Report, read_records


def of_hardware(specs: Sequence[RunSpec]) -> Report:
    """Return the report of these runs: measurements next to predictions."""
    paths = [spec.out / RECORD_FILE for spec in specs if spec.out is not None]
    return Report(record_page([record for path in paths for record in read_records(path)]))


def of_emulation(spec: RunSpec, out: Path) -> Report:
    """Return the report of both records, next to each other."""
    labels = {MODEL: "model", CLIENT: "emulated"}
    both = [
        replace(record, label=label)
        for part, label in labels.items()
        for record in read_records(out / part / RECORD_FILE)
    ]
    return Report(record_page(both, f"{spec.workload} on {spec.machine}: model and emulated drive"))
