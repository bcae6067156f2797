"""The uncertain values of every repetition, drawn before the first of them: by name, so that more repetitions, or
another group, shift no one's."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hotband.base.arrays import Floats
from hotband.base.text.quantities import size_bytes, watts
from hotband.data.catalog import entries
from hotband.questions.fleet.lives import Lives
from hotband.questions.fleet.plan import Drawn
from hotband.questions.fleet.service import Seen, Service
from hotband.questions.fleet.spec import Group
from hotband.questions.fleet.values import Value, uniform

HOURS_A_DAY = 24.0


@dataclass(frozen=True)
class GroupDraws:
    """Of one group [repetitions]: times in hours, `written` bytes of a drive in an hour and the `endurance` that it has
    in bytes (None where drives do not wear, or nobody says how fast), `watts` of a drive (None where nobody says) and
    of a machine beside its drives."""

    lives: list[Lives]
    rebuild: Floats
    delay: Floats
    delivery: Floats
    written: Floats | None
    endurance: Floats | None
    watts: Floats | None
    machine_watts: Floats

    def at(self, group: Group, repetition: int) -> Drawn:
        """What one repetition takes."""
        wear = math.inf
        if self.written is not None and self.endurance is not None and group.wear.limit is not None:
            written = float(self.written[repetition])
            wear = group.wear.limit * float(self.endurance[repetition]) / written if written > 0 else math.inf
        return Drawn(
            self.lives[repetition],
            float(self.rebuild[repetition]),
            float(self.delay[repetition]),
            float(self.delivery[repetition]),
            group.error,
            wear,
        )


def draws_of(group: Group, service: Service | None, seed: int, count: int) -> GroupDraws:
    """The values of the first `count` repetitions of a group."""
    law = group.law.draws(seed, count, f"{group.name}.lifetimes")
    chosen = seen_by(group, service, seed, count)
    if group.rebuild is not None:
        rebuild = group.rebuild.draws(seed, count)
    else:
        assert chosen is not None, "a group without a time of rebuilds has a workload"
        rebuild = np.array([seen.rebuild for seen in chosen])
    written = None if group.wear.writes is None else group.wear.writes.draws(seed, count) / HOURS_A_DAY
    if written is None:
        written = column([seen.written for seen in chosen or ()])
    bears = group.wear.endurance
    endurance = None if bears is None else bears.draws(seed, count)
    if endurance is None:
        endurance = column([seen.endurance for seen in chosen or ()])
    if endurance is None and (listed := of_catalog(group, "reference.endurance", size_bytes)) is not None:
        endurance = listed.draws(seed, count)
    return GroupDraws(
        law,
        rebuild,
        group.delay.draws(seed, count),
        group.delivery.draws(seed, count),
        written,
        endurance,
        watts_of(group, chosen, seed, count),
        group.machine_power.draws(seed, count),
    )


def seen_by(group: Group, service: Service | None, seed: int, count: int) -> list[Seen] | None:
    """The runs that each repetition takes its service from: one of all draws."""
    if service is None:
        return None
    every = service.all
    places = (uniform(seed, f"{group.name}.service", count) * len(every)).astype(int)
    return [every[index] for index in places]


def column(seen: list[float | None]) -> Floats | None:
    """What runs said, a number a repetition; None where one of them did not say it."""
    known = [number for number in seen if number is not None]
    return np.array(known) if known and len(known) == len(seen) else None


def of_catalog(group: Group, key: str, parse: Callable[[str], float | None]) -> Value | None:
    """A value of the first product's, with its range; None where the catalog has none."""
    product = group.products[0]
    for value in entries.drive(product)["values"]:
        ends = [parse(str(end)) for end in (value["range"] or (value["value"], value["value"]))]
        if value["key"] == key and ends[0] is not None and ends[-1] is not None:
            return Value(ends[0], ends[-1], f"{product}.{key}", f"{product}: {value['source']}")
    return None


def watts_of(group: Group, chosen: list[Seen] | None, seed: int, count: int) -> Floats | None:
    """Watts of a drive: as given, as a run had them (between the ends of its ranges), or at rest by the catalog."""
    if group.drive_power is not None:
        return group.drive_power.draws(seed, count)
    seen = [run.watts for run in chosen or () if run.watts is not None]
    if seen and len(seen) == count:
        share = uniform(seed, f"{group.products[0]}.power", count)
        low, high = (np.array([powers[end] for powers in seen]) for end in (1, 2))
        return np.asarray(low + (high - low) * share)
    idle = of_catalog(group, "power_idle", watts)
    return None if idle is None else idle.draws(seed, count)
