"""Does a self-test read, and only read, and does it tell a drive that is measured right from one that is not?"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import hotband as hb
from hotband.questions import selftest
from hotband.questions.suites import target

Hotband = Callable[..., "subprocess.CompletedProcess[str]"]
pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)")
MIB = 1 << 20


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with data; a small one will do."""
    monkeypatch.setattr(target, "LEAST_BLOCKS", 1 << 12)
    made = tmp_path / "disk.img"
    made.write_bytes(random.Random(1).randbytes(16 * MIB))
    return made


def verdicts(printed: str) -> dict[str, str]:
    """Verdicts by the name of the check."""
    return {check["name"]: check["verdict"] for check in json.loads(printed)["checks"]}


def test_a_file_is_identified_protected_and_read(hotband: Hotband, file: Path) -> None:
    before = hashlib.sha256(file.read_bytes()).hexdigest()
    done = hotband("measure", "selftest", str(file), "--for", "1 s", "--json")
    found = verdicts(done.stdout)
    failed = {name for name, verdict in found.items() if verdict == "fails"}
    # How many I/Os are in flight depends on how busy the host of the tests is.
    assert failed <= {"random, depth 32: in flight"}, done.stdout
    assert done.returncode == bool(failed), done.stdout + done.stderr
    assert {name for name, verdict in found.items() if verdict == "passes"} >= {
        "fio",
        "path and open file",
        "protection",
        "random, depth 1: IOPS x mean",
        "random, depth 32: IOPS x mean",
    }
    assert "nothing is written" in done.stderr
    assert hashlib.sha256(file.read_bytes()).hexdigest() == before


def test_reads_that_the_drive_does_not_see_fail(hotband: Hotband, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = selftest._Counted(read_bytes=0, busy_ms=0, queued_ms=0)
    monkeypatch.setattr(selftest, "_counted", lambda disk, host: counted)
    done = hotband("measure", "selftest", str(file), "--for", "1 s")
    assert done.returncode == 1
    printed = " ".join(done.stdout.split())
    assert printed.count("read by drive ✗ fails") == 3
    assert "less is served from memory" in printed


@pytest.mark.long
def test_what_the_kernel_does_not_count_is_not_known(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "_counted", lambda disk, host: None)
    found = hb.selftest(str(file), duration="1 s")
    by_kernel = {check.name: check.verdict for check in found.checks if "read by drive" in check.name}
    assert list(by_kernel.values()) == ["not known"] * 3


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["."], "expected a block device or a file: nothing is written"),
        (["nowhere"], "PATH = 'nowhere': cannot be used: no such file"),
        (["disk.img", "--for", "10 ms"], 'expected a time from "1 s" to "10 min"'),
        (["disk.img", "--for", "soon"], "--for = 'soon'"),
    ],
)
def test_a_mistake_is_one_line(hotband: Hotband, file: Path, arguments: list[str], expected: str) -> None:
    done = hotband("measure", "selftest", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert len(done.stderr.splitlines()) == 1
