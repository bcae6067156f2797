"""Several workloads one after the other on one machine, or on hardware: the runs that they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hotband.data.catalog.named import STATE, is_real
from hotband.data.documents.run import Repair, RunSpec
from hotband.data.inputs.specify import Named, expect_seed


def in_sequence(
    first: RunSpec, workloads: Sequence[Named], folders: Sequence[Path | None], fresh_seeds: bool
) -> list[RunSpec]:
    """Return the runs of `workloads`, with one folder each: `first` has the settings of all, and events during them.

    With `fresh_seeds` each has its own seed, one more than that of the run before it. Raises UserError for an
    invalid seed.
    """
    on_hardware = is_real(first.machine)
    runs = [
        replace(
            first,
            id=f"run {n}",
            workload=one.name,
            workload_text=one.text,
            set=first.set if not n else settings_after(first.set, on_hardware),
            seed=first.seed + (n if fresh_seeds else 0),
            out=folder,
            power_loss=None if n else first.power_loss,
            # Hardware keeps by itself what a run leaves: one that is there need not be run again for those behind it.
            after="" if not n or on_hardware else f"run {n - 1}",
            # What happens to the machine counts from the first run and is not said again to those that follow.
            repair=Repair() if n else first.repair,
            events=() if n else first.events,
        )
        for n, (one, folder) in enumerate(zip(workloads, folders, strict=True))
    ]
    for run in runs:
        expect_seed(run.seed)
    return runs


def settings_after(settings: tuple[tuple[str, str], ...], on_hardware: bool) -> tuple[tuple[str, str], ...]:
    """Options of a run after the first: hardware is brought into its state only before the first."""
    return tuple(pair for pair in settings if not (on_hardware and pair[0] == STATE))
