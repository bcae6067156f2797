"""Serve a machine until a request to end, or until a command next to it has ended."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hotband.base.child import start_child
from hotband.base.errors import UserError
from hotband.base.text.quantities import SPAN_EXPECTED, span_ns
from hotband.base.views import view_of
from hotband.execution.experiment import new_record
from hotband.execution.runs.signals import exit_code, forget_interrupts
from hotband.execution.serve.ending import Ending
from hotband.execution.serve.left import ServedLeft
from hotband.execution.serve.served import LOOK_EVERY_S, Served, ServeSpec

if TYPE_CHECKING:
    from hotband.base.question import Way
    from hotband.execution.serve.asked import Serving

Look = Callable[[Served], None]

TO_END_S = 5
"""Time that a parallel command has to end after the request: half of the documented wait."""


def answer(question: Serving, way: Way) -> ServedLeft:
    """Serve a machine; return what is left of it. Raises UserError for a mistake, and for what the host refuses."""
    spec = question.spec()
    seconds = seconds_of(question.duration, question.run, question.events)
    if question.run is not None:
        expect_places(spec, question.run)
    ending = Ending()
    with ending.taken(), new_record(spec.out, spec.out_option, question.fresh), Served(spec) as served:
        ending.served()
        # Where programs find it is said at once, and not in the way of data.
        for line in view_of("hotband-served", "reached")(served):
            way.say(line)
        code = _wait(served, question.run, seconds, way, view_of("hotband-served", "live")() if question.live else None)
        serving = served.serving()
    assert served.finished is not None, "it has ended"
    for line in served.busy:
        way.say(f"{line}: data not yet written is lost; next time end it first")
    return ServedLeft(served.finished, serving, code)


def _wait(served: Served, command: str | None, seconds: float | None, way: Way, look: Look | None) -> int:
    """Wait for the end; return the exit code of the command."""
    try:
        if command is not None:
            return run_beside(served, command, look)
        if seconds is None:
            way.say("Served until it is interrupted (Ctrl-C).")
        served.wait(seconds, look)
    except KeyboardInterrupt:
        # The usual end of a server, what it leaves is whole; a command was not done.
        code = exit_code()
        forget_interrupts()
        return code if command is not None else 0
    return 0


def seconds_of(text: str | None, command: str | None, events: Sequence[str]) -> float | None:
    """Return how long it is served. Raises UserError for what is no time, beside a command, which says itself how long,
    and for an event that is later."""
    if text is None:
        return None
    if command is not None:
        raise UserError("question.duration", "", text, "is for serving without a command: remove it, or question.run")
    ns = span_ns(text)
    if ns is None:
        raise UserError("question.duration", "", text, f"expected {SPAN_EXPECTED}")
    for event in events:
        at = _at_ns(event)
        if at is not None and at >= ns:
            accepted = f"is not before the end: expected a time before question.duration {text}"
            raise UserError("question.events", "", event, accepted)
    return ns / 1e9


def _at_ns(event: str) -> float | None:
    """Return when an event happens; None if the text is no event, which the engine reports."""
    when = re.match(r"\s*at\s+([^:]*):", event)
    return None if when is None else span_ns(when[1].strip())


def expect_places(spec: ServeSpec, command: str) -> None:
    """Raise UserError for a command that names a place which is not served: its own environment has nothing there."""
    missing = {
        "uri": "" if spec.nbd else "hotband serve",
        "file": "" if spec.folder is not None or spec.loop else "question.fuse DIR or question.loop",
        "device": "" if spec.loop else "question.loop",
    }
    for name, option in missing.items():
        if option and re.search(rf"\$({name}\b|{{{name}\b)", command):
            accepted = f"names ${name}, which is not set: expected {option} with it"
            raise UserError("question.run", "", command, accepted)


def run_beside(served: Served, command: str, look: Look | None) -> int:
    """Run a shell command while it is served, with the first volume's places in its environment; its exit code."""
    first = next(iter(served.volumes.values()))
    places = {"uri": first.uri, "file": first.file, "device": first.device}
    # What the user's own environment has under these names is another place: a command could write over it.
    environment = {name: None if path is None else str(path) for name, path in places.items()}
    child = start_child(["/bin/sh", "-c", command], output="terminal", environment=environment)
    try:
        while not child.ended_within(LOOK_EVERY_S):
            if look is not None:
                look(served)
    finally:
        child.end(TO_END_S)
    # Of what a signal ended shells tell 128 and its number.
    return child.code if child.code >= 0 else 128 - child.code
