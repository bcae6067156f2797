"""Charts as picture files: SVG for pages and print, PNG for everything else.

A picture is used on its own, so it has a title and its source. The SVG is drawn once, and the PNG is made from it, so
both show the same picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path

from hotband.base.foreign import all_visible
from hotband.base.heavy import alt, vl_convert
from hotband.base.text.values import Json
from hotband.base.text.write import make_folder, write_files
from hotband.base.views import View
from hotband.views.draw.charts import FONT, INK, MUTED
from hotband.views.report.page import Drawable, spec_of

WIDTH = 760
# Channels that may have a legend.
LEGENDS = ("color", "shape", "strokeDash")
# Twice the pixels: legible on paper and on dense screens.
SCALE = 2.0
# Most characters on a line of a title and of a subtitle.
_TITLE_CHARS, _SUBTITLE_CHARS = 76, 118


@dataclass(frozen=True)
class Drawing:
    """A chart whose spec is made once, for the page and for its pictures."""

    spec: dict[str, Json]

    def to_dict(self) -> dict[str, Json]:
        """Return a copy of the spec, from which the datasets may be removed."""
        return copy(self.spec)

    def bare(self) -> Drawing:
        """Return the chart without legends, for charts under a common key."""
        bare, layers = _without_legend(self.spec), self.spec.get("layer")
        if isinstance(layers, list) and layers:
            bare |= {"layer": [_without_legend(layer) if isinstance(layer, dict) else layer for layer in layers]}
        return Drawing(bare)

    def picture(self, title: str, subtitle: str) -> dict[str, Json]:
        """Return the spec of a picture of a fixed width, with its title; marks have no texts for screen readers,
        because a picture on another page has an alternative text instead."""
        fixed: dict[str, Json] = {"width": WIDTH, "padding": 18, "title": _heading(title, subtitle)}
        config = self.spec.get("config")
        return self.spec | fixed | {"config": (config if isinstance(config, dict) else {}) | {"aria": False}}


def _without_legend(view: dict[str, Json]) -> dict[str, Json]:
    """Return a copy of a view whose channels with a column have no legend."""
    encoding = view.get("encoding")
    if not isinstance(encoding, dict):
        return copy(view)
    bare: dict[str, Json] = {}
    for name in LEGENDS:
        channel = encoding.get(name)
        if isinstance(channel, dict) and "field" in channel:
            bare[name] = channel | {"legend": None}
    return view | {"encoding": encoding | bare}


def drawing(view: View) -> Drawing:
    """Return the chart's spec. It is not checked against Vega-Lite's schema, which takes longer than making it; the
    tests check it."""
    with alt.data_transformers.disable_max_rows():
        return Drawing(view.to_dict(validate=False))


def _heading(title: str, subtitle: str) -> dict[str, Json]:
    return {
        "text": _wrapped(title, _TITLE_CHARS),
        "subtitle": _wrapped(subtitle, _SUBTITLE_CHARS),
        "anchor": "start",
        "font": FONT,
        "subtitleFont": FONT,
        "color": INK,
        "subtitleColor": MUTED,
        "fontSize": 17,
        "subtitleFontSize": 12,
        "subtitlePadding": 6,
        "offset": 14,
    }


def _wrapped(text: str, width: int) -> list[Json]:
    import textwrap

    return [*textwrap.wrap(text, width)]


def write_picture(path: Path, view: Drawable, title: str, subtitle: str) -> None:
    """Write a chart in the format of the file's suffix, .svg or .png; create its folder. Raises UserError, OSError."""
    with alt.data_transformers.disable_max_rows():
        drawn = Drawing(spec_of(view))
    svg: str = vl_convert.vegalite_to_svg(all_visible(drawn.picture(title, subtitle)))
    is_png = path.suffix.lower() == ".png"
    make_folder(path.parent)
    write_files({path: vl_convert.svg_to_png(svg, scale=SCALE) if is_png else svg})


def write_pictures(folder: Path, name: str, drawn: Drawing, title: str, subtitle: str) -> Sequence[Path]:
    """Write NAME.svg and NAME.png into the folder, which is created if necessary. Raises UserError, OSError."""
    svg: str = vl_convert.vegalite_to_svg(all_visible(drawn.picture(title, subtitle)))
    png: bytes = vl_convert.svg_to_png(svg, scale=SCALE)
    paths = [folder / f"{name}.svg", folder / f"{name}.png"]
    make_folder(folder)
    write_files({paths[0]: svg, paths[1]: png})
    return paths
