"""A chart as a self-contained image."""

from __future__ import annotations

import base64

from hotband.base.heavy import alt, vl_convert
from hotband.base.views import View


def picture(view: View) -> str:
    """Return a chart as a self-contained image."""
    with alt.data_transformers.disable_max_rows():
        spec = view.to_dict(validate=False)
    # The image has one text for screen readers instead of one per point.
    svg: str = vl_convert.vegalite_to_svg(spec | {"config": spec.get("config", {}) | {"aria": False}})
    return f'<img alt="chart" src="data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}">'
