"""One server and one browser a session: the server in a thread of the tests, the browser where Playwright and Debian's
chromium are."""

from __future__ import annotations

import http.client
import json
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from hotband.ui.kept import Kept
from hotband.ui.server import HOST, Ui, _listen, _Server

CHROMIUM = shutil.which("chromium")


@dataclass
class Served:
    """A server: its address with the token, and ways to ask it."""

    ui: Ui
    port: int

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/?token={self.ui.token}"

    @property
    def store(self) -> Path:
        return self.ui.kept.path

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers (lower case) and body of an answer; no token is sent but that of `headers`."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=30)
        connection.request(method, path, body, dict(headers or {}))
        answer = connection.getresponse()
        found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        connection.close()
        return found

    def get(self, path: str) -> Any:
        """A JSON document, asked as the page asks."""
        return json.loads(self.ask("GET", path, None, {"x-hotband-token": self.ui.token})[2])

    def post(self, path: str, data: object) -> Any:
        """The same of something that changes."""
        return json.loads(self.ask("POST", path, json.dumps(data).encode(), {"x-hotband-token": self.ui.token})[2])

    def drop(self, name: str, data: bytes) -> Any:
        """Drops a file."""
        from urllib.parse import quote

        path = f"/api/dropped?name={quote(name)}"
        return json.loads(self.ask("POST", path, data, {"x-hotband-token": self.ui.token})[2])

    def finish(self, kind: str, form: Mapping[str, object]) -> dict[str, Any]:
        """Begins a job and waits for its end."""
        begun = self.post("/api/jobs", {"kind": kind, "form": form})
        assert "id" in begun, begun
        return self.ended(begun["id"])

    def ended(self, name: str) -> dict[str, Any]:
        """A job when it has ended."""
        job = self.ui.jobs.all[name]
        assert job.ended.wait(60), f"{name} did not end"
        found: dict[str, Any] = self.get(f"/api/jobs/{name}")
        return found


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
        config = uvicorn.Config(ui.app, log_level="warning", access_log=False, ws="none", timeout_graceful_shutdown=1)
        server = _Server(config, ready.set, ui.ending)
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
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()
