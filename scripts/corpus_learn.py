"""Learn from the corpus that ships: python scripts/corpus_learn.py [FOLDER OF RUNS]

Writes what each family shows (`evidence.json`), which rules of data sheets rest on, then predicts every figure with its
family left out and writes how far off that was (`residuals.csv.xz`), which intervals rest on. `make accuracy` runs it.
"""

import sys
from contextlib import nullcontext
from pathlib import Path

from hotband.base.question import Way
from hotband.base.text.write import write_file
from hotband.data.corpus.files import shipped
from hotband.data.corpus.sheets import shipped_sheets
from hotband.inference.corpus.residuals import write_residuals
from hotband.questions.datasheet.learned import SHIPPED_EVIDENCE, evidence_text
from hotband.questions.predictions.asked import MODEL, CorpusPredicted, PredictCorpusQuestion, predicted
from hotband.questions.predictions.drives import evidence_of

BASELINES = ("the data sheet's rating", "the median of its class", "the nearest family", "the model as it was")


def table_of(answer: CorpusPredicted) -> str:
    """Return the errors by class as Markdown, each baseline next to the model's error on the same figures."""
    head = ["class", "families", "figures", "median", "90 % of", "sign", "inside", "half width", *BASELINES]
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    for row in answer.classes[MODEL]:
        cells = [row.figure_class, f"{row.families}", f"{row.figures}"]
        cells += [percent(value) for value in (row.median, row.ninety, row.sign, row.inside, row.half_width)]
        for name in BASELINES:
            other = {each.figure_class: each for each in answer.classes[name]}.get(row.figure_class)
            own = {each.figure_class: each for each in answer.classes[f"{MODEL}, where there is {name}"]}
            both = (other, own.get(row.figure_class))
            cells.append(" / ".join(percent(each.median) if each else "–" for each in both) if other else "–")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def percent(value: float | None) -> str:
    """Return a share in percent."""
    return "–" if value is None else f"{100 * value:.0f} %"


if __name__ == "__main__":
    write_file(SHIPPED_EVIDENCE, evidence_text(evidence_of(shipped(), shipped_sheets())))
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    way = Way(lambda _: nullcontext(), lambda text: print(text, flush=True))
    answer = predicted(PredictCorpusQuestion(out=out), way)
    print(f"{write_residuals(answer.residuals):,} residuals")
    page = Path("docs/accuracy.md")
    text = page.read_text(encoding="utf-8")
    begin, end = "<!-- corpus: begin (make accuracy) -->", "<!-- corpus: end -->"
    head, tail = text.partition(begin)[0], text.partition(end)[2]
    page.write_text(f"{head}{begin}\n\n{table_of(answer)}\n\n{end}{tail}", encoding="utf-8")
