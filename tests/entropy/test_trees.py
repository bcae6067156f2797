"""Is every odd tree measured, and every mistake one clear line?"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from hotband.base.errors import UserError
from hotband.faces import cli
from hotband.questions import entropy
from hotband.views.entropy import summary_lines

FEW = ("--compressor", "deflate", "--chunk", "4k")


def report_of(hotband, *arguments: str) -> dict[str, Any]:
    done = hotband("measure", "entropy", *arguments, *FEW, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_holes_links_and_special_files(hotband, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    with (tree / "sparse").open("wb") as file:
        file.write(os.urandom(4096))
        file.seek(10 * 2**30)
        file.write(os.urandom(4096))
    os.link(tree / "sparse", tree / "same")
    (tree / "loop").symlink_to(tree)
    os.mkfifo(tree / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(tree / "socket"))
        report = report_of(hotband, str(tree))
    assert (report["files"], report["bytes"], report["bytes_read"]) == (1, 8192, 8192)
    assert report["skipped"] == {
        "links": 2,
        "symbolic_links": 1,
        "hard_links": 1,
        "special": 2,
        "mounts": 0,
        "holes_bytes": 10 * 2**30 - 4096,
    }


def test_a_fifo_as_path_does_not_wait_for_a_writer(hotband, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    report = report_of(hotband, str(tmp_path / "fifo"))
    assert (report["files"], report["skipped"]["special"]) == (0, 1)


@pytest.mark.parametrize("arguments", [(), ("--sample", "all"), ("--sample", "1 MB")])
def test_an_empty_tree(hotband, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    report = report_of(hotband, str(tmp_path), *arguments)
    assert (report["files"], report["bytes"]) == (0, 0)
    assert report["archive"]["deflate"] == {"entropy": None, "interval": None}
    shown = hotband("measure", "entropy", str(tmp_path), *arguments)
    assert shown.returncode == 0, shown.stderr
    assert "0 B in 0 files" in shown.stdout


def test_names_that_are_not_text(hotband, tmp_path: Path) -> None:
    tree = tmp_path / os.fsdecode(b"\xff[bold]\n")
    tree.mkdir()
    (tree / os.fsdecode(b"\xfe")).write_bytes(bytes(5000))
    report = report_of(hotband, str(tree))
    assert report["bytes_read"] == 5000
    assert report["paths"][0].endswith("\ufffd[bold]\n")
    assert hotband("measure", "entropy", str(tree)).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_what_another_user_cannot_read_is_counted(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "open").write_bytes(bytes(5000))
    (tree / "closed").write_bytes(bytes(5000))
    (tree / "closed").chmod(0)
    # The folders above may be closed to others: the child goes there first.
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.chdir(tree)
        os.seteuid(65534)
        measured = entropy.measure(entropy.EntropyQuestion(paths=(Path("open"), Path("closed"), Path("/proc/1/mem"))))
        os.write(into, b"" if measured is None else json.dumps(measured.to_dict()).encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as stream:
        report = json.loads(stream.read())
    os.waitpid(child, 0)
    assert (report["unreadable"], report["bytes_read"], report["files"]) == (1, 5000, 3)
    assert "closed: Permission denied" in report["unreadable_examples"][0]
    assert "unreadable: 1, such as" in "\n".join(summary_lines(report))


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("/no/such/folder",), "PATH = '/no/such/folder': there is no such file or folder"),
        ((".", "--compressor", "gzip"), "--compressor = 'gzip': expected lz4, deflate or zstd"),
        ((".", "--chunk", "5 KiB"), "--chunk = '5 KiB': expected 4 KiB, 8 KiB, 16 KiB, 32 KiB or 64 KiB"),
        ((".", "--chunk", "4096"), "--chunk = '4096'"),
        ((".", "--chunk", "none", "--compressor", "lz4"), "--chunk = 'none': the archive alone"),
        ((".", "--sample", "0 B"), "--sample = '0 B': expected a size above zero"),
        ((".", "--sample", "1000"), "--sample = '1000'"),
    ],
)
def test_a_mistake_is_one_line(hotband, arguments: tuple[str, ...], line: str) -> None:
    done = hotband("measure", "entropy", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"hotband: error: {line}"), done.stderr
    assert done.stderr.count("\n") == 1


def test_a_mistake_is_told_to_python_too() -> None:
    with pytest.raises(UserError, match="no such file"):
        entropy.measure(entropy.EntropyQuestion(paths=(Path("/no/such"),)))


class InterruptsWhen:
    """A progress bar that presses Ctrl-C."""

    def __init__(self, *, measured: bool) -> None:
        self.measured, self.pressed = measured, False

    def __enter__(self) -> InterruptsWhen:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, files: int, counted: int, wanted: int, measured: int) -> None:
        if not self.pressed and (measured > 0 or not self.measured):
            self.pressed = True
            raise KeyboardInterrupt


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A file that takes far longer than a call of the progress bar."""
    path = tmp_path / "large"
    path.write_bytes(os.urandom(100_000_000))
    return path


def test_ctrl_c_leaves_what_was_measured(
    large: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(entropy, "entropy_progress", lambda: InterruptsWhen(measured=True))
    monkeypatch.setattr(sys, "argv", ["hotband", "entropy", str(large), "--json", "--chunk", "4k"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 130
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert report["interrupted"] is True
    assert 0 < report["bytes_read"] < 100_000_000
    low, high = report["archive"]["deflate"]["interval"]
    assert low == pytest.approx(report["bytes_read"] / 1e8, abs=0.005)
    assert high == 1.0
    assert "interrupted" in shown.err


def test_ctrl_c_before_anything_was_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(entropy, "measure", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["hotband", "entropy", str(tmp_path), "--json"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 130
    assert capsys.readouterr().out == ""
