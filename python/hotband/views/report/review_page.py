"""`hotband review`: the pages, one per machine and one that compares them, and every chart as SVG and PNG.

    from hotband.views.report.review_page import write_review

    write_review([review("savvio-10k1"), review("cheetah-15k4")], comparison, Path("out"))

This module measures and computes nothing: all numbers come from the JSON of `hotband.questions.review`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hotband.base.errors import UserError
from hotband.base.text.write import make_folder
from hotband.base.version import __version__
from hotband.data.record.files import REPORT_FILE
from hotband.data.record.states import state_lines, states_of
from hotband.views.report import review_comparison, review_machine, review_rows, review_settings
from hotband.views.report.naming import which_is_fastest
from hotband.views.report.page import Block, Cards, Fold, Page, Part, Prose, Section, unchecked, write_report
from hotband.views.report.pictures import Drawing, drawing, write_pictures
from hotband.views.report.review_rows import Machine
from hotband.views.report.review_topics import PLAIN, Looks, Topic

if TYPE_CHECKING:
    from hotband.data.documents.review import ComparisonDoc, ReviewDoc

COMPARISON = "comparison"
# Sections that are not folded, on a page that compares and on that of a machine; "absent" lists missing parts.
COMPARED_FIRST = ("ratios", "linear", "access", "patterns", "absent")
FIRST = ("linear", "access", "blocks", "patterns", "absent")


def write_review(reviews: Sequence[ReviewDoc], comparison: ComparisonDoc | None, out: Path) -> list[Path]:
    """Write report.html and charts/ into the folder `out`; return the files. Raises UserError, OSError.

    `reviews` are the dicts of review.json, at least one, and `comparison` that of comparison.json.
    """
    if not reviews:
        raise UserError("review", "", "", "nothing to show; accepted: one review or more")
    everyone = review_rows.machines(reviews)
    make_folder(out)
    with unchecked():
        parts, pictures = _parts(everyone, comparison, out)
    page = Page(_title(everyone), [], subtitle=_about(everyone), kicker="Hotband review", parts=parts)
    if len(parts) == 1:
        # With one machine, its page is the whole report.
        page = Page(page.title, parts[0].sections, page.subtitle, page.kicker)
    return [write_report(out / REPORT_FILE, page), *pictures]


def _parts(everyone: Sequence[Machine], comparison: ComparisonDoc | None, out: Path) -> tuple[list[Part], list[Path]]:
    """Return the comparison, if there are several machines, the part of each machine, and their picture files."""
    parts: list[Part] = []
    pictures: list[Path] = []
    if comparison is not None and len(everyone) > 1:
        topics = review_comparison.topics(everyone, comparison)
        drawn, files = _draw(topics, out / "charts" / COMPARISON, _subtitle(everyone))
        lines = review_comparison.machine_lines(everyone)
        sections = [review_settings.at_a_glance(COMPARISON, everyone)]
        sections += _unfolded_first(topic.section(COMPARISON, drawn, lines, first=COMPARED_FIRST) for topic in topics)
        differ = [f"Not alike: {words}." for words in comparison.get("unequal_state", [])]
        lead = " ".join([*differ, review_comparison.finding(everyone, comparison)])
        parts.append(Part(COMPARISON, "All machines compared", sections, lead))
        pictures += files
    colors = review_comparison.machine_lines(everyone).colors
    for machine in everyone:
        looks = Looks.of(colors[machine.label]) if len(everyone) > 1 else PLAIN
        part, files = _machine_part(machine, out, looks)
        parts.append(part)
        pictures += files
    return parts, pictures


def _machine_part(machine: Machine, out: Path, looks: Looks) -> tuple[Part, list[Path]]:
    """Return the page of one machine, folded if others are compared with it, and its picture files."""
    topics = review_machine.topics(machine, looks)
    drawn, files = _draw(topics, out / "charts" / machine.slug, _subtitle([machine], machine.label))
    lead = review_machine.lead(machine)
    prefix = f"m-{machine.slug}"
    glance: list[Block] = [Cards(review_machine.cards(machine)), review_settings.settings_table([machine])]
    blocks: list[Block] = [Prose([lead], lead=True)] if lead and not looks.shaded else []
    sections = [Section(f"{prefix}-first", "At a glance", [*blocks, *glance])]
    sections += _unfolded_first(topic.section(prefix, drawn, first=FIRST) for topic in topics)
    sections.append(replace(_made_from(machine), folded=True))
    return Part(prefix, machine.label, sections, lead, folded=looks.shaded), files


def _unfolded_first(sections: Iterable[Section]) -> list[Section]:
    """Return visible sections, then folded ones, both in order."""
    return sorted(sections, key=lambda section: section.folded)


def _draw(topics: Sequence[Topic], folder: Path, subtitle: str) -> tuple[dict[str, Drawing], list[Path]]:
    """Return the charts of the topics by their ids, and the files to which they were written."""
    drawn: dict[str, Drawing] = {}
    files: list[Path] = []
    for figure in (figure for topic in topics for figure in topic.figures):
        drawn[figure.id] = drawing(figure.view)
        files += write_pictures(folder, figure.id, drawn[figure.id], figure.title, subtitle)
    return drawn, files


def _subtitle(everyone: Sequence[Machine], label: str = "") -> str:
    """Return the source of a picture."""
    versions = dict.fromkeys(str(machine.review.get("hotband") or __version__) for machine in everyone)
    seeds = dict.fromkeys(str(machine.review["seed"]) for machine in everyone)
    quick = ", quick review" if any(machine.review.get("quick") for machine in everyone) else ""
    made = f"Simulated with Hotband {', '.join(versions)}, seed {', '.join(seeds)}{quick}"
    return f"{label} · {made}" if label else made


def _title(everyone: Sequence[Machine]) -> str:
    if len(everyone) == 1:
        return f"How fast is {everyone[0].label}?"
    return which_is_fastest([machine.label for machine in everyone])


def _about(everyone: Sequence[Machine]) -> str:
    text = f"{_subtitle(everyone)}. The same machine, settings and seed give the same numbers."
    if any(machine.review.get("quick") for machine in everyone):
        text += " A quick review measures for a shorter time and at fewer points."
    return text


def _made_from(machine: Machine) -> Section:
    """Return the data needed to repeat the review of a machine."""
    document = machine.review["machine"]
    drives = ", ".join(dict.fromkeys(str(drive) for drive in document.get("drives") or [])) or "none named"
    settings = ", ".join(f"{key} = {value}" for key, value in (document.get("set") or {}).items()) or "none"
    text = f"Machine {document['name']}; drives: {drives}; settings: {settings}; seed {machine.review['seed']}."
    text += f" State: {'; '.join(state_lines(states_of(document)))}."
    blocks: list[Any] = [Prose([text, *(f"Note: {note}" for note in machine.review.get("notes") or [])])]
    if document.get("spec"):
        blocks.append(Fold("The machine's spec", str(document["spec"])))
    return Section(f"m-{machine.slug}-spec", "What was reviewed", blocks)
