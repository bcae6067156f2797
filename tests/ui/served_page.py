"""A served page, as tests ask it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hotband.faces.ui.server import HOST, Ui


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
        """The folder of the page in that of the store."""
        return self.ui.kept.path / "ui"

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

    def refused(self, kind: str, form: Mapping[str, object]) -> dict[str, Any]:
        """What is said of a form that asks for what cannot be run; on a host with much to do it is said by the job."""
        answer = self.post("/api/jobs", {"kind": kind, "form": form})
        if "id" in answer:
            answer = {"error": self.ended(answer["id"])["mistake"]}
        assert answer["error"], f"{form} was run"
        found: dict[str, Any] = answer["error"]
        return found

    def ended(self, name: str) -> dict[str, Any]:
        """A job when it has ended."""
        job = self.ui.jobs.all[name]
        assert job.ended.wait(60), f"{name} did not end"
        found: dict[str, Any] = self.get(f"/api/jobs/{name}")
        return found
