"""Does every family whose sheet the corpus has become a drive from its sheet alone?"""

from __future__ import annotations

import csv
from itertools import groupby
from pathlib import Path

import pytest

from hotband import _core
from hotband.data.catalog import CATALOG_DIR
from hotband.data.corpus.sheets import SheetRow
from hotband.questions.datasheet import described_text
from hotband.questions.datasheet.uniform import lines_of

CORPUS = Path("/work/shared/corpus")
SHEETS = [CORPUS / "sheets.csv", CORPUS / "rated-disks.csv"]


def blocks(path: Path) -> list[tuple[str, str, list[SheetRow]]]:
    """The sheets of a file: family, capacity in GB, and rows."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        (
            family,
            capacity,
            [SheetRow(row["key"], row["value"], row["unit"], row["how"], row["source"]) for row in group],
        )
        for (family, _, capacity), group in groupby(rows, lambda row: (row["family"], row["model"], row["capacity_gb"]))
    ]


@pytest.mark.skipif(not SHEETS[0].exists(), reason="the sheets are not here (../shared/corpus)")
@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_every_sheet_of_the_corpus_makes_a_drive(path: Path, tmp_path: Path) -> None:
    families = set()
    for family, capacity, rows in blocks(path):
        made = lines_of(rows, capacity)
        file = tmp_path / "drive.toml"
        file.write_text(described_text(made.kind, made.lines, title=family, source="its sheet"), encoding="utf-8")
        assert _core.drive(CATALOG_DIR, str(file))["warnings"] == [], family
        families.add(family)
    assert len(families) == {"sheets": 133, "rated-disks": 24}[path.stem]


def sheet(*rows: tuple[str, str, str]) -> list[SheetRow]:
    return [SheetRow(*row, how="read", source="") for row in rows]


CONSUMER = sheet(
    ("class", "consumer", ""),
    ("protocol", "sata", ""),
    ("link", "6 Gb/s", ""),
    ("nand", "TLC", "V-NAND"),
    ("seq_write", "300", "MB/s, if 120GB"),
    ("seq_write", "520", "MB/s, if 250GB"),
    ("slc_cache_gb", "12", "GB total (static + dynamic), if 250GB"),
    ("slc_cache_gb", "42", "GB total (static + dynamic), if 1TB"),
    ("rand_read_iops", "10000", "1/s QD1"),
    ("rand_read_iops", "97000", "1/s QD32"),
    ("rand_write_iops", "88000", "1/s, depth not stated in source"),
    ("lat_seq_read", "20", "us typ"),
    ("plp", "no", ""),
    ("controller", "one", ""),
)


def test_conditions_states_and_depths_decide_which_line_a_rating_becomes() -> None:
    kind, lines, _ = lines_of(CONSUMER, "250")
    assert kind == "ssd"
    assert lines == {
        "capacity": "250 GB",
        "write-bandwidth": "520 MB/s",
        "interface": "sata",
        "class": "consumer",
        "flash": "TLC",
        "power-loss-protection": "off",
        "slc-cache": "12 GB",
        "read-latency": "100 us",
        "read-iops": "97000",
        "write-iops-burst": "88000",
    }
    steady = lines_of([*CONSUMER, *sheet(("burst_or_steady", "steady", ""), ("dwpd", "3", ""))], "250").lines
    assert (steady["write-iops"], "write-iops-burst" in steady) == ("88000", False)


@pytest.mark.parametrize(
    ("rows", "line", "words"),
    [
        ([("link", "PCIe 4.0 x4 / 5.0 x2", "")], "pcie", "4x4"),
        ([("link", "PCIe 3.1", "dual port")], "pcie", "3x4"),
        ([("link", "12 Gb/s dual port", ""), ("protocol", "sas", "")], "interface", "sas12"),
        ([("rpm", "7200", "1/min"), ("interface", "Ultra/Ultra2 Wide SCSI (68 pin)", "")], "interface", "ultra2-wide"),
        ([("rpm", "7200", "1/min"), ("interface", "Fast SCSI-2", "")], "interface", "scsi-fast"),
        ([("rpm", "10000", "1/min"), ("interface", "SAS", ""), ("year", "2009", "")], "interface", "sas6"),
        ([("rpm", "7200", "1/min"), ("recording", "SMR host-managed", "")], "recording", "SMR"),
        ([("rpm", "5400", "1/min"), ("class", "client", ""), ("form", "2.5 in", "")], "class", "laptop"),
        ([("rpm", "7200", ""), ("rand_read_iops", "304", "1/s 4K QD16")], "read-iops-depth", "16"),
        ([("rpm", "7200", ""), ("sustained_mb_s", "242", "MiB/s")], "bandwidth", "242 MiB/s"),
        ([("nand", "3D XPoint", ""), ("dram", "none", "")], "flash", "XPoint"),
        ([("seq_read", "350-420", "MB/s range over the three SLC models")], "read-bandwidth", "385 MB/s"),
        ([("seq_read", "520", "MB/s up to (series)"), ("seq_read", "480", "MB/s")], "read-bandwidth", "480 MB/s"),
        ([("dram", "HMB", ""), ("protocol", "nvme", "")], "dram", "hmb"),
        ([("slc_cache_gb", "dynamic", "GB dynamic, size not stated")], "slc-cache", "dynamic"),
        ([("slc_cache_gb", "6", "GB static"), ("slc_cache_gb", "36", "GB dynamic")], "slc-cache", "42 GB"),
    ],
)
def test_words_of_sheets_become_choices(rows: list[tuple[str, str, str]], line: str, words: str) -> None:
    assert lines_of(sheet(*rows)).lines[line] == words


def test_what_no_drive_has_or_contradicts_is_left_out_with_a_note() -> None:
    rows = sheet(
        ("protocol", "nvme", ""), ("link", "PCIe 3.0 x4", ""), ("seq_read", "9000", "MB/s"), ("idle_w", "0.003", "W")
    )
    _, lines, notes = lines_of(rows)
    assert lines == {"pcie": "3x4"}
    assert [note.partition(" left out: ")[0] for note in notes] == ["power-idle 0.003 W", "read-bandwidth 9000 MB/s"]
