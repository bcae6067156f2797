"""The rows of horizontal bars. Their names are wrapped, never cut: left of the bars, or above them on a phone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from hotband.base.heavy import alt

# Most characters per line of a row's name left of the bars, and above them at a phone's width.
ROW_CHARS, NARROW_CHARS = 40, 50
COLOR = "#1f2933"
# Heights (px) of a line of a row's name, and of the space between rows.
ROW_LINE, ROW_GAP = 13, 13


@dataclass(frozen=True)
class Rows:
    """The names of the rows by key, wrapped; `thick` is the height (px) of all bars of a row."""

    labels: Mapping[str, str]
    thick: int

    def axis(self) -> alt.Axis:
        """Return the axis with the names left of the bars."""
        return alt.Axis(
            title=None, labelExpr=_wrapped(self.labels, ROW_CHARS), labelLimit=0, labelPadding=8, labelColor=COLOR,
            ticks=False, domain=False,
        )  # fmt: skip

    @property
    def height(self) -> int:
        """Return the height of the chart."""
        lines = _most_lines(self.labels, ROW_CHARS)
        return len(self.labels) * max(self.thick + ROW_GAP, lines * ROW_LINE + 4)

    def narrow(self) -> dict[str, object]:
        """Return the changes by `draw.js` at a phone's width: the names are above their bars."""
        name = _most_lines(self.labels, NARROW_CHARS) * ROW_LINE + 5
        step = self.thick + ROW_GAP + name
        return {
            "height": step * len(self.labels) - ROW_GAP,
            "scale": {"paddingInner": (ROW_GAP + name) / step, "paddingOuter": name / (2 * step), "align": 1},
            "axis": {"labelOffset": -(self.thick + name) / 2, "labelExpr": _wrapped(self.labels, NARROW_CHARS)},
        }


def _wrapped(labels: Mapping[str, str], chars: int) -> str:
    return f"({json.dumps({key: in_lines(text, chars) for key, text in labels.items()})})[datum.value]"


def _most_lines(labels: Mapping[str, str], chars: int) -> int:
    return max((len(in_lines(text, chars)) for text in labels.values()), default=1)


def in_lines(text: str, chars: int = ROW_CHARS) -> list[str]:
    """Wrap a row's name into the lines that it needs."""
    import textwrap

    return textwrap.wrap(text, chars) or [""]
