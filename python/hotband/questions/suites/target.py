"""Target of a suite: a model, an emulated drive, or a real device or file, with one address space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hotband.base.engine import mistakes_without_load
from hotband.base.errors import UserError
from hotband.data.catalog import entries
from hotband.data.catalog.named import EMULATED, NONE, REAL, is_emulated, is_model, is_real, served_machine
from hotband.data.documents.record import KIND_EMULATED, KIND_REAL
from hotband.data.inputs.texts import text_of
from hotband.execution.devices.device import device_of
from hotband.execution.experiment import Executor
from hotband.execution.serve.served import ServeSpec
from hotband.execution.targets.on_served import OnServedMachine
from hotband.execution.targets.own_file import size_for
from hotband.execution.targets.real_target import real_target_of
from hotband.execution.targets.target import executor_of, expect_folder
from hotband.questions.review.target import Offer, Target, one_volume, title_of
from hotband.questions.review.target import target as model_target
from hotband.questions.suites.device import ModelDevice

if TYPE_CHECKING:
    from hotband.execution.targets.real_options import RealOptions

MODEL_BYTES = 8 * 10**9
"""A modelled solid-state drive is made smaller until it holds no more: its mapping table and its preconditioning cost
seconds then, and shares and write amplification stay (docs/models/ssd.md, "Preconditioning and scale")."""
LEAST_BLOCKS = 1 << 16
"""Blocks of 4 KiB below which nothing of a device can be said: 256 MiB."""
ONE_VOLUME = (
    "expected a machine with one volume, or exposes=one for a drive with several logical units; the volumes are"
)
"""Error text of a suite for a machine with several volumes."""
OF_DRIVES = "and a suite sets loads and contents of drives: expected a value of the drives"
"""Error text of a suite for a value that it sets itself."""
Media = Literal["disk", "ssd", "not known"]


@dataclass(frozen=True)
class SuiteTarget:
    """A machine or a place. `text` is a model's machine; `set` what its runs are given; `bytes` the address space as
    runs have it, a `scale` smaller than that of the drive one can buy. Times of cells are divided by `scale`, too, so
    that the same share of the drive is written."""

    name: str
    title: str
    text: str | None
    set: tuple[tuple[str, str], ...]
    bytes: int
    block_bytes: int
    scale: int
    media: Media
    transport: str
    drives: tuple[str, ...] = ()

    @property
    def is_model(self) -> bool:
        """Return whether it is simulated in virtual time."""
        return is_model(self.name)

    @property
    def kind(self) -> str:
        """Kind of the target, as in a document: model, emulated or real."""
        return "model" if self.is_model else KIND_EMULATED if is_emulated(self.name) else KIND_REAL

    @property
    def machine(self) -> str:
        """Machine of a model or of an emulated target."""
        return self.name.removeprefix(EMULATED)

    @property
    def run_set(self) -> tuple[tuple[str, str], ...]:
        """Values for each run: an emulated machine is served with them once."""
        return self.set if self.is_model else ()

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, in which a file is made."""
        return is_real(self.name) and Path(self.path).is_dir()

    @property
    def path(self) -> str:
        """Path of a real target."""
        return self.name.removeprefix(REAL)

    @property
    def whole_bytes(self) -> int:
        """Capacity of the product."""
        return self.bytes * self.scale

    def with_settings(self, options: str) -> str:
        """Its name, the options for measuring it, and statements about the target itself."""
        own = "".join(f" --set {key}={value}" for key, value in self.set)
        return f"{self.name} with {options}{own}" + ("" if self.is_model else f", {self.bytes:,} B")

    def takes(self, block_bytes: int) -> bool:
        """Whether I/Os of a size go to it."""
        return block_bytes % self.block_bytes == 0


def target_of(machine: str, pairs: Sequence[tuple[str, str]] = (), size_bytes: int = 0) -> SuiteTarget:
    """A machine or a place made ready; `size_bytes` are those of a file that is made in a folder (0: as usual). Raises
    UserError for what cannot be measured."""
    if is_emulated(machine):
        target = _emulated(machine, pairs)
    else:
        target = _real(machine, pairs, size_bytes) if is_real(machine) else _model(machine, pairs)
    if target.bytes < LEAST_BLOCKS * 4096:
        accepted = f"holds {target.bytes:,} B; a suite needs {LEAST_BLOCKS * 4096:,} B"
        raise UserError("question.on", "", machine, accepted)
    return target


def _model(machine: str, pairs: Sequence[tuple[str, str]]) -> SuiteTarget:
    """A model at the smallest scale that is a power of two and from 64 on at which it is small enough, or else at the
    largest that its drives take."""
    with mistakes_without_load(machine, pairs, OF_DRIVES):
        found = _small_enough(machine, pairs, model_target(machine, pairs, several=ONE_VOLUME))
    said = dict(found.run_set)
    return SuiteTarget(
        name=found.name,
        title=found.title,
        text=found.text,
        set=found.run_set,
        bytes=found.capacity_bytes,
        block_bytes=found.block_bytes,
        scale=int(said.get("scale", "1")),
        media=_media(found.drives),
        transport=_transport(found.drives),
        drives=found.drives,
    )


def _emulated(machine: str, pairs: Sequence[tuple[str, str]]) -> SuiteTarget:
    """Return a machine that is served as it is: with all its capacity, unless a `scale` is set."""
    served = served_machine(machine)
    text = text_of(served, "machine")
    with mistakes_without_load(served, pairs, OF_DRIVES):
        offer = one_volume(served, Offer.of(served, text, pairs), pairs, None, ONE_VOLUME)
    return SuiteTarget(
        name=machine,
        title=title_of(served, offer.drives),
        text=text,
        set=tuple(pairs),
        bytes=offer.volumes[0][1],
        block_bytes=offer.block_bytes,
        scale=1,
        media=_media(offer.drives),
        transport=_transport(offer.drives),
        drives=offer.drives,
    )


def _media(drives: Sequence[str]) -> Media:
    kinds = {entries.drive(name)["kind"] for name in drives}
    return "disk" if kinds == {"disk"} else "ssd" if kinds == {"ssd"} else "not known"


def _small_enough(machine: str, pairs: Sequence[tuple[str, str]], found: Target) -> Target:
    """A model as it is, or at a larger scale."""
    whole, scale = found.capacity_bytes * found.scale, found.scale
    while scale > 1 and whole > MODEL_BYTES * scale:
        scale *= 2
        try:
            found = model_target(machine, (*pairs, ("scale", str(scale))))
        except UserError:
            # A block of flash has to hold something still.
            break
    return found


def _transport(drives: Sequence[str]) -> str:
    """Transport of identical catalog drives: "nvme", "sata", "sas"; empty if their titles name none."""
    said = " ".join(str(entries.drive(name)["title"]).lower() for name in dict.fromkeys(drives))
    return next((name for name in ("nvme", "sata", "sas") if name in said), "")


def _real(machine: str, pairs: Sequence[tuple[str, str]], size_bytes: int) -> SuiteTarget:
    """Inspect the target without opening it for writing."""
    if pairs:
        accepted = "values are of models; a real drive is measured as it is"
        raise UserError("question.settings", pairs[0][0], pairs[0][1], accepted)
    place = real_target_of(machine)
    if place.kind == "rbd":
        accepted = "an image's size is known to its cluster alone: map it (rbd map) and measure /dev/rbdN"
        raise UserError("question.on", "", machine, accepted)
    device = None if place.path is None or place.is_ours else device_of(place.path)
    media: Media = "not known"
    if device is not None and device.rotational is not None:
        media = "disk" if device.rotational else "ssd"
    model = None if device is None else device.model
    return SuiteTarget(
        name=machine,
        title=model or machine.removeprefix(REAL),
        text=None,
        set=(),
        bytes=size_for(place, size_bytes, 0) if place.is_ours else place.size_bytes,
        block_bytes=place.block_bytes,
        scale=1,
        media=media,
        transport=(device.transport if device is not None else None) or "",
    )


def executor_for(
    target: SuiteTarget, real: RealOptions, writes: bool, say: Callable[[str], None], in_use: bool = False
) -> Executor:
    """Return the executor of the runs: the model, or fio on the target. The solid-state drives of an emulated
    machine that is `in_use` are preconditioned. Raises UserError if the target must not be written."""
    if target.is_model:
        return ModelDevice()
    # A suite says itself what is ahead, and of a result of some seconds each nobody needs a prediction.
    how = replace(real.setup(), product=NONE, probe_s=0.0, size_bytes=target.bytes)
    if is_emulated(target.name):
        text, anyway = target.text, real.anyway
        serve = ServeSpec(target.machine, target.set, machine_text=text, in_use=in_use, anyway=anyway, for_fio=True)
        return OnServedMachine(serve, how, writes)
    found = executor_of(target.name, writes=writes, erase=real.erase, setup=how, say=say)
    assert found is not None, "a real place has an executor"
    expect_folder(found.target, real)
    found.expect_ready(writes)
    return found
