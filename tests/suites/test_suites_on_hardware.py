"""Is a suite on a file or a device held, purged, kept and honest about what it is? Is its time said before?"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from fake_device import fake

import hotband as hb
from hotband.execution.experiment import Executor
from hotband.execution.targets.real_target import OWN_FILE
from hotband.questions.suites import target
from hotband.questions.suites.bench import each_once
from hotband.questions.suites.pts import Asked, latency, run_pts, spec, suite
from hotband.questions.suites.pts.estimate import length_of
from hotband.questions.suites.pts.loops import run_loop

Hotband = Callable[..., "subprocess.CompletedProcess[str]"]
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)")
HOURS = 3600.0


@pytest.fixture
def one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop gives up after its first round, three cells, and a small file will do."""
    monkeypatch.setattr(target, "LEAST_BLOCKS", 1 << 12)
    monkeypatch.setattr(latency, "run_loop", partial(run_loop, most=1))


@needs_fio
@pytest.mark.usefixtures("one_round")
def test_a_suite_in_a_folder_has_one_file_all_the_time(hotband: Hotband, tmp_path: Path) -> None:
    folder, out = tmp_path / "disk", tmp_path / "out"
    folder.mkdir()
    asked = [
        "measure",
        "pts",
        f"real:{folder}",
        "--size",
        "16 MiB",
        "--test",
        "latency",
        "--quick",
        "--minute",
        "50 ms",
    ]
    refused = hotband(*asked, "--out", out)
    assert "no terminal to confirm it: expected --yes" in refused.stderr
    done = hotband(*asked, "--out", out, "--yes")
    assert done.returncode == 0, done.stderr
    assert "1 test: about 18 s to 81 s, and the time to write 16 MiB in order before" in done.stderr
    assert list(folder.iterdir()) == []
    document = json.loads((out / "pts.json").read_text())
    assert document["conditions"]["purge"] == "discard (a hole in the file)"
    said = [why.split(":")[0] for why in document["specification"]["departures"]]
    assert said == ["short", "quick", "quick", "0.5 KiB left out", "the write cache was not off", "Latency"]
    first = next(path for path in out.rglob("record.json") if "written over" in path.read_text())
    assert json.loads(first.read_text())["job"].count(f"filename={folder}/{OWN_FILE}") == 1
    # Nothing is run again: not even the file is filled.
    again = hotband(*asked, "--out", out, "--yes", "--json")
    assert json.loads(again.stdout)["tests"][0]["runs_kept"] == document["tests"][0]["runs"]
    assert json.loads(again.stdout)["conditions"]["purge"] == "discard (a hole in the file)"


@needs_fio
@pytest.mark.usefixtures("one_round")
def test_a_suite_that_is_stopped_leaves_its_file_to_the_next_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out = tmp_path / "disk", tmp_path / "out"
    folder.mkdir()
    how = {"size": "16 MiB", "tests": "latency", "quick": True, "minute": "50 ms", "out": out, "progress": False}
    with monkeypatch.context() as patch:
        patch.setattr(latency, "distribution", _stopped)
        with pytest.raises(KeyboardInterrupt):
            hb.pts(f"real:{folder}", **how)
    assert (folder / OWN_FILE).stat().st_size == 16 << 20
    found = hb.pts(f"real:{folder}", **how)
    assert found.document["tests"][0]["runs_kept"] == 4
    assert not (folder / OWN_FILE).exists()


def _stopped(*_: object) -> None:
    raise KeyboardInterrupt


def test_it_is_compliant_where_all_is_done_and_says_why_where_not(monkeypatch: pytest.MonkeyPatch) -> None:
    faked, device = fake()
    asked = Asked(faked, tests=(), executor=device)
    left = run_pts(asked, watch=lambda _: nullcontext(None))["specification"]
    assert left["departures"] == [
        "the write cache was not off: its setting is unknown (Hotband can set the cache of a whole drive)"
    ]

    @contextmanager
    def turned(executor: Executor, on: bool, out: Path | None) -> Iterator[str]:
        assert (executor, on, out) == (device, False, None)
        yield "off (by a test)"

    monkeypatch.setattr(suite, "write_cache", turned)
    made = run_pts(replace(asked, set_write_cache=True), watch=lambda _: nullcontext(None))
    assert made["specification"]["compliant"]
    assert made["conditions"]["write_cache"] == "off (by a test)"
    client = run_pts(replace(asked, drive_class="client"), watch=lambda _: nullcontext(None))["specification"]
    assert any(why.startswith("the active amount is one range") for why in client["departures"])


def test_the_time_is_that_of_the_specification() -> None:
    faked, _ = fake()
    plan = Asked(faked).plan()
    assert length_of(plan, "iops").least_s == 5 * 56 * 60
    assert length_of(plan, "iops").most_s == 25 * 56 * 60
    assert length_of(plan, "cross-stimulus").least_s == 22 * HOURS
    # 360 times five seconds after rests of 5 to 50 s and without, and five half hours until it is steady at least.
    rests = 360 * (5 * 10 + 5 + 10 + 15 + 25 + 50)
    assert length_of(plan, "idle-recovery").least_s == rests + 5 * 30 * 60
    assert length_of(plan, "throughput").fill_bytes == 2 * 2 * faked.bytes
    assert length_of(plan, "write-saturation").most_s == 6 * HOURS + 20 * 60
    short = replace(plan, minute_s=1.0)
    assert length_of(short, "cross-stimulus").least_s == pytest.approx(22 * 60)


@pytest.mark.parametrize("text", ["1", "soon", "2 min", "1 us", ""])
def test_a_minute_is_a_time_of_at_most_a_minute(text: str) -> None:
    with pytest.raises(hb.UserError, match="expected a time from"):
        spec.minute_of(text)


def test_notes_that_differ_in_their_numbers_are_said_once() -> None:
    notes = ["others took 81 % (rustc)", "others took 7.5 % (mypy, cargo)", "a file", "a file"]
    assert each_once(notes) == ["others took 81 % (rustc) (2 runs)", "a file"]


@needs_fio
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("measure pts real:nowhere", "TARGET = 'real:nowhere': cannot be used: no such file or directory"),
        ("measure pts real:small --yes", "TARGET = 'real:small': holds 4,096 B; a suite needs"),
        ("measure pts real:folder", "no terminal to confirm it: expected --yes"),
        ("measure pts real:folder --yes --size 900PiB", "has room for"),
        ("measure pts real:folder --yes --size huge", "--size = 'huge': expected a size with its unit"),
        ("measure pts real:folder --yes --set-write-cache", "applies to a whole drive"),
        ("measure pts real:file --yes", "expected --erase {place}/file if it may be"),
        ("measure pts real:file --yes --erase File", "letter for letter"),
        (
            "measure pts real:file --yes --erase {place}/file --size 1GiB",
            "applies to a file made in a folder; real:file is not a folder",
        ),
        (
            "measure pts real:file --yes --erase {place}/file --purge-by format",
            "is not supported by {place}/file: expected discard",
        ),
        (
            "measure pts real:file --yes --erase {place}/file --set-write-cache",
            "is not a drive: Hotband does not change the cache",
        ),
        ("measure pts real:file --yes --erase {place}/file --set scale=4", "values are of models"),
        ("measure pts real:rbd:pool/image --yes", "map it (rbd map) and measure /dev/rbdN"),
        (
            "measure pts s4500-960 --purge-by discard",
            "--purge-by = 'discard': is for a real device; s4500-960 is a model",
        ),
        ("measure pts s4500-960 --set-write-cache", "--set-write-cache: is for a real device"),
        ("measure pts s4500-960 --yes", "--yes: is for a real device"),
        ("measure quick real:folder", "no terminal to confirm it: expected --yes"),
        ("measure quick real:folder --yes --expect nothing", "--expect = 'nothing': expected one of"),
        ("measure quick real:folder --yes --for soon", "--for = 'soon': expected a time"),
        ("measure quick real:file --erase other", "letter for letter"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(
    hotband: Hotband, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, said: str
) -> None:
    monkeypatch.setattr(target, "LEAST_BLOCKS", 1 << 12)
    (tmp_path / "small").write_bytes(bytes(4096))
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"mine" * (4 << 20))
    done = hotband(*asked.format(place=tmp_path).split())
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert said.format(place=tmp_path) in done.stderr
    assert list((tmp_path / "folder").iterdir()) == []
    assert (tmp_path / "file").read_bytes() == b"mine" * (4 << 20)


def test_without_fio_nothing_is_purged_or_laid_out(
    hotband: Hotband, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    done = hotband("measure", "pts", "real:folder", "--size", "256 MiB", "--yes")
    assert (done.returncode, "fio: is not installed" in done.stderr) == (2, True)
    assert list((tmp_path / "folder").iterdir()) == []
