"""On a computer with other users: does its owner alone see the token, do strangers stop the page, and does a holder of
the token read files that were not dropped?"""

from __future__ import annotations

import json
import os
import re
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest

from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR
from hotband.faces.commands.ui import _redirecting
from hotband.faces.ui import connections
from hotband.faces.ui.named_files import expect_no_other_files, expect_none_in, names_a_path

SECRET = "db_password=hunter2\n"
STREAM = "[[streams]]\nread_pct = 100\nrandom_pct = 100\nsize = '4 KiB'\n[[phases]]\nmeasure = true\nduration = '1 s'\n"
NAMING = {
    "absolute.fio": "include {secret}\n[j]\nrw=read\n",
    "relative.fio": "[j]\nrw=read\ninclude ../../../../../../../..{secret}\n",
    "other-name.txt": "[j]\nioengine=libaio\nrw=read\nsize=1g\ninclude {secret}\n",
    "job.vdb": "include={secret}\nsd=sd1,lun=/dev/x\n",
    "machine.toml": "[drives.a]\nproduct = '{secret}'\n",
    "machine2.toml": "[drives.a]\nproduct = '../../../../../../../..{secret}'\n",
    "trace.toml": "[trace]\nfile = '{secret}'\n",
    "drive.toml": "variant_of = '{secret}'\ntitle = 'X'\nmodel = 'X'\n",
    "script.toml": "[load]\nscript = {{ file = '{secret}' }}\n" + STREAM,
    "data.toml": "data = '{secret}'\n[load]\nclosed = {{ threads = 1, depth = 1 }}\n" + STREAM,
    "prices.csv": "drive,price\n{secret},100\n",
    "fleet.toml": "[[group]]\nmachine = '{secret}'\n",
}


@dataclass
class Page:
    """A server in a process of its own, with few file descriptors."""

    port: int
    token: str
    process: subprocess.Popen[str]

    def ask(self, path: str, data: bytes | None = None) -> Any:
        request = Request(f"http://127.0.0.1:{self.port}{path}", data, {"x-hotband-token": self.token})
        with urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page as the command serves it."""
    said = tmp_path_factory.mktemp("ui") / "stderr"
    command = [sys.executable, "-c", "from hotband.__main__ import main; main()", "ui", "--no-browser"]

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    with (
        said.open("w") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, preexec_fn=few) as process,
    ):
        try:
            assert process.stdout is not None
            address = re.match(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", process.stdout.readline())
            assert address is not None, said.read_text()
            yield Page(int(address[1]), address[2], process)
        finally:
            process.terminate()
            process.wait(60)
    assert "Traceback" not in said.read_text()
    assert len(said.read_text()) < 1000


@pytest.mark.parametrize("name", NAMING)
def test_what_is_dropped_names_no_file_of_the_computer(page: Page, tmp_path: Path, name: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    answer = page.ask(f"/api/dropped?name={name}", NAMING[name].format(secret=secret).encode())
    assert "error" in answer, answer
    assert "hunter2" not in json.dumps(answer)


@pytest.mark.parametrize("option", ["size=${PATH}", "description=${PATH}", "size=1g\nname=${PATH}"])
def test_what_is_dropped_reads_no_variable_of_the_computer(page: Page, option: str) -> None:
    answer = page.ask("/api/dropped?name=variable.fio", f"[j]\nrw=randread\n{option}\n".encode())
    assert os.environ["PATH"] not in json.dumps(answer)


@pytest.mark.parametrize(
    "fields",
    [
        {"workload": "{secret}"},
        {"on": ["{secret}"]},
        {"on": ["raid5:4x{secret}"]},
        {"on": ["raid5:4xsecret.toml"]},
        {"settings": [["data", "{secret}"]]},
        {"settings": [["product", "../{secret}"]]},
        {"settings": [["product", "secret.toml"]]},
    ],
)
def test_a_form_names_no_file_of_the_computer(page: Page, tmp_path: Path, fields: dict[str, object]) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    form = {"workload": "fio-randread", "on": ["ent-10k"], **fields}
    text = json.dumps({"kind": "run", "form": form}).replace("{secret}", str(secret))
    answer = page.ask("/api/jobs", text.encode())
    assert "error" in answer, answer
    assert "hunter2" not in json.dumps(answer)


@contextmanager
def half_open(port: int, count: int, text: bytes) -> Iterator[list[socket.socket]]:
    """Connections that send the beginning of a request, and nothing more."""
    with ExitStack() as stack:
        made = []
        for _ in range(count):
            with suppress(OSError):
                connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
                connection.sendall(text)
                made.append(connection)
        yield made


@pytest.mark.parametrize(
    "text", [b"", b"G", b"GET / HTTP/1.1\r\nHost: x", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n"]
)
def test_many_half_open_requests_do_not_stop_the_page(page: Page, text: bytes) -> None:
    with half_open(page.port, 300, text):
        before = sum(map(int, Path(f"/proc/{page.process.pid}/stat").read_text().split()[13:15]))
        for _ in range(3):
            assert page.ask("/api/jobs") == []
        assert len(os.listdir(f"/proc/{page.process.pid}/fd")) < 200
        after = sum(map(int, Path(f"/proc/{page.process.pid}/stat").read_text().split()[13:15]))
    assert after - before < 300, "it does not use a processor for them"


def test_a_request_that_does_not_arrive_is_dropped(page: Page) -> None:
    begin = time.monotonic()
    with half_open(page.port, 1, b"GET / HTTP/1.1\r\n") as [connection]:
        connection.settimeout(connections.HEAD_S + 30)
        assert connection.recv(100) == b""
    assert time.monotonic() - begin > connections.HEAD_S / 2


@pytest.mark.parametrize("field", ["workload", "on", "settings", "kind", "events"])
def test_half_a_character_is_a_mistake_in_one_line(page: Page, field: str) -> None:
    form: dict[str, object] = {"workload": "fio-randread", "on": ["ent-15k"], "events": []}
    values: dict[str, object] = {"on": ["\ud800"], "settings": [["qd", "\ud800"]], "events": ["\udfff"]}
    kind = "\ud800" if field == "kind" else "run"
    if field != "kind":
        form[field] = values.get(field, "\ud800")
    answer = page.ask("/api/jobs", json.dumps({"kind": kind, "form": form}).encode())
    assert "has bytes that are not text" in answer["error"]["text"]


def test_half_a_character_in_a_file_that_is_dropped(page: Page) -> None:
    for name, text in (
        ("half.json", '{"fio version": "fio-3.33", "jobs": [{"jobname": "\\ud800"}]}'),
        ("h.toml", "a='\\ud800'"),
    ):
        with suppress(HTTPError):
            assert "error" in page.ask(f"/api/dropped?name={quote(name)}", text.encode())
    assert page.ask("/api/jobs") == []


def test_the_browser_gets_a_file_of_its_owner_alone() -> None:
    with ExitStack() as stack:
        address = _redirecting("http://127.0.0.1:1/?token=abc&x", stack)
        assert "abc" not in address
        file = Path(address.removeprefix("file://"))
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.parent.stat().st_mode & 0o777 == 0o700
        assert 'content="0;url=http://127.0.0.1:1/?token=abc&amp;x"' in file.read_text()
    assert not file.parent.exists()


@pytest.mark.parametrize("path", sorted((CATALOG_DIR / "workloads").glob("*.toml")), ids=lambda path: path.stem)
def test_what_ships_names_no_file(path: Path) -> None:
    expect_no_other_files(path, "file")


def test_texts_of_a_record_name_no_file(tmp_path: Path) -> None:
    expect_none_in({"machine": {"text": "title = 'a'\n[drives.a]\nproduct = 'ent-10k'\n"}}, tmp_path)
    with pytest.raises(UserError, match="names a file that was not dropped"):
        expect_none_in({"machine": {"text": "title = 'a'\n[drives.a]\nproduct = '/etc/shadow'\n"}}, tmp_path)


def test_paths_and_quantities() -> None:
    assert [
        value for value in ("/a", "a/b", "./a", "~/a", "1/../../a", "a\\b", "..\\b") if not names_a_path(value)
    ] == []
    assert [value for value in ("500 MB/s", "50..90/10", "1/1000", "10 Gb/s", "zipf:1.2") if names_a_path(value)] == []
