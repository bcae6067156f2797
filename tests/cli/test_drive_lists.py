"""Does `hotband drives` list, filter and sort the catalog as people type it, and Python the same?"""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
from pathlib import Path

import pytest

import hotband as hb
from hotband import _core
from hotband.base.errors import UserError
from hotband.data.catalog import CATALOG_DIR, entries
from hotband.data.catalog.classes import drive_classes, read_classes
from hotband.data.catalog.filters import SORT_KEYS, filter_words, product_of, select_drives
from hotband.data.catalog.products import DISK_KEYS, SOLD_KEYS, SSD_KEYS, described

NVME = """NVMe SSDs of 3 TB and more: 18 of 87 drives       (hotband drives NAME: details)
name            product                   size  PCIe  NAND  4K read  4K write
9550-max-6400   Micron 9550 MAX        6.40 TB  5x4   TLC   3,300 k     640 k
"""


def names(*words: str, **bounds: str) -> list[str]:
    return [drive.name for drive in select_drives(words, **bounds).drives]


def test_the_list_begins_with_a_sentence_and_has_a_line_per_drive(hotband) -> None:
    shown = hotband("drives", "nvme", "--min", "3TB", "--sort", "read-iops").stdout
    assert shown.startswith(NVME)
    assert len(shown.splitlines()) == 2 + 18


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("smr",), ["st8000as0002", "st8000as0022", "wd-red-4tb-efax"]),
        (("host-aware",), ["st8000as0022"]),
        (("SAS", "ssd"), ["pm1653-7680", "pm6-r-3840"]),
        (("qlc",), ["870-qvo-1tb", "870-qvo-4tb", "p3-plus-1tb", "p3-plus-4tb", "p5336-61440"]),
        (("optane",), ["p4800x-750"]),
        (("15k", "sas", "2.5in"), ["ent-15k", "exos-15e900-512e", "exos-15e900-512n"]),
        (("scsi", "15k"), ["cheetah-15k4", "cheetah-15k4-performance"]),
        (
            ("consumer", "gen4"),
            [
                "980-pro-1tb",
                "990-pro-1tb",
                "990-pro-2tb",
                "990-pro-4tb",
                "firecuda-530-1tb",
                "firecuda-530-2tb",
                "p3-plus-1tb",
                "p3-plus-4tb",
                "sn770-1tb",
                "sn770-2tb",
                "sn850x-1tb",
                "sn850x-2tb",
                "t500-2tb",
            ],
        ),
        (("desktop", "sata", "crucial"), ["mx500-1tb", "mx500-500"]),
        (
            ("nas", "wd"),
            ["wd-red-4tb-efax", "wd-red-plus-12tb", "wd-red-plus-4tb", "wd-red-plus-8tb"],
        ),
        (("mach.2",), ["exos-2x18-18tb", "st14000nm0001"]),
        (("toshiba", "nearline"), ["mg06sca-10tb", "toshiba-mg08-16tb", "toshiba-mg10-20tb", "toshiba-mg11-24tb"]),
        (("gen5", "samsung"), ["pm1743-15360", "pm9d3a-7680"]),
        (("mtfd", "u.3"), ["6500-ion-30720", "7450-pro-3840"]),
        (("ent-15k", "ent-10k"), ["ent-10k", "ent-15k"]),
    ],
)
def test_words_filter_by_what_a_drive_is(words: tuple[str, ...], expected: list[str]) -> None:
    assert names(*words) == expected


def test_bounds_hold_at_their_ends_and_every_key_sorts() -> None:
    assert names("hdd", least="20 TB", most="22000969973760 B") == [
        "exos-x20-20tb", "toshiba-mg10-20tb", "wd-hc570-22tb"
    ]  # fmt: skip
    for key, (value, largest_first) in SORT_KEYS.items():
        drives = select_drives(sort=key).drives
        have = [getattr(drive, value) for drive in drives if getattr(drive, value) is not None]
        assert have == sorted(have, reverse=largest_first)
        assert [drive for drive in drives if getattr(drive, value) is None] == list(drives[len(have) :])


def test_a_product_is_shown_whatever_words_there_are() -> None:
    assert product_of(["exos-x24"]) == "exos-x24-24tb"
    assert product_of(["./own.toml"]) == "./own.toml"
    assert [product_of([word]) for word in ("nvme", "ent", "exos", "15k")] == [None] * 4
    products = _core.catalog_names(CATALOG_DIR, "drives")
    assert not set(products) & set(filter_words())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("nvem",), "NAME = 'nvem': did you mean \"nvme\"? expected a drive (hotband drives), or a word such as"),
        (("ssd", "--min", "3"), "--min = '3': expected a size with its unit"),
        (("ssd", "--max", "big"), "--max = 'big': expected a size with its unit"),
        (("--sort", "speed"), "--sort = 'speed': expected one of name, size, read-iops,"),
    ],
)
def test_a_slip_is_one_line_with_the_hint(hotband, arguments: tuple[str, ...], expected: str) -> None:
    done = hotband("drives", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"hotband: error: {expected}")


def test_csv_json_and_python_have_the_same_exact_values(hotband) -> None:
    listed = json.loads(hotband("drives", "sata", "--json").stdout)
    rows = list(csv.DictReader(io.StringIO(hotband("drives", "sata", "--format", "csv").stdout)))
    frame = hb.drives("sata")
    assert frame.to_dicts() == listed
    assert [int(row["capacity (B)"]) for row in rows] == [drive["capacity_bytes"] for drive in listed]
    assert {row["class"] for row in rows} == {"enterprise", "nearline", "archive", "nas", "consumer"}
    assert hb.drives("sata", min="20 TB", sort="read-rate")["name"][0] == "toshiba-mg11-24tb"
    with pytest.raises(UserError, match=r"^min = 'x': expected a size"):
        hb.drives(min="x")


def test_a_single_drive_is_a_frame_of_its_values(hotband) -> None:
    printed = json.loads(hotband("drives", "p4510-4tb", "--json").stdout)["values"]
    frame = hb.drives("p4510-4tb")
    assert frame["key"].to_list() == [value["key"] for value in printed]
    ends = list(zip(frame["low"], frame["high"], strict=True))
    assert ends == [tuple(value["range"] or (None, None)) for value in printed]


def test_what_follows_from_other_values_is_computed() -> None:
    drives = {drive.name: drive for drive in select_drives().drives}
    assert drives["7450-pro-3840"].interface == "NVMe PCIe 4.0 x4"
    assert drives["exos-2x18-18tb"].read_bytes_per_s == 554_000_000
    assert drives["st8000as0022"].recording == "SMR, host-aware"
    for path in (CATALOG_DIR / "drives").glob("*.toml"):
        stated = set(tomllib.loads(path.read_text(encoding="utf-8")).get("reference", {}))
        assert not stated & {"capacity", "rpm", "recording", "price"}
        assert "interface" not in stated or drives[path.stem].interface.split()[0] != "NVMe"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        *(("ent-15k", key) for key in SOLD_KEYS | DISK_KEYS),
        *(("pm893-3840", key) for key in SOLD_KEYS | SSD_KEYS),
        ("pm893-3840", "reference.interface"),
    ],
)
def test_a_product_that_lacks_one_of_them_is_refused_with_file_and_key(name: str, key: str) -> None:
    entry = entries.drive(name)
    entry["values"] = [value for value in entry["values"] if value["key"] != key.removeprefix("values.")]
    with pytest.raises(UserError, match=f"^drives/{name}.toml: {key}: missing: expected ") as error:
        described(entry)
    assert error.value.key == key


def test_a_class_that_is_not_there_is_refused_with_those_that_are() -> None:
    entry = entries.drive("ent-15k")
    for value in entry["values"]:
        if value["key"] == "reference.class":
            value["value"] = "fast-disk"
    with pytest.raises(UserError, match=r"ent-15k.toml: reference.class = 'fast-disk': expected one of scsi-disk, "):
        described(entry)


def test_prices_of_a_class_have_a_range_a_source_and_a_year(tmp_path: Path) -> None:
    classes = drive_classes()
    assert {drive.price_class for drive in select_drives().drives} <= set(classes)
    assert classes["nearline-disk"].price(2016).year == 2017
    assert classes["nearline-disk"].price().year == 2022
    file = tmp_path / "classes.toml"
    text = '[classes.a]\ntitle = "t"\nmarket = "m"\n[[classes.a.prices]]\nyear = 2020\neur_per_tb = 5\nrange = [6, 7]\n'
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"^classes.toml: classes.a.prices\[0\].source: missing"):
        read_classes(file)
    file.write_text(f'{text}source = "s"\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"range = '6 .. 7': expected two prices around eur_per_tb"):
        read_classes(file)


@pytest.mark.parametrize("columns", ["80", "120"])
@pytest.mark.parametrize("words", ["", "hdd", "ssd", "nvme", "sata", "consumer", "--sort price", "--sort endurance"])
def test_every_list_has_a_line_per_drive_within_the_width(
    hotband, monkeypatch: pytest.MonkeyPatch, words: str, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    shown = hotband("drives", *words.split()).stdout.splitlines()
    count = re.match(r"(?:.*: )?(\d+) (?:of|drives)", shown[0])
    assert count is not None
    assert len(shown) == 2 + int(count[1])
    assert max(map(len, shown)) <= int(columns)
