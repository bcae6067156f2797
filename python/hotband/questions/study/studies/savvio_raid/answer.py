"""The answer to the question of savvio-raid: two small disks against one of 15,000 rpm."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Literal

from hotband.questions.study.answer import Value, change, more, named, of_percent

if TYPE_CHECKING:
    from hotband.data.documents.study import FigureDoc
    from hotband.data.documents.study_answer import AnswerDoc, AnswerPointDoc
    from hotband.questions.study.answer import Figures

STRIPE, MIRROR, ONE = "savvio-raid0", "savvio-raid1", "cheetah15-single"
SERVER = {"file-server": "File server", "web-server": "Web server", "database": "Database"}
DESK = {
    "desktop-business": "Business suite",
    "desktop-high-end": "High-end suite",
    "desktop-image-editor": "Image editor",
    "desktop-boot": "Boot",
    "desktop-copy": "Copying files",
}


def answer(of: Figures) -> AnswerDoc:
    """The answer, and both arrays over one 15K disk below it."""
    return {
        "text": f"{_server(of)} {_desk(of)}",
        "further": _further(of),
        "chart": {
            "title": "Two Savvio 10K.1 against one Cheetah 15K.4",
            "quantity": "Times one Cheetah 15K.4 (servers: highest IOPS; desk: bandwidth)",
            "caption": "All predicted: published is only that on servers both arrays are ahead.",
            "points": _points(of),
            "rule": {"at": 1.0, "text": "one Cheetah 15K.4"},
        },
    }


def over_one(of: Figures, config: str, load: str) -> Value:
    """How many times as much as one 15K disk an array is predicted to do."""
    return of.gain(config, ONE, load, "iops" if load in SERVER else "bandwidth")[1]


def _points(of: Figures) -> list[AnswerPointDoc]:
    """A row a load, a point an array."""
    return [
        {"machine": of.names[one], "row": row, "qd": None, "published": None, "predicted": over_one(of, one, load)}
        for load, row in (SERVER | DESK).items()
        for one in (STRIPE, MIRROR)
    ]


def _server(of: Figures) -> str:
    """Server patterns: averages over queue depths, as published."""
    gains = [of_percent(of.compared[f"savvio-raid/{one}-over-15k"]["predicted"]) for one in (STRIPE, MIRROR)]
    verdict = "yes, as published" if min(gain or 0 for gain in gains) > 1 else "not always, other than published"
    return (
        f"In servers {verdict}: over three patterns and all queue depths two Savvio 10K.1 are predicted to do "
        f"{more(gains[0])} than one Cheetah 15K.4 as a stripe and {more(gains[1])} as a mirror."
    )


def _desk(of: Figures) -> str:
    """Loads of a desk."""
    stripe, mirror = (_mean([over_one(of, one, load) for load in DESK]) for one in (STRIPE, MIRROR))
    verdict = "no" if max(stripe or 0, mirror or 0) < 1 else "sometimes"
    return f"On a desk {verdict}: {more(stripe)} and {more(mirror)} over five synthetic loads (predicted)."


def _further(of: Figures) -> str:
    """Which of the two where, and what they gain over one small disk."""
    wins = [
        row for load, row in SERVER.items() if (over_one(of, MIRROR, load) or 0) > (over_one(of, STRIPE, load) or 0)
    ]
    loses = [row for row in SERVER.values() if row not in wins]
    parts = [f"the {array} is the better of the two under {named(rows).lower()}" for array, rows in _sides(wins, loses)]
    where = "; ".join(parts)
    gains = [of.compared[f"ixbt_savvio_raid-026/{one}"] for one in (STRIPE, MIRROR)]
    desk = of.compared["ixbt_savvio_raid-035/desktop/savvio-raid0"]
    return (
        f"{where[:1].upper()}{where[1:]}. Over one Savvio they gain {_gain(gains[0])} and {_gain(gains[1])} in servers "
        f"(published for both: about {_gain(gains[0], 'published')}), and a stripe {_gain(desk)} on a desk (published: "
        f"about {_gain(desk, 'published')})."
    )


def _sides(wins: list[str], loses: list[str]) -> list[tuple[str, list[str]]]:
    return [(array, rows) for array, rows in (("mirror", wins), ("stripe", loses)) if rows]


def _gain(one: FigureDoc, of: Literal["published", "predicted"] = "predicted") -> str:
    return change(of_percent(one[of]))


def _mean(values: list[Value]) -> Value:
    """Geometric mean; None where one is none."""
    known = [value for value in values if value is not None]
    return prod(known) ** (1 / len(known)) if len(known) == len(values) else None
