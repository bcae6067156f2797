"""Is a place brought into the state that is asked for, by the purge that is named, or refused before?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import hotband as hb
from hotband.execution.serve.served import Served, ServeSpec
from hotband.execution.targets import states

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed (apt install fio)")
MIB = 1 << 20
SHORT = ("--duration", "200 ms", "--set", "warm_up=0 s", "--expect", "none", "--yes", "--json")


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A loop device of 8 MiB, and the file below it."""
    if os.geteuid() != 0 or shutil.which("losetup") is None:
        pytest.skip("needs root and losetup")
    image = tmp_path / "loop.img"
    image.write_bytes(b"\xff" * 8 * MIB)
    made = subprocess.run(["losetup", "-f", "--show", str(image)], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no loop device: {made.stderr.strip()}")
    yield made.stdout.strip(), image
    subprocess.run(["losetup", "-d", made.stdout.strip()], check=True)


def test_a_file_is_purged_and_filled_with_data_of_the_entropy_asked_for(hotband, tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(b"\xff" * 8 * MIB)
    where = ("fio-randread", "--on", f"real:{file}", "--erase", str(file), *SHORT)
    kept = {}
    for state in ("purged", "filled"):
        done = hotband("run", *where, "--set", f"state={state}", "--set", "data=0.5", "--purge-by", "discard")
        assert done.returncode == 0, done.stderr
        record = json.loads(done.stdout)
        kept[state] = record["state_kept"]
        assert record["drive_state"]["drives"][0]["holds"] == state
        if state == "purged":
            # A read costs the file system blocks of neither kind: the hole is as large as the file.
            assert file.stat().st_blocks == 0
    assert {one["by"][0] for one in kept.values()} == {"discard (a hole in the file)"}
    assert kept["filled"]["compressed_pct"] == pytest.approx(50, abs=2)
    assert kept["filled"]["written_bytes"] == 16 * MIB


def test_a_loop_device_is_discarded_and_preconditioned(
    hotband, loop: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    device, image = loop
    whole = states.Rounds
    # As even as they are: the fifth round is the last.
    monkeypatch.setattr(states, "Rounds", lambda: whole(0.05, 5))
    where = ("--on", f"real:{device}", "--erase", image, *SHORT)
    done = hotband("run", "fio-randread", *where, "--set", "state=preconditioned", "--purge-by", "discard")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    kept = record["state_kept"]
    assert kept["by"][0] == "discard"
    assert len(kept["steady"]["rounds"]) == 5
    assert kept["written_bytes"] > 16 * MIB
    assert record["drive_state"]["drives"][0]["holds"] == "preconditioned"
    done = hotband("run", "fio-randread", *where, "--set", "state=purged")
    assert json.loads(done.stdout)["state_kept"]["by"] == ["discard"]
    assert image.stat().st_blocks == 0


def test_a_served_drive_is_purged_by_trims(tmp_path: Path) -> None:
    with Served(ServeSpec("s4500-960", (("scale", "512"),), socket=tmp_path / "s", anyway=True)) as served:
        uri = served.volumes["d0"].uri
        text = '[load]\nopen = { rate_iops = 100, arrival = "fixed" }\n[[streams]]\nread_pct = 100\nrandom_pct = 100\n'
        text += 'size = "4 KiB"\n[[phases]]\nmeasure = true\nduration = "200 ms"\n'
        record = hb.run(text, on=f"real:{uri}", state="purged", erase=uri, purge_by="discard", expect="none")
    assert record.document["state_kept"]["by"] == ["discard (NBD trim)"]
    trimmed = [one for one in served.serving().kinds if one.kind == "trim"]
    assert sum(one.count for one in trimmed) > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--purge-by", "discard"], "--purge-by = 'discard': is for a state before the run: expected --set state="),
        (["--purge-by", "blkdiscard", "--set", "state=purged"], "expected one of discard, format, sanitize, secure-er"),
        (["--purge-by", "format", "--set", "state=filled"], "is not supported by {file}: expected discard"),
        (["--purge-by", "secure-erase", "--set", "state=purged"], "is not supported by {file}: expected discard"),
        (["--set", "state=purged", "--set", "data=half"], "expected a share from 0 to 1"),
        (["--set", "state=purged", "--set", "data=1.5"], "expected a share from 0 to 1"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    hotband, tmp_path: Path, arguments: list[str], words: str
) -> None:
    file = tmp_path / "data"
    file.write_bytes(b"\xff" * MIB)
    where = ("--on", f"real:{file}", "--erase", str(file), *SHORT)
    done = hotband("run", "fio-randread", *where, *arguments)
    assert done.returncode == 2
    assert words.format(file=file) in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert file.read_bytes() == b"\xff" * MIB


def test_an_option_of_hardware_is_refused_on_a_model(hotband) -> None:
    done = hotband("run", "fio-randread", "--on", "s4500-960", "--purge-by", "format")
    assert (done.returncode, "--purge-by = 'format': is for hardware" in done.stderr) == (2, True)


def test_how_far_a_preparation_is_says_what_is_left() -> None:
    assert states.Step("filling (1 of 2)", 0.25, 90.0).words() == "filling (1 of 2) 25 %, 90 s left"
    assert states.Step("preconditioning, round 2", 0.04, 9000.0, True).words().endswith("4 %, at most 2.5 h left")
    assert states.Step("purging", 0.0, None).words() == "purging 0 %"
