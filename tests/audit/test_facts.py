"""Is what is known of a target read right from a machine, a record and the command line?"""

from __future__ import annotations

from pathlib import Path

import pytest

from hotband import _core
from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR
from hotband.data.documents.run import RunSpec
from hotband.execution.experiment.experiment import execute
from hotband.inference.audit.facts import of_machine, of_media, of_options, of_record
from hotband.questions.datasheet.ports import lane_rate


def test_a_catalog_disk() -> None:
    facts = of_machine("ent-10k")
    assert (facts.kind, facts.drives, facts.rpm) == ("disk", 1, 10000.0)
    assert facts.revolution_ns == 6e6
    assert (facts.read_cache_bytes, facts.write_cache_bytes, facts.write_through) == (128e6, 32e6, False)
    assert facts.capacity_bytes == 1800360124416


def test_a_short_form_adds_up() -> None:
    facts = of_machine("raid10:4xent-10k")
    assert facts.drives == 4
    assert facts.read_cache_bytes == 4 * 128e6
    assert facts.capacity_bytes == 2 * 1800360124416


def test_a_file_with_switches(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text('[drives.d]\nproduct = "ent-10k"\ncount = 3\nset = { wce = "off", rcd = "on" }\n', encoding="utf-8")
    facts = of_machine(str(path))
    assert facts.write_through is True
    assert (facts.read_cache_bytes, facts.write_cache_bytes, facts.drives) == (0.0, 0.0, 3)


@pytest.mark.parametrize(("battery", "through", "written"), [("on", False, 2**30), ("off", True, 0.0)])
def test_the_memory_of_a_controller_is_a_cache(tmp_path: Path, battery: str, through: bool, written: float) -> None:
    path = tmp_path / "m.toml"
    text = '[drives.d]\nproduct = "ent-10k"\ncount = 3\nset = { wce = "off", rcd = "on" }\n[layouts]\n'
    cache = f'c.controller = {{ members = "raid", cache = "1 GiB", battery = "{battery}" }}\n'
    path.write_text(text + 'raid.raid5 = { members = "d*" }\n' + cache, encoding="utf-8")
    facts = of_machine(str(path))
    assert (facts.write_through, facts.read_cache_bytes, facts.write_cache_bytes) == (through, 2**30, written)
    assert facts.capacity_bytes == 2 * 1800360124416


DISKS = '[drives.d]\nproduct = "ent-10k"\ncount = {count}\n[layouts]\n{layouts}\n'
LAYOUTS = {
    "raid0": (4, 'a.raid0 = {members = "d*", chunk = "128 KiB"}'),
    "raid1 in part": (3, 'a.raid1 = {members = "d*", from = "1 GB", size = "20 GiB"}'),
    "raid50": (12, 'a.raid50 = {members = "d*", groups = 3}'),
    "raid60": (8, 'a.raid60 = {members = "d0..d7"}'),
    "raidz1": (5, 'a.raidz1 = {members = "d*", record = "16 KiB"}'),
    "raidz2": (6, 'a.raidz2 = {members = "d*", filled = "50 %"}'),
    "raidz3 of small blocks": (11, 'a.raidz3 = {members = "d*", record = "8 KiB", sector = "8 KiB"}'),
    "a controller before": (6, 'b.raid50 = {members = "d*"}\na.controller = {members = "b"}'),
    "md with a journal": (6, 'b.raid6 = {members = "d0..d4"}\na.md = {members = "b, d5", journal = "write-through"}'),
    "a stripe of mirrors": (
        4,
        'b.raid1 = {members = "d0, d1"}\nc.raid1 = {members = "d2, d3"}\na.raid0 = {members = "b, c"}',
    ),
    "raid0 of raidz": (
        8,
        'b.raidz1 = {members = "d0..d3"}\nc.raidz1 = {members = "d4..d7"}\na.raid0 = {members = "b, c"}',
    ),
    "an image": (6, 'a.erasure = {members = "d*", k = 4, m = 2, image = "1 TB"}'),
}


def capacity_in_engine(path: str, changed: list[tuple[str, str]] | None = None) -> float:
    from hotband.data.inputs.texts import text_of

    offer = _core.machine_offer(CATALOG_DIR, path, text_of(path, "machine"), changed or [])
    return dict(offer["volumes"])["a" if "a" in dict(offer["volumes"]) else "data"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_a_layout_gives_to_hosts_is_what_the_engine_builds(tmp_path: Path, layout: str) -> None:
    count, text = LAYOUTS[layout]
    path = tmp_path / "m.toml"
    path.write_text(DISKS.format(count=count, layouts=text), encoding="utf-8")
    # What is left of a stripe, a record or an object at the end.
    assert of_machine(str(path)).capacity_bytes == pytest.approx(capacity_in_engine(str(path)), rel=1e-6)


@pytest.mark.parametrize("form", ["raid50:8x", "raid60:8x", "raidz1:4x", "raidz2:6x", "raidz3:7x", "concat:3x"])
def test_what_a_short_form_gives_to_hosts_is_what_the_engine_builds(form: str) -> None:
    facts = of_machine(f"{form}ent-10k")
    assert facts.capacity_bytes == pytest.approx(capacity_in_engine(f"{form}ent-10k"), rel=1e-6)


@pytest.mark.parametrize("form", ["replicated:6x", "erasure:6x"])
def test_of_a_pool_without_an_image_the_fullest_daemon_is_not_known(form: str) -> None:
    """By how much it is fuller than the others depends on the hashes: a fifth or so."""
    facts = of_machine(f"{form}ent-10k")
    assert facts.capacity_bytes is not None
    assert 0.75 <= capacity_in_engine(f"{form}ent-10k") / facts.capacity_bytes <= 1.0


@pytest.mark.parametrize(
    "layouts",
    [
        'a.raid0 = {members = "d0, d1"}\nb.raid0 = {members = "d2, d3"}',
        'a.raid0 = {members = "d0.lun0, d1.lun0"}',
        'a.raid9 = {members = "d*"}',
        'a.raid6 = {members = "d0, d1"}',
        'a.raidz3 = {members = "d0, d1"}',
        'a.raid0 = {members = "d0..d999999999999"}',
        "a.raid0 = 3",
        "a = 3",
    ],
)
def test_what_is_not_known_is_not_made_up(tmp_path: Path, layouts: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(DISKS.format(count=4, layouts=layouts), encoding="utf-8")
    assert of_machine(str(path)).capacity_bytes is None


def test_flash_in_a_disk_is_a_cache() -> None:
    plain = of_machine("exos-15e900-512n").read_cache_bytes
    assert of_machine("exos-15e900-512e").read_cache_bytes > plain + 1e9


def test_a_record_of_a_model_knows_its_machine() -> None:
    run = RunSpec("r", "raid1:2xent-10k", "fio-randread", (("wce", "off"),), duration="5 s")
    facts = of_record(execute([run])[0].record)
    assert facts is not None
    assert (facts.rpm, facts.drives, facts.write_through, facts.known) == (10000.0, 2, True, "the record")
    assert facts.capacity_bytes == 1800360124416


def test_media_and_cache() -> None:
    facts = of_media("hdd", "8 GiB")
    assert facts is not None
    assert (facts.rpm, facts.read_cache_bytes) == (7200.0, 8 * 2**30)
    assert of_media(None) is None
    ssd = of_media("ssd")
    assert ssd is not None
    assert (ssd.kind, ssd.rpm) == ("ssd", None)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((None, "tape", None), "question.media = 'tape': expected hdd, ssd or a speed"),
        ((None, "100rpm", None), "expected hdd, ssd or a speed"),
        ((None, None, "8"), "question.cache = '8': expected a size with its unit"),
        (("ent-10k", "hdd", None), "cannot be combined with question.on"),
        (("nosuch", None, None), "expected one of"),
        (("raid9:2xent-10k", None, None), "expected LAYOUT:COUNTxDRIVE"),
        (("raid1:0xent-10k", None, None), "expected LAYOUT:COUNTxDRIVE"),
        (("raid1:99999999999xent-10k", None, None), "expected LAYOUT:COUNTxDRIVE"),
        (("./missing.toml", None, None), "the machine cannot be read"),
    ],
)
def test_a_mistake_is_one_line(options: tuple[str | None, str | None, str | None], words: str) -> None:
    with pytest.raises(UserError) as error:
        of_options(*options)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[drives",
        "drives = 3",
        "[drives.d]\ncount = 2",
        '[drives.d]\nproduct = "ent-10k"\nset = 3',
        '[drives.d]\nproduct = "ent-10k"\ncount = 0',
    ],
)
def test_a_broken_machine_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as error:
        of_machine(str(path))
    assert str(path) in str(error.value)


def test_a_drive_whose_values_are_no_table_is_refused_as_a_run_refuses_it(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text('[drives.d]\nproduct = "ent-10k"\nset = "wce=off"\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"drives\.d\.set"):
        of_machine(str(path))
    with pytest.raises(UserError, match=r"drives\.d\.set"):
        execute([RunSpec("one", str(path), "fio-randread", duration="1 s")])


def test_a_record_of_such_a_machine_tells_nothing_of_it() -> None:
    [done] = execute([RunSpec("one", "ent-10k", "fio-randread", duration="1 s")])
    record = done.record
    record["spec"]["machine"] = '[drives.d]\nproduct = "ent-10k"\nset = "wce=off"\n'
    assert of_record(record) is None


@pytest.mark.parametrize("generation", [4, 6])
def test_a_port_carries_what_the_rules_of_data_sheets_say(tmp_path: Path, generation: int) -> None:
    path = tmp_path / "m.toml"
    drive = f'[drives.d]\nproduct = "7450-pro-3840"\nset = {{ pcie_generation = "{generation}", pcie_lanes = "4" }}\n'
    path.write_text(drive, encoding="utf-8")
    assert of_machine(str(path)).port_bytes_per_s == pytest.approx(lane_rate(f"{generation}x4", 2**40))
