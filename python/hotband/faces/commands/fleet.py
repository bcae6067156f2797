"""`hotband fleet`: groups of machines over months."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hotband.base.text.write import expect_page
from hotband.execution.experiment.progress import run_progress
from hotband.execution.runs.signals import INTERRUPTED
from hotband.faces.commands.executors import on_executor
from hotband.faces.commands.intervals import JobsOption
from hotband.faces.commands.on_demand import with_epilog
from hotband.faces.commands.output import (
    FreshOption,
    JsonFlag,
    OutOption,
    print_after,
    print_json,
    say,
    show,
    show_lines,
)
from hotband.views.fleet.show import answers_of, closing_lines, figures_table, group_lines, groups_table, years_table

EPILOG = """\
[bold]Example[/]

hotband fleet fleet.toml --repetitions 200 --out fleet -o fleet.html"""


@with_epilog(EPILOG)
@on_executor
def fleet(
    fleet: Annotated[Path, typer.Argument(metavar="FLEET", help="A TOML file: docs/guides/fleet.md.")],
    repetitions: Annotated[
        int | None, typer.Option(min=2, max=1_000_000, help="Instead of those of the file (1000 where not said).")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")] = None,
    jobs: JobsOption = None,
    out: OutOption = None,
    fresh: FreshOption = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE.html", help="Its page.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Simulate a fleet over months: failures, rebuilds, spares, wear, energy, expected loss of data and cost."""
    from hotband.questions.fleet.run import Asked, run_fleet, spec_of

    if output is not None:
        expect_page("--output", output, [fleet])
    asked = Asked(repetitions, seed, out, fresh, jobs)
    done = run_fleet(spec_of(fleet, asked), asked, run_progress)
    data = done.summary

    def printed(page: Path | None) -> None:
        if as_json:
            return print_json(data, "hotband-fleet")
        show_lines(answers_of(data))
        several = [groups_table(data)] if len(data["groups"]) > 1 else []
        show(figures_table(data), *several, years_table(done))
        show_lines([*group_lines(data), *closing_lines(data)])
        return show_lines([f"Page: {page}"] if page is not None else [])

    print_after(lambda: done.report(output) if output is not None else None, printed)
    if not done.complete:
        where = f"; kept in {out}: the same command goes on from there" if out is not None else ""
        say(f"hotband: interrupted; {done.repetitions:,} of {done.spec.repetitions:,} repetitions were finished{where}")
        raise typer.Exit(INTERRUPTED)
