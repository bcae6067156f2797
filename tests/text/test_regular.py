"""Are files and pipes read whole, with the memory that they need?"""

from __future__ import annotations

import os
import threading
import tracemalloc
from pathlib import Path

import pytest

from hotband.text import regular
from hotband.text.regular import BLOCK_BYTES, file_bytes

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
