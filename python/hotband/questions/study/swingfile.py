"""What swinging each assumption between the ends of its range does to the predictions: `swings.json`.

The file keeps, for every assumption, the figures at both ends and those of the nominal run beside them, so that a
second call goes on where the first one stopped and a reader sees when the model has changed since.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.text.regular import file_text
from hotband.data.record.stats import _same, same_figures
from hotband.questions.study.definition import SWINGS_FILE, Study
from hotband.questions.study.planned import plan

if TYPE_CHECKING:
    from hotband.data.documents.study import FigureDoc, MovedDoc, RefusedSwingDoc, StudySwingsDoc, SwingsDoc

MATTERS_PCT = 10.0
"""An assumption that moves a prediction by more than this is listed with the study's result."""
ENDS = ("low", "high")

Figures = dict[str, float | None]


@dataclass
class Entry:
    """One assumption at both ends of its range: figures by id. `refused` says why an end could not be run."""

    name: str
    low: str
    high: str
    nominal: Figures
    ends: dict[str, Figures] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def is_of(self, name: str, low: str, high: str, nominal: Mapping[str, float | None]) -> bool:
        """Whether this entry is of that assumption with that range, made by a model that predicts `nominal`."""
        return (self.name, self.low, self.high) == (name, low, high) and same_figures(self.nominal, nominal)

    def moves(self) -> list[tuple[str, str, float]]:
        """End, figure and by how many percent it moves from the nominal prediction, the largest first."""
        found = []
        for end, figures in self.ends.items():
            for name, value in figures.items():
                nominal = self.nominal.get(name)
                if value is not None and nominal:
                    found.append((end, name, (value - nominal) / abs(nominal) * 100))
        return sorted(found, key=lambda move: -abs(move[2]))


@dataclass
class SwingFile:
    """All entries of a study, the labels of their figures, and the command that made them."""

    study: str
    seed: str
    command: str
    labels: dict[str, str] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)

    def put(self, entry: Entry) -> None:
        """Takes an entry in the place of the one of the same name."""
        self.entries = [one for one in self.entries if one.name != entry.name] + [entry]

    def text(self) -> str:
        """The file, entries by name: the order of the runs leaves no trace."""
        ordered = SwingFile(self.study, self.seed, self.command, dict(sorted(self.labels.items())))
        ordered.entries = sorted(self.entries, key=lambda one: one.name)
        return json.dumps(asdict(ordered), indent=1, ensure_ascii=False) + "\n"


def read_swings(path: Path) -> SwingFile | None:
    """Reads a file of swings, None where there is none. Raises UserError for what is no such file."""
    if not path.is_file():
        return None
    try:
        table = json.loads(file_text(path))
        entries = [Entry(**one) for one in table.pop("entries")]
        return SwingFile(**table, entries=entries)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(str(path), "", "", f"no file of swings, remove it or run again: {error}") from None


def summary(swings: SwingFile) -> SwingsDoc:
    """What matters of the swings: every assumption that moves a prediction by more than `MATTERS_PCT`."""
    moved = []
    for entry in swings.entries:
        moves = entry.moves()
        if moves and _spread(moves)[1] > MATTERS_PCT:
            moved.append(_moved_row(swings, entry, moves))
    moved.sort(key=lambda row: -row["spread_pct"])
    refused: list[RefusedSwingDoc] = [
        {"name": entry.name, "end": end, "text": text}
        for entry in swings.entries
        for end, text in entry.refused.items()
    ]
    still = len(swings.entries) - len(moved)
    text = (
        f"{_assumptions(len(swings.entries))} run at both ends of their ranges, one at a time; {still} of them move "
        f"no prediction by more than {MATTERS_PCT:g} %. Made by: {swings.command}"
    )
    return {"command": swings.command, "text": text, "moved": moved, "refused": refused}


def _assumptions(count: int) -> str:
    return "1 assumption was" if count == 1 else f"{count} assumptions were"


def _spreads(moves: Sequence[tuple[str, str, float]]) -> dict[str, float]:
    """How far each figure moves across the range, the nominal value within it: from the lowest to the highest."""
    by_figure: dict[str, list[float]] = {}
    for _, name, pct in moves:
        by_figure.setdefault(name, [0.0]).append(pct)
    return {name: max(values) - min(values) for name, values in by_figure.items()}


def _spread(moves: Sequence[tuple[str, str, float]]) -> tuple[str, float]:
    """The figure that moves most across the range, and how far."""
    return max(_spreads(moves).items(), key=lambda item: item[1])


def _moved_row(swings: SwingFile, entry: Entry, moves: Sequence[tuple[str, str, float]]) -> MovedDoc:
    figure, spread = _spread(moves)
    end, _, largest = next(move for move in moves if move[1] == figure)
    at_figure = {one: pct for one, name, pct in moves if name == figure}
    beyond = {name for name, width in _spreads(moves).items() if width > MATTERS_PCT}
    return {
        "name": entry.name,
        "low": entry.low,
        "high": entry.high,
        "largest_pct": largest,
        "largest_end": end,
        "spread_pct": spread,
        "figure": figure,
        "label": swings.labels.get(figure, figure),
        "low_pct": at_figure.get("low"),
        "high_pct": at_figure.get("high"),
        "figures_moved": len(beyond),
        "figures": {
            name: {one: pct for one, other, pct in moves if other == name} for name in entry.nominal if name in beyond
        },
    }


def _planned(study: Study) -> set[tuple[str, str, str]]:
    """Name and ends of every assumption that has to be swung."""
    return {(one.swing.name, str(one.swing.low), str(one.swing.high)) for one in plan(study)}


def swings_of(study: Study, figures: Iterable[FigureDoc], seed: int) -> StudySwingsDoc | None:
    """The summary of the swings that a study ships; `stale` where its predictions have changed since."""
    kept = read_swings(study.folder / SWINGS_FILE)
    if kept is None:
        return None
    now = {row["id"]: row["predicted"] for row in figures}
    stale = kept.seed == str(seed) and any(
        name in now and not _same(value, now[name]) for entry in kept.entries for name, value in entry.nominal.items()
    )
    missing = sorted(_planned(study) - {(entry.name, entry.low, entry.high) for entry in kept.entries})
    found: StudySwingsDoc = {**summary(kept), "stale": stale, "missing": [name for name, _, _ in missing]}
    if missing:
        found["text"] += f". {_assumptions(len(missing))} not run yet: {', '.join(found['missing'])}"
    if stale:
        found["text"] = f"{found['text'].removesuffix('.')}. The predictions have changed since: run it again"
    return found
