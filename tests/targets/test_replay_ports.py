"""Do replays of traces write new data everywhere, and notice what a target refuses or does not finish?"""

from __future__ import annotations

import socket
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

import hotband as hb
from hotband.base.errors import UserError
from hotband.base.text.numbers import counted
from hotband.execution.devices.held import held
from hotband.execution.devices.safety import permission
from hotband.execution.replay.loop import Io, issue
from hotband.execution.replay.ports import FLUSH, READ, WRITE, aio_port, random_data
from hotband.execution.replay.schedule import Fast
from hotband.faces.cli import main

MIB = 1 << 20
GIB = 1 << 30
READ_ONLY, FLUSHES, FUA, TRIMS = 2, 4, 8, 32
EVERYTHING = 1 | FLUSHES | FUA | TRIMS


class Server:
    """An NBD server that keeps the requests it gets, with their data; commands in `failing` end with an error."""

    def __init__(self, listener: socket.socket, size: int, flags: int, failing: tuple[int, ...]) -> None:
        self.listener, self.size, self.flags, self.failing = listener, size, flags, failing
        self.requests: list[tuple[int, int, int]] = []
        self.written: list[bytes] = []

    def serve(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client, client.makefile("rb") as stream:
                self._answer(client, stream.read)

    def _answer(self, client: socket.socket, read: Callable[[int], bytes]) -> None:
        client.sendall(b"NBDMAGICIHAVEOPT" + struct.pack(">H", 3))
        read(4)
        _, _, length = struct.unpack(">8sII", read(16))
        read(length)
        for kind, reply in ((3, struct.pack(">HQH", 0, self.size, self.flags)), (1, b"")):
            client.sendall(struct.pack(">QIII", 0x3E889045565A9, 7, kind, len(reply)) + reply)
        while len(request := read(28)) == 28:
            _, _, command, index, offset, size = struct.unpack(">IHHQQI", request)
            if command == 2:
                return
            self.requests.append((command, offset, size))
            if command == 1:
                self.written.append(read(size))
            error = command in self.failing
            client.sendall(struct.pack(">IIQ", 0x67446698, error, index) + bytes(0 if command or error else size))


@contextmanager
def served(
    folder: Path, size: int = 64 * MIB, flags: int = EVERYTHING, failing: tuple[int, ...] = ()
) -> Iterator[tuple[Server, str]]:
    """Serve a drive during the block; yield the server and the target's name."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(folder / "s"))
        listener.listen()
        server = Server(listener, size, flags, failing)
        thread = threading.Thread(target=server.serve, daemon=True)
        thread.start()
        try:
            yield server, f"real:nbd+unix:///?socket={folder / 's'}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def trace(folder: Path, *ios: str) -> Path:
    """Write a trace in fio's format of I/Os at the same time: operation, offset and size of each."""
    file = folder / "a.iolog"
    file.write_text(
        "\n".join(["fio version 3 iolog", "0 data add", "0 data open", *(f"0 data {io}" for io in ios), ""])
    )
    return file


def replay(file: Path, on: str) -> hb.Record:
    """Replay a trace on a target that may be erased."""
    return hb.run(file, on=on, erase=on.removeprefix("real:"), expect="none")


def test_a_file_that_got_a_second_name_after_the_permission_is_not_held(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.write_bytes(bytes(MIB))
    permitted = permission(disk, writes=True, erase=str(disk))
    (tmp_path / "link").hardlink_to(disk)
    with pytest.raises(UserError, match=r"has 2 names \(hard links\); expected a file with one name"), held(permitted):
        pass
    (tmp_path / "link").unlink()
    with held(permitted):
        pass


def test_a_large_trim_is_sent_whole(tmp_path: Path) -> None:
    with served(tmp_path, size=2 * GIB) as (server, on):
        record = replay(trace(tmp_path, "read 0 4096", f"trim 0 {GIB}"), on).to_dict()
    assert (4, 0, GIB) in server.requests
    assert record["summary"]["trim"]["count"] == 1


@pytest.mark.parametrize("io", [f"trim 0 {4 * GIB}", f"write 0 {2 * GIB}"])
def test_an_io_that_is_too_large_is_refused_before_others_are_sent(tmp_path: Path, io: str) -> None:
    with (
        served(tmp_path, size=8 * GIB) as (server, on),
        pytest.raises(UserError, match=r"row 5 .*: expected at most 2,147,479,552 B, or 4,294,967,295 B of a trim"),
    ):
        replay(trace(tmp_path, "write 0 4096", io), on)
    assert server.requests == []


MISSING = {
    "writes": (EVERYTHING | READ_ONLY, "write 0 4096"),
    "flushes": (EVERYTHING & ~FLUSHES, "sync 0 0"),
    "trims": (EVERYTHING & ~TRIMS, "trim 0 4096"),
}


@pytest.mark.parametrize("kind", MISSING)
def test_what_an_export_does_not_take_is_refused_before_others_are_sent(tmp_path: Path, kind: str) -> None:
    flags, io = MISSING[kind]
    with served(tmp_path, flags=flags) as (server, on):
        with pytest.raises(UserError, match=f"takes no {kind}: expected direction .* or an export that does"):
            replay(trace(tmp_path, "read 0 4096", io), on)
        assert server.requests == []
        assert replay(trace(tmp_path, "read 0 4096"), on).read.count == 1


def test_an_export_without_fua_is_refused_for_a_trace_with_it(tmp_path: Path) -> None:
    log = tmp_path / "a.parquet"
    row = {"submit_ns": 0, "direction": "write", "offset_bytes": 0, "size_bytes": 4096, "latency_ns": 9, "fua": True}
    pl.DataFrame([row]).write_parquet(log)
    with served(tmp_path, flags=EVERYTHING & ~FUA) as (server, on):
        with pytest.raises(UserError, match="takes no FUA: expected direction"):
            replay(log, on)
        assert server.requests == []


@pytest.mark.parametrize(("ios", "failed"), [(("read 0 4096", "sync 0 0", "trim 0 4096"), 2), (("trim 0 4096",), 1)])
def test_failed_flushes_and_trims_are_stated(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    ios: tuple[str, ...],
    failed: int,
) -> None:
    with served(tmp_path, failing=(3, 4)) as (_, on):
        words = ["run", str(trace(tmp_path, *ios)), "--on", on, "--erase", on.removeprefix("real:"), "--expect", "none"]
        monkeypatch.setattr("sys.argv", ["hotband", *words, "--yes"])
        with pytest.raises(SystemExit):
            main()
    assert f"{counted(failed, 'I/O')} ended with an error." in capsys.readouterr().out


def test_an_io_that_is_cut_short_has_failed(tmp_path: Path) -> None:
    """A file ends in the middle of the second read."""
    disk = tmp_path / "disk"
    disk.write_bytes(bytes(8192))
    ios = [Io(0, READ, 4096, 4096, False), Io(0, READ, 4096, 8192, False), Io(0, FLUSH, 0, 0, False)]
    with aio_port(disk, random_data(4096, 1), writes=False, read_bytes=8192) as port:
        times = issue(ios, Fast(len(ios), 1), [port])
    assert times.failed.tolist() == [False, True, False]


def pages(data: bytes) -> list[bytes]:
    """Split data into pages."""
    return [data[at : at + 4096] for at in range(0, len(data), 4096)]


def test_no_page_is_written_twice_to_an_export(tmp_path: Path) -> None:
    file = trace(tmp_path, *(f"write {8192 * at} {4096 + 4096 * (at % 2)}" for at in range(200)))
    with served(tmp_path) as (server, on):
        replay(file, on)
        replay(file, on)
    written = pages(b"".join(server.written))
    assert len(set(written)) == len(written) == 600
    assert len(zlib.compress(server.written[0])) > 4096


def test_no_page_is_written_twice_to_a_file(tmp_path: Path) -> None:
    """The memory has 8 pages, so that it is used again."""
    disk = tmp_path / "disk"
    disk.write_bytes(bytes(MIB))
    ios = [Io(0, WRITE, 8192 * at, 8192, False) for at in range(128)]
    with aio_port(disk, random_data(32768, 1), writes=True) as port:
        times = issue(ios, Fast(len(ios), 4), [port])
    assert not times.failed.any()
    assert len(set(pages(disk.read_bytes()))) == 256


def test_a_page_of_an_outstanding_write_does_not_change() -> None:
    data = random_data(8192, 1)
    first = data.taken(4096)
    before = data.memory[first : first + 4096]
    data.taken(4096)
    assert data.taken(4096) == first
    assert data.memory[first : first + 4096] == before
    for _ in range(2):
        data.returned(first, 4096)
    # The free page is found behind the one that is still in use.
    assert data.taken(4096) == first
    assert data.memory[first : first + 4096] != before


def test_free_pages_are_found_around_those_in_use() -> None:
    data = random_data(8 * 4096, 1)
    at = [data.taken(8192) for _ in range(4)]
    data.returned(at[2], 8192)
    assert data.taken(8192) == at[2]
    data.returned(at[1], 8192)
    data.returned(at[2], 8192)
    assert data.taken(16384) == at[1]
    # There is no room left, so its pages are shared.
    shared = data.taken(4096)
    assert data._users[shared // 4096] == 2


def test_a_replay_states_that_it_leaves_the_compression_of_data_out(tmp_path: Path) -> None:
    file = trace(tmp_path, "write 0 4096")
    (tmp_path / "w.toml").write_text(f'data = 0.2\n[trace]\nfile = "{file}"\n')
    with served(tmp_path) as (_, on):
        notes = [replay(workload, on).to_dict()["notes"] for workload in (tmp_path / "w.toml", file)]
    assert ["entropy is ignored" in " ".join(lines) for lines in notes] == [True, False]
