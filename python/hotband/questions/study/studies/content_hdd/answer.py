"""The answer to the question of content-hdd: which disks, in which layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hotband.questions.study.answer import beside, both_times, said

if TYPE_CHECKING:
    from hotband.data.documents.study_answer import AnswerDoc
    from hotband.questions.study.answer import Figures

FOUR, FIVE = "ent-10k-raid10", "ecap-raid0"
MIRRORS = {"ent-15k-raid1": "15K", "ent-10k-raid1": "10K", "ent-cap-raid1": "7.2K"}
MIXES = {"8k-random-75r": "75 % reads", "8k-random-25r": "25 % reads"}
MIX, LARGE = "8k-random-75r", "128k-read"


def answer(of: Figures) -> AnswerDoc:
    """The answer, and IOPS of the random mixes below it."""
    return {
        "text": f"{_random(of)} {_large(of)}",
        "further": f"{_mirrors(of)} {_trust(of)}",
        "chart": {
            "title": "8 KB random I/O by 16 threads",
            "quantity": "IOPS",
            "caption": "IOPS of the five-drive array are not published, nor is its level: predicted is a plain stripe.",
            "points": [
                of.point(config, row, load, "iops") for load, row in MIXES.items() for config in (FOUR, *MIRRORS, FIVE)
            ],
            "rule": None,
        },
    }


def _iops(of: Figures, config: str, unit: str = "") -> str:
    return beside(of.published(config, MIX, "iops"), of.predicted(config, MIX, "iops"), unit)


def _random(of: Figures) -> str:
    """Random I/O: the layout that is published as the fastest, against mirrors."""
    best = max((FOUR, *MIRRORS), key=lambda config: of.published(config, MIX, "iops") or 0)
    second = max((one for one in (FOUR, *MIRRORS) if one != best), key=lambda one: of.published(one, MIX, "iops") or 0)
    words = {FOUR: "four 10K disks in RAID 10"} | {
        one: f"two {turns} disks in a mirror" for one, turns in MIRRORS.items()
    }
    return (
        f"{words[best][0].upper()}{words[best][1:]} did the most random I/O: {_iops(of, best, 'IOPS')} of 8 KB at "
        f"{MIXES[MIX]}, "
        f"{both_times(of.gain(best, second, MIX, 'iops'))} what {words[second]} did."
    )


def _large(of: Figures) -> str:
    """Large sequential I/O: whether disks count, or revolutions."""
    four = of.gain(FOUR, "ent-10k-raid1", LARGE, "iops")
    turns = of.gain("ent-15k-raid1", "ent-10k-raid1", LARGE, "iops")
    what = "disks count, not revolutions" if (four[0] or 0) > (turns[0] or 0) else "revolutions count, not disks"
    return (
        f"For 128 KB reads in order {what}: four 10K disks do {both_times(four)} what two do, two 15K disks "
        f"{both_times(turns)}."
    )


def _mirrors(of: Figures) -> str:
    """The mirrors."""
    return (
        f"IOPS of mirrors at {MIXES[MIX]}: {', '.join(f'{turns} {_iops(of, one)}' for one, turns in MIRRORS.items())}."
    )


def _trust(of: Figures) -> str:
    """Where the model may be believed."""
    cells = {key: one["error_pct"] for key, one in of.cells.items() if key[2] == "iops"}
    sizes = {key: abs(error) for key, error in cells.items() if error is not None}
    shared = [error for (_, load, _), error in sizes.items() if load.startswith("8k-seq")]
    others = [error for (_, load, _), error in sizes.items() if not load.startswith("8k-seq")]
    return (
        f"Predicted IOPS are within {said(max(others, default=None))} % of these; of 8 KB mixes at one shared "
        "sequential "
        f"position they are up to {said(max(shared, default=None))} % off, so nothing is concluded from those."
    )
