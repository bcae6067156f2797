"""Who may use the NBD server, and what do those cost who mean no good?"""

from __future__ import annotations

import os
import socket
import stat
import struct
import subprocess
from pathlib import Path

import pytest
from nbd_server import MIB, need, run, served, server_program

READ, WRITE = 0, 1


def greeted(path: str) -> socket.socket:
    """A client that has chosen the first export."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(60)
    client.connect(path)
    client.sendall(struct.pack(">I8sII", 3, b"IHAVEOPT", 7, 6) + bytes(6))
    got = b""
    while not got.endswith(struct.pack(">III", 7, 1, 0)):
        got += client.recv(4096)
    return client


def request(command: int, cookie: int, offset: int, length: int) -> bytes:
    return struct.pack(">IHHQQI", 0x25609513, 0, command, cookie, offset, length)


def test_only_the_owner_may_use_the_socket_and_a_killed_server_leaves_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "nbd.sock"
    # Never wider, whatever the mask of those who start it says.
    command = ["sh", "-c", 'umask 0; exec "$@"', "-", server_program(), str(path), str(MIB), "0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        server.kill()
    assert path.exists()
    with served(path):
        greeted(str(path)).close()
    assert not path.exists()
    path.write_text("precious")
    refused = subprocess.run(command, input=b"", capture_output=True, check=False)
    assert refused.returncode == 1
    assert refused.stderr.decode() == f"{path}: exists and is not a socket\n"
    assert path.read_text() == "precious"


def test_memory_is_bounded_whatever_clients_do(tmp_path: Path) -> None:
    path = str(tmp_path / "nbd.sock")
    with served(path, size=256 * MIB) as server:
        before = server.memory()
        # Long writes that are promised, not sent; long reads that are never taken; and 2,000 that say nothing.
        promising = [greeted(path) for _ in range(20)]
        for client in promising:
            client.sendall(request(WRITE, 1, 0, 32 * MIB) + bytes(100))
        deaf = [greeted(path) for _ in range(20)]
        for client in deaf:
            client.setblocking(False)
            for cookie in range(1000):
                try:
                    client.send(request(READ, cookie, 0, 32 * MIB if cookie % 2 else 65536))
                except BlockingIOError:
                    break
        silent = [socket.socket(socket.AF_UNIX) for _ in range(2000)]
        for client in silent:
            client.connect(path)
        good = promising.pop()
        good.sendall(bytes(32 * MIB - 100))
        assert good.recv(16) == struct.pack(">IIQ", 0x67446698, 0, 1)
        # 41 connections with two threads each and a buffer of 256 KiB, a write of 32 MiB and the drive's copy of it.
        assert server.memory() - before < 160 * MIB
        for client in [*promising, *deaf, *silent, good]:
            client.close()
        while threads(server.pid) > 4:
            os.sched_yield()
        client = greeted(path)
        client.sendall(request(READ, 7, 0, 512))
        assert client.recv(16) == struct.pack(">IIQ", 0x67446698, 0, 7)
        client.close()


def threads(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/task"))


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate authority, a server and a client, named as libnbd and qemu look for them."""
    need("openssl")
    folder = tmp_path_factory.mktemp("certificates")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    run("openssl", "req", "-x509", *key, "-keyout", "ca-key.pem", "-out", "ca-cert.pem", "-subj", "/CN=ca", cwd=folder)
    for name, extension in (("server", "subjectAltName=DNS:localhost"), ("client", "basicConstraints=CA:FALSE")):
        (folder / "extension").write_text(extension)
        asked = ("-keyout", f"{name}-key.pem", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        run("openssl", "req", *key, *asked, cwd=folder)
        signed = ("-CA", "ca-cert.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-extfile", "extension")
        run("openssl", "x509", "-req", "-in", f"{name}.csr", *signed, "-out", f"{name}-cert.pem", cwd=folder)
    return folder


def test_over_tls_data_comes_back_and_nothing_is_told_before_it(certificates: Path, tmp_path: Path) -> None:
    need("nbdinfo", "nbdcopy", "qemu-img")
    files = (certificates / "server-cert.pem", certificates / "server-key.pem")
    image = tmp_path / "image"
    image.write_bytes(os.urandom(4 * MIB))
    with served("tcp:127.0.0.1:0", size=4 * MIB, files=files) as server:
        uri = server.uri("nbds", certificates)
        run("nbdcopy", str(image), uri)
        run("nbdcopy", uri, str(tmp_path / "back"))
        assert (tmp_path / "back").read_bytes() == image.read_bytes()
        port = server.where.rpartition(":")[2]
        secret = ("--object", f"tls-creds-x509,id=t,endpoint=client,dir={certificates}")
        run("qemu-img", "info", *secret, "--image-opts", f"driver=nbd,host=localhost,port={port},tls-creds=t")
        plain = subprocess.run(["nbdinfo", "--list", server.uri("nbd")], capture_output=True, text=True, check=False)
        assert plain.returncode != 0
        assert "drive" not in plain.stdout


def test_over_tls_clients_without_a_certificate_are_turned_away(certificates: Path, tmp_path: Path) -> None:
    need("nbdinfo")
    files = tuple(certificates / name for name in ("server-cert.pem", "server-key.pem", "ca-cert.pem"))
    (tmp_path / "ca-cert.pem").write_bytes((certificates / "ca-cert.pem").read_bytes())
    with served("tcp:127.0.0.1:0", size=MIB, files=files) as server:
        assert run("nbdinfo", "--size", server.uri("nbds", certificates)).strip() == str(MIB)
        other = ["nbdinfo", "--size", server.uri("nbds", tmp_path)]
        assert subprocess.run(other, capture_output=True, check=False).returncode != 0


def test_what_is_said_before_encryption_begins_does_not_count(certificates: Path) -> None:
    files = (certificates / "server-cert.pem", certificates / "server-key.pem")
    with served("tcp:127.0.0.1:0", size=MIB, files=files) as server:
        with socket.create_connection(("127.0.0.1", int(server.where.rpartition(":")[2])), timeout=60) as client:
            start_tls = struct.pack(">8sII", b"IHAVEOPT", 5, 0)
            # Somebody in between adds an option of his own.
            client.sendall(struct.pack(">I", 3) + start_tls + struct.pack(">8sII", b"IHAVEOPT", 8, 0))
            got = b""
            while more := client.recv(4096):
                got += more
        assert got == b"NBDMAGICIHAVEOPT\0\3" + struct.pack(">QIII", 0x3E889045565A9, 5, 1, 0)
