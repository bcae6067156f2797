"""One colour per machine throughout a page.

Charts assign colours by the order of their own lines. A page with several charts of the same machines then repaints
them: a name in a scale that is a machine of the page gets that machine's colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace

from hotband.base.text.values import Json
from hotband.views.draw.charts import PALETTE
from hotband.views.report.page import Block, Chart, Charts, Drawable, Section, spec_of

# Paul Tol, "Colour Schemes" (SRON/EPS/TN/09-002, 2021), muted: for machines beyond the palette of charts.
FURTHER = ("#332288", "#999933", "#882255", "#44aa99", "#aa4499", "#117733", "#88ccee", "#cc6677")
COLORS = (*PALETTE, *FURTHER)
CHANNELS = ("color", "stroke", "fill")


def machine_colors(names: Iterable[str]) -> dict[str, str]:
    """Return a colour for every machine, in order; beyond sixteen they repeat."""
    return {name: COLORS[n % len(COLORS)] for n, name in enumerate(dict.fromkeys(names))}


@dataclass(frozen=True)
class Painted:
    """A chart in the colours of a page's machines."""

    view: Drawable
    colors: Mapping[str, str]

    def to_dict(self) -> dict[str, Json]:
        """Return a copy of the spec with the machines' colours."""
        spec = spec_of(self.view)
        datasets = spec.pop("datasets", None)
        made = deepcopy(spec)
        _paint(made, self.colors)
        return made if datasets is None else {**made, "datasets": datasets}


def painted(section: Section, colors: Mapping[str, str]) -> Section:
    """Return a section whose charts are in the colours of the machines."""
    return replace(section, blocks=[_painted_block(block, colors) for block in section.blocks])


def _painted_block(block: Block, colors: Mapping[str, str]) -> Block:
    if not isinstance(block, Charts):
        return block
    charts: list[Chart] = [replace(chart, view=Painted(chart.view, colors)) for chart in block.charts]
    key = [replace(item, color=colors.get(item.text, item.color)) for item in block.key]
    return replace(block, charts=charts, key=key)


def _paint(view: Json, colors: Mapping[str, str]) -> None:
    """Set the scales of a view and of its layers."""
    if not isinstance(view, dict):
        return
    layers, encoding = view.get("layer"), view.get("encoding")
    for layer in layers if isinstance(layers, list) else []:
        _paint(layer, colors)
    if not isinstance(encoding, dict):
        return
    for name in CHANNELS:
        channel = encoding.get(name)
        scale = channel.get("scale") if isinstance(channel, dict) else None
        if isinstance(scale, dict):
            names, range_ = scale.get("domain"), scale.get("range")
            if isinstance(names, list) and isinstance(range_, list) and any(name in colors for name in names):
                scale["range"] = [colors.get(str(name), range_[n % len(range_)]) for n, name in enumerate(names)]
