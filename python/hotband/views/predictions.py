"""Predictions of a corpus on a terminal: how far off they are, by class of load, and compared with a simple guess."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hotband.base.text.numbers import counted
from hotband.base.text.table import PLAIN, Table, Unit, column, numeric
from hotband.inference.corpus.errors import Errors
from hotband.questions.predictions.asked import MODEL, CorpusPredicted, PredictCorpusQuestion
from hotband.views.corpus import families_text
from hotband.views.text.screen import Screen, command, screen_table

PERCENT = Unit("%", 0.01, lambda share: f"{100 * share:.0f} %")
LEFT_OUT = 6
"""Most reasons on a screen."""


def predicted(answer: CorpusPredicted, question: PredictCorpusQuestion) -> Screen:
    """Return the errors by class; the baselines and the reasons for missing predictions are details."""
    model = answer.classes[MODEL]
    figures = sum(row.figures for row in model)
    families = len({figure.family for figure in answer.figures if figure.predicted is not None})
    reasons = [f"{count:,}: {reason}" for reason, count in answer.left_out.items()]
    out = sum(answer.left_out.values())
    rules = "each was left out of its rules" if question.path is None else "the rules saw none of them"
    return Screen(
        answer=(
            f"Predicted {counted(figures, 'figure')} of {families_text(families)} from data sheets alone: "
            f"the middle one of the classes is off by {_middle(model):.0f} %."
        ),
        body=[_errors(model)],
        state=[
            f"A family counts once; {rules}. {out:,} of {len(answer.figures):,} figures have no prediction.",
            *(
                f"Intervals that also rest on {name} of the same product: {checked.words}."
                for name, checked in answer.of_line.items()
            ),
        ],
        next=command("corpus show", "samsung 970"),
        details=[_errors(model, with_counts=True), _testers(answer), *_of_line(answer), _beside(answer), *reasons],
    )


def _middle(rows: Sequence[Errors]) -> float:
    medians = sorted(row.median for row in rows if row.median is not None)
    return 100.0 * medians[(len(medians) - 1) // 2] if medians else 0.0


def _errors(rows: Sequence[Errors], *, with_counts: bool = False) -> Table:
    names = ("median", "90 % of", "inside", "half width", "no interval")
    counts = [numeric("figures", PLAIN), numeric("left out", PERCENT)] if with_counts else []
    make = partial(Table, "") if with_counts else screen_table
    table = make([column("class"), numeric("families", PLAIN), *(numeric(name, PERCENT) for name in names), *counts])
    for row in rows:
        values = (row.families, row.median, row.ninety, row.inside, row.half_width, row.without_interval)
        table.add(row.figure_class, *values, *((row.figures, row.left_out) if with_counts else ()))
    return table


def _testers(answer: CorpusPredicted) -> Table:
    """Return the differences between testers of one product, and the share inside intervals of other testers'
    figures."""
    table = Table("", [column("class"), numeric("pairs of testers", PLAIN), *(numeric(name, PERCENT) for name in
                       ("testers differ by", "90 % of", "inside, testers left out"))])  # fmt: skip
    for row in answer.testers_out:
        spread = answer.testers.get(row.figure_class)
        values = (spread.pairs, spread.median, spread.ninety) if spread else (None, None, None)
        table.add(row.figure_class, *values, row.inside)
    return table


def _of_line(answer: CorpusPredicted) -> list[Table]:
    """Return what figures of the same product do to intervals, a table for each choice of these figures."""
    tables = []
    for name, checked in answer.of_line.items():
        what = ("median", "inside", "half width")
        columns = [numeric(f"{each}{end}", PERCENT) for each in what for end in ("", f", {name} known")]
        table = Table("", [column("class"), numeric("families", PLAIN), numeric("figures", PLAIN), *columns])
        for without, known in zip(checked.without, checked.with_them, strict=True):
            values = ((without.median, known.median), (without.inside, known.inside))
            widths = (without.half_width, known.half_width)
            table.add(known.figure_class, known.families, known.figures, *values[0], *values[1], *widths)
        tables.append(table)
    return tables


def _beside(answer: CorpusPredicted) -> Table:
    """Return the errors of each baseline next to the model's on the same figures, and whether the model's are smaller
    by more than the choice of families explains."""
    table = Table(
        "",
        [column("class"), column("baseline"), numeric("families", PLAIN)]
        + [numeric(f"{name} {what}", PERCENT) for what in ("median", "90 % of") for name in ("model", "other")]
        + [column("model is")],
    )
    verdicts = {(row.baseline, row.figure_class): row.verdict for row in answer.compared}
    for name, rows in answer.classes.items():
        if name.startswith(MODEL):
            continue
        ours = {row.figure_class: row for row in answer.classes[f"{MODEL}, where there is {name}"]}
        for row in rows:
            model = ours[row.figure_class]
            figures = (row.families, model.median, row.median, model.ninety, row.ninety)
            table.add(row.figure_class, name, *figures, verdicts.get((name, row.figure_class), "–"))
    return table
