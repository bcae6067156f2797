"""Is what was computed printed where its page cannot be written?"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hotband.faces.commands.output import print_after
from hotband.questions.sweeps.sweep import Sweep

Hotband = Callable[..., "subprocess.CompletedProcess[str]"]


def test_it_is_printed_without_its_page_and_the_error_comes_after() -> None:
    printed: list[Path | None] = []

    def full() -> Path:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        print_after(full, printed.append)
    assert printed == [None]
    print_after(lambda: Path("page.html"), printed.append)
    assert printed == [None, Path("page.html")]


def test_a_sweep_is_printed_where_its_page_cannot_be_written(
    hotband: Hotband, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Sweep, "report", full)
    sweep = ("sweep", "fio-randread", "--on", "ent-10k", "--set", "qd=1,2", "--duration", "200 ms")
    done = hotband(*sweep, "-o", str(tmp_path / "page.html"), "--json")
    assert done.returncode != 0
    assert len(json.loads(done.stdout)["runs"]) == 2
