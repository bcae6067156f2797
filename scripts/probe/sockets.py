"""The two servers, in this process: a served drive on a unix socket (NBD) and the page of `hotband ui` (HTTP)."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
from functools import cache
from pathlib import Path
from typing import Any

from probe import written_by_hand
from probe.bases import CORPUS, Base, of_files

ANSWER_S = 10.0
"""How long a server may let a client wait that has said all it says."""
MOST_READ = 80 << 20
"""Bytes of answers that a client takes before it hangs up: more than the longest read."""
JOBS_OF_MOMENTS = ("run", "sweep", "find", "compare", "fleet")
"""Jobs that are begun, too; what others do is asked on the command line."""
OPTION_REPLY, SIMPLE, STRUCTURED = b"\x00\x03\xe8\x89\x04\x55\x65\xa9", b"\x67\x44\x66\x98", b"\x66\x8e\x33\xef"
LIST = b"\0\0\0\3IHAVEOPT\0\0\0\3\0\0\0\0"


class NoAnswer(Exception):
    """A server that did not answer, or not as it should."""


def nbd_bases(_: Path) -> list[Base]:
    """Conversations of clients; the first eight bytes of those that are kept say in which pieces they come."""
    return [(name, data[8:]) for name, data in of_files(CORPUS.glob("nbd/*")) if data]


@cache
def nbd_server(folder: Path) -> tuple[Any, Path]:
    """A drive of 64 MiB that answers at once."""
    from hotband import _core

    place = folder / "nbd"
    return _core.FixedServer(place, 0), place


def conversation(place: Path, said: bytes) -> bytes:
    """What a client gets that says all this and then listens. Raises NoAnswer where the server keeps it waiting."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(ANSWER_S)
        client.connect(str(place))

        def say() -> None:
            # A server may hang up at any time; what is read then ends.
            with contextlib.suppress(OSError):
                client.sendall(said)
                client.shutdown(socket.SHUT_WR)

        speaker = threading.Thread(target=say, daemon=True)
        speaker.start()
        got = bytearray()
        try:
            while len(got) < MOST_READ and (piece := client.recv(1 << 16)):
                got += piece
        except TimeoutError:
            raise NoAnswer("the NBD server neither answers nor hangs up") from None
        except ConnectionError:
            pass
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)
        speaker.join(ANSWER_S)
    return bytes(got)


def nbd(made: Path, folder: Path, file: Path) -> tuple[bool, bool]:
    """The input is what a client says. Afterwards another client must be served."""
    _, place = nbd_server(folder.parent)
    got = conversation(place, file.read_bytes())
    if not got.startswith(b"NBDMAGICIHAVEOPT"):
        raise NoAnswer(f"the NBD server greets with {got[:18]!r}")
    if OPTION_REPLY not in conversation(place, LIST):
        raise NoAnswer("the NBD server serves nobody any more")
    return OPTION_REPLY in got or len(got) > 18, SIMPLE in got or STRUCTURED in got


def http_bases(_: Path) -> list[Base]:
    """Requests of the page."""
    ask = written_by_hand.request
    asked = [ask("POST", "/api/command", form) for form in written_by_hand.FORMS]
    asked += [ask("POST", "/api/jobs", form) for form in written_by_hand.FORMS if form["kind"] in JOBS_OF_MOMENTS]
    paths = [
        "/",
        "/static/style.css",
        "/api/catalog",
        "/api/jobs",
        "/api/jobs/result-1",
        "/api/jobs/result-1/report?as=file",
    ]
    paths += [
        "/api/runs?where=queue_depth%20%3E%3D%201",
        "/api/runs/abc",
        "/api/runs/abc/report",
        "/api/dropped",
        "/api/events",
    ]
    paths += ["/api/keys?workload=fio-randread&on=ent-15k", "/api/jobs/result-1/record", "/api/runs/abc/record"]
    asked += [ask("GET", path) for path in paths]
    asked += [*drops(), ask("POST", "/api/jobs/run-1/stop", {})]
    return [(f"{number}.http", data) for number, data in enumerate(asked)]


def drops() -> list[bytes]:
    """Requests that drop files, which other requests name."""
    files = [
        ("a.json", (CORPUS / "fio/two-jobs").read_bytes()),
        ("fleet.toml", written_by_hand.FLEETS["plain"].encode()),
    ]
    files.append(("b.json", (CORPUS / "fio/valid-jsonplus").read_bytes()))
    files += [(name, text.encode()) for name, text in written_by_hand.JOBS.items()]
    return [written_by_hand.request("POST", f"/api/dropped?name={name}", body=data) for name, data in files]


@cache
def page_server(folder: Path) -> tuple[Any, int]:
    """The server of the page, in a thread."""
    import uvicorn

    from hotband.faces.ui.kept import Kept
    from hotband.faces.ui.server import Ui, _listen, _Server

    kept = Kept(folder / "page")
    kept.open()
    listening = _listen(0)
    port = int(listening.getsockname()[1])
    ui = Ui(kept, written_by_hand.TOKEN, port)
    ready = threading.Event()
    # A client that says nothing more is waited for, five seconds by default: here nobody has more to say.
    settings = uvicorn.Config(
        ui.app, log_level="error", access_log=False, ws="none", timeout_graceful_shutdown=1, timeout_keep_alive=0
    )
    server = _Server(settings, ready.set, ui.ending)
    threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
    if not ready.wait(30):
        raise NoAnswer("the page's server does not start")
    for said in drops():
        exchange(port, said.replace(b"{port}", str(port).encode()))
    return ui, port


def exchange(port: int, said: bytes) -> bytes:
    """The answer to a request; of events, which do not end, the beginning. Of a request that is not complete the server
    waits for the rest: it is told that nothing more comes. Raises NoAnswer."""
    with socket.create_connection(("127.0.0.1", port), timeout=ANSWER_S if is_complete(said) else 0.05) as client:
        client.sendall(said)
        got = bytearray()
        if not _listened(client, got):
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_WR)
            client.settimeout(ANSWER_S)
            if not _listened(client, got):
                raise NoAnswer(f"the page's server does not end its answer {bytes(got[:80])!r}")
    return bytes(got)


def is_complete(said: bytes) -> bool:
    """Whether a request says so itself."""
    head, end, body = said.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: *([0-9]{1,7})\r\n", head + b"\r\n")
    return bool(end) and len(body) >= int(length[1] if length else 0) and b"hunked" not in head


def _listened(client: socket.socket, got: bytearray) -> bool:
    """Reads to the end, or to the first event; False where nothing comes."""
    try:
        while len(got) < MOST_READ and (piece := client.recv(1 << 16)):
            got += piece
            if b"text/event-stream" in got and b"data: " in got:
                break
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


def http(made: Path, folder: Path, file: Path) -> tuple[bool, bool]:
    """The input is a request. No answer is an error of the server, and jobs that it began end when stopped."""
    ui, port = page_server(folder.parent)
    got = exchange(port, with_length(file.read_bytes().replace(b"{port}", str(port).encode())))
    for job in list(ui.jobs.all.values()):
        if not job.ended.is_set():
            ui.jobs.stop(job)
            if not job.ended.wait(ANSWER_S):
                raise NoAnswer(f"a job does not end when it is stopped: {job.command}")
        if job.error is not None and job.error["text"].startswith("Hotband failed"):
            ui.jobs.all.pop(job.id)
            raise NoAnswer(f"{job.error['text'].split(';')[0]}: {job.command}")
    status = got.split(b" ", 2)[1] if got.startswith(b"HTTP/1.1 ") else b""
    if status.startswith(b"5"):
        raise NoAnswer(f"the page's server answers {status.decode()}")
    head, _, body = got.partition(b"\r\n\r\n")
    if b"application/json" in head and b"HTTP/1.1" not in body:
        json.loads(body)
    past = bool(status) and status not in (b"400", b"403")
    return past, past and status == b"200" and b'{"error"' not in body[:9]


def with_length(said: bytes) -> bytes:
    """A request whose stated length is that of its body, three times of four: a body cut short says nothing of what
    would read it."""
    head, end, body = said.partition(b"\r\n\r\n")
    if not end or len(body) % 4 == 3:
        return said
    lines = [
        b"Content-Length: %d" % len(body) if one.startswith(b"Content-Length:") else one for one in head.split(b"\r\n")
    ]
    return b"\r\n".join(lines) + end + body
