"""The measured target: a model, an emulated machine through fio, or hardware through fio."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from hotband.base.errors import UserError
from hotband.base.temporary import TemporaryFolder
from hotband.data.catalog.named import EMULATED, REAL, is_emulated, is_real
from hotband.data.inputs.texts import text_of
from hotband.execution.experiment import Executor, Say
from hotband.execution.serve.served import Served, ServeSpec
from hotband.execution.targets.on_device import Setup
from hotband.execution.targets.outlook import Outlook
from hotband.execution.targets.real_target import real_target_of
from hotband.execution.targets.target import executor_of
from hotband.execution.targets.way import way_of_fio
from hotband.questions.calibrate.loads import BLACK_BOX
from hotband.questions.calibrate.model import Product, own_scale, size_of

WORN_IN = {"sequential": 2.0, "random": 1.0}
"""Preconditioning of an emulated drive: two sequential fills and a random one, as in the model."""
HOST_NS, SERVED_NS = 10_000.0, 20_000.0
"""Latency that a host adds (docs/models/layouts.md: libaio 1.4 us; more under a hypervisor: estimate), and that a
served drive adds: 116 to 120 us were measured of one that completes after 100. For drives served here it is
measured."""
SAME_SIZE = 0.02
"""Share by which the size of a target may differ from the product's and still be used as a whole."""


@dataclass(frozen=True)
class Hardware:
    """Options of hardware: the serial number that may be erased, the confirmation before writing, the size of a test
    file in a folder; and whether a machine is served that is faster than this host can serve."""

    erase: str | None = None
    confirm: Callable[[Outlook], bool] = lambda _: True
    size_bytes: int = 0
    anyway: bool = False


@dataclass
class Target:
    """A target: its name and, for a model, its text; the executor of its loads (None: the engine), the used bytes of
    the whole drive (None: all), even if only a part is simulated, and the served machine, if it is one."""

    product: Product
    executor: Executor | None = None
    span_bytes: int | None = None
    served: Served | None = None
    path_ns: float = 0.0


@contextmanager
def target_of(named: Product, like: Product, hardware: Hardware, setup: tuple[bool, int], say: Say) -> Iterator[Target]:
    """Open the target of a name for a block. `setup` has whether it is written to, and a seed. Raises UserError."""
    writes, seed = setup
    if is_emulated(named.name):
        with _served(named, like, seed, hardware.anyway) as target:
            yield target
    elif is_real(named.name):
        yield _on_device(named, like, hardware, writes, say)
    else:
        yield Target(named, span_bytes=span_of_model(named, like))


def span_of_model(named: Product, like: Product) -> int | None:
    """Return the used bytes of a machine (None: all). Raises UserError for an unknown machine."""
    size = size_of(replace(named, name=named.name.removeprefix(EMULATED)), "question.target")
    return None if size is None else _span(size * own_scale(named), like)


@contextmanager
def _served(named: Product, like: Product, seed: int, anyway: bool) -> Iterator[Target]:
    machine = named.name.removeprefix(EMULATED)
    if not machine:
        raise UserError("question.target", "", named.name, "expected emulated:MACHINE, such as emulated:s4500-960")
    text = text_of(machine, "machine")
    with TemporaryFolder("way") as folder:
        way = way_of_fio(Path(folder) / "way")
    serve = ServeSpec(
        machine,
        named.held,
        seed,
        machine_text=text,
        precondition=WORN_IN,
        in_use=True,
        way_ns=way.least_ns,
        anyway=anyway,
    )
    with Served(serve) as served:
        volume = next(iter(served.volumes.values()))
        # Nothing is lost: this volume was created for the measurement.
        setup = Setup(product="none")
        executor = executor_of(f"{REAL}{volume.uri}", writes=True, erase=volume.uri, setup=setup)
        yield Target(
            Product(named.name, text), executor, _span(volume.size * own_scale(named), like), served, way.more_ns
        )


def _on_device(named: Product, like: Product, hardware: Hardware, writes: bool, say: Say) -> Target:
    device = real_target_of(named.name)
    size = hardware.size_bytes or device.size_bytes
    if not size:
        raise UserError("question.size", "", "", 'missing: expected the size of the file, such as "8 GiB"')
    setup = Setup(size_bytes=hardware.size_bytes, product="none")
    executor = executor_of(
        named.name, writes=writes, erase=hardware.erase, setup=setup, say=say, confirm=hardware.confirm
    )
    return Target(named, executor, _span(size, like), None, SERVED_NS if device.kind == "nbd" else HOST_NS)


def _span(size: int, like: Product) -> int | None:
    """Return the used bytes of a target that differs from the product's size, None for one of its size: the model has
    no addresses beyond it."""
    if like.name == BLACK_BOX:
        return size
    whole = size_of(like, "question.like")
    if whole is None or abs(size / whole - 1.0) <= SAME_SIZE:
        return None
    return min(size, whole)
