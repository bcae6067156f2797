"""`hotband pts` and `hotband quick`: suites on models and on real drives."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hotband.commands import names
from hotband.commands.group import INTERRUPTED
from hotband.commands.output import FreshOption, JsonFlag, OutOption, listed, parse_set, print_json, say, show_views
from hotband.commands.real import EraseOption, YesOption
from hotband.errors import UserError

if TYPE_CHECKING:
    from hotband.suites.target import SuiteTarget


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
DEFAULT_PAGE = "report.html"
PTS_EPILOG = """\
[bold]Examples[/]

hotband pts s4500-960 -o pts.html

hotband pts 980-pro-1tb --class client --test iops,latency --out pts

hotband pts real:/dev/sdb --erase SERIAL --out pts       # a day and more; the same command goes on after a stop"""


def pts(
    machine: SuiteArgument,
    drive_class: ClassOption = DriveClass.enterprise,
    test: Annotated[list[str] | None, typer.Option("--test", metavar="TEST[,TEST]", help="These alone.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of all times: a look, no result.")] = False,
    threads: Annotated[int | None, typer.Option(help="Of random loads; the class's where not said.")] = None,
    depth: Annotated[int | None, typer.Option(help="I/Os outstanding of each thread.")] = None,
    sponsor: Annotated[str, typer.Option(metavar="NAME", help="Who tests: for the report's header.")] = "",
    set_: SetOption = None,
    erase: EraseOption = None,
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
    from hotband.runs.progress import run_progress
    from hotband.runs.signals import stoppable
    from hotband.suites.pts import Interrupted, run_pts
    from hotband.suites.pts.asking import asked_of
    from hotband.suites.pts.show import views
    from hotband.text.write import expect_page

    if output is not None:
        expect_page("--output", output)
    if test and not listed(test):
        raise UserError("--test", "", ",".join(test), "names no test")
    asked = asked_of(
        machine,
        drive_class=drive_class.value,
        tests=listed(test),
        quick=quick,
        threads=threads,
        depth=depth,
        sponsor=sponsor,
        set=parse_set(set_ or []),
        erase=erase,
        seed=seed,
        out=out,
        fresh=fresh,
    )
    expect_yes(asked.target, erase is not None, yes)
    stopped = False
    try:
        with stoppable():
            document = run_pts(asked, watch=run_progress)
    except Interrupted as stop:
        document, stopped = stop.document, True
    if as_json:
        print_json(document)
    else:
        show_views(views(document))
    written = _written(document, out, output)
    if not as_json:
        show_views(f"Written: {path}" for path in written)
    if stopped:
        where = f"; kept in {out}: the same command goes on from there" if out is not None else ""
        say(f"hotband: interrupted; {len(document['tests'])} of {len(asked.tests)} tests were finished{where}")
        raise typer.Exit(INTERRUPTED)


QUICK_EPILOG = """\
[bold]Examples[/]

hotband quick 980-pro-1tb --for "5 min"

hotband quick real:/dev/nvme1n1 --for "1 h" -o look.html          # reads alone; with --erase SERIAL writes, too"""
ForOption = Annotated[str, typer.Option("--for", metavar="TIME", help="How long all of it takes.")]


def quick(
    machine: SuiteArgument,
    time: ForOption = "5 min",
    expect: Annotated[
        str | None, typer.Option(metavar="PRODUCT", help="What it should be: its model's figures beside it.")
    ] = None,
    set_: SetOption = None,
    erase: EraseOption = None,
    yes: YesOption = False,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")] = 1,
    out: OutOption = None,
    fresh: FreshOption = False,
    output: PageOption = None,
    as_json: JsonFlag = False,
) -> None:
    """A first look at a disk, a SATA or an NVMe drive in a given time: what it is good at, is it as expected?"""
    from hotband.runs.progress import run_progress
    from hotband.runs.signals import stoppable
    from hotband.suites.asking import quick_of
    from hotband.suites.quick import run_quick
    from hotband.suites.quick_page import views, write_quick
    from hotband.text.foreign import json_text
    from hotband.text.write import expect_page, write_file

    if output is not None:
        expect_page("--output", output)
    asked = quick_of(
        machine, time=time, expect=expect, set=parse_set(set_ or []), erase=erase, seed=seed, out=out, fresh=fresh
    )
    expect_yes(asked.target, asked.writes, yes)
    with stoppable():
        document = run_quick(asked, watch=run_progress)
    if as_json:
        print_json(document)
    else:
        show_views(views(document))
    page = output or (None if out is None else out / DEFAULT_PAGE)
    if out is not None:
        write_file(out / "quick.json", json_text(document) + "\n")
    if page is not None:
        write_quick(document, page)
        if not as_json:
            show_views([f"Written: {page}"])


def expect_yes(target: SuiteTarget, writes: bool, yes: bool) -> None:
    """Asks once before a real target is written. Raises UserError where there is nobody to ask, Exit where the answer
    is no."""
    if target.is_model:
        if yes:
            raise UserError("--yes", "", "", f"is for a real device; {target.name} is a model")
        return
    if not writes or yes:
        return
    say(f"{target.name} will be written over and over: all that is on it is lost")
    if not sys.stdin.isatty():
        accepted = "missing: what is said above will be done, and there is no terminal to ask: expected --yes"
        raise UserError("--yes", "", "", accepted)
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise typer.Exit(INTERRUPTED)


def _written(document: object, out: Path | None, output: Path | None) -> list[Path]:
    """The JSON and the page of a run, where it has a folder or a page was asked for."""
    from typing import TYPE_CHECKING, cast

    from hotband.suites.pts.page import write_page
    from hotband.text.foreign import json_text
    from hotband.text.write import write_file

    if TYPE_CHECKING:
        from hotband.suites.pts.documents import PtsDoc
    found = []
    if out is not None:
        found.append(out / "pts.json")
        write_file(found[0], json_text(document) + "\n")
    page = output or (None if out is None else out / DEFAULT_PAGE)
    return [*found, write_page(cast("PtsDoc", document), page)] if page is not None else found
