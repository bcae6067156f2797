"""Run the emulated parts of a study: each program on both machines of its part, one after the other, each stored when
it is finished."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from hotband.base.errors import UserError
from hotband.base.foreign import json_text
from hotband.base.temporary import TemporaryFolder
from hotband.base.text.regular import file_text
from hotband.base.text.write import make_folder, write_file
from hotband.data.catalog.entries import unknown
from hotband.execution.experiment import Lock, expect_out
from hotband.execution.programs.needs import how_to_get, missing
from hotband.execution.programs.processes import ProgramFailed
from hotband.execution.programs.run import run_program
from hotband.execution.runs.signals import stoppable
from hotband.questions.study import file
from hotband.questions.study.emulate.parts import SCALE_EXPECTED, Part, read_parts, scale_of
from hotband.questions.study.emulate.ratios import predicted_ratio, published_ratio, ratio_of
from hotband.questions.study.emulate.result import EmulationResult
from hotband.questions.study.emulate.scale import Scaled, cut_values, machine_text, scaled, words

if TYPE_CHECKING:
    from hotband.base.question import Way
    from hotband.data.documents.emulate import EmulationDoc, PartDoc, RatioDoc, RequestDoc, SideDoc
    from hotband.data.documents.program import FigureDoc, ProgramDoc
    from hotband.questions.study.asked import StudyEmulateQuestion
    from hotband.questions.study.definition import Study

RESULT_FILE = "emulation.json"
SIDE_FILE = "side.json"
MACHINE_FILE = "machine.toml"

Say = Callable[[str], None]


def answer(question: StudyEmulateQuestion, way: Way) -> EmulationResult:
    """Return the results of the programs. Raises UserError, OSError."""
    return EmulationResult(emulate(file.load(question.study), question, way.say))


def emulate(study: Study, question: StudyEmulateQuestion, say: Say) -> EmulationDoc:
    """Run the parts of a study; with `out`, finished sides are stored there and not run again.

    Raises UserError for a mistake, before anything is started, and `ProgramFailed` (an OSError) if a program fails;
    finished sides stay.
    """
    scale = None if question.scale is None else scale_of(question.scale)
    if question.scale is not None and scale is None:
        raise UserError("question.scale", "", question.scale, SCALE_EXPECTED)
    parts = chosen(read_parts(study), question.only)
    plans = [(part, scaled(part, scale)) for part in parts]
    expect_out(question.fresh, question.out)
    with stoppable(), nullcontext() if question.out is None else Lock(question.out):
        result: EmulationDoc = {
            "study": study.name,
            "title": study.title,
            "source": study.source,
            "processors": os.cpu_count() or 1,
            "parts": [run_part(study, part, at, question, say) for part, at in plans],
        }
        if question.out is not None:
            write_file(question.out / RESULT_FILE, json_text(result) + "\n")
    return result


def chosen(parts: list[Part], only: Collection[str]) -> list[Part]:
    """Return the parts that `only` names, by default all. Raises UserError for an unknown one."""
    known = [part.id for part in parts]
    for name in only:
        if name not in known:
            raise unknown("question.only", name, known)
    return [part for part in parts if not only or part.id in only]


def run_part(study: Study, part: Part, at: Scaled, question: StudyEmulateQuestion, say: Say) -> PartDoc:
    """Run one part; skip it if its program is missing."""
    lacking = missing(part.program)
    if lacking:
        names = ", ".join(need.command for need in lacking)
        skipped = f"{part.program.name} needs {names}, not found; install with: {how_to_get(lacking)}"
        say(f"{part.id}: skipped: {skipped}")
        return part_doc(study, part, at, None, None, None, skipped)
    folder = None if question.out is None else question.out / part.id
    say(f"{part.id}: {words(part, at)}")
    predicted = predicted_ratio(study, part, None if folder is None else folder / "model", question.fresh, say)
    sides = [run_side(part, name, at, folder, question, say) for name in part.sides]
    return part_doc(study, part, at, sides[0], sides[1], predicted)


def run_side(
    part: Part, name: str, at: Scaled, folder: Path | None, question: StudyEmulateQuestion, say: Say
) -> SideDoc:
    """Run the program on one machine, or return the stored result of the same request."""
    side = part.sides[name]
    text, side_folder = machine_text(side, at), None if folder is None else folder / name
    values = {key: cut for key, (_, cut) in cut_values(part, side, at).items()} | dict(side.set)
    request: RequestDoc = {
        "program": part.program.name,
        "figure": part.figure,
        "machine": text,
        "set": values,
        "settings": at.settings,
    }
    if side_folder is not None and not question.fresh:
        finished = kept_side(side_folder / SIDE_FILE, request)
        if finished is not None:
            say(f"{part.id}: {side.name}: done before, not run again")
            return finished
    say(f"{part.id}: {part.program.name} on {side.name}")
    before, began = os.getloadavg()[0], time.monotonic()
    settings = {**at.settings, **values}
    document = run_on(part, text, settings, side_folder, lambda line: say(f"{part.id}: {line}"), anyway=question.anyway)
    figure = figure_of(part, document)
    done: SideDoc = {
        "name": side.name,
        "machine": text,
        "set": values,
        "version": document["version"],
        "value": figure["value"],
        "unit": figure["unit"],
        "notes": document["notes"],
        "load_before": before,
        "load_after": os.getloadavg()[0],
        "seconds": time.monotonic() - began,
    }
    if side_folder is not None:
        write_file(side_folder / SIDE_FILE, json_text({"asked": request, "side": done}) + "\n")
    say(f"{part.id}: {side.name}: {done['value']:,.4g} {done['unit']}")
    return done


def run_on(
    part: Part, machine: str, settings: dict[str, str], run_folder: Path | None, say: Say, *, anyway: bool = False
) -> ProgramDoc:
    """Run the program on a machine, whose file is stored next to its record, or is temporary."""
    with TemporaryFolder("machine") if run_folder is None else nullcontext(run_folder) as folder:
        file = Path(folder, MACHINE_FILE)
        make_folder(file.parent)
        write_file(file, machine)
        return run_program(part.program.name, str(file), settings, run_folder, say, anyway=anyway)


def figure_of(part: Part, document: ProgramDoc) -> FigureDoc:
    """Return the program's figure that a part compares. Raises ProgramFailed if it is missing."""
    matching = next((figure for figure in document["figures"] if figure["name"] == part.figure), None)
    if matching is None:
        names = ", ".join(figure["name"] for figure in document["figures"])
        raise ProgramFailed(part.program.name, f"has no figure {part.figure!r}, only {names}")
    return matching


def kept_side(file: Path, request: RequestDoc) -> SideDoc | None:
    """Return the stored result of the same program, machine and settings; None if there is none."""
    try:
        stored = json.loads(file_text(file))
        if stored["asked"] != request:
            return None
        side: SideDoc = stored["side"]
        return side
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        raise UserError(str(file), "", "", f"is not a result of an emulated part: {error}; remove it") from None


def part_doc(
    study: Study,
    part: Part,
    at: Scaled,
    a: SideDoc | None,
    b: SideDoc | None,
    predicted: RatioDoc | None,
    skipped: str = "",
) -> PartDoc:
    """Return the document of a part."""
    emulated = None
    if a is not None and b is not None:
        emulated = ratio_of(part.figure, a["unit"], a["value"], b["value"], a["version"])
    published = published_ratio(study, part)
    others = {"predicted": predicted, "published": published}
    return {
        "id": part.id,
        "title": part.title,
        "program": part.program.name,
        "figure": part.figure,
        "unit": "" if a is None else a["unit"],
        "settings": at.settings,
        "scale": str(at.scale),
        "how": words(part, at),
        "a": a,
        "b": b,
        "emulated": emulated,
        "predicted": predicted,
        "published": published,
        "agrees": {name: agreement(emulated, other) for name, other in others.items()},
        "note": part.note,
        "skipped": skipped,
    }


def agreement(ratio: RatioDoc | None, other: RatioDoc | None) -> bool | None:
    """Return whether two ratios have the same direction; None if one of them is missing."""
    return None if ratio is None or other is None else ratio["direction"] == other["direction"]
