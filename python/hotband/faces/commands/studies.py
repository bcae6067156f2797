"""`hotband study`: published evaluations, predicted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from hotband.base.errors import UserError
from hotband.base.foreign import marked
from hotband.base.text.table import Table, column, numeric
from hotband.faces.commands import names
from hotband.faces.commands.all_studies import run_all, views
from hotband.faces.commands.executors import on_executor
from hotband.faces.commands.group import Commands
from hotband.faces.commands.intervals import LevelOption
from hotband.faces.commands.into import into_store
from hotband.faces.commands.output import (
    DetailsFlag,
    FreshOption,
    JsonFlag,
    OutOption,
    SeedOption,
    StudyArgument,
    listed,
    print_json,
    print_rows,
    say,
    show,
    show_answer,
    show_lines,
    show_views,
)
from hotband.inference.interval import LEVEL
from hotband.questions.study import file
from hotband.questions.study.account import run_account
from hotband.questions.study.blind_errors import blind_errors
from hotband.questions.study.emulate import run
from hotband.questions.study.emulate.run import Asked
from hotband.questions.study.intervals.of_study import run_intervals, why_figure
from hotband.questions.study.study import run_study
from hotband.questions.study.swingfile import summary
from hotband.questions.study.swings import run_swings
from hotband.views.accuracy.page import rewritable, rewrite
from hotband.views.accuracy.tables import accuracy_table, goals_table
from hotband.views.interval import spreads_table, why_views
from hotband.views.study.emulate import emulation_lines, emulation_table
from hotband.views.study.show import terminal
from hotband.views.text.tables import swings_table

OptionalStudyArgument = Annotated[
    str | None, typer.Argument(metavar="NAME", help="A study of the catalog, or a study's folder.", **names.STUDY)
]

study_app = typer.Typer(cls=Commands, no_args_is_help=True, help="Published evaluations, predicted.")


@study_app.command("run")
@on_executor
@into_store
def study_run(
    study: StudyArgument,
    out: OutOption = None,
    seed: SeedOption = None,
    only: Annotated[list[str] | None, typer.Option(metavar="LOAD[,LOAD]", help="Run these loads alone.")] = None,
    fresh_seeds: Annotated[
        bool, typer.Option("--fresh-seeds", help="Runs that follow others on one machine ask for offsets of their own.")
    ] = False,
    fresh: FreshOption = False,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The data that a study needs and Hotband does not ship.")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Execute the findings.py of a study that is not of the catalog.")
    ] = False,
    details: DetailsFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Predict a study's figures; print them beside the published ones."""
    result = run_study(study, out, seed, listed(only), fresh_seeds, fresh=fresh, trust=trust, data=data, say=say)
    if as_json:
        return print_json(result, "hotband-study")
    return show_answer(terminal(result), details)


@study_app.command("emulate")
def study_emulate(
    study: StudyArgument,
    scale: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Share of the study's data and drives, such as 1/1000.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(metavar="PART[,PART]", help="Run these parts alone.")] = None,
    out: OutOption = None,
    fresh: FreshOption = False,
    as_json: JsonFlag = False,
) -> None:
    """Run real programs on a study's machines, emulated at a scale that fits this host; print ratios beside those of
    model and publication."""
    result = run.emulate(file.load(study), Asked(tuple(listed(only)), scale, out, fresh), say)
    if as_json:
        return print_json(result, "hotband-study-emulation")
    show(emulation_table(result))
    return show_lines(emulation_lines(result))


@study_app.command("swings")
@on_executor
def study_swings(
    study: StudyArgument,
    out: OutOption = None,
    seed: SeedOption = None,
    only: Annotated[list[str] | None, typer.Option(metavar="KEY[,KEY]", help="Swing these assumptions alone.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Runs at a time; all cores where not said.")] = None,
    save: Annotated[bool, typer.Option("--save", help="Keep them in the study's folder, as what it ships.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Run each assumption at both ends of its range; print which of them move a prediction."""
    from dataclasses import asdict

    swings = run_swings(study, out, save, seed, listed(only), jobs, say)
    if as_json:
        return print_json(asdict(swings), "hotband-study-swings")
    found = summary(swings)
    refused = (
        marked("[yellow]Refused:[/] {what}", what=f"{row['name']} at its {row['end']} end: {row['text']}")
        for row in found["refused"]
    )
    return show(swings_table(found), found["text"], *refused)


@study_app.command("intervals")
@on_executor
def study_intervals(
    study: OptionalStudyArgument = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every study of the catalog, and what the model leaves out.")
    ] = False,
    out: OutOption = None,
    save: Annotated[bool, typer.Option("--save", help="Keep them in the study's folder, as what it ships.")] = False,
    only: Annotated[list[str] | None, typer.Option(metavar="LOAD[,LOAD]", help="Only the runs of these loads.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Runs at a time; all cores where not said.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Draw the uncertain values of a study's machines: how far its figures may be off; with --all also how often
    intervals hold what is published, each study left out."""
    if every == (study is not None):
        raise UserError("STUDY", "", study or "", "expected the name of a study, or --all")
    if every:
        if only:
            raise UserError("--only", "", listed(only)[0], "is for one study: leave out --all")
        made = run_all(out, save, jobs, say)
        return print_json(made, "hotband-all-intervals") if as_json else show(*views(made, LEVEL))
    found = run_intervals(str(study), out=out, save=save, only=listed(only), jobs=jobs, say=say)
    return print_json(json.loads(found.text()), "hotband-study-intervals") if as_json else show(spreads_table(found))


@study_app.command("why")
def study_why(
    study: StudyArgument,
    figure: Annotated[str, typer.Argument(metavar="FIGURE", help="The id of a figure of it.")],
    level: LevelOption = LEVEL,
    as_json: JsonFlag = False,
) -> None:
    """Say where the uncertainty of a study's figure comes from, of the draws that it ships. Runs nothing."""
    found = why_figure(study, figure, level)
    return print_json(found, "hotband-why") if as_json else show_views(why_views(found))


@study_app.command("accuracy")
@on_executor
def study_accuracy(
    studies: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="These alone; else all.")] = None,
    out: OutOption = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the account between the marks of this page.")
    ] = None,
    fresh: FreshOption = False,
    as_json: JsonFlag = False,
) -> None:
    """Run studies; print how large their errors are, by class of figure: of figures that were seen, and of those that
    were predicted before they were seen, then and now."""
    if page is not None:
        rewritable(page)
    account = run_account(studies or [], out, fresh, say)
    if page is not None:
        rewrite(page, account)
    if as_json:
        return print_json(account, "hotband-study-accuracy")
    return show(accuracy_table(account), "", goals_table(account["goals"]))


@study_app.command("blind")
def study_blind(as_json: JsonFlag = False) -> None:
    """Print how far predictions were off that were made before the published figure was seen. Runs nothing."""
    from dataclasses import asdict

    found = blind_errors()
    if as_json:
        return print_rows([asdict(errors) for errors in found])
    columns = [
        column("study"),
        column("figures"),
        numeric("n"),
        *map(numeric, ("median", "90th percentile", "largest")),
    ]
    table = Table("Errors of predictions made before the figure was seen, either way, in percent", columns)
    for one in found:
        table.add(one.study, one.figures, one.measurements, one.median_pct, one.p90_pct, one.largest_pct)
    return show(table)
