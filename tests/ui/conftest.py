"""One server and one browser a session: the server in a thread of the tests, the browser where Playwright and Debian's
chromium are."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from served_page import Served
from watched_page import Watched

from hotband.faces.ui.kept import Kept
from hotband.faces.ui.server import Ui, _listen, _Server, config_of

CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="session")
def serving() -> Iterator[Callable[[Path], Served]]:
    """Starts servers, and ends them with the session."""
    running: list[tuple[uvicorn.Server, threading.Thread, Kept]] = []

    def start(folder: Path) -> Served:
        kept = Kept(folder)
        kept.open()
        listening = _listen(0)
        port = listening.getsockname()[1]
        ui = Ui(kept, "a-token-of-tests", port)
        ready = threading.Event()
        server = _Server(config_of(ui), ready.set, ui.ending)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        assert ready.wait(20)
        running.append((server, thread, kept))
        return Served(ui, port)

    yield start
    for server, thread, kept in running:
        server.should_exit = True
        thread.join(20)
        kept.close()


@pytest.fixture(scope="session")
def served(serving: Callable[[Path], Served], tmp_path_factory: pytest.TempPathFactory) -> Served:
    """The server of the session."""
    return serving(tmp_path_factory.mktemp("ui-store"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's chromium through Playwright; skipped where either is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed (apt install chromium)")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-extensions"]
        )
        yield found
        found.close()


@pytest.fixture(scope="module")
def tab_of_file(browser: Any) -> Iterator[Watched]:
    """One page of the browser: a context and a page of its own cost each test a second of the processor."""
    context = browser.new_context()
    yield Watched(context.new_page())
    context.close()


@pytest.fixture
def tab(tab_of_file: Watched) -> Watched:
    """The page of the file, as if it were new."""
    tab_of_file.leave()
    return tab_of_file
