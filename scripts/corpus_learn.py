"""Learn from the corpus that ships: python scripts/corpus_learn.py [FOLDER OF RUNS]

Writes what each family shows (`evidence.json`), which rules of data sheets rest on, and the drives that these rules
make (`catalog_products.py`). Then predicts every figure with its family left out and writes how far off that was
(`residuals.csv.xz`), which intervals rest on, how alike the errors of one product are (`likeness.json`), what the
catalog's drives are predicted to do (`catalog.csv`), and the table and the picture of docs/accuracy.md. `make accuracy`
runs it.
"""

import sys
from contextlib import nullcontext
from pathlib import Path

import vl_convert
from catalog_products import write_products

from hotband.base.folders import cache_folder
from hotband.base.question import Way
from hotband.base.text.write import write_file
from hotband.data.corpus.files import shipped
from hotband.data.corpus.sheets import shipped_sheets
from hotband.inference.corpus.residuals import write_residuals
from hotband.inference.corpus.shared_errors import shipped_likenesses, write_likenesses
from hotband.questions.datasheet.learned import SHIPPED_EVIDENCE, evidence_text
from hotband.questions.predictions.asked import MODEL, CorpusPredicted, PredictCorpusQuestion, predicted
from hotband.questions.predictions.catalog import write_catalog_predictions
from hotband.questions.predictions.drives import evidence_of
from hotband.questions.predictions.likeness import likenesses_of
from hotband.views.accuracy.page import rewritable
from hotband.views.draw.predictions import measured_against_predicted

BASELINES = ("the data sheet's rating", "the median of its class", "the nearest family", "the model as it was")
SIGNS = {"better": " +", "worse": " -", "alike": ""}
PAGE, IMAGE = Path("docs/accuracy.md"), Path("docs/images/accuracy.png")
MARKS = ("<!-- corpus: begin (make accuracy) -->", "<!-- corpus: end -->")


def table_of(answer: CorpusPredicted) -> str:
    """Return the errors by class as Markdown, each baseline next to the model's error on the same figures."""
    head = [
        "class",
        "families",
        "figures",
        "median",
        "90 % of",
        "sign",
        "inside",
        "other testers",
        "half width",
        "no interval",
        "testers",
    ]
    lines = ["| " + " | ".join([*head, *BASELINES]) + " |", "| --- |" + " ---: |" * (len(head) + len(BASELINES) - 1)]
    others = {row.figure_class: row for row in answer.testers_out}
    compared = {(row.figure_class, row.baseline): row.verdict for row in answer.compared}
    for row in answer.classes[MODEL]:
        name, other, spread = row.figure_class, others.get(row.figure_class), answer.testers.get(row.figure_class)
        cells = [
            name,
            f"{row.families}",
            f"{row.figures}",
            *map(percent, (row.median, row.ninety, row.sign, row.inside)),
        ]
        cells += [percent(other.inside if other else None), percent(row.half_width)]
        cells.append(percent(row.without_interval))
        cells.append(f"{percent(spread.median)} ({spread.pairs})" if spread else "–")
        for baseline in BASELINES:
            theirs = {each.figure_class: each for each in answer.classes[baseline]}.get(name)
            ours = {each.figure_class: each for each in answer.classes[f"{MODEL}, where there is {baseline}"]}.get(name)
            pair = " / ".join(percent(each.median) if each else "–" for each in (theirs, ours)) if theirs else "–"
            cells.append(pair + SIGNS[compared.get((name, baseline), "alike")])
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def percent(value: float | None) -> str:
    """Return a share in percent."""
    return "–" if value is None else f"{100 * value:.0f} %"


def write_page(answer: CorpusPredicted) -> None:
    """Write the table into docs/accuracy.md, and the picture next to it."""
    write_file(IMAGE, vl_convert.vegalite_to_png(measured_against_predicted(answer.figures).to_dict(), scale=1.5))
    before, after = rewritable(PAGE, MARKS)
    write_file(PAGE, f"{before}\n\n{table_of(answer)}\n\n{of_line(answer)}\n\n{after}")


def of_line(answer: CorpusPredicted) -> str:
    """Return what measured figures of the same product do to intervals, as a paragraph."""
    checks = "; ".join(
        f"by {name} ({row.families} families, {row.figures:,} figures) {checked.words}"
        for name, checked in answer.of_line.items()
        for row in checked.with_them[-1:]
    )
    return f"Measured [figures of the same product](guides/intervals.md#what-is-in-it) narrow its intervals: {checks}."


def main(arguments: list[str]) -> None:
    """Do what the module's text says."""
    rewritable(PAGE, MARKS)  # before hours of runs
    write_file(SHIPPED_EVIDENCE, evidence_text(evidence_of(shipped(), shipped_sheets())))
    # By the rules just learned, and before the catalog is predicted.
    write_products()
    out = Path(arguments[0]) if arguments else None
    way = Way(lambda _: nullcontext(), lambda text: print(text, flush=True))
    question = PredictCorpusQuestion(out=out)
    made = predicted(question, way)
    print(f"{write_residuals(made.residuals):,} residuals")
    write_likenesses(likenesses_of(made.residuals))
    shipped_likenesses.cache_clear()
    made = predicted(question, way)  # its checks of products use what was just learned; its runs are stored
    print(f"{write_catalog_predictions((out or cache_folder() / 'corpus') / 'catalog'):,} predictions of the catalog")
    write_page(made)


if __name__ == "__main__":
    main(sys.argv[1:])
