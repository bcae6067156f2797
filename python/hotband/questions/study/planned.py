"""Plan the assumptions of a study that are run at both ends of their range, and their loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import hotband._core as _core
from hotband.data.catalog import CATALOG_DIR
from hotband.data.catalog.entries import product
from hotband.questions.study.definition import Study, Swing
from hotband.questions.study.runs import Pair, in_catalog, machine_of, with_sequences


@dataclass(frozen=True)
class Planned:
    """An assumption and the pairs that are run at its ends."""

    swing: Swing
    pairs: tuple[Pair, ...]


def plan(study: Study) -> list[Planned]:
    """Return the study's swings, then every value with a range of every drive that the loads of `swing_loads` use."""
    pairs = [(config, load) for config, load in study.pairs() if not (config.what_if or load.what_if)]
    planned = []
    for swing in study.swings:
        loads = swing.loads or study.swing_loads
        fits = [
            (config, load)
            for config, load in (study.pairs() if swing.configs else pairs)
            if (not loads or load.id in loads) and (not swing.configs or config.id in swing.configs)
        ]
        planned.append(Planned(swing, tuple(with_sequences(study, fits))))
    return planned + _drive_swings(study, [pair for pair in pairs if pair[1].id in study.swing_loads])


def _drive_swings(study: Study, pairs: Sequence[Pair]) -> list[Planned]:
    """Plan the drives' values, without those that a configuration or a load sets: they are the study's choice."""
    users: dict[str, list[Pair]] = {}
    for pair in pairs:
        for name in drives_of(study, pair):
            users.setdefault(name, []).append(pair)
    swung = {(swing.of, swing.key) for swing in study.swings}
    planned = []
    for name, used in users.items():
        for value in product(name)["values"]:
            key = value["key"]
            # Power changes no figure that studies compare.
            if not value["range"] or key.startswith(("reference.", "power_")) or ("set", key) in swung:
                continue
            fits = tuple(pair for pair in used if key not in dict((*pair[0].set, *pair[1].set)))
            if fits:
                low, high = value["range"]
                swing = Swing(f"{name}: {key}", key, low, high, value["value"])
                planned.append(Planned(swing, tuple(with_sequences(study, fits))))
    return planned


def drives_of(study: Study, pair: Pair) -> list[str]:
    """Return the catalog drives and daemons of a pair's machine, from its text or its short form."""
    machine = _core.machine(CATALOG_DIR, *machine_of(study, *pair))
    names = [drive["product"] for drive in machine["drives"]]
    names += [layout["osd"] for layout in machine["layouts"] if layout["osd"] is not None]
    return [name for name in dict.fromkeys(names) if in_catalog(name)]
