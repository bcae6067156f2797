"""Rows of a chart whose texts are wrapped, never cut, and as high as their texts need.

On a phone `draw.js` puts the same texts above their rows.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping

from hotband.base.heavy import alt
from hotband.views.draw.charts import INK

# Most characters of a line left of the rows: some 300 px, less than a third of a page.
ROW_CHARS = 46
# Height of a row whose text has one line, and of each further line (px).
ROW_PX, LINE_PX = 24, 13
HEAD = "head:"


def wrapped(text: str) -> str | list[str]:
    """Return a text, or its lines if it needs several."""
    lines = textwrap.wrap(text, ROW_CHARS, break_on_hyphens=False)
    return lines if len(lines) > 1 else text


def row_height(texts: Iterable[str]) -> int:
    """Return the height (px) of every row of a chart: enough for the longest of its texts."""
    lines = max((len(textwrap.wrap(text, ROW_CHARS, break_on_hyphens=False)) for text in texts), default=1)
    return ROW_PX + LINE_PX * max(0, lines - 1)


def row_axis(names: Mapping[str, str]) -> alt.Axis:
    """Return an axis of texts by key, headings (keys that begin with `HEAD`) in bold. The texts are looked up by key,
    so that equal texts remain separate rows."""
    is_head = f"indexof(datum.value, {json.dumps(HEAD)}) == 0"
    weight = {"condition": {"test": is_head, "value": 600}, "value": 400}
    texts = {key: wrapped(text) for key, text in names.items()}
    tall = [key for key, text in texts.items() if isinstance(text, list)]
    # A text of several lines begins at the middle of its row, so it is moved up by half a line per further line.
    axis = alt.Axis(
        title=None, labelExpr=f"({json.dumps(texts)})[datum.value]", labelLimit=0, labelPadding=8,
        labelColor=INK, labelFontWeight=weight, grid=True, ticks=False, domain=False,
    )  # fmt: skip
    if tall:
        up = {"test": f"indexof({json.dumps(tall)}, datum.value) >= 0", "value": -LINE_PX / 2}
        axis.labelOffset = {"condition": up, "value": 0}
    return axis
