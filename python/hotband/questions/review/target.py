"""What is reviewed: a machine, made ready so that it has one address space."""

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
from hotband.data.catalog.named import is_real
from hotband.data.inputs.events import check_events
from hotband.data.inputs.texts import text_of

# A drive that wears is reviewed at this share of its size: its mapping table is written before every run, and a 64th
# has the same shares and write amplification (docs/models/ssd.md, "Preconditioning and scale").
SSD_SCALE = 64
# Of arrays of more than so many drives, which hold more, 1/256.
FEW_DRIVES, ARRAY_SCALE = 8, 256

# Of the workload's keys only the data and the state of the drives are the user's; a review decides the others itself.
OF_WORKLOAD = ("data", "state")


@dataclass(frozen=True)
class Target:
    """A machine to review. `set` holds the user's values, `run_set` what runs are given (with a scale where drives
    wear), `scale` what sizes are multiplied with to be those of the drive one can buy; `events` happen to it in every
    run."""

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
        """I/Os of a step: a quarter in a quick review."""
        return max(count // 4 if self.quick else count, least)

    def block(self, wanted: int) -> int:
        """A size of I/O that the drives take."""
        return max(wanted, self.block_bytes)

    def blocks(self, sizes: Sequence[int]) -> list[int]:
        """Those of these sizes that the drives take."""
        return [size for size in sizes if size % self.block_bytes == 0]

    @property
    def costly(self) -> bool:
        """Whether a run costs much before its first I/O: drives are filled, or objects of a pool placed; or costs time,
        as on hardware."""
        if self.is_hardware:
            return True
        return self.wears or _core.machine(CATALOG_DIR, self.name, self.text)["is_replicated"]

    def scale_note(self) -> str | None:
        """What is to be said of a drive that was made smaller."""
        if self.scale == 1:
            return None
        at = f"1/{self.scale} of the size, write buffers too (scale=1 is all of it)"
        return f"drives that wear were reviewed at {at}; sizes and offsets shown are those of the whole"

    def event_note(self) -> str | None:
        """What is to be said of what happens in every run."""
        return f"in every run: {', '.join(self.events)}" if self.events else None

    def state_note(self) -> str | None:
        """What is to be said of what the drives held."""
        if not self.wears:
            return None
        state = dict(self.set).get("state")
        if state is not None:
            return f"before every part the drives were put into the state {state!r}"
        filled = "before every run what it touches was written once, in order of address"
        return f"{filled}: the drives are not worn in (state=preconditioned wears them in)"


def short_name(machine: str) -> str:
    """What a machine is called in a review: its catalog name or short form, or the name of its file without folder."""
    return Path(machine).stem if text_of_name(machine) else machine


def text_of_name(machine: str) -> bool:
    """Whether a machine is named by a file."""
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
    """All machines of a review, checked; `size_bytes` is that of a file that is made in a folder of real hardware.
    Raises UserError for the first mistake, one of them named twice too."""
    from hotband.questions.review.hardware import hardware_target

    names = [machine if is_real(machine) else short_name(machine) for machine in machines]
    places = [folder_name(name) for name in names]
    for index, name in enumerate(names):
        if places[index] in places[:index]:
            raise UserError(
                "question.against", "", machines[index], f"{name} is reviewed already: expected other machines"
            )
    check_events(events)
    accepted = "and a review asks for I/Os of its own: expected a value of the drives, or data or state"
    targets = []
    for machine in machines:
        with mistakes_without_load(machine, pairs, accepted, OF_WORKLOAD):
            if is_real(machine):
                if events:
                    raise UserError(
                        "question.events", "", events[0], f"happens to models alone, and {machine} is hardware"
                    )
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
    """One of several machines; the error names it where it does not know a value that is set for all of them."""
    try:
        return target(machine, pairs, volume, seed, quick)
    except UserError as error:
        if error.where != "question.settings" or len(machines) == 1:
            raise
        accepted = f"is set for every machine, and {machine} does not take it: {error.accepted}"
        raise UserError(error.where, error.key, error.value, accepted) from None


BY_VOLUME = "expected question.volume with one of"
"""What one does where a machine has several volumes."""


def target(
    machine: str,
    pairs: Sequence[tuple[str, str]] = (),
    volume: str | None = None,
    seed: int = 1,
    quick: bool = False,
    several: str = BY_VOLUME,
) -> Target:
    """A machine made ready; of one with several volumes and none chosen an error says `several`, and their names.
    Raises UserError."""
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
    """Values with the scale of the drives, where they have one."""
    return (*pairs, ("scale", str(scale))) if scale > 1 else tuple(pairs)


@dataclass(frozen=True)
class Offer:
    """What a machine offers: its text, its volumes with their sizes, the drives' block and the product of every
    drive."""

    text: str
    volumes: tuple[tuple[str, int], ...]
    block_bytes: int
    drives: tuple[str, ...]

    @classmethod
    def of(cls, machine: str, text: str | None, pairs: Sequence[tuple[str, str]]) -> Offer:
        """Asks the engine. Raises UserError."""
        drive_set = [pair for pair in pairs if pair[0] not in OF_WORKLOAD]
        with mistakes_of(machine):
            offer = _core.machine_offer(CATALOG_DIR, machine, text, drive_set)
        return cls(offer["text"], tuple(offer["volumes"]), offer["block_bytes"], tuple(offer["drives"]))

    def scaled(self, machine: str, pairs: Sequence[tuple[str, str]], scale: int) -> Offer | None:
        """The same of smaller drives; none where the machine's text has sizes that they do not hold."""
        try:
            return Offer.of(machine, self.text, with_scale(pairs, scale))
        except UserError:
            return None


def one_volume(
    machine: str, offer: Offer, pairs: Sequence[tuple[str, str]], volume: str | None, several: str = BY_VOLUME
) -> Offer:
    """The machine with `volume` as its only one; as it is where it has one. Raises UserError."""
    names = [name for name, _ in offer.volumes]
    if volume is None:
        if len(names) == 1:
            return offer
        raise UserError(machine, "volumes", "", f"has several volumes: {several} {', '.join(names)}")
    if volume not in names:
        raise UserError("question.volume", "", volume, f"expected a volume of {machine}: {', '.join(names)}")
    document = tomlkit.parse(offer.text)
    volumes: Any = document.get("volumes")
    # A logical unit, or the one thing that can be meant, is a volume without being defined as one.
    definition = {"on": volume} if volumes is None else volumes[volume].unwrap()
    document["volumes"] = {volume.replace(".", "-"): definition}
    return Offer.of(machine, tomlkit.dumps(document), pairs)


def title_of(machine: str, drives: Sequence[str]) -> str:
    """What a machine is in words: "RAID 10 of 24 x Seagate ..."; drives are counted where they differ."""
    counts = [(count, entries.drive(name)["title"]) for name, count in Counter(drives).items()]
    listed = " and ".join(title if count == 1 else f"{count} x {title}" for count, title in counts)
    kind, colon, _ = machine.partition(":")
    if not colon or text_of_name(machine):
        return listed
    words = re.sub(r"^raid(\d+)$", r"RAID \1", kind)
    return f"{words} of {listed}"
