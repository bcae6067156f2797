"""A program on other drives: its I/Os, recorded on the machine that ran it, are replayed on models.

Each I/O follows the completion of those before it, and waits as long after them as the program did. The replay leaves
out that a program with another latency issues other I/Os: group commits, compaction by time, what its caches hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from hotband.base.errors import UserError
from hotband.data.catalog.named import expect_model
from hotband.data.documents.program import PredictedDoc
from hotband.data.documents.record import RecordDoc, figures_of
from hotband.data.documents.run import RunSpec
from hotband.data.record.states import states_of
from hotband.execution.experiment.experiment import execute
from hotband.execution.runs.run import prepare

VOLATILE = "volatile"
REPLAY = (("issue", "after-completion"), ("beyond", "wrap"))
"""Settings of the replay: offsets beyond the end of a smaller drive wrap around."""


def expect_predictable(machines: Sequence[str]) -> None:
    """Raise UserError for a machine that has no model, before the program is started."""
    for machine in machines:
        expect_model(machine, "I/Os are replayed on", "question.predict")
        try:
            prepare(RunSpec("predicted", machine, "fio-randread", duration="1 ms"))
        except UserError as error:
            where = "question.predict" if error.where == "question.on" else error.where
            raise UserError(where, error.key, error.value, error.accepted) from None


def predicted(
    log: Path, recorded: RecordDoc, on: str, values: tuple[tuple[str, str], ...], machines: Sequence[str]
) -> tuple[list[PredictedDoc], list[str]]:
    """Return the I/Os of a program as recorded on a machine, as replayed on its model, which shows the error of the
    replay, and as replayed on other machines; and notes on what the recording lacks. Raises UserError."""
    specs = [RunSpec(f"on {on}", on, str(log), (*REPLAY, *values), in_use=True)]
    specs += [
        RunSpec(f"predicted on {machine}", machine, str(log), REPLAY, in_use=True)
        for machine in dict.fromkeys(machines)
    ]
    replayed = execute(specs)
    rows = [_figures(done.spec.machine, "replayed", done.record) for done in replayed]
    notes = [
        f"{on} has no volatile write cache, so that Linux sends it no flushes; {done.spec.machine} has one, and the "
        "replay lacks the program's flushes there: expected question.on with a volatile write cache (wce=on)"
        for done in replayed[1:]
        if not _is_flushed(recorded) and _is_flushed(done.record)
    ]
    return [_figures(on, "recorded", recorded), *rows], notes


def _is_flushed(record: RecordDoc) -> bool:
    """Return whether Linux sends flushes to a machine: one of its drives has a volatile write cache."""
    states = states_of(record)
    return states is not None and any(drive["write_cache"] == VOLATILE for drive in states["drives"])


def _figures(machine: str, source: str, record: RecordDoc) -> PredictedDoc:
    means = {
        kind: None if (figures := figures_of(record["summary"], kind)) is None else figures["latency_mean_ns"]
        for kind in ("read", "write", "flush")
    }
    counted = record["summary"]
    latencies = {f"{kind}_latency_mean_ns": mean for kind, mean in means.items()}
    rates = {"iops": counted["iops"], "latency_mean_ns": counted["latency_mean_ns"]}
    return cast("PredictedDoc", {"machine": machine, "source": source, **rates, **latencies})
