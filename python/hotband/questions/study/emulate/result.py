"""An emulated study for Python: `hb.study(NAME).emulate(...)`."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hotband.base.heavy import pl

if TYPE_CHECKING:
    from hotband.data.documents.emulate import EmulationDoc


@dataclass(frozen=True)
class EmulationResult:
    """What real programs did on a study's emulated machines."""

    document: EmulationDoc

    @property
    def frame(self) -> pl.DataFrame:
        """A row a part: part, figure, unit, a and b (of the program), emulated, predicted and published (ratios of B
        over A, null where there is none), agrees_predicted and agrees_published (whether they go the way of the
        emulation), skipped (what to install; empty where it was run)."""
        rows = []
        for one in self.document["parts"]:
            ratios = {"emulated": one["emulated"], "predicted": one["predicted"], "published": one["published"]}
            rows.append(
                {
                    "part": one["id"],
                    "figure": one["figure"],
                    "unit": one["unit"],
                    "a": None if one["a"] is None else float(one["a"]["value"]),
                    "b": None if one["b"] is None else float(one["b"]["value"]),
                    **{name: None if found is None else found["ratio"] for name, found in ratios.items()},
                    "agrees_predicted": one["agrees"]["predicted"],
                    "agrees_published": one["agrees"]["published"],
                    "skipped": one["skipped"],
                }
            )
        texts = dict.fromkeys(("part", "figure", "unit"), pl.String)
        numbers = dict.fromkeys(("a", "b", "emulated", "predicted", "published"), pl.Float64)
        flags = dict.fromkeys(("agrees_predicted", "agrees_published"), pl.Boolean)
        return pl.DataFrame(rows, schema={**texts, **numbers, **flags, "skipped": pl.String})

    @property
    def warnings(self) -> list[str]:
        """What the machines warned of, such as answers that were late; each with its part and machine."""
        return [
            f"{part['id']}, {side['name']}: {note}"
            for part in self.document["parts"]
            for side in (part["a"], part["b"])
            if side is not None
            for note in side["notes"]
        ]

    def to_dict(self) -> EmulationDoc:
        """All of it as `hotband study emulate --json` prints it; a copy."""
        return copy.deepcopy(self.document)
