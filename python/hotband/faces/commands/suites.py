"""`hotband pts`: a suite on models and on real drives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hotband.base.errors import UserError
from hotband.base.text.table import View
from hotband.base.text.write import expect_page
from hotband.execution.experiment.progress import run_progress
from hotband.execution.runs.signals import INTERRUPTED, stoppable
from hotband.execution.targets.real_asked import RealAsked
from hotband.faces.api.suites import PtsResult
from hotband.faces.commands import names
from hotband.faces.commands.on_demand import with_epilog
from hotband.faces.commands.output import (
    FreshOption,
    JsonFlag,
    OutOption,
    all_listed,
    parse_set,
    print_json,
    say,
    show_views,
)
from hotband.faces.commands.real import EraseOption, PurgeOption, SizeOption, YesOption, can_ask, goes_on
from hotband.questions.suites.asking import Suite, pts_of
from hotband.questions.suites.pts import Interrupted, run_pts

if TYPE_CHECKING:
    from hotband.questions.suites.target import SuiteTarget


class DriveClass(StrEnum):
    """Of the PTS."""

    enterprise = "enterprise"
    client = "client"


SuiteArgument = Annotated[
    str,
    typer.Argument(
        metavar="MACHINE|real:PATH",
        help="A drive, LAYOUT:COUNTxDRIVE, a TOML file; real:PATH measures.",
        **names.MACHINE,
    ),
]
ClassOption = Annotated[DriveClass, typer.Option("--class", help="The specification's class.")]
PageOption = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE.html", help="Its page.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a value of a model.", autocompletion=names.set_keys),
]
MinuteOption = Annotated[
    str | None, typer.Option("--minute", metavar="TIME", help="What a minute of it takes: a look, no result.")
]
CacheOption = Annotated[
    bool, typer.Option("--set-write-cache", help="real: turn the drive's write cache as the class has it, and back.")
]
PTS_EPILOG = """\
[bold]Examples[/]

hotband pts s4500-960 -o pts.html

hotband pts 980-pro-1tb --class client --test iops,latency --out pts

hotband pts real:/data --size "8 GiB" --quick --minute "1 s" --out look

hotband pts real:/dev/sdb --erase SERIAL --out pts       # a day and more; the same command goes on after a stop"""


@with_epilog(PTS_EPILOG)
def pts(
    on: SuiteArgument,
    drive_class: ClassOption = DriveClass.enterprise,
    tests: Annotated[list[str] | None, typer.Option("--test", metavar="TEST[,TEST]", help="These alone.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of all times: a look, no result.")] = False,
    minute: MinuteOption = None,
    threads: Annotated[int | None, typer.Option(help="Of random loads; the class's where not said.")] = None,
    depth: Annotated[int | None, typer.Option(help="I/Os outstanding of each thread.")] = None,
    sponsor: Annotated[str, typer.Option(metavar="NAME", help="Who tests: for the report's header.")] = "",
    settings: SetOption = None,
    erase: EraseOption = None,
    size: SizeOption = None,
    purge_by: PurgeOption = None,
    set_write_cache: CacheOption = False,
    yes: YesOption = False,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")] = 1,
    out: OutOption = None,
    fresh: FreshOption = False,
    output: PageOption = None,
    as_json: JsonFlag = False,
) -> None:
    """SNIA's performance test of solid-state storage (PTS 2.0.2): purge, preconditioning, rounds until steady, report.

    Tests: iops, throughput, latency, write-saturation, idle-recovery, cross-stimulus.
    """
    from hotband.views.suites.show import views

    if tests and not all_listed(tests):
        raise UserError("--test", "", ",".join(tests), "names no test")
    real = RealAsked(erase, size, purge_by=purge_by)
    asked = pts_of(
        suite_of(on, settings, real, seed, out, fresh, yes, output),
        drive_class=drive_class.value,
        tests=all_listed(tests),
        quick=quick,
        minute=minute,
        threads=threads,
        depth=depth,
        sponsor=sponsor,
        set_write_cache=set_write_cache,
    )
    expect_agreed(asked.target, asked.ahead, True, yes)
    stopped = False
    try:
        with stoppable():
            found = PtsResult(run_pts(asked, watch=run_progress))
    except Interrupted as stop:
        found, stopped = PtsResult(stop.document), True
    show_suite(found, views(found.document), out, output, as_json)
    if stopped:
        where = f"; kept in {out}: the same command goes on from there" if out is not None else ""
        count = sum(test["id"] in asked.tests for test in found.document["tests"])
        say(f"hotband: interrupted; {count} of {len(asked.tests)} tests were finished{where}")
        raise typer.Exit(INTERRUPTED)


def suite_of(
    machine: str,
    settings: list[str] | None,
    real: RealAsked,
    seed: int,
    out: Path | None,
    fresh: bool,
    yes: bool,
    output: Path | None,
) -> Suite:
    """What both suites are told. Raises UserError for a page that cannot be written."""
    if output is not None:
        expect_page("--output", output)
    return Suite(machine, parse_set(settings or []), real, seed, out, fresh, can_ask=can_ask(yes))


def expect_agreed(target: SuiteTarget, ahead: Callable[[], list[str]], writes: bool, yes: bool) -> None:
    """Says what is ahead on hardware, and asks once before it is written. Raises UserError for --yes to a model, Exit
    where the answer is no."""
    if target.is_model:
        if yes:
            raise UserError("--yes", "", "", f"is for a real device; {target.name} is a model")
        return
    for line in ahead():
        say(line)
    if writes and not goes_on(yes):
        raise typer.Exit(INTERRUPTED)


def show_suite(
    found: PtsResult,
    views: Iterable[View],
    out: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Prints what a suite left, and writes it where that was asked for."""
    if as_json:
        print_json(found.document, found.document["schema"])
    else:
        show_views(views)
    written = found.write(out, output)
    if not as_json:
        show_views(f"Written: {path}" for path in written)
