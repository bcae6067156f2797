"""Emulated parts of a study on the terminal: one row per part, and notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hotband.base.question import INVALID
from hotband.base.text import numbers
from hotband.base.text.numbers import counted, number
from hotband.base.text.table import OF_ROW, TIMES, Table, Unit, column, numeric
from hotband.views.text.bars import bar_column, bars
from hotband.views.text.screen import Screen, Verdict, screen_table, shortened, with_hidden

if TYPE_CHECKING:
    from hotband.data.documents.emulate import EmulationDoc, PartDoc, RatioDoc
    from hotband.questions.study.asked import StudyEmulateQuestion
    from hotband.questions.study.emulate.result import EmulationResult

BAR = 8
MOST_ROWS = 8
MOST_TITLES = 4
MOST_REMARKS = 4


def terminal(emulated: EmulationResult, question: StudyEmulateQuestion) -> Screen:
    """Return the screen of `study emulate`: whether real programs confirm model and publication."""
    result = emulated.document
    parts = result["parts"]
    run = [part for part in parts if part["emulated"] is not None]
    skipped = [f"{part['id']} was skipped: {part['skipped']}" for part in parts if part["skipped"]]
    notes = [note for part in run for side in (part["a"], part["b"]) if side is not None for note in side["notes"]]
    invalid = [note for note in notes if note.startswith(INVALID)]
    sentence = _sentence(run, len(parts))
    return Screen(
        answer=f"The result is {invalid[0]}." if invalid else sentence,
        verdict="no" if invalid else _verdict(run),
        more=[sentence] if invalid else [],
        body=[shortened(_ratios_table(run), MOST_ROWS, "more part")] if run else [],
        state=with_hidden([f"{part['id']}: {part['title']}" for part in run], MOST_TITLES, "more part"),
        remarks=with_hidden([*skipped, *dict.fromkeys(notes)], MOST_REMARKS),
        next=question,
        details=[emulation_table(result), *emulation_lines(result)],
    )


def _sentence(run: Sequence[PartDoc], parts_in_all: int) -> str:
    """Return in how many parts the emulated machines differ as predicted and as published."""
    if not run:
        return f"None of {counted(parts_in_all, 'part')} was run."
    agree = [sum(bool(part["agrees"].get(name)) for part in run) for name in ("predicted", "published")]
    go = "goes" if agree[0] == 1 else "go"
    predicted = f"{agree[0]} of {counted(len(run), 'part')} {go} the way that the model predicts"
    return f"{predicted}, {agree[1]} the way that was published."


def _verdict(run: Sequence[PartDoc]) -> Verdict:
    decided = [agrees for part in run for agrees in part["agrees"].values() if agrees is not None]
    return "" if not decided else "yes" if all(decided) else "likely" if any(decided) else "no"


def _ratios_table(run: Sequence[PartDoc]) -> Table:
    """Return a row per part: the ratio of both machines, emulated with a bar, predicted and published."""
    columns = [column("part"), column("figure"), numeric("emulated", TIMES), bar_column(BAR)]
    columns += [numeric("model", TIMES), numeric("published", TIMES), column("agrees with")]
    table = screen_table(columns)
    ratios = [
        [ratio and ratio["ratio"] for ratio in (part["emulated"], part["predicted"], part["published"])] for part in run
    ]
    drawn = bars([emulated for emulated, *_ in ratios], BAR)
    for part, (emulated, model, published), picture in zip(run, ratios, drawn, strict=True):
        table.add(part["id"], part["figure"], emulated, picture, model, published, agreement_text(part))
    return table


def emulation_table(result: EmulationDoc) -> Table:
    """Return one row per finished part: the program's figure on both machines, its ratio, the predicted and the
    published one, and which of those have the same direction."""

    figures = [numeric("A", OF_ROW), numeric("B", OF_ROW), *map(numeric, ("emulated", "model", "published"))]
    columns = [column("part"), column("figure"), *figures, column("same direction")]
    table = Table(f"{result['study']} on real programs: B over A", columns)
    for part in result["parts"]:
        if part["a"] is None or part["b"] is None:
            continue
        ratios = [
            None if ratio is None else ratio["ratio"]
            for ratio in (part["emulated"], part["predicted"], part["published"])
        ]
        values = (part["a"]["value"], part["b"]["value"])
        table.add(part["id"], part["figure"], *values, *ratios, agreement_text(part), unit=Unit(part["unit"]))
    return table


def agreement_text(part: PartDoc) -> str:
    """Return which of model and publication have the direction of the emulation."""
    same = [name for name, agrees in part["agrees"].items() if agrees]
    return {"predicted": "model", "published": "publication"}[same[0]] if len(same) == 1 else "both" if same else "none"


def emulation_lines(result: EmulationDoc) -> Iterator[str]:
    """Yield the details of each part: machines, scale, load of the host, and warnings."""
    for part in result["parts"]:
        yield ""
        yield f"{part['id']}: {part['title']}"
        if part["skipped"]:
            yield f"  skipped: {part['skipped']}"
            continue
        for letter, side in (("A", part["a"]), ("B", part["b"])):
            if side is not None:
                load = f"load average {number(side['load_before'])} before, {number(side['load_after'])} after"
                yield f"  {letter}: {side['name']} ({numbers.span(1e9 * side['seconds'])}, {load})"
                yield from (f"     warning: {note}" for note in side["notes"])
        yield f"  {part['how']}"
        for name, ratio in (("model", part["predicted"]), ("published", part["published"])):
            yield f"  {name}: {source_text(ratio, name)}"
        if part["note"]:
            yield f"  {part['note']}"


def source_text(ratio: RatioDoc | None, name: str) -> str:
    """Describe the source of a ratio."""
    if ratio is None:
        return "no such ratio is published" if name == "published" else "no such ratio is predicted"
    return f"{ratio['measure']} {numbers.between(ratio['a'], ratio['b'])} {ratio['unit']} ({ratio['source']})"
