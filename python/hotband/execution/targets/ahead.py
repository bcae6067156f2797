"""How fast a place will answer, found out before a run: by the model of a drive, or by reading for five seconds."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.data.catalog.named import NONE
from hotband.data.inputs.loads import Load
from hotband.execution.devices.counters import Counters
from hotband.execution.devices.host import Host
from hotband.execution.experiment import experiment
from hotband.execution.runs.scale import scaled
from hotband.execution.targets.asked import Asked
from hotband.execution.targets.fio_child import Status, run_fio
from hotband.execution.targets.fio_job import KERNEL, NBD
from hotband.execution.targets.fio_record import imported_of
from hotband.execution.targets.outlook import Outlook, mean_bytes, outlook_of
from hotband.execution.targets.place import Place

if TYPE_CHECKING:
    from hotband.execution.devices.held import Held
    from hotband.execution.targets.on_device import How

# I/Os of a prediction: the rate of a steady load is within a few percent by then (docs/guides/expect.md).
IOS = 10_000


def ahead(
    asked: Sequence[Asked],
    place: Place,
    held: Held | None,
    how: How,
    say: Callable[[str], None],
    go_on: Callable[[], None],
) -> Outlook:
    """What is ahead. The place is only read, and only where the rate of a load that writes or counts I/Os is not said.
    `go_on` raises where the user has had enough."""
    known: dict[str, float | None] = {}
    source = "as many as the place takes"
    product = how.product if how.product not in (None, NONE) else None
    can_probe = how.probe_s > 0 and not how.hosts and place.kind != "rbd" and not place.is_ours
    if product is not None:
        source = f"by the model of {product}"
    elif can_probe:
        source = f"as fast as it read in {how.probe_s:g} s"

    def rate(one: Asked) -> float | None:
        key = one.text
        if key not in known:
            # Of a sweep the first is found out: the others are like it, and each would take its seconds.
            if known:
                known[key] = next(iter(known.values()))
            elif product is not None:
                known[key] = predicted_iops(one, product)
            elif can_probe:
                say(f"{place.text} is read for {how.probe_s:g} s to see how fast it is")
                known[key] = probed_iops(one, place, held, how.probe_s, go_on)
            else:
                known[key] = None
        return known[key]

    found = outlook_of(place, asked, rate, source)
    return replace(found, endurance_share=_endurance_share(found, place))


def predicted_iops(asked: Asked, product: str) -> float | None:
    """I/Os per second of the load on the model of a product; None if the model cannot take it."""
    text = Load(asked.text, asked.spec.workload).with_ios(IOS).text()
    pairs = tuple(pair for pair in asked.spec.set if pair[0] == "state")
    spec = replace(asked.spec, machine=product, workload_text=text, set=pairs, duration=None, out=None, in_use=True)
    try:
        [finished] = experiment.execute([scaled(spec)])
    except UserError:
        return None
    return finished.record["summary"]["iops"]


def probed_iops(
    asked: Asked, place: Place, held: Held | None, seconds: float, go_on: Callable[[], None]
) -> float | None:
    """I/Os per second that the place answers to random reads of the load's mean size and concurrency."""
    step = asked.steps[0]
    size = sum(stream.share * mean_bytes(stream) for stream in step.streams) / (
        sum(stream.share for stream in step.streams) or 1.0
    )
    block = max(4096, round(size / 4096) * 4096)
    depth = 0
    for one in step.streams:
        closed = one.closed()
        depth = max(depth, closed[0] * closed[1] if closed else 1)
    assert held is not None, "what is read is open"
    where = f"uri={place.uri}" if place.kind == "nbd" else f"filename={held.name}"
    engine = NBD if place.kind == "nbd" else KERNEL
    lines = ["[probe]", *engine, where, "rw=randread", f"bs={block}", f"iodepth={min(max(depth, 1), 256)}"]
    lines += ["thread=1", "size=100%", "norandommap", "time_based", f"runtime={round(1000 * seconds)}ms"]

    def look(_: Status) -> None:
        go_on()

    with tempfile.TemporaryDirectory(prefix="hotband-probe-") as folder:
        run_fio("\n".join(lines) + "\n", Path(folder), look, only_reads=True, held=held)
        return imported_of(Path(folder)).record["summary"]["iops"]


def _endurance_share(found: Outlook, place: Place) -> float | None:
    """The share of the drive's endurance that is ahead; None if the drive does not tell it."""
    if not found.written_bytes or place.path is None or place.kind != "block":
        return None
    with Counters(place.path, Host()) as counters:
        pass
    section = counters.section
    endurance = section["endurance_bytes"] if section else None
    return found.written_bytes / endurance if endurance else None
