"""`hotband serve` and `hotband mount`: a modelled machine as a block device that programs use."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hotband.base.child import start_child
from hotband.base.errors import UserError
from hotband.base.text.quantities import SPAN_EXPECTED, span_ns
from hotband.execution.experiment import new_record
from hotband.execution.runs.signals import INTERRUPTED, forget_interrupts
from hotband.execution.serve import Served, ServeSpec
from hotband.execution.serve.ending import Ending
from hotband.execution.serve.lateness import lateness_lines
from hotband.execution.serve.served import LOOK_EVERY_S
from hotband.faces.commands import names
from hotband.faces.commands.on_demand import with_epilog
from hotband.faces.commands.output import (
    FreshOverOption,
    JsonFlag,
    SetOption,
    parse_set,
    print_text,
    say,
    show,
    show_lines,
    show_views,
)
from hotband.views.run import run_views
from hotband.views.serve import live_line, reached_lines, serving_table

if TYPE_CHECKING:
    from hotband.execution.serve import Serving

MachineServed = Annotated[
    str,
    typer.Argument(metavar="MACHINE", help="A drive, LAYOUT:COUNTxDRIVE, or a TOML file.", **names.MACHINE),
]
EventOption = Annotated[
    list[str] | None,
    typer.Option("--event", metavar="EVENT", help="What happens, such as 'at 60 s: power-off'. May be repeated."),
]
StoreOption = Annotated[
    Path | None, typer.Option("--store", metavar="FILE", help="Keeps what is written; in memory where not said.")
]
BaseOption = Annotated[
    Path | None, typer.Option("--base", metavar="IMAGE", help="What is read where nothing was written; stays as it is.")
]
RecordOption = Annotated[Path | None, typer.Option("--record", metavar="DIR", help="Folder for the record.")]
LogOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Log every I/O, to .parquet or .csv.")]
DurationOption = Annotated[
    str | None, typer.Option("--duration", metavar="TIME", help="How long; until interrupted where not said.")
]
RunOption = Annotated[
    str | None,
    typer.Option("--run", metavar="COMMAND", help="Run it in a shell with $uri, $file, $device, then end."),
]
LiveOption = Annotated[bool, typer.Option("--live", help="A line with rates and lateness, twice a second.")]
SpinOption = Annotated[str, typer.Option(metavar="TIME", help='Busy wait before an answer is due; "0 us" for none.')]
PriorityOption = Annotated[
    bool, typer.Option("--priority/--no-priority", help="Real-time priority, where the host lets it.")
]
AwakeOption = Annotated[
    bool,
    typer.Option("--awake/--no-awake", help="Keep the host's cores from sleeping, where it lets it."),
]
AnywayOption = Annotated[bool, typer.Option("--anyway", help="Even if it is faster than this host can serve.")]
SeedOption = Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Root of all randomness.")]
TO_END_S = 5
"""How long a command that is run beside may take to end when it is told to: half of what users are asked to wait."""
SERVE_EPILOG = """\
[bold]Examples[/]

hotband serve exos-15e900-512n --run 'fio --name=r --ioengine=nbd --uri=$uri --rw=randread --bs=4k --runtime=10'

hotband serve raid10:8xent-15k --nbd /run/array.sock --store array.img --record out --live

hotband mount nytro-1351-960 /mnt/drive --loop"""


@with_epilog(SERVE_EPILOG)
def serve(
    on: MachineServed,
    socket: Annotated[
        Path | None, typer.Option("--nbd", metavar="SOCKET", help="Unix socket of NBD clients; a temporary one.")
    ] = None,
    tcp: Annotated[
        str | None, typer.Option("--tcp", metavar="HOST:PORT", help="NBD on TCP, with --tls or --insecure-loopback.")
    ] = None,
    tls: Annotated[
        Path | None, typer.Option("--tls", metavar="DIR", help="server-cert.pem, server-key.pem, ca-cert.pem.")
    ] = None,
    insecure_loopback: Annotated[bool, typer.Option(help="TCP without TLS, for this host only.")] = False,
    fuse: Annotated[Path | None, typer.Option("--fuse", metavar="DIR", help="Mount a file a volume there.")] = None,
    loop: Annotated[bool, typer.Option("--loop", help="With a loop device a volume (needs root).")] = False,
    store: StoreOption = None,
    base: BaseOption = None,
    record: RecordOption = None,
    fresh: FreshOverOption = False,
    io_log: LogOption = None,
    settings: SetOption = None,
    events: EventOption = None,
    seed: SeedOption = 1,
    duration: DurationOption = None,
    run: RunOption = None,
    live: LiveOption = False,
    spin: SpinOption = "200 us",
    priority: PriorityOption = True,
    awake: AwakeOption = True,
    anyway: AnywayOption = False,
    as_json: JsonFlag = False,
) -> None:
    """Serve a modelled machine on the wall clock as a block device: NBD, a file, or a loop device."""
    spec = ServeSpec(
        on,
        parse_set(settings or []),
        seed,
        tuple(events or ()),
        socket,
        fuse,
        loop,
        store=store,
        base=base,
        out=record,
        out_option="--record",
        io_log=io_log,
        spin=spin,
        priority=priority,
        awake=awake,
        anyway=anyway,
        tcp=tcp,
        tls=tls,
        insecure_loopback=insecure_loopback,
    )
    _serve(spec, Shown(_seconds(duration, run, spec.events), run, live, as_json, fresh))


@with_epilog(SERVE_EPILOG)
def mount(
    on: MachineServed,
    fuse: Annotated[Path, typer.Argument(metavar="DIR", help="Where a file a volume appears.")],
    loop: Annotated[bool, typer.Option("--loop", help="With a loop device a volume (needs root).")] = False,
    store: StoreOption = None,
    base: BaseOption = None,
    record: RecordOption = None,
    fresh: FreshOverOption = False,
    io_log: LogOption = None,
    settings: SetOption = None,
    events: EventOption = None,
    seed: SeedOption = 1,
    duration: DurationOption = None,
    run: RunOption = None,
    live: LiveOption = False,
    spin: SpinOption = "200 us",
    priority: PriorityOption = True,
    awake: AwakeOption = True,
    anyway: AnywayOption = False,
    as_json: JsonFlag = False,
) -> None:
    """Mount a modelled machine: a file a volume, and with --loop block devices, as long as the command runs."""
    spec = ServeSpec(
        on,
        parse_set(settings or []),
        seed,
        tuple(events or ()),
        folder=fuse,
        loop=loop,
        nbd=False,
        store=store,
        base=base,
        out=record,
        out_option="--record",
        io_log=io_log,
        spin=spin,
        priority=priority,
        awake=awake,
        anyway=anyway,
    )
    _serve(spec, Shown(_seconds(duration, run, spec.events), run, live, as_json, fresh))


@dataclass(frozen=True)
class Shown:
    """How long it is served, what is run beside it, what is printed, and whether a record that is there is written
    over."""

    seconds: float | None
    command: str | None
    live: bool
    as_json: bool
    fresh: bool


def _seconds(text: str | None, command: str | None, events: Sequence[str]) -> float | None:
    """How long it is served. Raises UserError for what is no time, beside a command, which says itself how long, and
    for an event that is later."""
    if text is None:
        return None
    if command is not None:
        raise UserError("--duration", "", text, "is for serving without a command: leave it out, or --run")
    ns = span_ns(text)
    if ns is None:
        raise UserError("--duration", "", text, f"expected {SPAN_EXPECTED}")
    for event in events:
        at = _at_ns(event)
        if at is not None and at >= ns:
            raise UserError("--event", "", event, f"is not before the end: expected a time before --duration {text}")
    return ns / 1e9


def _at_ns(event: str) -> float | None:
    """When an event happens; None where the text is none, which the engine says."""
    when = re.match(r"\s*at\s+([^:]*):", event)
    return None if when is None else span_ns(when[1].strip())


def expect_places(spec: ServeSpec, command: str) -> None:
    """Raises UserError for a command that names a place which is not served: its own environment has nothing there."""
    missing = {
        "uri": "" if spec.nbd else "hotband serve",
        "file": "" if spec.folder is not None or spec.loop else "--fuse DIR or --loop",
        "device": "" if spec.loop else "--loop",
    }
    for name, option in missing.items():
        if option and re.search(rf"\$({name}\b|{{{name}\b)", command):
            raise UserError("--run", "", command, f"names ${name}, which there is not: expected {option} with it")


def _serve(spec: ServeSpec, shown: Shown) -> None:
    code = 0
    if shown.command is not None:
        expect_places(spec, shown.command)
    ending = Ending()
    with ending.taken(), new_record(spec.out, spec.out_option, shown.fresh), Served(spec) as served:
        ending.served()
        # Where programs find it is said at once, and not in the way of data.
        for line in reached_lines(served):
            say(line)
        look = live_lines() if shown.live else None
        try:
            if shown.command is not None:
                code = run_beside(served, shown.command, look)
            else:
                if shown.seconds is None:
                    say("Served until it is interrupted (Ctrl-C).")
                served.wait(shown.seconds, look)
        except KeyboardInterrupt:
            # The usual end of a server, what it leaves is whole; a command was not done.
            code = INTERRUPTED if shown.command is not None else 0
            forget_interrupts()
        serving = served.serving()
    assert served.finished is not None, "it has ended"
    for line in served.busy:
        say(f"{line}: what was not written out yet is lost; end that first next time")
    if shown.as_json:
        print_text(served.finished.text)
    else:
        show_views(run_views(served.finished.record, served.finished.spec.out))
        if serving.kinds:
            show(serving_table(serving))
        show_lines(lateness_lines(serving))
    if code:
        raise typer.Exit(code)


def live_lines() -> Callable[[Served], None]:
    """Prints a line twice a second, over the one before on a terminal."""
    kept: list[tuple[float, Serving]] = []
    terminal = sys.stderr.isatty()

    def look(served: Served) -> None:
        now = time.monotonic()
        if kept and now - kept[-1][0] < 0.5:
            return
        serving = served.serving()
        before, since = (kept[-1][1], now - kept[-1][0]) if kept else (None, served.seconds)
        kept[:] = [(now, serving)]
        line = f"{served.seconds:6.1f} s  {live_line(serving, before, since)}"
        sys.stderr.write(f"\r{line[:79]:<79}" if terminal else f"{line}\n")
        sys.stderr.flush()

    return look


def run_beside(served: Served, command: str, look: Callable[[Served], None] | None) -> int:
    """Runs a shell command while it is served, with the first volume's places in its environment; its exit code."""
    first = next(iter(served.volumes.values()))
    places = {"uri": first.uri, "file": first.file, "device": first.device}
    # What the user's own environment has under these names is another place: a command could write over it.
    environment = {name: None if place is None else str(place) for name, place in places.items()}
    child = start_child(["/bin/sh", "-c", command], output="terminal", environment=environment)
    try:
        while not child.ended_within(LOOK_EVERY_S):
            if look is not None:
                look(served)
    finally:
        child.end(TO_END_S)
    # Of what a signal ended shells tell 128 and its number.
    return child.code if child.code >= 0 else 128 - child.code
