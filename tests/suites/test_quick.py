"""Is a quick look planned for the kind of drive, honest about what it expects, and harmless where it may not write?"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from fake_device import fake

import hotband as hb
from hotband.base.text.numbers import number
from hotband.questions.suites.quick import QuickAsked, loads_of, run_quick
from hotband.questions.suites.target import target_of

Hotband = Callable[..., "subprocess.CompletedProcess[str]"]
SMALL = {"scale": 512}


def test_the_kind_of_drive_decides_what_time_is_spent_on() -> None:
    disk, sata, nvme = (loads_of(target_of(name), True) for name in ("ent-10k", "s4500-960", "980-pro-1tb"))
    weight = {load.name.split(",")[0]: load.weight for load in disk}
    assert weight["sequential reads"] > weight["sequential writes that go on"]
    assert max(sata, key=lambda load: load.weight).name.startswith("sequential writes that go on")
    assert max(load.threads * load.depth for load in nvme) == 128
    assert max(load.threads * load.depth for load in sata) == 32


def test_nothing_is_written_unless_it_may_be(tmp_path: Path) -> None:
    target, device = fake()
    (tmp_path / "f").write_bytes(b"")
    target = replace(target, name=f"real:{tmp_path / 'f'}")
    made = run_quick(QuickAsked(target, 60.0, False, executor=device), watch=lambda title: nullcontext(None))
    assert {load["cell"]["read_pct"] for load in made["loads"]} == {100}
    assert any("nothing was written" in note for note in made["notes"])
    assert made["going_on"] == []


def test_a_drive_is_as_expected_of_its_own_model_and_not_of_a_slower_one() -> None:
    same = hb.quick("s4500-960", duration="1 min", set=SMALL, expect="s4500-960", progress=False)
    assert set(same.figures["verdict"]) == {"as expected"}
    assert any("all as expected" in line for line in same.answer)
    other = hb.quick("s4500-960", duration="1 min", set=SMALL, expect="ent-10k", progress=False)
    row = other.document["loads"][1]
    assert row["name"].startswith("random reads, one")
    assert row["expected"] is not None
    assert row["value"] is not None
    assert row["verdict"] == f"{number(row['expected'] / row['value'])} times as good"


def test_writes_that_fall_are_said_to_fall() -> None:
    target = replace(target_of("s4500-960", (("scale", "512"),)))
    made = run_quick(QuickAsked(target, 60.0), watch=lambda title: nullcontext(None))
    assert len(made["going_on"]) == 10
    assert any(line.startswith("Writes that go on") for line in made["answer"])


def test_the_command_writes_a_page_whose_first_words_answer(hotband: Hotband, tmp_path: Path) -> None:
    done = hotband(
        "measure", "quick", "s4500-960", "--set", "scale=512", "--for", "1 min", "-o", str(tmp_path / "q.html")
    )
    assert done.returncode == 0
    assert done.stdout.splitlines()[1].startswith("sequential reads, 1 MiB: ")
    page = (tmp_path / "q.html").read_text(encoding="utf-8")
    assert "What was found" in page
    # Nothing was expected, so no column is empty throughout.
    assert "Measured" in page
    assert "Verdict" not in page
    assert "A look of 1 minute, made" in page


def test_a_look_of_another_length_does_not_write_over_the_first(hotband: Hotband, tmp_path: Path) -> None:
    look = ["measure", "quick", "s4500-960", "--set", "scale=512", "--out", "look", "--for"]
    assert hotband(*look, "1 min").returncode == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = hotband(*look, "2 min")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert 'holds the quick look at s4500-960 with --for "60 s"' in done.stderr
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("arguments", [["--for", "5"], ["--for", "1 s"], ["--expect", "nothing"], ["--erase", "X"]])
def test_mistakes_are_one_line(hotband: Hotband, arguments: list[str]) -> None:
    done = hotband("measure", "quick", "s4500-960", *arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
