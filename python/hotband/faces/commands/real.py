"""`--on real:PATH`: what is ahead is said and asked for, then fio runs; the same record, with its prediction beside."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hotband.base.errors import UserError
from hotband.data.catalog.named import is_emulated, is_real
from hotband.data.record.files import RECORD_FILE, REPORT_FILE
from hotband.execution.runs.signals import stoppable
from hotband.faces.commands.output import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hotband.data.documents.run import RunSpec
    from hotband.execution.experiment import Tick
    from hotband.execution.targets.on_device import OnDevice
    from hotband.execution.targets.outlook import Outlook
    from hotband.execution.targets.real_asked import RealAsked

YesOption = Annotated[bool, typer.Option("--yes", help="real: do not ask before writing.")]
EraseOption = Annotated[
    str | None, typer.Option(metavar="SERIAL", help="real: what may be overwritten; the drive's serial number.")
]
SizeOption = Annotated[str | None, typer.Option(metavar="SIZE", help="real:DIR: size of the file that is made in it.")]
KeepOption = Annotated[bool, typer.Option("--keep", help="real:DIR: leave the file there afterwards.")]
HostsOption = Annotated[
    str | None, typer.Option(metavar="HOST,HOST", help="real: hosts that run fio --server, which ask together.")
]
PowerOption = Annotated[
    str | None, typer.Option("--power", metavar="COMMAND", help="real: a command that prints the drive's watts.")
]
PurgeOption = Annotated[
    str | None,
    typer.Option("--purge-by", metavar="WAY", help="real: discard, format, sanitize or secure-erase; best first."),
]
ExpectOption = Annotated[
    str | None,
    typer.Option(
        "--expect",
        metavar="PRODUCT",
        help="real: drive whose prediction is compared; nearest: search for it; none: no prediction.",
    ),
]


def expect_fit(on: str, yes: bool, asked: RealAsked, interval: float | None) -> None:
    """Raises UserError where an option of hardware is given and the target is none, or the other way round."""
    if is_real(on):
        if interval is not None:
            raise UserError("--interval", "", f"{interval:g}", "is of predictions: --expect PRODUCT has them")
        return
    given = {
        "--yes": yes,
        "--erase": asked.erase,
        "--size": asked.size,
        "--keep": asked.keep,
        "--hosts": asked.hosts,
        "--expect": asked.expect,
        "--power": asked.power,
        "--purge-by": asked.purge_by,
    }
    for option, value in given.items():
        if value:
            shown = value if isinstance(value, str) else ""
            raise UserError(option, "", shown, "is for hardware: expected --on real:PATH with it")


def expect_some(on: Sequence[str], yes: bool, asked: RealAsked) -> None:
    """Raises UserError where an option of hardware is given and none of the machines is any, or one of a file that is
    made in a folder and none of them is a folder. They have no `--expect`."""
    from hotband.execution.targets.place import place_of
    from hotband.execution.targets.target import expect_folder

    if not any(is_real(one) for one in on):
        return expect_fit("", yes, replace(asked, expect=None), None)
    if asked.size is not None or asked.keep:
        places = [place_of(one) for one in on if is_real(one)]
        if not any(place.is_ours for place in places):
            expect_folder(places[0], asked)
    return None


@contextmanager
def measuring(title: str, specs: Sequence[RunSpec], asked: RealAsked, yes: bool) -> Iterator[tuple[OnDevice, Tick]]:
    """The executor of the runs and what it tells its progress to, while requests to end are interruptions."""
    from hotband.execution.experiment.progress import run_progress
    from hotband.execution.targets.target import executor_for, expect_folder
    from hotband.questions.targets.expected import expected_of

    asked = replace(asked, predict=expected_of)
    executor = executor_for(specs, asked, say=say, confirm=asking(yes), can_ask=can_ask(yes))
    expect_folder(executor.place, asked)
    with stoppable(), run_progress(title) as progress:
        yield executor, progress


def can_ask(yes: bool) -> bool:
    """Whether somebody can be asked before something is written, or has said yes already."""
    return yes or sys.stdin.isatty()


def goes_on(yes: bool) -> bool:
    """Whether what was said to be ahead may be done: asked on the terminal, unless `--yes` says it."""
    if yes:
        return True
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def asking(yes: bool) -> Callable[[Outlook], bool]:
    """The same for an executor."""
    return lambda _: goes_on(yes)


def hardware(specs: Sequence[RunSpec], asked: RealAsked, yes: bool) -> OnDevice:
    """Who runs these runs of a sweep, which are all on one piece of hardware."""
    from hotband.execution.targets.target import executor_for

    return executor_for(specs, asked, say=say, confirm=asking(yes), can_ask=can_ask(yes))


@contextmanager
def interruptible(on: Sequence[str]) -> Iterator[None]:
    """Requests to end are interruptions where hardware or an emulated drive is among the machines: fio has to be
    ended, and what is served."""
    with stoppable() if any(is_real(one) or is_emulated(one) for one in on) else nullcontext():
        yield


def write_report(folder: Path, specs: Sequence[RunSpec]) -> Path:
    """The page of what was measured in these runs, its prediction beside it."""
    from hotband.views.report import record_page
    from hotband.views.report.kept import Report, read_records

    own = [spec.out / RECORD_FILE for spec in specs if spec.out is not None]
    records = [one for path in own for one in read_records(path)]
    return Report(record_page(records)).save(folder / REPORT_FILE)
