"""`hotband ui`: a page in the browser, on this computer alone."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from html import escape
from pathlib import Path
from typing import Annotated

import typer

from hotband.base.temporary import TemporaryFolder
from hotband.execution.runs.signals import forget_interrupts, stoppable
from hotband.faces.commands.on_demand import with_epilog
from hotband.faces.commands.output import say, show_lines
from hotband.faces.ui.kept import Kept

EPILOG = """\
[bold]Examples[/]

hotband ui

hotband ui --store lab --port 8642 --no-browser
"""


@with_epilog(EPILOG)
def ui(
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar="DIR",
            help="Keep records, reports and dropped files here; otherwise they are deleted at the end.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0: any free port.")] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address without opening a browser.")
    ] = False,
) -> None:
    """Open a page in the browser, on this computer alone: choose or drop drives, layouts and workloads; run, sweep,
    find, review, compare, studies; live charts, reports, and the command for each."""
    from hotband.faces.ui.server import serve

    def begun(address: str) -> None:
        show_lines([address])
        where = f"kept in {store}" if store is not None else "gone when it ends (--store DIR keeps them)"
        say(f"hotband ui: only this address opens it; records are {where}; Ctrl-C ends it")
        if not no_browser:
            _open(_redirecting(address, stack))

    with stoppable(), ExitStack() as stack:
        folder = store or Path(stack.enter_context(TemporaryFolder("ui")))
        page_store = Kept(folder)
        page_store.open()
        stack.callback(page_store.close)
        try:
            serve(page_store, port, begun)
        except KeyboardInterrupt:
            # The remaining work is short, and a second Ctrl-C would leave the folder; SIGTERM still ends the process.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            forget_interrupts()
            say("hotband ui: ended")


def _redirecting(address: str, stack: ExitStack) -> str:
    """Return the address of a file that leads to the page and is removed with `stack`. Other users can read the
    arguments of the browser's process, so the token must not be among them; they can read neither this file nor its
    folder."""
    folder = Path(stack.enter_context(TemporaryFolder("ui")))
    page = folder / "open.html"
    quoted = escape(address)
    text = f'<!doctype html><meta http-equiv="refresh" content="0;url={quoted}"><a href="{quoted}">hotband ui</a>\n'
    with open(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    return page.as_uri()


def _open(address: str) -> None:
    """Open the browser, if there is one; the server does not wait for it."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
