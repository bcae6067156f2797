"""Sensitivity of the predictions to each assumption at the ends of its range: `swings.json`.

The file stores for every assumption the figures at both ends and of the nominal run, so that a second call continues
where the first one stopped and a reader notices a changed model.
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
"""An assumption that changes a prediction by more than this is listed with the study's result."""
ENDS = ("low", "high")

Figures = dict[str, float | None]


@dataclass
class Entry:
    """One assumption at both ends of its range: figures by id. `refused` has the reason if an end could not be run."""

    name: str
    low: str
    high: str
    nominal: Figures
    ends: dict[str, Figures] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def is_of(self, name: str, low: str, high: str, nominal: Mapping[str, float | None]) -> bool:
        """Return whether the entry has this name and range, made by a model that predicts `nominal`."""
        return (self.name, self.low, self.high) == (name, low, high) and same_figures(self.nominal, nominal)

    def moves(self) -> list[tuple[str, str, float]]:
        """Return end, figure and its change from the nominal prediction in percent, the largest first."""
        moved = []
        for end, figures in self.ends.items():
            for name, value in figures.items():
                nominal = self.nominal.get(name)
                if value is not None and nominal:
                    moved.append((end, name, (value - nominal) / abs(nominal) * 100))
        return sorted(moved, key=lambda move: -abs(move[2]))


@dataclass
class SwingFile:
    """All entries of a study, the labels of their figures, and the command that made them."""

    study: str
    seed: str
    command: str
    labels: dict[str, str] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)

    def put(self, entry: Entry) -> None:
        """Add an entry, replacing the one of the same name."""
        self.entries = [other for other in self.entries if other.name != entry.name] + [entry]

    def text(self) -> str:
        """Return the file's text, entries by name: it does not depend on the order of the runs."""
        ordered = SwingFile(self.study, self.seed, self.command, dict(sorted(self.labels.items())))
        ordered.entries = sorted(self.entries, key=lambda entry: entry.name)
        return json.dumps(asdict(ordered), indent=1, ensure_ascii=False) + "\n"


def read_swings(path: Path) -> SwingFile | None:
    """Read a file of swings; None if there is none. Raises UserError for a damaged file."""
    if not path.is_file():
        return None
    try:
        table = json.loads(file_text(path))
        entries = [Entry(**row) for row in table.pop("entries")]
        return SwingFile(**table, entries=entries)
    except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise UserError(str(path), "", "", f"is not a file of swings; remove it or run again: {error}") from None


def summary(swings: SwingFile) -> SwingsDoc:
    """Return the assumptions that change a prediction by more than `MATTERS_PCT`."""
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
        f"{_assumptions(len(swings.entries))} run at both ends of their ranges, one at a time; {still} of them change "
        f"no prediction by more than {MATTERS_PCT:g} %. Command: {swings.command}"
    )
    return {"command": swings.command, "text": text, "moved": moved, "refused": refused}


def _assumptions(count: int) -> str:
    return "1 assumption was" if count == 1 else f"{count} assumptions were"


def _spreads(moves: Sequence[tuple[str, str, float]]) -> dict[str, float]:
    """Return the change of each figure in percent from its lowest to its highest value, the nominal one included."""
    by_figure: dict[str, list[float]] = {}
    for _, name, pct in moves:
        by_figure.setdefault(name, [0.0]).append(pct)
    return {name: max(values) - min(values) for name, values in by_figure.items()}


def _spread(moves: Sequence[tuple[str, str, float]]) -> tuple[str, float]:
    """Return the figure that changes most across the range, and its change in percent."""
    return max(_spreads(moves).items(), key=lambda item: item[1])


def _moved_row(swings: SwingFile, entry: Entry, moves: Sequence[tuple[str, str, float]]) -> MovedDoc:
    figure, spread = _spread(moves)
    end, _, largest = next(move for move in moves if move[1] == figure)
    at_figure = {end_of_move: pct for end_of_move, name, pct in moves if name == figure}
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
            name: {end_of_move: pct for end_of_move, other, pct in moves if other == name}
            for name in entry.nominal
            if name in beyond
        },
    }


def _planned(study: Study) -> set[tuple[str, str, str]]:
    """Return name and ends of every planned assumption."""
    return {(planned.swing.name, str(planned.swing.low), str(planned.swing.high)) for planned in plan(study)}


def swings_of(study: Study, figures: Iterable[FigureDoc], seed: int) -> StudySwingsDoc | None:
    """Return the summary of the swings that a study ships; `stale` if its predictions have changed since."""
    shipped = read_swings(study.folder / SWINGS_FILE)
    if shipped is None:
        return None
    now = {row["id"]: row["predicted"] for row in figures}
    stale = shipped.seed == str(seed) and any(
        name in now and not _same(value, now[name])
        for entry in shipped.entries
        for name, value in entry.nominal.items()
    )
    missing = sorted(_planned(study) - {(entry.name, entry.low, entry.high) for entry in shipped.entries})
    document: StudySwingsDoc = {**summary(shipped), "stale": stale, "missing": [name for name, _, _ in missing]}
    if missing:
        document["text"] += f". {_assumptions(len(missing))} not run yet: {', '.join(document['missing'])}"
    if stale:
        document["text"] = f"{document['text'].removesuffix('.')}. The predictions have changed since: run it again"
    return document
