"""Do the clients that people use get on with the NBD server, and read what they wrote?"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbd_server import MIB, Served, need, run, served


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "nbd.sock") as ready:
        yield ready


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """Random data, holes and zeros, as long as the drive."""
    path = tmp_path / "image"
    chance = random.Random(17)
    with path.open("wb") as file:
        for mebibyte in range(0, 64, 8):
            file.seek(mebibyte * MIB)
            file.write(chance.randbytes(2 * MIB + 4096))
        file.truncate(64 * MIB)
    return path


def test_nbdinfo_is_told_what_the_drive_can(server: Served) -> None:
    need("nbdinfo")
    told = json.loads(run("nbdinfo", "--json", server.uri()))
    assert (told["protocol"], told["TLS"], told["structured"]) == ("newstyle-fixed", False, True)
    (export,) = told["exports"]
    assert export["contexts"] == ["base:allocation"]
    assert (export["export-size"], export["block_size_minimum"]) == (64 * MIB, 512)
    assert (export["block_size_preferred"], export["block_size_maximum"]) == (4096, 32 * MIB)
    can = {name for name, value in export.items() if value is True}
    assert can == {"can_df", "can_flush", "can_fua", "can_multi_conn", "can_trim", "can_zero"}
    listed = json.loads(run("nbdinfo", "--list", "--json", server.uri()))
    assert [export["export-name"] for export in listed["exports"]] == ["drive"]


@pytest.mark.parametrize("connections", [1, 4])
def test_nbdcopy_gets_back_what_it_brought(server: Served, image: Path, connections: int) -> None:
    need("nbdcopy", "nbdinfo")
    many = f"--connections={connections}"
    run("nbdcopy", many, str(image), server.uri())
    back = image.with_name("back")
    run("nbdcopy", many, server.uri(), str(back))
    assert back.read_bytes() == image.read_bytes()
    kept = json.loads(run("nbdinfo", "--map", "--json", server.uri()))
    assert sum(extent["length"] for extent in kept if extent["type"] == 0) < 32 * MIB
    assert sum(extent["length"] for extent in kept) == 64 * MIB


def test_qemu_img_converts_and_compares(server: Served, image: Path) -> None:
    need("qemu-img")
    run("qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", str(image), server.uri())
    run("qemu-img", "compare", "-f", "raw", "-F", "raw", str(image), server.uri())
    assert json.loads(run("qemu-img", "info", "--output=json", server.uri()))["virtual-size"] == 64 * MIB
    holes = json.loads(run("qemu-img", "map", "--output=json", "-f", "raw", server.uri()))
    assert sum(extent["length"] for extent in holes if extent["data"]) < 32 * MIB


def test_qemu_io_discards_zeroes_and_flushes(server: Served) -> None:
    need("qemu-io")
    commands = [
        *("write -P 7 0 1M", "write -f -P 9 512 1k", "flush", "read -P 9 512 1k", "read -P 7 4096 4096"),
        *("discard 64k 64k", "read -P 0 64k 64k", "write -z 256k 64k", "read -P 0 256k 64k"),
        *("write -z -u 512k 64k", "read -P 0 512k 64k", "read -P 7 576k 64k"),
        *("aio_write -P 3 2M 1M", "aio_write -P 4 4M 1M", "aio_flush", "read -P 3 2M 1M", "read -P 4 4M 1M"),
    ]
    asked = [word for command in commands for word in ("-c", command)]
    said = run("qemu-io", "-f", "raw", *asked, server.uri())
    assert "Pattern verification failed" not in said
    assert said.count("ops;") >= 15


def test_fio_verifies_what_it_wrote_at_depth_and_on_several_connections(server: Served) -> None:
    need("fio")
    job = [
        *("fio", "--name=verify", "--ioengine=nbd", f"--uri={server.uri()}", "--rw=randwrite", "--bsrange=512-128k"),
        *("--blockalign=512", "--iodepth=32", "--numjobs=2", "--size=16M", "--offset_increment=16M"),
        *(
            "--verify=crc32c",
            "--do_verify=1",
            "--verify_fatal=1",
            "--verify_state_save=0",
            "--fsync=64",
            "--output-format=json",
        ),
    ]
    said = run(*job)
    jobs = json.loads(said[said.index("{") :])["jobs"]
    assert len(jobs) == 2
    for found in jobs:
        assert found["error"] == 0
        assert found["read"]["io_bytes"] == 16 * MIB


def test_no_client_gets_an_answer_early(tmp_path: Path) -> None:
    need("fio")
    with served(tmp_path / "slow.sock", latency_ns=2_000_000) as server:
        job = [
            "fio",
            "--name=read",
            "--ioengine=nbd",
            f"--uri={server.uri()}",
            "--rw=randread",
            "--bs=4k",
            "--iodepth=8",
        ]
        said = run(*job, "--size=64M", "--number_ios=400", "--output-format=json")
    read = json.loads(said[said.index("{") :])["jobs"][0]["read"]
    # Of a request in fio's own time, which begins before it is sent.
    assert read["lat_ns"]["min"] >= 2_000_000
    assert read["total_ios"] == 400
