"""Forms about a dropped file: a fleet, results to judge, results to which a product is fitted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import hotband as hb
from hotband.base.errors import UserError
from hotband.data.inputs.specify import named
from hotband.data.record.files import REPORT_FILE
from hotband.faces.asked.words import words
from hotband.faces.ui import shown
from hotband.faces.ui.asked import answered, of_form
from hotband.faces.ui.call import Call, expect_report
from hotband.faces.ui.named_files import expect_no_other_files
from hotband.faces.ui.uploads import PREFIX, free_path
from hotband.questions.calibrate.asked import CalibrateQuestion
from hotband.questions.expect.asked import ExpectQuestion
from hotband.questions.fleet.asked import FleetQuestion

if TYPE_CHECKING:
    from hotband.execution.experiment import Tick
    from hotband.faces.ui.form import Form
    from hotband.faces.ui.shown import Shown

MOST_REPETITIONS = 100_000
"""Most repetitions of a fleet on the page: a hundred times the usual number. The command line has no such limit."""


def of_fleet(form: Form) -> Call:
    """Return the call of a fleet."""
    path = form.dropped("fleet")
    if path is None:
        raise UserError("fleet", "", "", "is missing: drop a fleet's file (.toml), described in docs/guides/fleet.md")
    expect_no_other_files(Path(path), "fleet")
    question = of_form(
        FleetQuestion, form, {"fleet": Path(path), "repetitions": form.whole("repetitions", 2, MOST_REPETITIONS)}
    )

    def run(tick: Tick, folder: Path) -> Shown:
        done = answered(question, tick)
        done.report(folder / REPORT_FILE)
        return shown.of_fleet(done)

    return Call(f"Fleet {Path(path).name}", words(question), run, expect_report)


def _results(form: Form) -> list[str]:
    """Return the dropped results of tools."""
    paths = [form.placed("result", text) for text in form.texts("result")]
    if not paths:
        raise UserError("result", "", "", "is missing: drop a result of fio, vdbench, DiskSpd or Iometer")
    other = next((pair for given, pair in zip(form.texts("result"), paths, strict=True) if given == pair), None)
    if other is not None:
        raise UserError("result", "", other, "expected a file that was dropped on the page")
    return paths


def of_expect(form: Form) -> Call:
    """Return the call of `hb.expect`; without a machine it ranks the nearest drives."""
    results = _results(form)
    machines = [form.placed("on", text) for text in form.texts("on")]
    if len(machines) > 1:
        raise UserError("on", "", ", ".join(machines), "expected one machine, or none: then drives are ranked")
    on = named(machines[0], "on") if machines else None
    question = of_form(ExpectQuestion, form, {"result": tuple(map(Path, results)), "on": on})
    names = ", ".join(Path(result).name for result in results)
    where = f" on {on.name}" if on else ": the drives that come nearest"
    return Call(
        f"Is it as expected? {names}{where}",
        words(question),
        lambda tick, _: shown.of_expected(answered(question, tick)),
    )


def of_calibrate(form: Form) -> Call:
    """Return the call of `hb.calibrate` with results; only the command line can measure a drive."""
    results = _results(form)
    like = form.named("like", "a drive of the catalog, such as ent-10k")
    try:
        hb.drive(like)
    except UserError as error:
        raise UserError("like", error.key, error.value or like, error.accepted) from None
    output = Path(f"{Path(like).stem}-fitted.toml")
    fields = {"target": tuple(results), "like": named(like, "like"), "output": output}
    question = of_form(CalibrateQuestion, form, fields)

    def run(tick: Tick, _: Path) -> Shown:
        # As one of the dropped files it is a drive that every form accepts.
        fitted_file = free_path(Path(results[0]).parent, output.name)
        fitted = answered(replace(question, output=fitted_file), tick)
        return shown.of_calibrated(fitted, f"{PREFIX}{fitted_file.name}")

    names = ", ".join(Path(result).name for result in results)
    return Call(f"{like} fitted to {names}", words(question), run)
