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
    """The results of real programs on a study's emulated machines."""

    document: EmulationDoc

    @property
    def frame(self) -> pl.DataFrame:
        """One row per part: part, figure, unit, a and b (of the program), emulated, predicted and published (ratios of
        B over A, null if there is none), agrees_predicted and agrees_published (whether they have the direction of the
        emulation), skipped (what to install; empty if it was run)."""
        rows = []
        for part in self.document["parts"]:
            ratios = {"emulated": part["emulated"], "predicted": part["predicted"], "published": part["published"]}
            rows.append(
                {
                    "part": part["id"],
                    "figure": part["figure"],
                    "unit": part["unit"],
                    "a": None if part["a"] is None else float(part["a"]["value"]),
                    "b": None if part["b"] is None else float(part["b"]["value"]),
                    **{name: None if ratio is None else ratio["ratio"] for name, ratio in ratios.items()},
                    "agrees_predicted": part["agrees"]["predicted"],
                    "agrees_published": part["agrees"]["published"],
                    "skipped": part["skipped"],
                }
            )
        texts = dict.fromkeys(("part", "figure", "unit"), pl.String)
        numbers = dict.fromkeys(("a", "b", "emulated", "predicted", "published"), pl.Float64)
        flags = dict.fromkeys(("agrees_predicted", "agrees_published"), pl.Boolean)
        return pl.DataFrame(rows, schema={**texts, **numbers, **flags, "skipped": pl.String})

    @property
    def warnings(self) -> list[str]:
        """Warnings of the machines, such as late completions, each with its part and machine."""
        return [
            f"{part['id']}, {side['name']}: {note}"
            for part in self.document["parts"]
            for side in (part["a"], part["b"])
            if side is not None
            for note in side["notes"]
        ]

    def to_dict(self) -> EmulationDoc:
        """Return a copy of what `hotband study emulate --json` prints."""
        return copy.deepcopy(self.document)
