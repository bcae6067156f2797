"""Are a study's emulated parts read and scaled as stated, are their ratios right, and is nothing run twice?"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import hotband as hb
from hotband import _core
from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR
from hotband.execution.programs.devices import keys_of
from hotband.execution.programs.program import Need
from hotband.execution.programs.settings import apart, values_of
from hotband.questions.study.emulate import parts, run
from hotband.questions.study.emulate.ratios import direction, published_ratio
from hotband.questions.study.emulate.scale import cut_values, machine_text, scaled, words
from hotband.questions.study.file import load
from hotband.views.study.emulate import emulation_lines, emulation_table

TINY = Path(__file__).parent / "tiny"
PARTS = """
[[parts]]
id = "reads"
title = "Reads"
program = "sysbench"
figure = "reads"
settings = { threads = 2 }
data = "1 TB"
fill = { total = "1 B" }
per_drive = { files = 2 }
drives = 24
fewest = 3
cut = ["cache_size", "age_bound"]
scale = "1/1000"
load = "read"
predicted = "response"
published = "response"
a = { name = "slow", config = "ten", machine = "small.toml", set = { wce = "off" } }
b = { name = "fast", config = "fifteen", machine = "small.toml", set = { wce = "on" } }
"""
MACHINE = """[drives.d]
product = "{product}"
count = {drives}
[layouts.array]
raid5 = { members = "d*" }
[volumes]
v{n} = { on = "d{n}", size = "{size}" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = Path(shutil.copytree(TINY, tmp_path / "tiny"))
    (made / "emulate.toml").write_text(PARTS)
    (made / "small.toml").write_text(MACHINE)
    return made


class Fake:
    """A program that is done at once: 300 reads a second where writes are cached, else 200."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        self.fails_at = 0
        self.anyway = False

    def __call__(
        self,
        name: str,
        on: str,
        asked: dict[str, str],
        out: Path | None,
        tell: Callable[[str], None],
        anyway: bool = False,
    ) -> Any:
        self.anyway = anyway
        assert Path(on).read_text().startswith("[drives.d]")
        if len(self.asked) + 1 == self.fails_at:
            raise KeyboardInterrupt
        self.asked.append(dict(asked))
        tell("running")
        reads = {"name": "reads", "value": 300.0 if asked["wce"] == "on" else 200.0, "unit": "reads/s"}
        return {"name": name, "version": "1", "figures": [reads], "notes": ["answers were late"], "settings": asked}


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake()
    monkeypatch.setattr(run, "run_program", made)
    monkeypatch.setattr(run, "missing", lambda _program: [])
    return made


@pytest.mark.parametrize(
    ("old", "new", "key", "said"),
    [
        ('program = "sysbench"', 'program = "sysbensh"', "parts[0].program", 'did you mean "sysbench"?'),
        ("fewest = 3", "fewest = 25", "parts[0].fewest", "at most the 24 drives"),
        ("fewest = 3", "fewst = 3", "parts[0].fewst", 'did you mean "fewest"?'),
        ('data = "1 TB"', 'data = "1"', "parts[0].data", "a size with its unit"),
        ("{ total =", "{ totl =", "parts[0].fill.totl", 'did you mean "total"?'),
        ("files = 2", "files = 0", "parts[0].per_drive.files", "1 or more"),
        ('"1/1000"', '"0"', "parts[0].scale", "such as 1/1000"),
        ('load = "read"', 'load = "red"', "parts[0].load", 'did you mean "read"?'),
        ('predicted = "response"', 'predicted = "x"', "parts[0].predicted", "expected one of"),
        ('config = "ten"', 'config = "tenn"', "parts[0].a.config", 'did you mean "ten"?'),
        ('machine = "small.toml"', 'machine = "../tiny/small.toml"', "parts[0].a.machine", "no such file"),
        ('name = "fast", ', "", "parts[0].b.name", "is missing"),
    ],
)
def test_a_mistake_in_a_part_is_named(folder: Path, old: str, new: str, key: str, said: str) -> None:
    assert old in PARTS
    (folder / "emulate.toml").write_text(PARTS.replace(old, new, 1))
    with pytest.raises(UserError) as caught:
        parts.read_parts(load(str(folder)))
    assert (caught.value.where, caught.value.key) == (str(folder / "emulate.toml"), key)
    assert said in str(caught.value)


def test_a_part_that_is_there_twice_is_refused(folder: Path) -> None:
    (folder / "emulate.toml").write_text(PARTS + PARTS)
    with pytest.raises(UserError, match=r"parts\[1\].id = 'reads': is given twice"):
        parts.read_parts(load(str(folder)))


@pytest.mark.parametrize(
    ("text", "share"),
    [("1/1000", Fraction(1, 1000)), (" 0.001 ", Fraction(1, 1000)), ("0.1 %", Fraction(1, 1000)), ("1", Fraction(1)),
     ("0", None), ("1.1", None), ("-1", None), ("1/0", None), ("1e-3", None), ("a", None), ("", None)],
)  # fmt: skip
def test_scales_are_shares(text: str, share: Fraction | None) -> None:
    assert parts.scale_of(text) == share


@pytest.mark.parametrize(
    ("ratio", "way"), [(1.06, "up"), (1.04, "level"), (1.0, "level"), (0.96, "level"), (0.94, "down"), (2.0, "up")]
)
def test_what_is_within_the_error_of_the_emulation_has_no_direction(ratio: float, way: str) -> None:
    assert direction(ratio) == way


def test_drives_data_volumes_and_caches_are_cut_alike(folder: Path) -> None:
    (part,) = parts.read_parts(load(str(folder)))
    at = scaled(part, None)
    assert (at.drives, at.volume, at.a_drive) == (3, 4e9, Fraction(24, 3000))
    assert at.settings == {"threads": "2", "total": "1000000000 B", "files": "6"}
    known = cut_values(part, part.a, at)
    assert known["cache_size"] == ("128 MB", f"{round(128e6 * 0.008 / 4096) * 4} KiB")
    assert known["age_bound"] == ("1 s", "8 ms")
    text = machine_text(part.a, at)
    assert 'product = "exos-10e2400-512n"\ncount = 3\n' in text
    assert [line for line in text.splitlines() if line.startswith("v")] == [
        f'v{n} = {{ on = "d{n}", size = "4000 MB" }}' for n in range(3)
    ]
    assert "1 GB of 1 TB of data (total = 1000000000 B, files = 6) on 3 of 24 drives, the fewest" in words(part, at)


def test_no_cache_is_cut_below_what_a_drive_takes(folder: Path) -> None:
    (part,) = parts.read_parts(load(str(folder)))
    at = scaled(part, Fraction(1, 500_000))
    # 32 segments of a block.
    assert cut_values(part, part.b, at)["cache_size"] == ("256 MB", "128 KiB")


def test_at_half_the_scale_nothing_of_a_drive_is_cut(folder: Path) -> None:
    (part,) = parts.read_parts(load(str(folder)))
    at = scaled(part, Fraction(1, 2))
    assert (at.drives, at.volume, at.a_drive) == (12, 1e12, Fraction(1))
    assert cut_values(part, part.a, at) == {}
    assert "cut" not in words(part, at)


def test_a_program_that_cannot_work_on_so_little_says_so_before_it_starts(folder: Path, fake: Fake) -> None:
    with pytest.raises(UserError, match=r"scale: total = '1 B': for sysbench of part reads: expected .* another scale"):
        hb.study(str(folder)).emulate(scale=1e-12)
    assert fake.asked == []


def test_ratios_stand_beside_each_other(folder: Path, fake: Fake) -> None:
    lines: list[str] = []
    found = hb.study(str(folder)).emulate(progress=lines.append)
    (row,) = found.frame.to_dicts()
    assert (row["a"], row["b"], row["emulated"], row["unit"]) == (200.0, 300.0, 1.5, "reads/s")
    assert row["predicted"] < 1, "a 15K disk answers in less time than a 10K one"
    assert (row["published"], row["agrees_predicted"], row["agrees_published"]) == (None, False, None)
    assert found.warnings == ["reads, slow: answers were late", "reads, fast: answers were late"]
    assert {"reads: running", "reads: slow: 200 reads/s"} <= set(lines)
    assert fake.asked[0]["wce"] == "off"
    assert fake.asked[0]["cache_size"].endswith("KiB")
    # Of the other product half as much memory is left.
    assert {**fake.asked[0], "wce": "on", "cache_size": "2000 KiB"} == fake.asked[1]


def test_what_was_finished_is_not_run_again(folder: Path, fake: Fake, tmp_path: Path) -> None:
    study, out = hb.study(str(folder)), tmp_path / "out"
    fake.fails_at = 2
    with pytest.raises(KeyboardInterrupt):
        study.emulate(out=out)
    assert len(fake.asked) == 1
    fake.fails_at = 0
    lines: list[str] = []
    whole = study.emulate(out=out, progress=lines.append)
    assert [one["wce"] for one in fake.asked] == ["off", "on"]
    assert "reads: slow: done before, not run again" in lines
    assert json.loads((out / "emulation.json").read_text()) == whole.to_dict()
    assert study.emulate(out=out).to_dict() == whole.to_dict()
    assert len(fake.asked) == 2
    study.emulate(out=out, scale="1/500")
    assert len(fake.asked) == 4, "another scale is another run"
    study.emulate(out=out, scale="1/500", fresh=True)
    assert len(fake.asked) == 6


def test_a_damaged_result_is_named(folder: Path, fake: Fake, tmp_path: Path) -> None:
    file = tmp_path / "out" / "reads" / "a" / "side.json"
    file.parent.mkdir(parents=True)
    file.write_text("[]")
    with pytest.raises(UserError, match=r"side.json: is not a result of an emulated part"):
        hb.study(str(folder)).emulate(out=tmp_path / "out")
    assert fake.asked == []


def test_a_figure_that_a_program_does_not_leave_is_named(folder: Path, fake: Fake) -> None:
    (folder / "emulate.toml").write_text(PARTS.replace('figure = "reads"', 'figure = "raeds"'))
    with pytest.raises(OSError, match="has no figure 'raeds', only reads"):
        hb.study(str(folder)).emulate()


def test_a_part_without_its_program_is_skipped(folder: Path, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "missing", lambda _program: [Need("sysbench", "sysbench")])
    found = hb.study(str(folder)).emulate()
    assert fake.asked == []
    (row,) = found.frame.to_dicts()
    assert row["skipped"] == "sysbench needs sysbench, not found; install with: apt-get install sysbench"
    assert (row["a"], row["emulated"], row["agrees_predicted"]) == (None, None, None)


def shipped() -> list[tuple[str, str]]:
    return [(name, part.id) for name in parts.with_parts() for part in parts.read_parts(load(name))]


@pytest.mark.parametrize(("name", "id_"), shipped())
def test_parts_of_the_catalog_fit_their_programs_and_drives(name: str, id_: str, tmp_path: Path) -> None:
    part = next(one for one in parts.read_parts(load(name)) if one.id == id_)
    at, file = scaled(part, None), tmp_path / "machine.toml"
    for side in part.sides.values():
        file.write_text(machine_text(side, at))
        values = {key: cut for key, (_, cut) in cut_values(part, side, at).items()} | dict(side.set)
        own, of_machine = apart(part.program, {**at.settings, **values}, keys_of(str(file)))
        assert (own, of_machine) == (at.settings, values)
        assert values_of(part.program, own)
        offer = _core.machine_offer(CATALOG_DIR, str(file), file.read_text(), list(values.items()))
        assert len(offer["volumes"]) >= len(set(part.program.volumes) & {"data", "log"})
        assert {size for _, size in offer["volumes"]} == {4_000_000_000}


def test_published_ratios_are_of_both_machines_or_none() -> None:
    study = load("exos-15e900")
    found = {part.id: published_ratio(study, part) for part in parts.read_parts(study)}
    assert found["boot-storm"] is None
    assert found["oltp"] is not None
    assert found["oltp"]["ratio"] == pytest.approx(6601 / 6614)
    assert found["oltp"]["direction"] == "level"


def test_the_table_says_which_agree(folder: Path, fake: Fake) -> None:
    made = hb.study(str(folder)).emulate().to_dict()
    table = emulation_table(made)
    cells = table.texts()[0]
    assert cells[:5] == ["reads", "reads", "200 reads/s", "300 reads/s", "1.5"]
    assert 0.0 < float(cells[5]) < 1.0
    assert cells[6:] == ["–", "none"]
    lines = list(emulation_lines(made))
    assert "     warning: answers were late" in lines
    assert "  published: no such ratio is published" in lines
    made["parts"][0]["agrees"] = {"predicted": True, "published": True}
    assert [row[7] for row in emulation_table(made).texts()] == ["both"]


def test_mistakes_on_the_command_line_are_one_line(hotband) -> None:
    for words_of, said in [
        (["durawrite"], "has no emulated part (emulate.toml); expected one of exos-15e900, mach2-ceph"),
        (["exos-15e900", "--only", "wbe"], 'did you mean "web"?'),
        (["exos-15e900", "--scale", "2"], "expected a share of the study above 0 and up to 1"),
    ]:
        done = hotband("study", "emulate", *words_of)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1
