"""Whether files with a known content, of the system and of homes are refused, and only they."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from forms import sized
from hotband.base.errors import UserError
from hotband.execution.devices import contents
from hotband.execution.devices.contents import MARK, folder_of_system, is_hidden_in_home
from hotband.execution.devices.held import held
from hotband.execution.devices.safety import permission, refusals

TEXT = b"precious " * 1000


def database(path: Path) -> None:
    """Make an SQLite database."""
    with sqlite3.connect(path) as connection:
        connection.execute("create table t(a)")


def tar(path: Path) -> None:
    """Make a tar archive."""
    with tarfile.open(path, "w") as archive:
        archive.addfile(tarfile.TarInfo("a"), io.BytesIO())


def zipped(path: Path) -> None:
    """Make a ZIP archive."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", TEXT)


def page_of_postgres(path: Path) -> None:
    """Make an empty page of a PostgreSQL table."""
    head = bytes(12) + (24).to_bytes(2, "little") + (8192).to_bytes(2, "little") * 2 + b"\x04\x20"
    path.write_bytes(head.ljust(8192, b"\0"))


def table_of_innodb(path: Path) -> None:
    """Make the first page of an InnoDB table space of number 7."""
    head = b"\x12\x34\x56\x78" + bytes(20) + b"\0\x08" + bytes(8) + (7).to_bytes(4) * 2
    path.write_bytes(head.ljust(16384, b"\0"))


def fixed_vhd(path: Path) -> None:
    """Make a VHD of fixed size: raw, with a footer."""
    path.write_bytes(TEXT.ljust(1 << 20, b"\xff") + b"conectix".ljust(512, b"\0"))


def swap(path: Path) -> None:
    """Make the header of a swap file."""
    path.write_bytes(bytes(4086) + b"SWAPSPACE2" + bytes(4096))


def volume_group(path: Path) -> None:
    """Make the label of a physical volume of LVM."""
    path.write_bytes(bytes(512) + b"LABELONE" + bytes(16) + b"LVM2 001" + bytes(1 << 20))


KNOWN: dict[str, tuple[Callable[[Path], object], str]] = {
    "SQLite": (database, "is an SQLite database"),
    "PostgreSQL": (page_of_postgres, "is a PostgreSQL table"),
    "InnoDB": (table_of_innodb, "is an InnoDB table space"),
    "program": (lambda path: shutil.copy(sys.executable, path), "is an ELF program"),
    "script": (lambda path: path.write_bytes(b"#!/bin/sh\n"), "is a script"),
    "gzip": (lambda path: path.write_bytes(gzip.compress(TEXT)), "is a gzip archive"),
    "bzip2": (lambda path: path.write_bytes(bz2.compress(TEXT)), "is a bzip2 archive"),
    "xz": (lambda path: path.write_bytes(lzma.compress(TEXT)), "is an xz archive"),
    "tar": (tar, "is a tar archive"),
    "zip": (zipped, "is a ZIP archive"),
    "png": (lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + TEXT), "is a PNG picture"),
    "jpeg": (lambda path: path.write_bytes(b"\xff\xd8\xff\xe0" + TEXT), "is a JPEG picture"),
    "key": (lambda path: path.write_bytes(b"-----BEGIN OPENSSH PRIVATE KEY-----\n"), "is a key or certificate"),
    "qcow2": (lambda path: path.write_bytes(b"QFI\xfb" + TEXT), "is an image in the format qcow2"),
    "VHD": (fixed_vhd, "is a VHD image"),
    "swap": (swap, "contains swap (swap)"),
    "LVM": (volume_group, "is part of an array, pool or volume group (LVM2_member)"),
}


@pytest.mark.parametrize("kind", KNOWN)
def test_a_file_of_known_content_is_refused_whatever_is_typed(tmp_path: Path, kind: str) -> None:
    make, reason = KNOWN[kind]
    file = tmp_path / "mine"
    make(file)
    before = file.read_bytes()
    with pytest.raises(UserError) as refusal:
        permission(file, writes=True, erase=str(file))
    assert f"is not written: {reason}" in str(refusal.value)
    os.setxattr(file, MARK, b"1")
    assert any(text.startswith(reason) for text in refusals(file)), "a mark is no consent to lose it"
    assert file.read_bytes() == before


@pytest.mark.skipif(shutil.which("mkfs.ext4", path="/sbin:/usr/sbin:/bin") is None, reason="there is no mkfs.ext4")
def test_an_image_with_a_file_system_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "disk.img"
    with file.open("wb") as made:
        made.truncate(8 << 20)
    subprocess.run(["mkfs.ext4", "-q", str(file)], check=True, env={"PATH": "/sbin:/usr/sbin:/bin:/usr/bin"})
    with pytest.raises(UserError, match=r"is not written: contains a file system \(ext4\)"):
        permission(file, writes=True, erase=str(file))


@pytest.mark.parametrize("seed", range(sized(10, 40)))
def test_what_fio_writes_is_no_known_content(tmp_path: Path, seed: int) -> None:
    file = tmp_path / "data"
    file.write_bytes(random.Random(seed).randbytes(1 << 20) if seed else bytes(1 << 20))
    assert refusals(file) == []


@pytest.mark.parametrize(
    ("path", "is_system", "takes_ours"),
    [
        ("/etc/passwd", True, False),
        ("/usr/bin/ls", True, False),
        ("/boot/vmlinuz", True, False),
        ("/var/lib/dpkg/status", True, True),
        ("/var/log/syslog", True, True),
        ("/run/lock/x", True, True),
        ("/run/media/anna/stick/x", False, True),
        ("/var/tmp/x", False, True),
        ("/dev/shm/x", False, True),
        ("/srv/data", False, True),
        ("/mnt/etc/x", False, True),
    ],
)
def test_folders_of_the_system(path: str, is_system: bool, takes_ours: bool) -> None:
    assert folder_of_system(path, is_ours=False) == is_system
    assert folder_of_system(path, is_ours=True) != takes_ours


def test_dot_files_of_homes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "_homes", lambda: {("/", "root"), ("/", "work", "anna")})
    hidden = ["/root/.bashrc", "/root/.ssh/id", "/work/anna/a/.git/x", "/home/bob/.config/x/y", "/home/bob/x/.y"]
    assert [path for path in hidden if not is_hidden_in_home(path)] == []
    plain = ["/root/data", "/work/anna/data", "/work/.x/data", "/home/bob/data", "/mnt/.x"]
    assert [path for path in plain if is_hidden_in_home(path)] == []


def test_a_file_that_was_made_has_the_mark_and_is_written_again(tmp_path: Path) -> None:
    file = tmp_path / "new"
    with held(permission(file, writes=True, erase=None)):
        pass
    file.write_bytes(TEXT)
    assert permission(file, writes=True, erase=None).may_write
    os.removexattr(file, MARK)
    with pytest.raises(UserError, match=r"9 kB that Hotband did not write would be overwritten"):
        permission(file, writes=True, erase=None)


def test_a_file_that_another_process_reads_or_runs_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "read"
    file.write_bytes(TEXT)
    with file.open("rb") as reading, subprocess.Popen(["sleep", "60"], stdin=reading) as other:
        try:
            [reason] = [text for text in refusals(file) if f"({other.pid})" in text]
        finally:
            other.kill()
    assert reason == f"is open for reading by sleep ({other.pid})"
