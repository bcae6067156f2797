"""Whether a host can serve a machine: how fast the machine is, and how fast the host."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import hotband._core as _core
from hotband.base.errors import UserError
from hotband.base.text.numbers import number, span
from hotband.base.text.tomltext import quoted
from hotband.data.documents.run import RunSpec
from hotband.data.inputs.convert import text_named
from hotband.execution.experiment.experiment import execute

# Seconds for which each of the host's two speeds is measured, and the way to a server; of virtual time for each of the
# machine's.
HOST_S, WAY_S, MACHINE_TIME = 0.15, 0.05, "200 ms"
DEPTHS = (1, 32)
# A machine is refused where it answers sooner than a host's answer takes by itself, or serves more a second than this
# share of what the host does when it does nothing else: models and programs take the other half.
HOST_SHARE = 0.5
# The longest path of a unix socket on Linux (unix(7): 108 bytes with the one that ends it).
LONGEST_SOCKET = 107
# Of sockets in a temporary folder.
LONGEST_NAME = len("speed.sock")


@dataclass(frozen=True)
class Speed:
    """Mean latency of a 4 KiB random read in ns with one outstanding, and reads per second with 32."""

    latency_ns: float
    iops: float

    def told(self) -> str:
        """In words."""
        return f"a 4 KiB read in {span(self.latency_ns)}, {number(self.iops)} a second with 32 outstanding"


def socket_in(folder: Path, name: str) -> Path:
    """The path of a socket in a folder below that of temporary files. Raises UserError if its path is too long."""
    beyond = len(os.fsencode(folder)) + 1 + LONGEST_NAME - LONGEST_SOCKET
    if beyond > 0:
        above = tempfile.gettempdir()
        accepted = f"is too long for a socket: expected a path of at most {len(os.fsencode(above)) - beyond} bytes"
        raise UserError("TMPDIR", "", above, accepted)
    return folder / name


def speed_of_host(folder: Path) -> Speed:
    """Return the speed of this host, client and server together; a socket is made in `folder`."""
    return Speed(*_core.serve_speed(socket_in(folder, "speed.sock"), HOST_S))


def way_ns(folder: Path) -> int:
    """Return the minimum latency of the path to a server on this host and back, in ns; a socket is made in `folder`."""
    return _core.serve_way(socket_in(folder, "way.sock"), WAY_S)


def speed_of_machine(machine: str, pairs: Sequence[tuple[str, str]], text: str | None, volume: str) -> Speed:
    """Return the speed of a volume of a modelled machine with preconditioned SSDs; `text` if the machine is a file."""
    workload = text_named("fio-randread").replace("[[streams]]", f"[[streams]]\nvolume = {quoted(volume)}")
    specs = [
        RunSpec(
            f"depth {depth}",
            machine,
            "fio-randread",
            (*pairs, ("qd", str(depth)), ("warm_up", "50 ms")),
            duration=MACHINE_TIME,
            machine_text=text,
            workload_text=workload,
            in_use=True,
        )
        for depth in DEPTHS
    ]
    alone, together = (run.record["summary"] for run in execute(specs, jobs=1))
    return Speed(float(alone["latency_mean_ns"] or 0.0), float(together["iops"] or 0.0))


def expect_servable(machine: str, model: Speed, host: Speed) -> None:
    """Raise UserError if a machine is faster than its host can serve."""
    if model.latency_ns < host.latency_ns or model.iops > HOST_SHARE * host.iops:
        can = Speed(host.latency_ns, HOST_SHARE * host.iops)
        accepted = (
            f"is faster than this host can serve: it completes {model.told()}; this host serves {can.told()}. "
            "Run it in virtual time, or serve it question.anyway"
        )
        raise UserError("question.on", "", machine, accepted)
