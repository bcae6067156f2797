"""Is what is known of a target read right from a machine, a record and the command line?"""

from __future__ import annotations

from pathlib import Path

import pytest

from hotband.audit.facts import of_machine, of_media, of_options, of_record
from hotband.errors import UserError
from hotband.runs.run import RunSpec, execute


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
        ((None, "tape", None), "--media = 'tape': expected hdd, ssd or a speed"),
        ((None, "100rpm", None), "expected hdd, ssd or a speed"),
        ((None, None, "8"), "--cache = '8': expected a size with its unit"),
        (("ent-10k", "hdd", None), "not together with --on"),
        (("nosuch", None, None), "expected one of"),
        (("raid9:2xent-10k", None, None), "expected LAYOUT:COUNTxDRIVE"),
        (("raid1:0xent-10k", None, None), "expected LAYOUT:COUNTxDRIVE"),
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
