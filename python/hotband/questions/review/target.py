"""The target of a review: a machine, prepared to have one address space."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import hotband._core as _core
from hotband.base.engine import mistakes_of, mistakes_without_load
from hotband.base.errors import UserError
from hotband.base.folders import folder_name
from hotband.base.heavy import tomlkit
from hotband.data.catalog import CATALOG_DIR, entries
from hotband.data.catalog.named import EMULATED, is_emulated, is_model, is_real
from hotband.data.inputs.events import check_events
from hotband.data.inputs.texts import text_of

# A drive that wears is reviewed at this share of its size: its mapping table is written before every run, and a 64th
# has the same shares and write amplification (docs/models/ssd.md, "Preconditioning and scale").
SSD_SCALE = 64
# The share for arrays of more than this many drives, which hold more.
FEW_DRIVES, ARRAY_SCALE = 8, 256

# The user sets only the data and the state of the drives among the workload's keys; the review sets all others.
OF_WORKLOAD = ("data", "state")


@dataclass(frozen=True)
class Target:
    """A machine to review. `set` has the user's values, `run_set` those of runs (with a model size for SSDs), `scale`
    the factor from simulated sizes to those of the real drive; `events` happen to it in every run."""

    name: str
    title: str
    text: str
    set: tuple[tuple[str, str], ...]
    run_set: tuple[tuple[str, str], ...]
    capacity_bytes: int
    block_bytes: int
    drives: tuple[str, ...]
    wears: bool
    scale: int
    seed: int
    quick: bool
    events: tuple[str, ...] = ()
    is_hardware: bool = False

    def ios(self, count: int, least: int = 1) -> int:
        """Return the I/Os of a step: a quarter in a quick review."""
        return max(count // 4 if self.quick else count, least)

    def block(self, wanted: int) -> int:
        """Return a size of I/O that the drives accept."""
        return max(wanted, self.block_bytes)

    def blocks(self, sizes: Sequence[int]) -> list[int]:
        """Return the sizes that the drives accept."""
        return [size for size in sizes if size % self.block_bytes == 0]

    @property
    def costly(self) -> bool:
        """Whether a run takes long: before its first I/O, because drives are filled or objects of a pool are placed, or
        throughout, as on hardware."""
        if self.is_hardware:
            return True
        return self.wears or _core.machine(CATALOG_DIR, self.name, self.text)["is_replicated"]

    def scale_note(self) -> str | None:
        """Return a note on the model size; None for the full size."""
        if self.scale == 1:
            return None
        at = f"model size 1/{self.scale}, write buffers included (scale=1: full size)"
        return f"SSDs were reviewed at {at}; sizes and offsets are those of the full drive"

    def event_note(self) -> str | None:
        """Return a note on the events in every run; None without events."""
        return f"in every run: {', '.join(self.events)}" if self.events else None

    def state_note(self) -> str | None:
        """Return a note on the state of the drives; None for drives that do not wear."""
        if not self.wears:
            return None
        state = dict(self.set).get("state")
        if state is not None:
            return f"before every part the drives were set to the state {state!r}"
        filled = "before every run the blocks it accesses were written once, in order of address"
        return f"{filled}: the drives are not preconditioned (state=preconditioned does that)"


def short_name(machine: str) -> str:
    """Return the name of a machine in a review: its catalog name or short form, or the name of its file without
    folder."""
    return Path(machine).stem if text_of_name(machine) else machine


def text_of_name(machine: str) -> bool:
    """Return whether the name of a machine is that of a file."""
    return machine.endswith(".toml") or "/" in machine


def targets_of(
    machines: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    volume: str | None,
    seed: int,
    quick: bool,
    events: Sequence[str] = (),
    size_bytes: int = 0,
) -> list[Target]:
    """Return all machines of a review, checked; `size_bytes` is the size of a test file in a folder of real hardware.
    Raises UserError for the first mistake, such as a machine named twice."""
    from hotband.questions.review.hardware import hardware_target

    names = [short_name(machine) if is_model(machine) else machine for machine in machines]
    places = [folder_name(name) for name in names]
    for index, name in enumerate(names):
        if places[index] in places[:index]:
            raise UserError(
                "question.against", "", machines[index], f"{name} is reviewed twice: expected other machines"
            )
    check_events(events)
    accepted = "but a review issues its own I/Os: expected a value of the drives, or data or state"
    targets = []
    for machine in machines:
        with mistakes_without_load(machine, pairs, accepted, OF_WORKLOAD):
            if is_emulated(machine):
                served = one_of(machines, machine.removeprefix(EMULATED), pairs, volume, seed, quick)
                targets.append(replace(served, name=machine, events=tuple(events), is_hardware=True))
            elif is_real(machine):
                if events:
                    raise UserError("question.events", "", events[0], f"applies to models, but {machine} is hardware")
                targets.append(hardware_target(machine, pairs, seed, quick, size_bytes))
            else:
                reviewed = one_of(machines, machine, pairs, volume, seed, quick)
                targets.append(replace(reviewed, events=tuple(events)))
    return targets


def one_of(
    machines: Sequence[str],
    machine: str,
    pairs: Sequence[tuple[str, str]],
    volume: str | None,
    seed: int,
    quick: bool,
) -> Target:
    """Prepare one of several machines; an error about a value that is set for all names the machine."""
    try:
        return target(machine, pairs, volume, seed, quick)
    except UserError as error:
        if error.where != "question.settings" or len(machines) == 1:
            raise
        accepted = f"is set for every machine, but {machine} does not accept it: {error.accepted}"
        raise UserError(error.where, error.key, error.value, accepted) from None


BY_VOLUME = "expected question.volume with one of"
"""Hint for a machine with several volumes."""


def target(
    machine: str,
    pairs: Sequence[tuple[str, str]] = (),
    volume: str | None = None,
    seed: int = 1,
    quick: bool = False,
    several: str = BY_VOLUME,
) -> Target:
    """Prepare a machine. Raises UserError, with `several` and the names of the volumes if there are several and none is
    chosen."""
    offer = one_volume(machine, Offer.of(machine, text_of(machine, "machine"), pairs), pairs, volume, several)
    kinds = {name: entries.drive(name)["kind"] for name in dict.fromkeys(offer.drives)}
    scale = 1
    if set(kinds.values()) == {"ssd"} and not any(key == "scale" for key, _ in pairs):
        wanted = SSD_SCALE if len(offer.drives) <= FEW_DRIVES else ARRAY_SCALE
        scaled = offer.scaled(machine, pairs, wanted)
        scale, offer = (wanted, scaled) if scaled is not None else (1, offer)
    return Target(
        name=short_name(machine),
        title=title_of(machine, offer.drives),
        text=offer.text,
        set=tuple(pairs),
        run_set=with_scale(pairs, scale),
        capacity_bytes=offer.volumes[0][1],
        block_bytes=offer.block_bytes,
        drives=offer.drives,
        wears="ssd" in kinds.values(),
        scale=scale,
        seed=seed,
        quick=quick,
    )


def with_scale(pairs: Sequence[tuple[str, str]], scale: int) -> tuple[tuple[str, str], ...]:
    """Return the values with the model size of the drives, if they have one."""
    return (*pairs, ("scale", str(scale))) if scale > 1 else tuple(pairs)


@dataclass(frozen=True)
class Offer:
    """The text of a machine, its volumes with their sizes, the drives' block and the product of every drive."""

    text: str
    volumes: tuple[tuple[str, int], ...]
    block_bytes: int
    drives: tuple[str, ...]

    @classmethod
    def of(cls, machine: str, text: str | None, pairs: Sequence[tuple[str, str]]) -> Offer:
        """Get the offer from the engine. Raises UserError."""
        drive_set = [pair for pair in pairs if pair[0] not in OF_WORKLOAD]
        with mistakes_of(machine):
            offer = _core.machine_offer(CATALOG_DIR, machine, text, drive_set)
        return cls(offer["text"], tuple(offer["volumes"]), offer["block_bytes"], tuple(offer["drives"]))

    def scaled(self, machine: str, pairs: Sequence[tuple[str, str]], scale: int) -> Offer | None:
        """Return the offer with smaller drives; None if the machine's text has sizes that they do not hold."""
        try:
            return Offer.of(machine, self.text, with_scale(pairs, scale))
        except UserError:
            return None


def one_volume(
    machine: str, offer: Offer, pairs: Sequence[tuple[str, str]], volume: str | None, several: str = BY_VOLUME
) -> Offer:
    """Reduce the machine to `volume`; leave a machine with one volume unchanged. Raises UserError."""
    names = [name for name, _ in offer.volumes]
    if volume is None:
        if len(names) == 1:
            return offer
        raise UserError(machine, "volumes", "", f"has several volumes: {several} {', '.join(names)}")
    if volume not in names:
        raise UserError("question.volume", "", volume, f"expected a volume of {machine}: {', '.join(names)}")
    document = tomlkit.parse(offer.text)
    volumes: Any = document.get("volumes")
    # A logical unit, or the only possible part, is a volume without a definition.
    definition = {"on": volume} if volumes is None else volumes[volume].unwrap()
    document["volumes"] = {volume.replace(".", "-"): definition}
    return Offer.of(machine, tomlkit.dumps(document), pairs)


def title_of(machine: str, drives: Sequence[str]) -> str:
    """Return the title of a machine: "RAID 10 of 24 x Seagate ...", with counts of different drives."""
    counts = [(count, entries.drive(name)["title"]) for name, count in Counter(drives).items()]
    listed = " and ".join(title if count == 1 else f"{count} x {title}" for count, title in counts)
    kind, colon, _ = machine.partition(":")
    if not colon or text_of_name(machine):
        return listed
    words = re.sub(r"^raid(\d+)$", r"RAID \1", kind)
    return f"{words} of {listed}"
