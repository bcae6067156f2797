"""Estimate of a target's speed before a run: by the model of a drive, or by reading for five seconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.temporary import TemporaryFolder
from hotband.data.catalog.named import NONE
from hotband.data.inputs.loads import Load
from hotband.execution.devices.counters import Counters
from hotband.execution.devices.host import Host
from hotband.execution.experiment import experiment
from hotband.execution.runs.scale import scaled
from hotband.execution.targets.client_run import ClientRun, Rate
from hotband.execution.targets.fio_child import Status, run_fio
from hotband.execution.targets.fio_job import KERNEL, NBD
from hotband.execution.targets.fio_record import imported_of
from hotband.execution.targets.fio_run import FioRun
from hotband.execution.targets.outlook import Outlook, mean_bytes, outlook_of
from hotband.execution.targets.real_target import RealTarget

if TYPE_CHECKING:
    from hotband.execution.devices.held import Held
    from hotband.execution.targets.on_device import Setup

# I/Os of a prediction: the rate of a steady load is within a few percent by then (docs/guides/expect.md).
IOS = 10_000


def ahead(
    runs: Sequence[ClientRun],
    target: RealTarget,
    held: Held | None,
    setup: Setup,
    say: Callable[[str], None],
    go_on: Callable[[], None],
) -> Outlook:
    """Return the outlook for these runs. The target is only read, and only if the rate of a load that writes or counts
    I/Os is not given. `go_on` raises if the user cancels."""
    product = setup.product if setup.product not in (None, NONE) else None
    can_probe = setup.probe_s > 0 and not setup.hosts and target.kind != "rbd" and not target.is_ours
    first: list[Rate] = []

    def rate(client_run: ClientRun) -> Rate:
        # For a sweep, only the first rate is determined: the others are similar, and each would take seconds.
        if not first:
            first.append(rate_of(client_run))
        return first[0]

    def rate_of(client_run: ClientRun) -> Rate:
        if product is not None:
            try:
                return predicted_iops(client_run, product), f"by the model of {product}"
            except UserError as error:
                # The run does not need the model; only its expected rate stays unknown.
                say(f"no rate is predicted by the model of {product}: {error.worded(str)}")
                return None, f"the model of {product} refuses the load"
        if can_probe and isinstance(client_run, FioRun):
            say(f"{target.text} is read for {setup.probe_s:g} s to measure its speed")
            iops = probed_iops(client_run, target, held, setup.probe_s, go_on)
            return iops, f"as fast as it read in {setup.probe_s:g} s"
        return None, "as many as the target completes"

    outlook = outlook_of(target, runs, rate)
    return replace(outlook, endurance_share=_endurance_share(outlook, target))


def predicted_iops(client_run: ClientRun, product: str) -> float | None:
    """Return the I/Os per second of the load on the model of a product. Raises UserError if the model refuses it."""
    text = Load(client_run.text, client_run.spec.workload).with_ios(IOS).text()
    pairs = tuple(pair for pair in client_run.spec.set if pair[0] == "state")
    spec = replace(
        client_run.spec, machine=product, workload_text=text, set=pairs, duration=None, out=None, in_use=True
    )
    [finished] = experiment.execute([scaled(spec)])
    return finished.record["summary"]["iops"]


def probed_iops(
    fio_run: FioRun, target: RealTarget, held: Held | None, seconds: float, go_on: Callable[[], None]
) -> float | None:
    """Return the I/Os per second of random reads of the load's mean size and concurrency on the target."""
    step = fio_run.steps[0]
    size = sum(stream.share * mean_bytes(stream) for stream in step.streams) / (
        sum(stream.share for stream in step.streams) or 1.0
    )
    block = max(4096, round(size / 4096) * 4096)
    depth = 0
    for step_stream in step.streams:
        closed = step_stream.closed()
        depth = max(depth, closed[0] * closed[1] if closed else 1)
    assert held is not None, "what is read is open"
    where = f"uri={target.uri}" if target.kind == "nbd" else f"filename={held.name}"
    engine = NBD if target.kind == "nbd" else KERNEL
    lines = ["[probe]", *engine, where, "rw=randread", f"bs={block}", f"iodepth={min(max(depth, 1), 256)}"]
    lines += ["thread=1", "size=100%", "norandommap", "time_based", f"runtime={round(1000 * seconds)}ms"]

    def look(_: Status) -> None:
        go_on()

    with TemporaryFolder("probe") as folder:
        run_fio("\n".join(lines) + "\n", Path(folder), look, only_reads=True, held=held)
        return imported_of(Path(folder)).record["summary"]["iops"]


def _endurance_share(outlook: Outlook, target: RealTarget) -> float | None:
    """Return the share of the drive's endurance that the runs will use; None if the drive does not report it."""
    if not outlook.written_bytes or target.path is None or target.kind != "block":
        return None
    with Counters(target.path, Host()) as counters:
        pass
    section = counters.section
    endurance = section["endurance_bytes"] if section else None
    return outlook.written_bytes / endurance if endurance else None
