"""The server: its routes, and one process that listens on loopback until it is ended."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import cache
from html import escape
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

import hotband as hb
from hotband.base.errors import UserError, characters, reason_of
from hotband.base.text.regular import confined
from hotband.base.version import __version__
from hotband.data.corpus.files import own_file
from hotband.data.record.files import REPORT_FILE
from hotband.execution.runs.signals import INTERRUPTED, PATIENCE_S
from hotband.faces.ui import command_line, shown, uploads
from hotband.faces.ui.call import Call
from hotband.faces.ui.calls import prepare, report_of_records
from hotband.faces.ui.connections import BACKLOG, Connection
from hotband.faces.ui.form import Form
from hotband.faces.ui.guard import REPORT_POLICY, Guard, TooLong, new_token
from hotband.faces.ui.jobs import Jobs
from hotband.faces.ui.kept import Kept, KeptDoc
from hotband.faces.ui.picker import picker
from hotband.faces.ui.places import Places
from hotband.questions.review import PARTS

if TYPE_CHECKING:
    from hotband.base.text.values import Json

STATIC = Path(__file__).parent / "static"
TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
TOLD_EVERY_S = 0.1
"""Interval at which a page receives changes: that of runs (`experiment/executor.py`)."""
ALIVE_EVERY_S = 1.0
"""Interval at which an idle page is notified that the server is alive, and the server checks whether to end."""
LOADED_S = 10.0
"""Time limit in seconds for loading the catalog, sufficient even on a busy computer."""
NOTICE_EVERY_S = 60.0
"""Pause between two lines about failures of the system, such as too many open files."""
LINGER_S = 1
"""Time that open connections may last when the server is ended."""
SETTLED_S = 3.0
"""Time that a form waits for the check of its request; longer checks report as a job."""
HOST = "127.0.0.1"


class JsonAnswer(Response):
    """A JSON document. Half a surrogate pair, which UTF-8 cannot encode, is written as JSON's escape."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """Return the bytes of a document."""
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(errors="backslashreplace")


class Ui:
    """State shared by the routes."""

    def __init__(self, store: Kept, token: str, port: int) -> None:
        self.kept, self.token, self.port = store, token, port
        self.places = Places(store)
        self.jobs = Jobs(store, self._changed, self.places.explain)
        self.ending = threading.Event()
        self.app = Guard(self._starlette(), token, port, unbounded=("/api/dropped",))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[asyncio.Event] = set()
        self._reports = threading.Lock()
        self._noticed_at = -NOTICE_EVERY_S

    def _starlette(self) -> Starlette:
        routes = [
            Route("/", self.page),
            Route("/static/{name}", self.static),
            Route("/api/catalog", self.catalog),
            Route("/api/keys", self.keys),
            Route("/api/events", self.events),
            Route("/api/command", self.command, methods=["POST"]),
            Route("/api/jobs", self.listing),
            Route("/api/jobs", self.start, methods=["POST"]),
            Route("/api/jobs/{id}", self.job),
            Route("/api/jobs/{id}/stop", self.stop, methods=["POST"]),
            Route("/api/jobs/{id}/report", self.report),
            Route("/api/jobs/{id}/record", self.record),
            Route("/api/runs", self.runs),
            Route("/api/runs/{run}", self.run),
            Route("/api/runs/{run}/report", self.run_report),
            Route("/api/runs/{run}/record", self.run_record),
            Route("/api/dropped", self.dropped),
            Route("/api/dropped", self.drop, methods=["POST"]),
        ]
        handlers = {UserError: self._refused, TooLong: _too_long, ClientDisconnect: _gone}
        return Starlette(routes=routes, exception_handlers=handlers, lifespan=self._life)

    @asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncIterator[None]:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(self._noticed)
        # The data of the first responses is loaded while the browser starts.
        loading = threading.Thread(target=_catalog, name="catalog", daemon=True)
        loading.start()
        yield
        self.ending.set()
        await run_in_threadpool(self.jobs.close)
        # If the interpreter ended meanwhile, it would remove modules that the thread is still loading.
        await run_in_threadpool(loading.join, LOADED_S)
        self._loop = None

    def _noticed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Print at most one line per minute instead of asyncio's traceback for each connection."""
        error = context.get("exception")
        if not isinstance(error, OSError):
            loop.default_exception_handler(context)
        elif loop.time() > self._noticed_at + NOTICE_EVERY_S:
            self._noticed_at = loop.time()
            print(f"hotband ui: {reason_of(error)}", file=sys.stderr, flush=True)

    def _changed(self) -> None:
        """Wake all pages that wait for changes; from any thread."""
        if (loop := self._loop) is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for waiting in self._waiting:
            waiting.set()

    async def _refused(self, request: Request, error: Exception) -> Response:
        """Return a mistake of the user as a successful response: for failed requests browsers write a line to their
        console."""
        assert isinstance(error, UserError), "it is the handler of those"
        return JsonAnswer({"error": self.places.explain(error, getattr(request.state, "form", None))})

    # --- the page -----------------------------------------------------------------------------------------------

    async def page(self, _: Request) -> Response:
        """Return the page, with the token of this start for its requests."""
        text = (STATIC / "index.html").read_text(encoding="utf-8")
        text = text.replace("{token}", escape(self.token)).replace("{version}", escape(__version__))
        answer = Response(text, media_type="text/html")
        answer.set_cookie(f"hotband-{self.port}", self.token, httponly=True, samesite="strict", path="/")
        return answer

    async def static(self, request: Request) -> Response:
        """Return a file of the page; its name is looked up, never used as a path."""
        files = {path.name: path for path in STATIC.iterdir() if path.suffix in TYPES and path.name != "index.html"}
        path = files.get(request.path_params["name"])
        if path is None:
            return PlainTextResponse("not found", 404)
        return Response(path.read_bytes(), media_type=TYPES[path.suffix])

    # --- choices ----------------------------------------------------------------------------------------------

    async def catalog(self, _: Request) -> Response:
        """Return drives, layouts, workloads, studies and parts of reviews."""
        return Response(await run_in_threadpool(_catalog), media_type="application/json")

    async def keys(self, request: Request) -> Response:
        """Return the settings that a workload on a machine accepts."""
        words = {name: request.query_params.get(name, "") for name in ("workload", "on")}
        request.state.form = words
        form = Form({**words}, self.places.place)
        workload, on = form.named("workload", "a workload"), form.named("on", "a machine")
        frame = await run_in_threadpool(lambda: hb.keys(workload, on=on))
        return JsonAnswer(frame.to_dicts())

    # --- jobs ---------------------------------------------------------------------------------------------------

    async def command(self, request: Request) -> Response:
        """Return the command for the request of a form."""
        kind, fields = await _asked(request)
        call = await run_in_threadpool(self._prepare, kind, fields)
        return JsonAnswer({"command": self.places.command(call.command)})

    async def start(self, request: Request) -> Response:
        """Begin the job of a form."""
        kind, fields = await _asked(request)

        def begin() -> dict[str, Json]:
            call = self._prepare(kind, fields)
            call = replace(call, title=self.places.title(call.title))
            job = self.jobs.start(kind, fields, self.places.command(call.command), call)
            job.settled.wait(SETTLED_S)
            if job.state != "failed" or job.error is None or not job.error["field"]:
                return {"id": job.id}
            # The engine refused the request: nothing was run, so there is no result to list.
            self.jobs.drop(job)
            return {"error": cast("Json", job.error)}

        return JsonAnswer(await run_in_threadpool(begin))

    def _prepare(self, kind: str, fields: Json) -> Call:
        return prepare(kind, Form(fields, self.places.place, self.kept.file_label))

    async def listing(self, _: Request) -> Response:
        """Return everything in the store, the newest first."""
        rows = [
            {**job, "has_record": (self.kept.folder(job["id"]) / "record.json").is_file()}
            for job in await run_in_threadpool(self.kept.listing)
        ]
        return JsonAnswer(rows)

    async def job(self, request: Request) -> Response:
        """Return a job with the display of its result."""
        name = request.path_params["id"]
        doc = self.kept.doc(name)
        shown = await run_in_threadpool(self.kept.shown, name)
        under_way = self.jobs.all.get(name)
        error = under_way.error if under_way is not None else None
        has_record = (self.kept.folder(name) / "record.json").is_file()
        return JsonAnswer({**doc, "shown": shown, "mistake": error, "has_record": has_record})

    async def stop(self, request: Request) -> Response:
        """Stop a job, if it is running."""
        name = request.path_params["id"]
        self.kept.doc(name)
        if (job := self.jobs.all.get(name)) is not None:
            self.jobs.stop(job)
        return JsonAnswer({"id": name})

    async def report(self, request: Request) -> Response:
        """Return the report of a result, one file that is made at the first request. `as=file` returns it as a
        download."""
        name = request.path_params["id"]
        return _report(request, await run_in_threadpool(self._made_report, name), name)

    def _made_report(self, name: str) -> Path:
        doc, folder = self.kept.doc(name), self.kept.folder(name)
        path = folder / REPORT_FILE
        with self._reports:
            if not path.is_file():
                if doc["state"] not in ("done", "stopped"):
                    raise UserError("report", "", name, "has not ended yet")
                _report_of(doc["kind"], self._prepare, doc["form"], folder)
        return path

    async def record(self, request: Request) -> Response:
        """Return the record of a run as a download."""
        name = request.path_params["id"]
        path = self.kept.folder(name) / "record.json"
        if not path.is_file():
            raise UserError("record", "", name, "has no record")
        return FileResponse(path, filename=f"{name}.json", media_type="application/json")

    # --- runs of the store --------------------------------------------------------------------------------------

    async def runs(self, request: Request) -> Response:
        """Return the runs of the store that meet a condition, the newest first."""
        where = request.query_params.get("where", "")
        return JsonAnswer(await run_in_threadpool(self.kept.stored.listing, where))

    async def run(self, request: Request) -> Response:
        """Return a run of the store as an ended job."""
        return JsonAnswer(await run_in_threadpool(self._run, request.path_params["run"]))

    def _run(self, key: str) -> dict[str, Json]:
        record = hb.load(self.kept.stored.needed(key))
        command = command_line.line(["store", "show", str(self.kept.path), key])
        return {
            "id": key, "kind": "stored", "title": record.name, "command": command, "state": "done", "form": None,
            "error": None, "mistake": None, "has_record": True, "shown": cast("Json", shown.of_record(record)),
        }  # fmt: skip

    async def run_report(self, request: Request) -> Response:
        """Return the report of a run of the store."""
        key = request.path_params["run"]

        def made() -> Path:
            folder = self.kept.stored.needed(key)
            with self._reports:
                if not (folder / REPORT_FILE).is_file():
                    _report_of("stored", self._prepare, None, folder)
            return folder / REPORT_FILE

        return _report(request, await run_in_threadpool(made), key)

    async def run_record(self, request: Request) -> Response:
        """Return the record of a run of the store as a download."""
        key = request.path_params["run"]
        folder = await run_in_threadpool(self.kept.stored.needed, key)
        return FileResponse(folder / "record.json", filename=f"{key}.json", media_type="application/json")

    async def events(self, _: Request) -> Response:
        """Return changes as server-sent events: first all jobs of this start, then those that changed."""
        return StreamingResponse(self._news(), media_type="text/event-stream")

    async def _news(self) -> AsyncIterator[str]:
        news, seen = asyncio.Event(), -1
        # For jobs that ended before, only the result is shown, not its progress.
        sent = {job.id: len(job.points) for job in self.jobs.since(-1)[1] if job.ended.is_set()}
        self._waiting.add(news)
        try:
            while not self.ending.is_set():
                news.clear()
                seen, changed = self.jobs.since(seen)
                docs = [job.doc(sent.get(job.id, 0)) for job in changed]
                sent.update({doc["id"]: doc["first_point"] + len(doc["points"]) for doc in docs})
                yield f"data: {json.dumps(docs)}\n\n"
                await asyncio.sleep(TOLD_EVERY_S)
                try:
                    await asyncio.wait_for(news.wait(), ALIVE_EVERY_S)
                except TimeoutError:
                    continue
        finally:
            self._waiting.discard(news)

    # --- files --------------------------------------------------------------------------------------------------

    async def dropped(self, _: Request) -> Response:
        """Return the names of dropped files."""
        names = sorted(path.name for path in self.kept.dropped.iterdir() if not path.name.startswith("."))
        return JsonAnswer([f"{uploads.PREFIX}{name}" for name in names])

    async def drop(self, request: Request) -> Response:
        """Receive a file, detect its type, and store it; the records of a result become results in the store."""
        given = request.query_params.get("name", "")
        path = await uploads.receive(self.kept.dropped, given, request.stream())
        return JsonAnswer(await run_in_threadpool(self._look_at, path, given))

    def _look_at(self, path: Path, given: str) -> dict[str, Json]:
        try:
            seen = uploads.look_at(path)
        except UserError as error:
            path.unlink()
            words = str(error).replace(f"{path}: ", "").replace(str(path), path.name)
            words = words.removeprefix("file = ").removeprefix(f"'{path.name}': ")
            raise UserError("file", "", given or path.name, words) from None
        self.kept.labels.add(path.name, given)
        label = self.kept.labels.label(path.name)
        results: list[Json] = []
        for record in seen.records:
            name = self.kept.new_id("result")
            record.save(self.kept.folder(name))
            self.kept.keep_shown(name, shown.of_record(record))
            command = self.places.command(["report", str(path), "-o", "report.html"])
            doc: KeptDoc = {
                "id": name, "kind": "result", "title": f"{label}: {record.name}", "command": command,
                "state": "done", "form": None, "error": None, "at": int(time.time()),
            }  # fmt: skip
            self.kept.keep({**doc, "file": path.name} if len(seen.records) == 1 else doc)
            results.append(name)
        name = f"{uploads.PREFIX}{path.name}"
        notes: list[Json] = [self.places.in_words(note) for note in seen.notes]
        title = self.places.in_words(seen.title)
        return {
            "name": name, "label": label, "kind": seen.kind, "title": title, "notes": notes, "results": results,
        }  # fmt: skip


def _report_of(kind: str, prepare: Callable[[str, Json], Call], form: Json, folder: Path) -> None:
    """Write the report of an ended job. Raises UserError if it has none."""
    write = report_of_records if kind in ("result", "stored") else prepare(kind, form).report
    if write is None:
        raise UserError("report", "", kind, "has no report")
    write(folder)


def _report(request: Request, path: Path, name: str) -> Response:
    """Return a report as a page, or with `as=file` as a download."""
    headers = {"content-security-policy": REPORT_POLICY}
    saved = f"{name}.html" if request.query_params.get("as") == "file" else None
    return FileResponse(path, headers=headers, filename=saved, media_type="text/html")


async def _asked(request: Request) -> tuple[str, Json]:
    """Return the kind and the fields of a form. Raises UserError for an invalid body."""
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise UserError("form", "", "", "expected JSON") from None
    if not isinstance(body, dict) or not isinstance(body.get("kind"), str):
        raise UserError("form", "", "", "expected kind and form")
    characters("kind", body["kind"])
    request.state.form = body.get("form")
    return body["kind"], body.get("form")


async def _too_long(_: Request, __: Exception) -> Response:
    return PlainTextResponse("the request is too long", 413)


async def _gone(_: Request, __: Exception) -> Response:
    return Response(status_code=499)  # the client is gone; nginx's number for a client that hung up


@cache
def _catalog() -> str:
    """Return the available choices from the API as JSON. These do not change while the process runs."""
    studies = [{**study, "loads": hb.study(study["name"]).loads} for study in hb.studies().to_dicts()]
    choices = {"drives": hb.drives().to_dicts(), "layouts": hb.layouts(), "workloads": hb.workloads().to_dicts()}
    return json.dumps({**choices, "studies": studies, "parts": list(PARTS), "picker": picker()})


def serve(store: Kept, port: int, begun: Callable[[str], None]) -> None:
    """Serve the page until the process receives a request to end; `begun` receives its address. Raises UserError if the
    port is not available."""
    listening = _listen(port)
    at = listening.getsockname()[1]
    ui = Ui(store, new_token(), at)
    config = config_of(ui)
    server = _Server(config, lambda: begun(f"http://{HOST}:{at}/?token={ui.token}"), ui.ending)
    # The package, its store and the user's corpus only: a request may name any file of the computer.
    with listening, confined(Path(hb.__file__).parent, store.path, own_file().parent):
        server.run(sockets=[listening])


def config_of(ui: Ui) -> uvicorn.Config:
    """Return the configuration of the server. Requests without the token print nothing."""
    return uvicorn.Config(
        ui.app, log_level="error", access_log=False, server_header=False, ws="none", http=Connection, backlog=BACKLOG,
        timeout_graceful_shutdown=LINGER_S,
    )  # fmt: skip


class _Server(uvicorn.Server):
    """Reports the start, and notifies open streams of the end. SIGHUP ends it as SIGTERM does."""

    def __init__(self, config: uvicorn.Config, begun: Callable[[], None], ending: threading.Event) -> None:
        super().__init__(config)
        self._begun, self._ending = begun, ending
        self._told_at: float | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._begun()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ending.set()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals that request the end."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGHUP, self.handle_exit)
        try:
            with super().capture_signals():
                yield
        finally:
            signal.signal(signal.SIGHUP, before)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle a request to end. At a second one uvicorn would end without stopping jobs, which would continue."""
        now = time.monotonic()
        if self._told_at is None:
            self._told_at = now
            super().handle_exit(signal.SIGTERM if sig == signal.SIGHUP else sig, frame)
        elif now - self._told_at > PATIENCE_S:
            os._exit(INTERRUPTED)


def _listen(port: int) -> socket.socket:
    """Return a socket on loopback; 0 is any free port. Raises UserError."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port))
    except OSError as error:
        made.close()
        raise UserError("--port", "", str(port), f"cannot be listened on: {reason_of(error)}") from None
    return made
