"""Are files and pipes read whole, with the memory that they need?"""

from __future__ import annotations

import os
import threading
import tracemalloc
from pathlib import Path

import pytest

from hotband.base.errors import UserError
from hotband.base.text import regular
from hotband.base.text.regular import BLOCK_BYTES, file_bytes, opened, text_bytes, text_in

MIB = 1 << 20


def test_a_small_file_takes_little_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"small")
    tracemalloc.start()
    try:
        assert file_bytes(tmp_path / "file") == b"small"
        assert tracemalloc.get_traced_memory()[1] < MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size", [0, 1, BLOCK_BYTES, 3 * BLOCK_BYTES + 5])
def test_a_file_and_a_pipe_are_read_whole(tmp_path: Path, size: int) -> None:
    data = bytes(range(251)) * (size // 251 + 1)
    (tmp_path / "file").write_bytes(data[:size])
    assert file_bytes(tmp_path / "file") == data[:size]
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[data[:size]])
    writer.start()
    assert file_bytes(tmp_path / "pipe", pipes=True) == data[:size]
    writer.join()


def test_what_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regular, "LARGEST_BYTES", MIB)
    (tmp_path / "fits").write_bytes(bytes(MIB))
    assert len(file_bytes(tmp_path / "fits")) == MIB
    (tmp_path / "more").write_bytes(bytes(MIB + 1))
    with pytest.raises(OSError, match="larger than 1 MiB"):
        file_bytes(tmp_path / "more")


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    for name, kind in (("pipe", "a pipe"), ("link", "a device"), (".", "a folder")):
        for typed in (False, True):
            with pytest.raises(UserError) as error:
                text_bytes(tmp_path / name, "machine", typed=typed)
            accepted = f"is {kind}, not a regular file; expected a machine as text of at most 64 MiB"
            assert error.value.accepted == accepted


def test_a_text_that_is_too_large_is_refused_with_the_limit(tmp_path: Path) -> None:
    (tmp_path / "more").write_bytes(bytes(MIB + 1))
    with pytest.raises(UserError, match="is larger than 1 MiB; expected a machine as text of at most 1 MiB"):
        text_bytes(tmp_path / "more", "machine", MIB)


def test_a_pipe_that_the_process_was_given_is_read_where_it_is_typed() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"\xef\xbb\xbfa\r\nb")
    os.close(writer)
    try:
        with pytest.raises(UserError, match="is a pipe, not a regular file"):
            text_in(Path(f"/dev/fd/{reader}"), "machine")
        assert text_in(Path(f"/proc/self/fd/{reader}"), "machine", typed=True) == "a\nb"
    finally:
        os.close(reader)


def test_a_file_that_is_opened_waits_for_what_it_reads(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    with opened(tmp_path / "file") as file:
        assert os.get_blocking(file.fileno())
